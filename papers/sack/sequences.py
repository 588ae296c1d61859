"""The schemes' sequence numbers against time, side by side."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from bentpipe.plot import DrawnRun, draw_sequence, label_axis

from .runs import COLOURS, LABELS

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_sequences(
    panels: "Sequence[Axes]",
    traces: Mapping[str, DrawnRun],
    span: tuple[float, float],
    kilobytes: tuple[float, float],
    *,
    legend: bool = True,
) -> None:
    """Draw the transfer of each scheme in a panel: `span` in s, `kilobytes` of sequence numbers in kB."""
    for axes, (scheme, subject) in zip(panels, traces.items(), strict=True):
        part = DrawnRun(subject.title, subject.run, subject.traces.between(*span))
        draw_sequence(axes, part, legend=legend and scheme == "sack")
        axes.set_title(LABELS[scheme], color=COLOURS[scheme])
        axes.set_xlim(*span)
        axes.set_ylim(*(1e3 * end for end in kilobytes))
        axes.set_xlabel("time (s)")
    label_axis(panels, "sequence number", "B")
    for axes in panels[1:]:
        axes.set_ylabel("")
