"""Figure 6: ten long flows beside on/off flows."""

from collections.abc import Iterable
from itertools import product
from pathlib import Path

from bentpipe.grid import Grid
from bentpipe.reproduction import Context, Row, Settings
from bentpipe.results import Estimate, Run
from bentpipe.style import drawing, save

from .runs import (
    COLOURS,
    LABELS,
    PERSISTENT,
    SCHEMES,
    SEEDS,
    WEB,
    Measured,
    claims,
    drop_rate,
    flows,
    link,
    moments,
    over,
    plain,
    scheme,
    seeded,
    width,
)

COUNTS = (0, 10, 20, 30, 40, 50)
ISL = "isl1"

RATES_KBPS = (100, 500, 2000)
"""What an application offers while it is on; the second is that of the scenario."""


def web_settings(count: int, seed: int) -> Settings:
    """Give the settings of one run: how many on/off flows, and when the long ones begin."""
    counts = {f"{key}.count": count for key in ("links.webup", "links.webdown", "flows.web")}
    begun = {**moments(["long"], seed), "flows.long.start_step": f"{0.003 + 0.0007 * seed:g} s"}
    return {**begun, **counts} if count > 0 else begun


def _settings(count: int, name: str, seed: int, kbps: float | None) -> Settings:
    rate = {} if kbps is None or count == 0 else {"flows.web.rate": f"{kbps:g} kbit/s"}
    return {**scheme(name, WEB if count > 0 else PERSISTENT), **web_settings(count, seed), **rate}


def by_count(context: Context, kbps: float | None = None) -> dict[tuple[int, str], list[Run]]:
    """Run each number of on/off flows by both schemes."""
    keys = list(product(COUNTS, (*SCHEMES, "patient")))
    seeds = range(1, SEEDS + 1)
    alone = {
        f"0 {name}": [_settings(0, name, seed, None) for seed in seeds] for name in (*SCHEMES, "patient")
    }
    beside = {
        f"{count} {name}": [_settings(count, name, seed, kbps) for seed in seeds]
        for count, name in keys
        if count > 0
    }
    runs = {**seeded(context, PERSISTENT, alone), **seeded(context, WEB, beside)}
    return {(count, name): runs[f"{count} {name}"] for count, name in keys}


def utilization(runs: Iterable[Run]) -> Estimate:
    """Give the share of the time, in %, in which the bottleneck was sending."""
    return over(100 * plain(link(run, ISL)["utilization"]) for run in runs)


def drops(runs: Iterable[Run]) -> Estimate:
    """Give the share of packets, in %, that the bottleneck dropped."""
    return over(drop_rate(run, ISL) for run in runs)


def figure_6(context: Context) -> list[Row]:
    """Give the rows of figure 6."""
    runs = by_count(context)

    def measured(ours: str) -> list[Measured]:
        return [
            (
                f"{count} on/off flows",
                metric,
                {"tcp": value(runs[count, "tcp"]), "xfwa": value(runs[count, ours])},
            )
            for count in COUNTS
            for metric, value in (("utilization", utilization), ("drop rate", drops))
        ]

    return claims(context, measured)


def _goodput(run: Run, prefix: str) -> float:
    return sum(plain(flow["goodput_bps"]) for flow in flows(run, prefix)) / 1e6


def measure(context: Context) -> Grid:
    """Tabulate utilization, drops and goodput by what an application offers while it is on."""
    rows = []
    for kbps in RATES_KBPS:
        for (count, name), runs in by_count(context, kbps).items():
            if count in (COUNTS[1], COUNTS[-1]):
                rows.append(
                    (
                        f"{kbps}",
                        f"{count}",
                        LABELS[name],
                        utilization(runs),
                        drops(runs),
                        over(_goodput(run, "long") for run in runs),
                        over(_goodput(run, "web") for run in runs),
                        over(1e3 * plain(link(run, ISL)["queueing_delay_mean_s"]) for run in runs),
                    )
                )
    return Grid(
        f"Ten long flows beside on/off flows; mean and 95 % interval of {SEEDS} runs",
        (
            "rate while on (kbit/s)",
            "on/off flows",
            "scheme",
            "link busy (%)",
            "dropped (%)",
            "long flows together (Mbit/s)",
            "on/off flows together (Mbit/s)",
            "wait in the queue (ms)",
        ),
        tuple(rows),
    )


def draw(context: Context, path: Path) -> None:
    """Draw utilization and drop rate over the number of on/off flows."""
    runs = by_count(context)
    with drawing():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(10, 4), layout="constrained")
        panels = figure.subplots(1, 2)
        for axes, (label, measured) in zip(
            panels, {"link busy (%)": utilization, "dropped (%)": drops}.items(), strict=True
        ):
            for name in SCHEMES:
                values = [measured(runs[count, name]) for count in COUNTS]
                axes.errorbar(
                    COUNTS,
                    [plain(value) for value in values],
                    [width(value) for value in values],
                    marker="o",
                    ms=4,
                    capsize=2,
                    color=COLOURS[name],
                    label=LABELS[name],
                )
            axes.set_xlabel("on/off flows")
            axes.set_ylabel(label)
        panels[1].set_ylim(bottom=0)
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
        save(figure, path)
