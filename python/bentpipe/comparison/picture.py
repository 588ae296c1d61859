"""A comparison as pictures: the number with its interval, and shares of the time as bars."""

from pathlib import Path
from typing import TYPE_CHECKING

from bentpipe.comparison.measure import limit_names
from bentpipe.numbers.number import ends
from bentpipe.show.scales import unit_of
from bentpipe.show.style import BLUE, GREEN, GREY, ORANGE, PURPLE, RED, SKY, picture, plain

if TYPE_CHECKING:
    from bentpipe.comparison.result import Comparison

# Colour, and that of the number on it.
_COLOURS = {
    "link": (SKY, "black"),
    "receive_window": (GREEN, "white"),
    "loss_response": (RED, "white"),
    "slow_start": (ORANGE, "black"),
    "timeouts": (PURPLE, "white"),
    "application": (GREY, "white"),
    "control": (BLUE, "white"),
}
_NUMBERED, _NAMED = 5, 22
"""Per cent from which on there is room for the number, and for the name too."""


def draw_values(comparison: "Comparison", path: Path) -> None:
    """Draw the number compared, with its intervals and the best at the top, to a .png or .svg file."""
    variants = comparison.variants
    scale, unit = unit_of(comparison.measure.metric, [variant.value["mean"] for variant in variants])
    with picture(path, (7.5, 1.0 + 0.3 * len(variants)), about=comparison.scenario) as figure:
        axes = figure.add_subplot()
        for place, variant in enumerate(variants):
            centre, (low, high) = variant.value["mean"], ends(variant.value)
            axes.errorbar(
                [centre / scale],
                [place],
                xerr=[[(centre - low) / scale], [(high - centre) / scale]],
                color=BLUE,
                marker="o",
                capsize=3,
            )
        axes.set_yticks(range(len(variants)), [plain(variant.name) for variant in variants])
        axes.set_ylim(len(variants) - 0.5, -0.5)
        axes.set_xlim(left=0)
        axes.set_xlabel(f"{comparison.measure.number.heading} ({unit})")
        axes.set_title(plain(comparison.scenario))


def draw_limits(comparison: "Comparison", path: Path) -> None:
    """Write the picture of what limits each variant, the best at the top, to a .png or .svg file."""
    variants = [(variant.name, variant.limits or {}) for variant in comparison.variants]
    size = (7.5, 1.3 + 0.36 * len(variants))
    with picture(path, size, about=comparison.scenario) as figure:
        axes = figure.add_subplot()
        begins = [0.0] * len(variants)
        for limit, label in limit_names().items():
            widths = [100 * limits[limit]["mean"] for _, limits in variants]
            if not any(widths):
                continue
            colour, ink = _COLOURS[limit]
            bars = axes.barh(
                range(len(widths)), widths, left=begins, color=colour, edgecolor="white", label=label
            )
            texts = [
                f"{label} {width:.0f}" if width >= _NAMED else f"{width:.0f}" if width >= _NUMBERED else ""
                for width in widths
            ]
            axes.bar_label(bars, texts, label_type="center", color=ink, fontsize=8)
            begins = [begin + width for begin, width in zip(begins, widths, strict=True)]
        axes.set_yticks(range(len(variants)), [plain(name) for name, _ in variants])
        axes.invert_yaxis()
        axes.set_xlim(0, 100)
        axes.set_xlabel("share of the time in which it limits (%)")
        axes.set_title(plain(comparison.scenario))
        axes.grid(visible=False, axis="y")
        figure.legend(loc="outside lower center", ncols=4)
