"""Beyond the document: XFWA beside what else acts on a bottleneck, on three of its networks."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bentpipe.results import Estimate, Run
from bentpipe.show.style import CYCLE, picture
from bentpipe_papers.common import over, plain, seeded, width
from bentpipe_papers.reproduction.grid import Cell, Grid
from bentpipe_papers.reproduction.reproduce import Context, Settings

from .link_types import TYPES
from .runs import (
    GROUPS,
    PACKET,
    PAYLOAD,
    SEEDS,
    STAGED,
    WEB,
    busy,
    drop_rate,
    fairness,
    on_links,
    scheme,
    wait_ms,
)
from .staged import BUFFER, staged_settings
from .web import web_settings

SCHEMES = {
    "tcp": "standard TCP",
    "xfwa": "XFWA",
    "arrived": "XFWA, by arrival",
    "ewa": "EWA",
    "wintrac": "WINTRAC",
    "red": "RED",
    "rem": "REM",
    "red-ecn": "RED with ECN",
}


def on_network(name: str, scenario: str, buffer: int) -> Settings:
    """Give the settings of a scheme on every inter-satellite link; `buffer` in packets."""
    limit = f'limit = "{buffer} packets"'
    red = f'scheme = "red", {limit}, min = "{buffer // 6} packets", max = "{buffer // 2} packets"'
    least = f'least = "{PAYLOAD} B", packet = "{PACKET} B"'
    match name:
        case "tcp":
            return {}
        case "xfwa" | "arrived":
            return scheme(name, scenario)
        case "ewa":
            return on_links(scenario, "gateway", f'{{ scheme = "ewa", segment = "{PAYLOAD} B", {least} }}')
        case "wintrac":
            return on_links(scenario, "gateway", f'{{ scheme = "wintrac", {least} }}')
        case "red":
            return on_links(scenario, "queue", f"{{ {red} }}")
        case "red-ecn":
            return {**on_links(scenario, "queue", f"{{ {red}, ecn = true }}"), "tcp.ecn": "true"}
        case "rem":
            target = f'target = "{buffer // 2} packets"'
            return on_links(scenario, "queue", f'{{ scheme = "rem", {limit}, {target} }}')
    raise ValueError(name)


@dataclass(frozen=True)
class Network:
    """A network of the document: its scenario, the buffer in packets, and what differs from run to run."""

    scenario: str
    buffer: int
    settings: Sequence[Settings]
    flows: str
    """The flows that should have the same."""


def networks() -> dict[str, Network]:
    """Give the networks of figures 2, 5 and 6."""
    seeds = range(1, SEEDS + 1)
    return {
        "flows come and go": Network(STAGED, BUFFER, [staged_settings(seed) for seed in seeds], "connection"),
        "four round trips, T2": Network(GROUPS, 75, [TYPES["T2"].begun(seed) for seed in seeds], "group"),
        "30 on/off flows": Network(WEB, 75, [web_settings(30, seed) for seed in seeds], "long"),
    }


def all_runs(context: Context) -> dict[tuple[str, str], list[Run]]:
    """Run every scheme on every network."""
    return {
        (words, name): runs
        for words, network in networks().items()
        for name, runs in seeded(
            context,
            network.scenario,
            {
                name: [
                    {**one, **on_network(name, network.scenario, network.buffer)} for one in network.settings
                ]
                for name in SCHEMES
            },
        ).items()
    }


def measures(runs: Sequence[Run], prefix: str) -> dict[str, Estimate]:
    """Give what is looked at of a bottleneck."""
    return {
        "Jain's index": over(fairness(run, prefix) for run in runs),
        "link busy (%)": over(map(busy, runs)),
        "wait in the queue (ms)": over(map(wait_ms, runs)),
        "dropped (%)": over(map(drop_rate, runs)),
        "timeouts of a flow": over(
            sum(plain(flow["timeouts"]) for flow in run["flows"]) / len(run["flows"]) for run in runs
        ),
    }


def measure(context: Context) -> Grid:
    """Tabulate every scheme on every network."""
    rows: list[tuple[Cell, ...]] = []
    columns: tuple[str, ...] = ()
    for (words, name), runs in all_runs(context).items():
        values = measures(runs, networks()[words].flows)
        columns = tuple(values)
        rows.append((words, SCHEMES[name], *values.values()))
    return Grid(
        f"Ways to look after a bottleneck; mean and 95 % interval of {SEEDS} runs of 20 s",
        ("network", "scheme", *columns),
        tuple(rows),
    )


def draw(context: Context, path: Path) -> None:
    """Draw Jain's index over the wait in the queue, a panel a network."""
    runs = all_runs(context)
    with picture(path, (12, 4)) as figure:
        panels = figure.subplots(1, len(networks()))
        for axes, (words, network) in zip(panels, networks().items(), strict=True):
            for name, colour in zip(SCHEMES, CYCLE, strict=False):
                values = measures(runs[words, name], network.flows)
                wait, fair = values["wait in the queue (ms)"], values["Jain's index"]
                axes.errorbar(
                    plain(wait),
                    plain(fair),
                    width(fair),
                    width(wait),
                    fmt="o",
                    color=colour,
                    capsize=2,
                    label=f"{SCHEMES[name]}",
                )
            axes.set_title(words)
            axes.set_xlabel("wait in the queue (ms)")
            axes.set_xlim(left=0)
        panels[0].set_ylabel("Jain's index")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(SCHEMES))
