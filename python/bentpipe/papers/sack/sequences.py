"""The four schemes' sequence numbers against time, side by side."""

from collections.abc import Mapping
from pathlib import Path

from bentpipe.plot import Subject, draw_sequence, label_axis
from bentpipe.style import picture

from .runs import COLOURS, LABELS


def draw_sequences(
    traces: Mapping[str, Subject], path: Path, span: tuple[float, float], kilobytes: tuple[float, float]
) -> None:
    """Draw the transfer of each scheme in a panel: `span` in s, `kilobytes` of sequence numbers in kB."""
    with picture(path, (13, 4.2)) as figure:
        panels = figure.subplots(1, len(traces), sharey=True)
        for axes, (scheme, subject) in zip(panels, traces.items(), strict=True):
            part = Subject(subject.title, subject.run, subject.traces.between(*span))
            draw_sequence(axes, part, legend=scheme == "sack")
            axes.set_title(LABELS[scheme], color=COLOURS[scheme])
            axes.set_xlim(*span)
            axes.set_xlabel("time (s)")
        panels[0].set_ylim(*(1e3 * end for end in kilobytes))
        label_axis(panels, "sequence number", "B")
        for axes in panels[1:]:
            axes.set_ylabel("")
