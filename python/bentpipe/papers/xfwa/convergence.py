"""Beyond the document: how soon the flows are equal after each change, and a handover."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bentpipe.grid import Cell, Grid
from bentpipe.plot import Subject
from bentpipe.reproduction import Context, Settings
from bentpipe.results import Run
from bentpipe.style import CYCLE, GREY, drawing, save

from .bottleneck import Bottleneck, Series
from .runs import LABELS, PAYLOAD, SEEDS, flows, jain, link, moments, over, plain, xfwa
from .schemes import SCHEMES, on_network
from .staged import BUFFER, CHANGES_S, END_S, RATE_BPS, STARTS_S, WORDS, Staged, staged
from .runs import STAGED

FAIR = 0.95
"""Jain's index from which flows count as equal, over `WINDOW_S`."""

WINDOW_S = 1.0
STEP_S = 0.1


def fairness(acked: Callable[[str, Series], Series], sending: Callable[[float], list[str]]) -> tuple[Series, Series]:
    """Give times, and Jain's index over what was acknowledged in the `WINDOW_S` before each."""
    times = np.arange(WINDOW_S, END_S + STEP_S / 2, STEP_S)
    index = []
    for moment in times:
        edges = np.array([moment - WINDOW_S, moment])
        names = sending(moment - STEP_S / 2)
        index.append(jain([float(np.diff(acked(name, edges))[0]) for name in names]))
    return times, np.array(index)


def settles(times: Series, index: Series, change: float, end: float) -> float | None:
    """Give the time after a change from which on the index stays at `FAIR` until `end`; none if it does not."""
    inside = (times >= change + WINDOW_S) & (times <= end)
    below = times[inside][index[inside] < FAIR]
    if len(below) == 0:
        return WINDOW_S
    after = float(below[-1]) + STEP_S - change
    return after if change + after <= end else None


def _time_cell(found: Sequence[float | None]) -> Cell:
    reached = [value for value in found if value is not None]
    return over(reached) if len(reached) == len(found) else f"{len(reached)} of {len(found)} runs"


def _indices(runs: Sequence[Staged]) -> list[tuple[Series, Series]]:
    return [fairness(one.acked, one.sending) for one in runs]


def measure(context: Context) -> Grid:
    """Tabulate Jain's index after each change, and how soon it stays high."""
    rows = []
    for name in SCHEMES:
        found = _indices(staged(context, on_network(name, STAGED, BUFFER)))
        for change in CHANGES_S:
            end = change + 5.0
            last = over(
                float(index[(times > end - 2.0) & (times <= end)].mean()) for times, index in found
            )
            soon = [settles(times, index, change, end) for times, index in found]
            rows.append((SCHEMES[name], WORDS[change], last, _time_cell(soon)))
    return Grid(
        f"Jain's index over the last second, mean of the last 2 s of each stage; time from which it stays at "
        f"{FAIR} (at least {WINDOW_S:g} s), or in how many runs it does. Mean and 95 % interval of {SEEDS} runs",
        ("scheme", "stage", "Jain's index", "equal after (s)"),
        tuple(rows),
    )


def draw(context: Context, path: Path) -> None:
    """Draw Jain's index over time, mean of the runs."""
    with drawing():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(9, 4), layout="constrained")
        axes = figure.subplots()
        for name, colour in zip(SCHEMES, CYCLE, strict=False):
            found = _indices(staged(context, on_network(name, STAGED, BUFFER)))
            axes.plot(
                found[0][0], np.mean([index for _, index in found], axis=0), color=colour, label=SCHEMES[name]
            )
        for change in CHANGES_S[1:]:
            axes.axvline(change, color=GREY, lw=0.8, ls=":")
        axes.set_xlabel("time (s)")
        axes.set_ylabel("Jain's index over the last second")
        axes.set_xlim(0, END_S)
        axes.set_ylim(top=1.01)
        figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=4)
        save(figure, path)


HANDOVER = "handover.toml"
AT_S = 10.0
_BEFORE = {"a": ("first1", "first2", "moved1", "moved2"), "b": ("second1", "second2", "second3", "second4")}
_AFTER = {"a": _BEFORE["a"][:2], "b": (*_BEFORE["b"], "moved1", "moved2")}
CASES: Mapping[str, tuple[str, Settings]] = {
    "standard TCP": ("tcp", {}),
    "standard TCP, what is under way is lost": ("tcp", {"handovers.moved.in_flight": "lose"}),
    "XFWA": ("xfwa", {}),
    "XFWA, what is under way is lost": ("xfwa", {"handovers.moved.in_flight": "lose"}),
    "XFWA, the new one has not seen the SYN": ("left", {}),
}
"""The last leaves windows of flows alone whose scale it has not seen; the others take the scale for zero."""

_OPTIONS = 'rtt = "ttl", isl_delay = "20 ms"'


@dataclass(frozen=True)
class Handover:
    """One run with its series."""

    subject: Subject

    def acked(self, name: str, times_s: Series) -> Series:
        """Give the segments acknowledged of a flow at each time."""
        trace = self.subject.traces.get(name, "acked")
        places = np.searchsorted(trace.time_s, times_s, side="right")
        reached: Series = np.concatenate([[0.0], trace.value])[places] / PAYLOAD
        return reached

    def index(self, side: str) -> tuple[Series, Series]:
        """Give Jain's index over time of the flows on one of the two rows."""
        return fairness(self.acked, lambda moment: list((_BEFORE if moment < AT_S else _AFTER)[side]))

    def wait_ms(self, side: str, start_s: float, end_s: float) -> float:
        """Give the mean wait in the queue of a row."""
        bottleneck = Bottleneck.of(self.subject, f"isl1-{side}", RATE_BPS)
        times = np.arange(start_s, end_s, 0.01)
        return float(bottleneck.queue(times).mean()) * bottleneck.service_s * 1e3

    def dropped(self) -> float:
        """Give the segments that found no room from the handover on."""
        names = [name for names in _BEFORE.values() for name in names]
        return float(sum((self.subject.traces.get(name, "dropped").time_s > AT_S).sum() for name in names))


def handovers(context: Context, case: str, seeds: int = SEEDS) -> list[Handover]:
    """Run a case so often."""
    kind, changes = CASES[case]
    unscaled = {"tcp.window_scaling": "false", "tcp.receive_window": "65535 B"}
    gateway = xfwa_on_both() if kind != "tcp" else {}
    scaling = {} if kind == "left" else unscaled
    names = [name for names in _BEFORE.values() for name in names]
    return [
        Handover(
            context.trace(HANDOVER, {**changes, **gateway, **scaling, **moments(names, seed)}, title=case)
        )
        for seed in range(1, seeds + 1)
    ]
