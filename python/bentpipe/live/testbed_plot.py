"""Kernel and simulator in one picture: cwnd, RTT and sequence against time."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bentpipe.show.style import CYCLE, picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bentpipe.live.testbed import Compared, Series

_MOST_FLOWS = 4
_ROWS = (
    ("cwnd (kB)", (("cwnd", 1e-3),)),
    ("RTT, dotted RTO (s)", (("rtt", 1.0), ("rto", 1.0))),
    ("acknowledged (MB)", (("sequence", 1e-6),)),
)
"""Of each row: its label, and its curves with their scale; the second of a row is dotted."""


def draw(compared: Sequence["Compared"], release: str, path: Path) -> None:
    """Write a picture with a column a variant: the kernels in thin lines, the simulator in pale ones."""
    size_in = (1.5 + 4.5 * len(compared), 7.5)
    with picture(path, size_in, f"Linux {release}") as figure:
        grid = figure.subplots(len(_ROWS), len(compared), sharex="col", sharey="row", squeeze=False)
        for column, one in zip(grid.T, compared, strict=True):
            column[0].set_title(one.variant)
            column[-1].set_xlabel("time (s)")
            names = list(one.kernel.series)[:_MOST_FLOWS]
            for axes, (_, curves) in zip(column, _ROWS, strict=True):
                for colour, name in zip(CYCLE, names, strict=False):
                    if one.simulator is not None:
                        label = f"{name}, simulated"
                        _curves(axes, one.simulator.series[name], curves, colour, label, simulated=True)
                    _curves(axes, one.kernel.series[name], curves, colour, f"{name}, Linux", simulated=False)
                axes.set_ylim(bottom=0)
        for row, (label, _) in zip(grid, _ROWS, strict=True):
            row[0].set_ylabel(label)
        grid[-1][0].legend(loc="lower right")
        figure.align_ylabels(grid[:, 0])
        figure.suptitle(f"{compared[0].kernel.run['scenario']}: Linux {release}", fontweight="bold")


def _curves(
    axes: "Axes",
    series: "Series",
    curves: Sequence[tuple[str, float]],
    colour: str,
    label: str,
    *,
    simulated: bool,
) -> None:
    width, alpha = (3.2, 0.4) if simulated else (1.0, 1.0)
    for number, (kind, scale) in enumerate(curves):
        times, values = series[kind]
        style = ":" if number else "-"
        shown = label if number == 0 else None
        axes.plot(times, values * scale, color=colour, ls=style, lw=width, alpha=alpha, label=shown)
