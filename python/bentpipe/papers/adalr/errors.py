"""Sections 5.3 and 5.4: bit errors on the satellite's downlink, without and with congestion."""

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from bentpipe.papers.common import curve, link, plain, width
from bentpipe.reproduction import Context, Row
from bentpipe.results import Estimate, Number, Run
from bentpipe.style import picture

from . import notes
from .runs import BERS, COLOURS, DELAYED_ACK, LABELS, STANDARD, VARIANTS, Case, download_s, with_errors

Runs = Mapping[tuple[Case, str], Run]

HIGH = ("1e-6", "1e-5")
LOW = ("1e-9", "1e-8", "1e-7")


def throughput(run: Run) -> Number:
    """Give what the sender sent, in bit/s over its own time."""
    return run["flows"][0]["throughput_bps"]


def goodput(run: Run) -> Number:
    """Give what arrived for good, in bit/s over the download's own time."""
    return run["flows"][0]["goodput_bps"]


def utilization(run: Run) -> Number:
    """Give the share of time that the satellite link sends."""
    busy: Number = link(run)["utilization"]
    return busy


Measure = Callable[[Run], Number]
MEASURES: dict[str, Measure] = {
    "download response time": download_s,
    "throughput": throughput,
    "goodput": goodput,
    "utilization": utilization,
    "satellite link throughput": utilization,
}
FIGURES = {
    "figure-8": ("download response time", False),
    "figure-9": ("throughput", False),
    "figure-10": ("goodput", False),
    "figure-11": ("utilization", False),
    "figure-13": ("download response time", True),
    "figure-14": ("throughput", True),
    "figure-15": ("goodput", True),
    "figure-16": ("utilization", True),
}
"""What each figure shows, and whether the gateway is congested."""


def gain(ours: Number, theirs: Number, *, lower: bool) -> Estimate:
    """Say by how many per cent ours is lower, or higher, with the interval of a ratio of two means."""
    ratio = plain(ours) / plain(theirs)
    replications = ours["n"] if isinstance(ours, dict) else 1
    interval = ratio * math.hypot(*(width(each) / plain(each) for each in (ours, theirs)))
    return {"mean": 100 * (1 - ratio if lower else ratio - 1), "ci95": 100 * interval, "n": replications}


def gains(
    runs: Runs, measure: Measure, pair: tuple[str, str], delayed: str, bers: Sequence[str], *, lower: bool
) -> dict[str, Estimate]:
    """Give the gain at each bit error rate."""
    ours, theirs = pair
    return {
        ber: gain(measure(runs[(ours, delayed), ber]), measure(runs[(theirs, delayed), ber]), lower=lower)
        for ber in bers
    }


def compute(context: Context) -> list[Row]:
    """Give the rows of one of the figures 8 to 11 and 13 to 16."""
    _, congestion = FIGURES[context.item]
    runs = with_errors(context, congestion=congestion)
    published = [row for row in context.paper.published if row.item == context.item]
    rows: list[Row] = []
    for row in published:
        what, _, end = row.metric.rpartition(", ")
        if end in ("least", "most"):
            rows.append(_range(context, runs, row.case, row.metric, what, end))
        else:
            rows.append(_claim(context, runs, row.case, row.metric))
    return rows


def _range(context: Context, runs: Runs, case: str, metric: str, what: str, end: str) -> Row:
    word, _, measured = what.partition(" ")
    lower = word == "shorter"
    delayed = case.rpartition(", ")[2]
    bers = HIGH if "BER from 1e-6" in case else LOW if "BER up to 1e-7" in case else BERS
    pair = _pair(case)
    by_ber = gains(runs, MEASURES[measured], pair, delayed, bers, lower=lower)
    choose = min if end == "least" else max
    ber = choose(by_ber, key=lambda ber: by_ber[ber]["mean"])
    return context.number(case, metric, by_ber[ber], notes.at_ber(ber, by_ber, context.item))


def _pair(case: str) -> tuple[str, str]:
    """Give who is ahead of whom: ``over sack`` is ADaLR SACK over SACK, ``A over B`` as it says."""
    ahead, _, behind = case.partition(",")[0].partition("over ")
    if ahead:
        return ahead.strip(), behind
    return f"adalr-{behind}", behind


def _claim(context: Context, runs: Runs, case: str, metric: str) -> Row:
    measured, congestion = FIGURES[context.item]
    measure = MEASURES[measured]
    if case.endswith("by rising BER"):
        variant = case.partition(",")[0]
        values: dict[str, Number] = {ber: measure(runs[(variant, "enabled"), ber]) for ber in BERS}
        return context.claim(case, metric, values)
    bers = LOW if metric.endswith("up to 1e-7") else HIGH if metric.endswith("from 1e-6") else BERS
    reference = metric.startswith("mean of the ratios")
    means = {
        variant: _mean(
            [
                plain(measure(runs[(variant, "enabled"), ber]))
                / (plain(measure(runs[("sack", "enabled"), ber])) if reference else 1.0)
                for ber in bers
            ]
        )
        for variant in VARIANTS
    }
    note = notes.CONGESTION_ERRORS if congestion else notes.ERROR_ORDER
    return context.claim(case, metric, means, note)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def abstract(context: Context) -> list[Row]:
    """Give the rows of the abstract: the largest gains of figures 9, 11, 14 and 15."""
    rows = []
    for case, congestion, measured in (
        ("error losses", False, "throughput"),
        ("error losses", False, "utilization"),
        ("congestion and error losses", True, "throughput"),
        ("congestion and error losses", True, "goodput"),
    ):
        runs = with_errors(context, congestion=congestion)
        by_ber = {
            f"{ours} {ber}": value
            for ours, theirs in STANDARD.items()
            for ber, value in gains(
                runs, MEASURES[measured], (ours, theirs), "enabled", BERS, lower=False
            ).items()
        }
        top = max(by_ber, key=lambda name: by_ber[name]["mean"])
        item = "figure-14" if congestion else "figure-9"
        rows.append(
            context.number(case, f"higher {measured}, up to", by_ber[top], notes.at_ber(top, by_ber, item))
        )
    return rows


_AXES = {
    "download response time": ("download response time (s)", 1.0),
    "throughput": ("throughput (kbit/s)", 1e-3),
    "goodput": ("goodput (kbit/s)", 1e-3),
    "utilization": ("satellite link busy (%)", 100.0),
}


def draw(context: Context, path: Path) -> None:
    """Draw one figure over the bit error rate, with 95 % intervals, for both settings of delayed ACK."""
    measured, congestion = FIGURES[context.item]
    runs = with_errors(context, congestion=congestion)
    label, scale = _AXES[measured]
    draw_over_ber(
        path,
        lambda case, ber: MEASURES[measured](runs[case, ber]),
        label,
        scale,
        log=measured == "download response time",
    )


def draw_over_ber(
    path: Path, value: Callable[[Case, str], Number], label: str, scale: float, *, log: bool
) -> None:
    """Draw a curve a variant over the bit error rate, a panel a setting of delayed ACK."""
    with picture(path, (11, 4.2)) as figure:
        panels = figure.subplots(1, 2, sharey=True)
        for axes, delayed in zip(panels, DELAYED_ACK, strict=True):
            for variant in VARIANTS:
                numbers = [value((variant, delayed), ber) for ber in BERS]
                curve(
                    axes,
                    [float(ber) for ber in BERS],
                    numbers,
                    scale=scale,
                    color=COLOURS[variant],
                    marker="o" if variant in STANDARD else "s",
                    ls="-" if variant.endswith("sack") else "--",
                    label=LABELS[variant],
                )
            axes.set_xscale("log")
            axes.set_title(f"delayed ACK {delayed}")
            axes.set_xlabel("bit error rate of the downlink")
            if log:
                axes.set_yscale("log")
            else:
                axes.set_ylim(bottom=0)
        panels[0].set_ylabel(label)
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4)
