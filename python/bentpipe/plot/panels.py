"""The panels of a run. Each gives what its legend shows: a handle for each label."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from bentpipe.plot.choice import Choice, Drawn
from bentpipe.plot.curves import Band, Curves, Values
from bentpipe.plot.flow_path import LOSSY, PathCurves, joined
from bentpipe.plot.run import DrawnRun
from bentpipe.show.scales import label_axis
from bentpipe.show.style import BLUE, GREEN, GREY, ORANGE, PURPLE, RED, SKY, YELLOW

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Legend: TypeAlias = dict[str, Any]

_RASTER_ABOVE = 5_000
_RESENT = "segment resent"
_HIDING = 200
"""So many marks would hide the curve that they stand on, and go behind it."""

_PROPAGATION = "propagation alone"
_MANY = 40
"""With so many changes of paths, their marks are faint."""
_LANE = 0.7
"""Share of its lane that a flow's phases fill."""
# By the number of a phase: what lasts is pale.
_PHASES = (
    *(ORANGE, SKY, "#c9c9c9", PURPLE, BLUE, "#a9c4b0", YELLOW, GREEN),
    *("#7b4b2a", "#00838f", "#c2185b", "#222222", "#c9b79c"),
)


@dataclass(frozen=True)
class View:
    """What one column shows: curves of a run, which of its flows, and which queues in which colour."""

    curves: Curves
    choice: Choice
    queues: Sequence[tuple[str, str]] = ()
    phased: Sequence[Drawn] = ()
    """Flows that go through phases, in this run or in another beside it."""
    paths: Mapping[str, PathCurves] = field(default_factory=dict)
    """By the names of flows, where their path changes with time."""


def draw_sequence(axes: "Axes", subject: DrawnRun, *, legend: bool = True) -> None:
    """Draw what was sent, resent, acknowledged and selectively acknowledged, seen by the sender, in bytes."""
    times = [time for trace in subject.traces for time in trace.time_s[[0, -1]] if len(trace.time_s)]
    start, end = min(times, default=0.0), max(times, default=1.0)
    entries = sequence(axes, View(Curves(subject, start, end), Choice.of([subject])))
    label_axis([axes], "sequence number", "B")
    if legend and entries:
        axes.legend(entries.values(), entries.keys(), loc="upper left", markerscale=2)


def sequence(axes: "Axes", view: View) -> Legend:
    """Draw the data of each chosen flow, and of the others how much was acknowledged."""
    entries: Legend = {}
    for group in view.choice.bands:
        entries |= _band(axes, view.curves.delivered_band(group.flows), group)
    resent: Legend = {}
    for flow in view.choice.lines:
        connections = view.curves.connections(flow.flows[0])
        if not connections:
            continue
        if len(connections) > 1:
            entries |= _steps(axes, view.curves.delivered(flow.flows[0]), flow.colour, flow.label)
            continue
        name = connections[0]
        sent = view.curves.points(name, "sent")
        if not view.curves.has(name, "cwnd"):
            label = "datagram sent" if view.choice.alone else flow.label
            entries |= _dots(axes, sent, flow.colour, label, size=2.2)
            continue
        dots = _dots(axes, sent, flow.colour, "segment sent", size=2.2)
        acked = view.curves.held(name, "acked")
        if view.choice.alone:
            entries |= dots | _steps(axes, acked, GREY, "acknowledged", width=0.9)
            blocks = view.curves.blocks(name)
            if len(blocks[0]):
                entries["SACK block received"] = axes.vlines(*blocks, color=GREEN, lw=1.6, alpha=0.55)
        else:
            entries |= _steps(axes, acked, flow.colour, flow.label)
        resent |= _dots(axes, view.curves.points(name, "resent"), RED, _RESENT, size=6, marker="x")
    return entries | resent


def window(axes: "Axes", view: View) -> Legend:
    """Draw cwnd, and for a single flow also ssthresh and flight size."""
    if not view.choice.alone:
        _every(axes, view, "cwnd")
        return {}
    entries: Legend = {}
    for flow in view.choice.lines:
        for name in view.curves.connections(flow.flows[0]):
            flight, ssthresh = (view.curves.held(name, kind) for kind in ("flight", "ssthresh"))
            entries |= _steps(axes, flight, GREY, "flight size", width=0.8)
            entries |= _steps(axes, ssthresh, ORANGE, "ssthresh", style="--")
            entries |= _steps(axes, view.curves.held(name, "cwnd"), BLUE, "cwnd")
    return entries


def round_trip(axes: "Axes", view: View) -> Legend:
    """Draw RTT samples over the propagation of paths that change, or a single flow's with its RTO."""
    entries = _propagation(axes, view)
    if not view.choice.alone:
        _every(axes, view, "rtt")
        return entries
    for flow in view.choice.lines:
        for name in view.curves.connections(flow.flows[0]):
            if not view.paths:
                entries |= _steps(axes, view.curves.held(name, "rto"), ORANGE, "RTO")
            entries |= _steps(axes, view.curves.held(name, "rtt"), BLUE, "RTT, newest sample")
    return entries


def rate(axes: "Axes", view: View) -> Legend:
    """Draw pacing rates and delivery rates."""
    entries: Legend = {}
    for group in view.choice.bands:
        _band(axes, view.curves.band(group.flows, "delivery_rate"), group)
    for flow in view.choice.lines:
        pacing, delivery = (BLUE, ORANGE) if view.choice.alone else (flow.colour, flow.colour)
        for name in view.curves.connections(flow.flows[0]):
            delivered, paced = (view.curves.held(name, kind) for kind in ("delivery_rate", "pacing_rate"))
            entries |= _steps(axes, delivered, delivery, "delivery rate", width=0.9)
            entries |= _steps(axes, paced, pacing, "pacing rate", style="-" if view.choice.alone else "--")
    if view.choice.alone:
        return entries
    # The colours are those of the flows.
    return {label: _line(line.get_linestyle()) for label, line in entries.items()}


def goodput(axes: "Axes", view: View) -> Legend:
    """Draw what each flow over TCP delivers, and what its narrowest link carries where that changes."""
    entries: Legend = {}
    drawn: list[Values] = []
    for path in view.paths.values():
        if len(path.rate_bps) and not any(np.array_equal(path.rate_bps, d) for d in drawn):
            drawn.append(path.rate_bps)
            entries |= _steps(axes, (path.time_s, path.rate_bps), GREY, "narrowest link", width=0.9)
    for group in view.choice.bands:
        _band(axes, view.curves.goodput_band(group.flows), group)
    for flow in view.choice.lines:
        names = view.curves.connections(flow.flows[0])
        if any(view.curves.has(name, "acked") for name in names):
            _steps(axes, view.curves.goodput(flow.flows[0]), flow.colour, flow.label)
    return entries


def phase(axes: "Axes", view: View) -> Legend:
    """Draw the phases that controls and slow starts go through, a lane a flow."""
    drawn: Legend = {}
    for lane, flow in enumerate(view.phased):
        names = view.curves.connections(flow.flows[0])
        height = _LANE / max(len(names), 1)
        for number, name in enumerate(names):
            bottom = lane + (1 - _LANE) / 2 + number * height
            spans: dict[str, list[tuple[float, float]]] = {}
            for each in view.curves.phases(name):
                spans.setdefault(each.name, []).append((each.start_s, each.end_s - each.start_s))
            for title, where in spans.items():
                colour = _PHASES[view.curves.number_of_phase(title) % len(_PHASES)]
                drawn[title] = axes.broken_barh(where, (bottom, height), facecolors=colour, lw=0)
    axes.set_ylim(len(view.phased), 0)
    axes.set_yticks(
        [lane + 0.5 for lane in range(len(view.phased))],
        ["" if view.choice.alone else flow.label for flow in view.phased],
    )
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    return dict(sorted(drawn.items(), key=lambda entry: view.curves.number_of_phase(entry[0])))


def buffer(axes: "Axes", view: View) -> Legend:
    """Draw what is in the buffers of relays, in the colours of their flows."""
    _every(axes, view, "buffer")
    return {}


def queue(axes: "Axes", view: View) -> Legend:
    """Draw the length of the longest queues, the longest behind the others."""
    entries: Legend = {}
    for name, colour in view.queues:
        entries |= _steps(axes, view.curves.held(name, "queue"), colour, name, width=1.0)
    if not entries:
        text = "no packet had to wait"
        axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", color=GREY)
    return entries


def shade(column: Sequence["Axes"], view: View) -> Legend:
    """Mark in all panels when paths change, and shade when nothing or little gets through."""
    entries: Legend = {}
    drawn = _drawn_paths(view)
    start, end = view.curves.start, view.curves.end
    without = [span for _, path in drawn for span in path.without]
    lossy = [span for _, path in drawn for span in path.lossy]
    lossy_label = f"links lose {100 * LOSSY:.0f} % or more"
    for label, colour, spans in (("no path", RED, without), (lossy_label, ORANGE, lossy)):
        shown = ((max(first, start), min(last, end)) for first, last in spans)
        # Nobody sees a gap of a thousandth of the picture.
        for first, last in joined(shown, (end - start) / 1000):
            for axes in column:
                entries[label] = axes.axvspan(first, last, color=colour, alpha=0.3, lw=0, zorder=0.9)
    changes = [(at, colour) for colour, path in drawn for at in path.changes if start <= at <= end]
    style: dict[str, Any] = {"lw": 0.9, "ls": (0, (5, 3)), "alpha": 1.0 if len(changes) < _MANY else 0.4}
    for at, colour in changes:
        for axes in column:
            axes.axvline(at, color=colour, zorder=1.2, **style)
        entries["path changes"] = _line("--")
    return entries


def _drawn_paths(view: View) -> list[tuple[Any, PathCurves]]:
    """Give the paths that differ, each in the colour of its first flow; one alone is nobody's."""
    from matplotlib.colors import to_rgb

    found: list[tuple[Any, PathCurves]] = []
    for flow in view.choice.lines:
        path = view.paths.get(flow.flows[0])
        if path is not None and not any(path.like(other) for _, other in found):
            dark = tuple(0.55 * part for part in to_rgb(flow.colour))
            found.append((dark, path))
    return [(GREY, path) for _, path in found] if len(found) == 1 else found


def _propagation(axes: "Axes", view: View) -> Legend:
    """Draw what propagation takes: an area if it is the same for all flows, otherwise a line for each."""
    drawn = _drawn_paths(view)
    if len(drawn) == 1:
        path = drawn[0][1]
        area = axes.fill_between(
            path.time_s, 0, path.rtt_s, step="post", color=GREY, alpha=0.35, lw=0, zorder=1.4
        )
        return {_PROPAGATION: area}
    for colour, path in drawn:
        _steps(axes, (path.time_s, path.rtt_s), colour, _PROPAGATION, style="--", width=1.6)
    return {_PROPAGATION: _line("--")} if drawn else {}


def _every(axes: "Axes", view: View, kind: str) -> None:
    for group in view.choice.bands:
        _band(axes, view.curves.band(group.flows, kind), group)
    for flow in view.choice.lines:
        for name in view.curves.connections(flow.flows[0]):
            _steps(axes, view.curves.held(name, kind), flow.colour, flow.label)


def _band(axes: "Axes", band: Band | None, group: Drawn) -> Legend:
    if band is None:
        return {}
    shade = axes.fill_between(
        band.time_s, band.lower, band.upper, step="post", color=group.colour, alpha=0.3, lw=0, zorder=1.5
    )
    (line,) = axes.step(band.time_s, band.median, where="post", color=group.colour, lw=1.1, zorder=1.8)
    return {group.label: (shade, line)}


def _steps(
    axes: "Axes",
    curve: tuple[Values, Values],
    colour: Any,
    label: str,
    *,
    style: str = "-",
    width: float = 1.3,
) -> Legend:
    if not len(curve[0]):
        return {}
    (line,) = axes.step(*curve, where="post", color=colour, ls=style, lw=width)
    return {label: line}


def _line(style: str) -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], color=GREY, ls=style, lw=1.3)


def _dots(
    axes: "Axes", points: tuple[Values, Values], colour: str, label: str, *, size: float, marker: str = "."
) -> Legend:
    if not len(points[0]):
        return {}
    (dots,) = axes.plot(
        *points,
        marker,
        ms=size,
        color=colour,
        rasterized=len(points[0]) > _RASTER_ABOVE,
        zorder=2 if marker != "x" else 3 if len(points[0]) < _HIDING else 1,
    )
    return {label: dots}
