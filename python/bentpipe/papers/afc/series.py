"""Figures 3 to 5: one file again and again, by TCP and by TCP-AFC in turn, over the dedicated link."""

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from bentpipe.papers.common import plain, width
from bentpipe.reproduction import Context, Row
from bentpipe.results import Estimate, Run
from bentpipe.style import picture

from . import notes
from .runs import (
    BERS,
    COLOURS,
    LABELS,
    SCHEMES,
    SEEDS,
    counted_errors,
    independent_errors,
    ratio,
    throughput,
    throughputs,
    transfers,
)

Runs = Mapping[tuple[str, str], list[Run]]


def _average(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


_PLACES: Mapping[str, Callable[[Sequence[float]], float]] = {
    "minimum": min,
    "average": _average,
    "maximum": max,
}


def with_errors(context: Context) -> Runs:
    """Run the transfers at both error rates, with segment losses as counted."""
    return transfers(context, {ber: counted_errors(context, ber) for ber in BERS})


def _rates(runs: Sequence[Run]) -> list[float]:
    return [throughput(run) for run in runs]


def figure_3(context: Context) -> list[Row]:
    """Give the rows of figure 3: level and variation at 1e-6."""
    rates = {name: _rates(with_errors(context)["1e-6", name]) for name in SCHEMES}
    spread = {name: float(np.std(values, ddof=1)) for name, values in rates.items()}
    share = {name: 100 * spread[name] / _average(values) for name, values in rates.items()}
    means = {name: throughputs(with_errors(context)["1e-6", name]) for name in SCHEMES}
    return [
        context.claim("BER 1e-6", "mean throughput", means, notes.COUNTED_CHANNEL),
        context.claim("BER 1e-6", "standard deviation of throughput", spread, notes.SPREAD),
        context.claim("BER 1e-6", "coefficient of variation of throughput", share, notes.SPREAD),
    ]


def extremes(context: Context) -> list[Row]:
    """Give the rows of figure 4 or 5 on minimum, average and maximum."""
    ber = "1e-6" if context.item == "figure-4" else "1e-5"
    runs = with_errors(context)
    return [
        context.claim(
            f"BER {ber}",
            f"{place} throughput",
            {name: choose(_rates(runs[ber, name])) for name in SCHEMES},
            notes.COUNTED_CHANNEL,
        )
        for place, choose in _PLACES.items()
    ]


def figure_5(context: Context) -> list[Row]:
    """Give the rows of figure 5: levels at 1e-5, and beside those at 1e-6."""
    runs = with_errors(context)
    means = {key: throughputs(values) for key, values in runs.items()}
    gains = {ber: ratio(means[ber, "afc"], means[ber, "tcp"]) for ber in BERS}
    lost: dict[str, Estimate] = {}
    for name in SCHEMES:
        left = ratio(means["1e-5", name], means["1e-6", name])
        lost[name] = {"mean": 100 * (1 - left["mean"]), "ci95": 100 * width(left), "n": left["n"]}
    return [
        *extremes(context),
        context.claim("gain of AFC", "throughput of AFC over TCP's", gains, _independent(context)),
        context.claim(
            "TCP degrades",
            "average throughput",
            {ber: means[ber, "tcp"] for ber in BERS},
            notes.COUNTED_CHANNEL,
        ),
        context.claim(
            "share lost from BER 1e-6 to 1e-5", "share of the average throughput", lost, notes.COUNTED_CHANNEL
        ),
    ]


def _independent(context: Context) -> str:
    """Say what independent bit errors make of the gain."""
    runs = transfers(context, {ber: independent_errors(ber) for ber in BERS})
    gains = {ber: plain(throughputs(runs[ber, "afc"])) / plain(throughputs(runs[ber, "tcp"])) for ber in BERS}
    return notes.independent_gain(gains)


def draw_series(context: Context, path: Path) -> None:
    """Draw figure 3: the throughput of each transfer in turn."""
    runs = with_errors(context)
    with picture(path, (11, 4)) as figure:
        panels = figure.subplots(1, 2, sharey=True)
        for axes, ber in zip(panels, BERS, strict=True):
            for name in SCHEMES:
                axes.plot(
                    range(1, SEEDS + 1),
                    _rates(runs[ber, name]),
                    "o-",
                    ms=4,
                    color=COLOURS[name],
                    label=LABELS[name],
                )
            axes.set_title(f"BER {ber}, segment losses as counted")
            axes.set_xlabel("file transfer")
            axes.set_xticks(range(1, SEEDS + 1, 3))
        panels[0].set_ylim(bottom=0)
        panels[0].set_ylabel("throughput (kB/s)")
        panels[1].legend(loc="upper right")


def draw_extremes(context: Context, path: Path) -> None:
    """Draw figure 4 or 5: minimum, average and maximum."""
    ber = "1e-6" if context.item == "figure-4" else "1e-5"
    runs = with_errors(context)
    with picture(path, (6, 4)) as figure:
        axes = figure.subplots()
        for offset, name in ((-0.2, "tcp"), (0.2, "afc")):
            values = [choose(_rates(runs[ber, name])) for choose in _PLACES.values()]
            bars = axes.bar(
                [place + offset for place in range(3)], values, 0.38, color=COLOURS[name], label=LABELS[name]
            )
            axes.bar_label(bars, fmt="{:.1f}", fontsize=8)
        axes.set_xticks(range(3), list(_PLACES))
        axes.set_ylabel("throughput (kB/s)")
        axes.set_title(f"{SEEDS} transfers of 20 MB, 2 Mbit/s, BER {ber} (losses as counted)")
        axes.grid(visible=False, axis="x")
        axes.margins(y=0.15)
        axes.legend(loc="upper left")
