"""Section 5.2: the download through a gateway that drops packets."""

from collections.abc import Mapping
from pathlib import Path

from bentpipe.papers.common import over, plain
from bentpipe.reproduction import Context, Row
from bentpipe.results import Number, Run
from bentpipe.style import GREY, picture

from . import notes
from .ideal import name
from .runs import (
    CASES,
    COLOURS,
    DELAYED_ACK,
    LABELS,
    SATELLITE_BPS,
    VARIANTS,
    congested,
    cross_flows,
    download_s,
    ideal,
    rate_kbps,
    settings_of,
)

FLOWS = (0, 1, 2, 3, 4, 5)
"""Numbers of cross flows that were tried."""

RESIDUAL = 0.2
"""Share of the link that unresponsive cross traffic would leave to the download."""


_METRICS = {"figure-4": "throughput", "figure-5": "goodput", "figure-6": "utilization"}


def table_7(context: Context) -> list[Row]:
    """Give the rows of table 7."""
    times: dict[tuple[str, str], Number] = {
        case: over(download_s(run) for run in runs) for case, runs in congested(context).items()
    }
    rows = []
    for metric in ("download response time", "download response time, slides"):
        rows += [context.number(name(case), metric, time, notes.TABLE_7) for case, time in times.items()]
    for delayed in DELAYED_ACK:
        values = {variant: times[variant, delayed] for variant in VARIANTS}
        rows.append(
            context.claim(f"comparable, {delayed}", "download response time", values, notes.COMPARABLE)
        )
    return rows


def figures(context: Context) -> list[Row]:
    """Give the rows of figures 4, 5 and 6: averages with delayed ACK, over the download's own time."""
    metric = _METRICS[context.item]
    cases = [(variant, "enabled") for variant in VARIANTS]
    values: Mapping[str, Number] = {
        case[0]: over(_measure(run, metric) for run in runs)
        for case, runs in congested(context, cases).items()
    }
    lossless = over(_measure(run, metric) for run in ideal(context, cases).values())
    degraded = {"ideal": plain(lossless), "congested": plain(over(values.values()))}
    return [
        context.claim("comparable, enabled", metric, values, notes.COMPARABLE),
        context.claim("degrades, enabled", metric, degraded),
    ]


def _measure(run: Run, metric: str) -> float:
    """Give a rate in kbit/s, or the share of the satellite link's rate that the download took, in %."""
    if metric != "utilization":
        return rate_kbps(run, metric)
    return 100e3 * rate_kbps(run, "throughput") * 1500 / 1460 / SATELLITE_BPS


def draw_table_7(context: Context, path: Path) -> None:
    """Draw the download time over the number of cross flows, and with cross traffic that does not respond."""
    published = float(context.published("sack, enabled", "download response time").published)
    with picture(path, (12, 4)) as figure:
        panels = figure.subplots(1, 3, sharey=True)
        for axes, delayed in zip(panels, DELAYED_ACK, strict=False):
            for width, variant in zip((2.8, 1.4, 2.8, 1.4), VARIANTS, strict=True):
                settings = [_with_flows(variant, delayed, flows) for flows in FLOWS[1:]]
                alone = context.run(
                    "download.toml",
                    {**settings_of((variant, delayed)), "links.satellite.queue": "25 packets"},
                )
                times = [
                    plain(download_s(run)) for run in (alone, *context.runs("congestion.toml", settings))
                ]
                axes.plot(FLOWS, times, "o-", ms=4, lw=width, color=COLOURS[variant], label=LABELS[variant])
            axes.set_title(f"Long downloads, delayed ACK {delayed}")
            axes.set_xlabel("number of cross flows (one start)")
        bars = panels[2]
        runs = context.runs(
            "download.toml",
            [
                {
                    **settings_of(case),
                    "links.satellite.queue": "25 packets",
                    "links.satellite.efficiency": f"{0.8 * RESIDUAL:g}",
                }
                for case in CASES
            ],
        )
        for index, (case, run) in enumerate(zip(CASES, runs, strict=True)):
            alpha = 1.0 if case[1] == "enabled" else 0.5
            bars.bar(index, plain(download_s(run)), color=COLOURS[case[0]], alpha=alpha)
        bars.set_xticks([])
        bars.set_title(f"Stream that leaves {RESIDUAL:.0%} (pale: disabled)")
        for axes in panels:
            axes.axhline(published, color=GREY, lw=0.9, ls="--", label="published, TCP SACK with delayed ACK")
        panels[0].set_ylabel("download response time (s)")
        panels[0].set_ylim(bottom=0)
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=5)


def _with_flows(variant: str, delayed: str, flows: int) -> dict[str, str | float]:
    return {**cross_flows(flows), **settings_of((variant, delayed)), "flows.cross.variant": variant}
