"""Section 8 and figure 1, and what sections 2 to 5 say the four schemes do."""

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path

from bentpipe.reproduction import Context, Row
from bentpipe.results import Number
from bentpipe.style import GREY, picture

from . import notes
from .recovery import recovery, subjects, window_after
from .runs import COLOURS, LABELS, LONG_S, SCHEMES, START_S, TRAFFIC_S, Cases, Claim, terrestrial
from .sequences import draw_sequences

DURATIONS = (5, 10, 20, 43, 60)
QUEUES = ((5, 28), (7, 28), (7, 20))
"""Buffers and advertised windows, in packets; 20 is ns-2's default window. More buffer changes nothing."""


def others(context: Context) -> list[Cases]:
    """Run the cases over durations, buffers and windows, none of which is stated."""
    return [
        terrestrial(context, traffic_s=traffic_s, buffer=buffer, window=window)
        for traffic_s, (buffer, window) in product(DURATIONS, QUEUES)
    ]


class _Schemes:
    """One metric of some schemes in one case."""

    def __init__(self, case: str, metric: str, schemes: Sequence[str] = SCHEMES) -> None:
        self.case, self.metric, self.schemes = case, metric, schemes

    def __call__(self, cases: Cases) -> Mapping[str, Number]:
        return {scheme: getattr(cases[self.case][scheme], self.metric) for scheme in self.schemes}


def _gain(cases: Cases) -> Mapping[str, Number]:
    """Give SACK's efficiency above the mean of the others, in each case."""
    gains = {}
    for case, name in (("one-drop", "one drop"), ("three-drops", "three drops")):
        rest = [cases[case][scheme].efficiency for scheme in SCHEMES if scheme != "sack"]
        gains[name] = cases[case]["sack"].efficiency - sum(rest) / len(rest)
    return gains


SAME = ("reno", "newreno", "sack")
CLAIMS: dict[str, list[Claim[Cases]]] = {
    "text-one-drop": [
        Claim(
            "Tahoe has the longest queue",
            "queueing delay",
            _Schemes("one-drop", "delay"),
            notes.ONE_TAHOE_DELAY,
        ),
        Claim("Tahoe has the least throughput", "throughput", _Schemes("one-drop", "throughput")),
        Claim("Tahoe has the least efficiency", "efficiency", _Schemes("one-drop", "efficiency")),
        Claim("SACK as Reno and NewReno", "throughput", _Schemes("one-drop", "throughput", SAME)),
        Claim("SACK as Reno and NewReno", "efficiency", _Schemes("one-drop", "efficiency", SAME)),
        Claim(
            "SACK has the shortest queue",
            "queueing delay",
            _Schemes("one-drop", "delay"),
            notes.ONE_SACK_DELAY,
        ),
        Claim(
            "SACK no better than the other three",
            "efficiency",
            _Schemes("one-drop", "efficiency"),
            notes.ONE_NO_BETTER,
        ),
    ],
    "figure-1": [
        Claim("Reno has the lowest efficiency", "efficiency", _Schemes("three-drops", "efficiency")),
        Claim("Reno has the lowest throughput", "throughput", _Schemes("three-drops", "throughput")),
        Claim(
            "Reno has by far the longest queue",
            "queueing delay",
            _Schemes("three-drops", "delay"),
            notes.THREE_RENO_DELAY,
        ),
        Claim(
            "SACK has the highest efficiency",
            "efficiency",
            _Schemes("three-drops", "efficiency"),
            notes.THREE_SACK,
        ),
        Claim(
            "SACK has the highest throughput",
            "throughput",
            _Schemes("three-drops", "throughput"),
            notes.THREE_SACK,
        ),
        Claim(
            "SACK has the shortest queue",
            "queueing delay",
            _Schemes("three-drops", "delay"),
            notes.THREE_SACK_DELAY,
        ),
        Claim(
            "SACK gains more from three drops than from one", "efficiency above the mean of the others", _gain
        ),
        Claim("one drop: Reno far better than Tahoe", "efficiency", _Schemes("one-drop", "efficiency")),
        Claim("Reno waits for the timer, the others do not", "timeouts", _Schemes("three-drops", "timeouts")),
    ],
}


def one_drop(context: Context) -> list[Row]:
    """Give the rows of the case with one drop."""
    cases, elsewhere = terrestrial(context), others(context)
    rows = [claim.row(context, cases, elsewhere) for claim in CLAIMS["text-one-drop"]]
    traces = subjects(context, "one-drop.toml")
    tahoe = recovery(traces["tahoe"])
    growth = window_after(traces["tahoe"], 3 * tahoe.rtt_s) - window_after(traces["tahoe"], 2 * tahoe.rtt_s)
    return [
        *rows,
        context.claim(
            "SACK resends the dropped packet first",
            "time of the retransmission after the first SYN",
            {scheme: recovery(trace).again_s[0] - START_S for scheme, trace in traces.items()},
            notes.ONE_FIRST,
        ),
        context.number("Tahoe, window after the drop", "window at once", window_after(traces["tahoe"], 0.0)),
        context.number(
            "Tahoe, window after the drop", "growth in the third round trip", growth, notes.ONE_GROWTH
        ),
    ]


def three_drops(context: Context) -> list[Row]:
    """Give the rows of figure 1."""
    cases, elsewhere = terrestrial(context), others(context)
    sack = cases["three-drops"]["sack"]
    lost_s = TRAFFIC_S * (1 - sack.whole_packets / 100)
    published = float(context.published("SACK", "efficiency").published)
    reached_s = lost_s / (1 - published / 100)
    headers = sack.efficiency / sack.whole_packets
    payload_s = lost_s / (1 - published / 100 / headers)
    return [
        context.number("SACK", "efficiency", sack.efficiency, notes.efficiency_94(reached_s, payload_s)),
        context.number(
            "SACK",
            "efficiency, headers counted as data",
            sack.whole_packets,
            notes.whole_packets_94(lost_s, reached_s),
        ),
        *(claim.row(context, cases, elsewhere) for claim in CLAIMS["figure-1"]),
    ]


def schemes(context: Context) -> list[Row]:
    """Give the rows of sections 2 to 5."""
    one = {scheme: recovery(trace) for scheme, trace in subjects(context, "one-drop.toml").items()}
    three = {scheme: recovery(trace) for scheme, trace in subjects(context, "three-drops.toml").items()}
    return [
        context.number("Tahoe, one drop", "timeouts", float(one["tahoe"].timeouts)),
        context.number("Reno, one drop", "timeouts", float(one["reno"].timeouts)),
        context.number("NewReno, three drops", "timeouts", float(three["newreno"].timeouts)),
        context.number(
            "NewReno, three drops",
            "round trips to repair them",
            three["newreno"].round_trips,
            notes.NEWRENO_ROUNDS,
        ),
        context.number(
            "SACK, three drops", "round trips to repair them", three["sack"].round_trips, notes.SACK_ROUNDS
        ),
        context.claim(
            "SACK enters recovery as Reno does",
            "time of the first retransmission after the first SYN",
            {scheme: three[scheme].again_s[0] - START_S for scheme in ("reno", "sack")},
        ),
    ]


def draw_schemes(context: Context, path: Path) -> None:
    """Draw the transfers with three drops around the drops."""
    draw_sequences(subjects(context, "three-drops.toml"), path, (1.5, 4.5), (0, 150))


def draw_one_drop(context: Context, path: Path) -> None:
    """Draw the transfers with one drop around the drop."""
    draw_sequences(subjects(context, "one-drop.toml"), path, (1.5, 4.5), (0, 150))


def draw_three_drops(context: Context, path: Path) -> None:
    """Draw efficiency with one and three drops, and how it depends on the duration."""
    cases = terrestrial(context)
    published = float(context.published("SACK", "efficiency").published)
    durations = (2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 43, LONG_S, 90, 120)
    by_duration = [terrestrial(context, traffic_s=duration)["three-drops"] for duration in durations]
    with picture(path, (11, 4.2)) as figure:
        bars, curves = figure.subplots(1, 2)
        for offset, case, alpha in ((-0.2, "one-drop", 0.4), (0.2, "three-drops", 1.0)):
            for index, scheme in enumerate(SCHEMES):
                value = cases[case][scheme].efficiency
                bar = bars.bar(index + offset, value, 0.38, color=COLOURS[scheme], alpha=alpha)
                bars.bar_label(bar, fmt="%.1f", padding=2, fontsize=8)
        bars.set_xticks(range(len(SCHEMES)), [LABELS[scheme] for scheme in SCHEMES])
        bars.set_title(f"{TRAFFIC_S} s of traffic: one drop (pale), three drops (full)")
        bars.set_ylabel("efficiency, goodput over link rate (%)")
        bars.grid(visible=False, axis="x")
        for scheme in SCHEMES:
            values = [measured[scheme].whole_packets for measured in by_duration]
            curves.plot(durations, values, color=COLOURS[scheme], marker="o", ms=3, label=LABELS[scheme])
        curves.axhline(published, color=GREY, lw=0.9, ls="--", label=f"the document's {published:g} %")
        curves.set_xscale("log")
        curves.set_xticks((2, 5, 10, 20, 43, 120), ("2", "5", "10", "20", "43", "120"))
        curves.minorticks_off()
        curves.set_ylim(0, 105)
        curves.set_title("Three drops, by duration, headers counted as data")
        curves.set_xlabel("traffic (s)")
        curves.set_ylabel("efficiency (%)")
        curves.legend(loc="lower right")
