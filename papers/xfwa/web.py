"""Figure 6: ten long flows beside on/off flows."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from bentpipe.results import Estimate, Run
from bentpipe.show.style import picture
from bentpipe_papers.common import curve, flows, over, plain, seeded
from bentpipe_papers.reproduction.grid import Cell, Grid
from bentpipe_papers.reproduction.reproduce import Context, Row, Settings

from .runs import (
    COLOURS,
    LABELS,
    PERSISTENT,
    SCHEMES,
    SEEDS,
    WEB,
    Measured,
    buffers,
    busy,
    claims,
    drop_rate,
    fairness,
    moments,
    scheme,
    wait_ms,
)

COUNTS = (0, 10, 20, 30, 40, 50)

FEW = 5
"""Runs of each case where something else is tried."""

TRIED: Mapping[str, Settings] = {
    "as in the scenario": {},
    "up-links of 20 Mbit/s": {"links.up.rate": "20 Mbit/s"},
    "up-links and down-links that hold everything": {
        f"links.{link}.queue": "unlimited" for link in ("up", "down", "webup", "webdown")
    },
    "100 kbit/s while on": {"flows.web.rate": "100 kbit/s"},
    "2 Mbit/s while on": {"flows.web.rate": "2 Mbit/s"},
    "buffer of 160 ms": buffers(WEB, 10, 0.16),
}


def web_settings(count: int, seed: int) -> Settings:
    """Give the settings of one run: how many on/off flows, and when the long ones begin."""
    counts = {f"{key}.count": count for key in ("links.webup", "links.webdown", "flows.web")}
    begun = {**moments(["long"], seed), "flows.long.start_step": f"{0.003 + 0.0007 * seed:g} s"}
    return {**begun, **counts} if count > 0 else begun


def _settings(count: int, name: str, seed: int, changes: Settings) -> Settings:
    kept = {key: value for key, value in changes.items() if count > 0 or "web" not in key}
    return {**web_settings(count, seed), **kept, **scheme(name, WEB)}


def by_count(
    context: Context,
    changes: Settings | None = None,
    counts: Sequence[int] = COUNTS,
    seeds: int = SEEDS,
    ours: str = "xfwa",
) -> dict[tuple[int, str], list[Run]]:
    """Run each number of on/off flows by standard TCP, and with XFWA or the other reading."""
    found = {}
    for count in counts:
        cases = {
            name: [_settings(count, name, seed, changes or {}) for seed in range(1, seeds + 1)]
            for name in ("tcp", ours)
        }
        for name, runs in seeded(context, WEB if count > 0 else PERSISTENT, cases).items():
            found[count, name] = runs
    return found


def utilization(runs: Iterable[Run]) -> Estimate:
    """Give the share of the time, in %, in which the bottleneck was sending."""
    return over(map(busy, runs))


def drops(runs: Iterable[Run]) -> Estimate:
    """Give the share of packets, in %, that the bottleneck dropped."""
    return over(map(drop_rate, runs))


def figure_6(context: Context) -> list[Row]:
    """Give the rows of figure 6."""
    return claims(context, link_use(context))


def link_use(context: Context, ours: str = "xfwa") -> list[Measured]:
    """Measure utilization and drop rate of the bottleneck."""
    runs = by_count(context, ours=ours)
    return [
        (
            f"{count} on/off flows",
            metric,
            {"tcp": value(runs[count, "tcp"]), "xfwa": value(runs[count, ours])},
        )
        for count in COUNTS
        for metric, value in (("utilization", utilization), ("drop rate", drops))
    ]


def _goodput(run: Run, prefix: str) -> float:
    return sum(plain(flow["goodput_bps"]) for flow in flows(run, prefix)) / 1e6


def measure(context: Context) -> Grid:
    """Tabulate what else was tried: up-links, buffer, and what an application offers while it is on."""
    rows: list[tuple[Cell, ...]] = []
    for words, changes in TRIED.items():
        for (count, name), runs in by_count(context, changes, (COUNTS[1], COUNTS[-1]), FEW).items():
            rows.append(
                (
                    words,
                    f"{count}",
                    LABELS[name],
                    utilization(runs),
                    drops(runs),
                    over(_goodput(run, "long") for run in runs),
                    over(fairness(run, "long") for run in runs),
                    over(_goodput(run, "web") for run in runs),
                    over(map(wait_ms, runs)),
                )
            )
    return Grid(
        f"Ten long flows beside on/off flows; mean and 95 % interval of {FEW} runs",
        (
            "tried",
            "on/off flows",
            "scheme",
            "link busy (%)",
            "dropped (%)",
            "long flows together (Mbit/s)",
            "Jain's index of the long flows",
            "on/off flows together (Mbit/s)",
            "wait in the queue (ms)",
        ),
        tuple(rows),
    )


def draw(context: Context, path: Path) -> None:
    """Draw utilization and drop rate over the number of on/off flows."""
    runs = by_count(context)
    with picture(path, (10, 4)) as figure:
        panels = figure.subplots(1, 2)
        for axes, (label, measured) in zip(
            panels, {"link busy (%)": utilization, "dropped (%)": drops}.items(), strict=True
        ):
            for name in SCHEMES:
                values = [measured(runs[count, name]) for count in COUNTS]
                curve(axes, COUNTS, values, color=COLOURS[name], label=LABELS[name])
            axes.set_xlabel("on/off flows")
            axes.set_ylabel(label)
        panels[1].set_ylim(bottom=0)
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(SCHEMES))
