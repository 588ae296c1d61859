"""Figures 3 to 5: one file again and again, by TCP and by TCP-AFC in turn, over the dedicated link."""

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from bentpipe.results import Estimate, Run
from bentpipe.show.style import picture
from bentpipe_papers.common import curve, over
from bentpipe_papers.reproduction.grid import Grid
from bentpipe_papers.reproduction.reproduce import Context, Row

from .runs import (
    BERS,
    COLOURS,
    LABELS,
    SCHEMES,
    SEEDS,
    bars,
    counted_errors,
    paired,
    rate,
    throughput,
    throughputs,
    transfers,
)

Runs = Mapping[tuple[str, str], list[Run]]

ATTEMPTS = 10
"""Transfers of each scheme in a series: the document made "multiple"."""

SERIES = 20
"""Series, so that what is said of one series has an interval."""


def _average(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _deviation(values: Sequence[float]) -> float:
    return float(np.std(values, ddof=1))


LEVELS: Mapping[str, Callable[[Sequence[float]], float]] = {
    "minimum": min,
    "average": _average,
    "maximum": max,
}
SPREADS: Mapping[str, Callable[[Sequence[float]], float]] = {
    "mean throughput": _average,
    "standard deviation of throughput": _deviation,
    "coefficient of variation of throughput": lambda rates: 100 * _deviation(rates) / _average(rates),
}
"""What is read off a series of transfers, of their throughputs in kB/s: levels, and how they vary."""


def with_errors(context: Context, bers: Sequence[str]) -> Runs:
    """Run all series at these error rates, with segment losses as counted."""
    return transfers(context, {ber: counted_errors(context, ber) for ber in bers}, seeds=ATTEMPTS * SERIES)


def of_series(runs: Sequence[Run], choose: Callable[[Sequence[float]], float]) -> Estimate:
    """Give something of each series of throughputs, in kB/s: mean and interval over the series."""
    rates = [throughput(run) for run in runs]
    return over(choose(rates[first : first + ATTEMPTS]) for first in range(0, len(rates), ATTEMPTS))


def figure_3(context: Context) -> list[Row]:
    """Give the rows of figure 3: level and variation at 1e-6."""
    runs = with_errors(context, ("1e-6",))
    return [
        context.claim("BER 1e-6", metric, {name: of_series(runs["1e-6", name], choose) for name in SCHEMES})
        for metric, choose in SPREADS.items()
    ]


def figure_4(context: Context) -> list[Row]:
    """Give the rows of figure 4: minimum, average and maximum at 1e-6."""
    return _extremes(context, with_errors(context, ("1e-6",)), "1e-6")


def figure_5(context: Context) -> list[Row]:
    """Give the rows of figure 5: levels at 1e-5, and beside those at 1e-6."""
    runs = with_errors(context, BERS)
    gains = {ber: paired(runs[ber, "afc"], runs[ber, "tcp"]) for ber in BERS}
    lost = {
        name: over(100 * (1 - part) for part in paired(runs["1e-5", name], runs["1e-6", name])["values"])
        for name in SCHEMES
    }
    return [
        *_extremes(context, runs, "1e-5"),
        context.claim("gain of AFC", "throughput of AFC over TCP's", gains),
        context.claim(
            "TCP degrades", "average throughput", {ber: throughputs(runs[ber, "tcp"]) for ber in BERS}
        ),
        context.claim("share lost from BER 1e-6 to 1e-5", "share of the average throughput", lost),
    ]


def _extremes(context: Context, runs: Runs, ber: str) -> list[Row]:
    return [
        context.claim(
            f"BER {ber}",
            f"{place} throughput",
            {name: of_series(runs[ber, name], choose) for name in SCHEMES},
        )
        for place, choose in LEVELS.items()
    ]


SIZES_MB = (5, 10, 20)
RATES = {1024: "1 Mbit/s", 2048: "2 Mbit/s"}
"""Files and data rates of section 4.1, whose results the document keeps to itself but for one of six."""


def _combinations(context: Context) -> dict[tuple[int, int, str], Mapping[str, list[Run]]]:
    cases = {(size, kbps, ber): f"{size} {kbps} {ber}" for size in SIZES_MB for kbps in RATES for ber in BERS}
    runs = transfers(
        context,
        {
            name: {"flows.transfer.bytes": f"{size} MB", **rate(kbps), **counted_errors(context, ber)}
            for (size, kbps, ber), name in cases.items()
        },
    )
    return {case: {who: runs[name, who] for who in SCHEMES} for case, name in cases.items()}


def combinations(context: Context) -> Grid:
    """Tabulate both schemes for each file size, data rate and error rate."""
    return Grid(
        f"Throughput by file, data rate and BER (losses as counted), {SEEDS} transfers each",
        ("file (MB)", "data rate", "BER", "TCP (kB/s)", "TCP-AFC (kB/s)", "AFC over TCP"),
        tuple(
            (
                f"{size}",
                RATES[kbps],
                ber,
                *(throughputs(runs[name]) for name in SCHEMES),
                paired(runs["afc"], runs["tcp"]),
            )
            for (size, kbps, ber), runs in _combinations(context).items()
        ),
    )


def draw_combinations(context: Context, path: Path) -> None:
    """Draw the throughput of both schemes over the file size."""
    cells = _combinations(context)
    with picture(path, (11, 4)) as figure:
        panels = figure.subplots(1, len(RATES), sharey=True)
        for axes, (kbps, title) in zip(panels, RATES.items(), strict=True):
            for name in SCHEMES:
                for ber, style in zip(BERS, ("-", "--"), strict=True):
                    values = [throughputs(cells[size, kbps, ber][name]) for size in SIZES_MB]
                    label = f"{LABELS[name]}, BER {ber}"
                    curve(axes, SIZES_MB, values, color=COLOURS[name], ls=style, label=label)
            axes.set_title(title)
            axes.set_xlabel("file (MB)")
            axes.set_xticks(SIZES_MB)
            axes.set_ylim(bottom=0)
        panels[0].set_ylabel("throughput (kB/s)")
        panels[1].legend(fontsize=7)


def draw_series(context: Context, path: Path) -> None:
    """Draw figure 3: the throughput of each transfer in turn, the first series strong."""
    runs = with_errors(context, ("1e-6",))
    with picture(path, (7.5, 4)) as figure:
        axes = figure.subplots()
        for name in SCHEMES:
            rates = [throughput(run) for run in runs["1e-6", name]]
            for series in range(SERIES):
                strong = series == 0
                axes.plot(
                    range(1, ATTEMPTS + 1),
                    rates[series * ATTEMPTS : (series + 1) * ATTEMPTS],
                    "o-" if strong else "-",
                    ms=4,
                    lw=1.8 if strong else 0.5,
                    alpha=1.0 if strong else 0.35,
                    color=COLOURS[name],
                    label=LABELS[name] if strong else None,
                )
        axes.set_title(f"BER 1e-6, segment losses as counted, {SERIES} series")
        axes.set_xlabel("file transfer")
        axes.set_xticks(range(1, ATTEMPTS + 1))
        axes.set_ylim(bottom=0)
        axes.set_ylabel("throughput (kB/s)")
        axes.legend(loc="lower right")


def draw_extremes(context: Context, path: Path) -> None:
    """Draw figure 4 or 5: minimum, average and maximum; at 1e-5 beside those at 1e-6."""
    bers = ("1e-6",) if context.item == "figure-4" else BERS[::-1]
    runs = with_errors(context, bers)
    with picture(path, (1 + 5 * len(bers), 4)) as figure:
        panels = figure.subplots(1, len(bers), squeeze=False, sharey=True)[0]
        for axes, ber in zip(panels, bers, strict=True):
            for name in ("tcp", "afc"):
                bars(axes, name, [of_series(runs[ber, name], choose) for choose in LEVELS.values()], "{:.1f}")
            axes.set_xticks(range(3), list(LEVELS))
            axes.set_title(f"{ATTEMPTS} transfers of 20 MB, 2 Mbit/s, BER {ber} (losses as counted)", size=9)
            axes.grid(visible=False, axis="x")
            axes.margins(y=0.15)
        panels[0].set_ylabel("throughput (kB/s)")
        panels[0].legend(loc="upper left")
