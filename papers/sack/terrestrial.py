"""Section 8 and figure 1, and what sections 2 to 5 say the four schemes do."""

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from statistics import mean

from bentpipe.plot import DrawnRun
from bentpipe.results import Number
from bentpipe.show.style import GREY, picture
from bentpipe_papers.reproduction.reproduce import Context, Row

from .recovery import (
    largest_window_in_repair,
    longest_pause,
    most_resent_in_a_round_trip,
    new_before_known_losses,
    recovery,
    round_trips_to_window,
    sent_between,
    subjects,
    window_after,
)
from .runs import (
    COLOURS,
    LABELS,
    SCHEMES,
    START_S,
    TRAFFIC_S,
    Case,
    Claim,
    terrestrial,
    terrestrial_settings,
)
from .sequences import draw_sequences

CASES = ("one-drop", "three-drops")
DURATIONS = (5, 10, 20, 43, 60)
QUEUES = ((7, 28), (5, 28), (7, 20))
"""Buffers and advertised windows, in packets; 20 is ns-2's default window. More buffer changes nothing."""

WINDOW_OF_THE_DROP = 15
"""Packets that are under way when the first one is dropped."""

Cases = Mapping[str, Case]
"""Terrestrial runs by case and scheme."""

Setting = tuple[int, int, int]
"""Seconds of traffic, buffer, advertised window."""


def settings_tried() -> list[Setting]:
    """Give the durations, buffers and windows, none of which is stated; the first is the default."""
    return [(traffic_s, *queue) for traffic_s, queue in product(DURATIONS, QUEUES)]


def tried(context: Context, cases: Sequence[str]) -> dict[Setting, Cases]:
    """Run cases in each of these settings."""
    return {
        (traffic_s, buffer, window): {
            case: terrestrial(context, f"{case}.toml", traffic_s=traffic_s, buffer=buffer, window=window)
            for case in cases
        }
        for traffic_s, buffer, window in settings_tried()
    }


def _named(context: Context, runs: Mapping[Setting, Cases]) -> tuple[Cases, dict[str, Cases]]:
    """Give the default, and the other settings by name."""
    named = {
        f"{traffic_s} s, buffer {buffer}, window {window}": cases
        for (traffic_s, buffer, window), cases in runs.items()
    }
    buffers, windows = (" and ".join(map(str, sorted(set(some)))) for some in zip(*QUEUES, strict=True))
    context.fact(
        "tried",
        f"Of other durations from {DURATIONS[0]} to {DURATIONS[-1]} s, buffers of {buffers} packets "
        f"and windows of {windows}",
    )
    first = next(iter(named))
    return named.pop(first), named


def traced(context: Context, case: str, schemes: Sequence[str] = SCHEMES) -> dict[str, DrawnRun]:
    """Run a case with its time series under each scheme."""
    return subjects(context, f"{case}.toml", {scheme: terrestrial_settings(scheme) for scheme in schemes})


class _Schemes:
    """One metric of some schemes in one case."""

    def __init__(self, case: str, metric: str, schemes: Sequence[str] = SCHEMES) -> None:
        self.case, self.metric, self.schemes = case, metric, schemes

    def __call__(self, cases: Cases) -> Mapping[str, Number]:
        return {scheme: getattr(cases[self.case][scheme], self.metric) for scheme in self.schemes}


def _gain(cases: Cases) -> Mapping[str, Number]:
    """Give SACK's efficiency above the mean of the others, in each case."""
    return {
        case.replace("-", " "): cases[case]["sack"].efficiency
        - mean(cases[case][scheme].efficiency for scheme in SCHEMES if scheme != "sack")
        for case in CASES
    }


def _both(cases: Cases) -> Mapping[str, Number]:
    """Give each scheme's efficiency in both cases."""
    return {
        f"{scheme} {case.partition('-')[0]}": cases[case][scheme].efficiency
        for scheme in SCHEMES
        for case in CASES
    }


def _one(case: str, metric: str, of: str, schemes: Sequence[str] = SCHEMES) -> Claim[Cases]:
    return Claim(case, metric, _Schemes("one-drop", of, schemes))


def _three(case: str, metric: str, of: str) -> Claim[Cases]:
    return Claim(case, metric, _Schemes("three-drops", of))


SAME = ("reno", "newreno", "sack")
CLAIMS: dict[str, list[Claim[Cases]]] = {
    "text-one-drop": [
        _one("Tahoe has the longest queue", "queueing delay", "delay"),
        _one("Tahoe has the least throughput", "throughput", "throughput"),
        _one("Tahoe has the least efficiency", "efficiency", "efficiency"),
        _one("SACK as Reno and NewReno", "throughput", "throughput", SAME),
        _one("SACK as Reno and NewReno", "efficiency", "efficiency", SAME),
        _one("SACK has the shortest queue", "queueing delay", "delay"),
        _one("SACK no better than the other three", "efficiency", "efficiency"),
    ],
    "figure-1": [
        _three("Reno has the lowest efficiency", "efficiency", "efficiency"),
        _three("Reno has the lowest throughput", "throughput", "throughput"),
        _three("Reno has by far the longest queue", "queueing delay", "delay"),
        _three("SACK has the highest efficiency", "efficiency", "efficiency"),
        _three("SACK has the highest throughput", "throughput", "throughput"),
        _three("SACK far ahead", "efficiency", "efficiency"),
        _three("SACK far ahead", "throughput", "throughput"),
        _three("SACK has the shortest queue", "queueing delay", "delay"),
        Claim(
            "SACK gains more from three drops than from one", "efficiency above the mean of the others", _gain
        ),
        Claim("three drops worse than one", "efficiency", _both),
        _one("one drop: Reno far better than Tahoe", "efficiency", "efficiency"),
        _one("one drop: Reno far better than Tahoe", "throughput", "throughput"),
        _three("Reno waits for the timer, the others do not", "timeouts", "timeouts"),
    ],
}


def one_drop(context: Context) -> list[Row]:
    """Give the rows of the case with one drop."""
    runs = tried(context, CASES[:1])
    default, others = _named(context, runs)
    rows = [claim.row(context, default, others) for claim in CLAIMS["text-one-drop"]]
    traces = traced(context, "one-drop")
    tahoe, rtt_s = traces["tahoe"], recovery(traces["tahoe"]).rtt_s
    # In the middle of a round trip, since the window changes between two of them.
    growth = window_after(tahoe, 2.5 * rtt_s) - window_after(tahoe, 1.5 * rtt_s)
    first = {scheme: recovery(trace).again_s[0] - START_S for scheme, trace in traces.items()}
    context.fact("later", f"{1e3 * (first['sack'] - first['reno']):.1f} ms")
    context.fact("windows", ", ".join(f"{window_after(tahoe, (k + 0.5) * rtt_s):.0f}" for k in range(4)))
    return [
        *rows,
        context.claim(
            "SACK resends the dropped packet first", "time of the retransmission after the first data", first
        ),
        context.number("Tahoe, window after the drop", "window at once", window_after(tahoe, 0.0)),
        context.number("Tahoe, window after the drop", "growth in the third round trip", growth),
        context.claim(
            "Tahoe takes some round trips to fill the path again",
            "round trips until half of the window is back",
            {"tahoe": round_trips_to_window(tahoe, WINDOW_OF_THE_DROP / 2), "one": 1.0},
        ),
    ]


def three_drops(context: Context) -> list[Row]:
    """Give the rows of figure 1."""
    runs = tried(context, CASES)
    default, others = _named(context, runs)
    sack = default["three-drops"]["sack"]
    by_duration = [runs[duration, *QUEUES[0]]["three-drops"]["sack"].efficiency for duration in DURATIONS]
    context.fact(
        "by_duration",
        f"{by_duration[0]:.1f} % after {DURATIONS[0]} s, "
        f"{by_duration[1]:.1f} after {DURATIONS[1]}, {by_duration[-1]:.1f} after {DURATIONS[-1]}",
    )
    rows = [
        context.number("SACK", "efficiency", sack.efficiency),
        *(claim.row(context, default, others) for claim in CLAIMS["figure-1"]),
    ]
    traces = traced(context, "three-drops")
    pause = longest_pause(traces["reno"])
    sent = {scheme: float(sent_between(trace, *pause)) for scheme, trace in traces.items()}
    return [
        *rows,
        context.claim("the others send while Reno waits", "packets sent in Reno's longest pause", sent),
    ]


def schemes(context: Context) -> list[Row]:
    """Give the rows of sections 2 to 5."""
    one, three = traced(context, "one-drop"), traced(context, "three-drops")
    repaired = {scheme: recovery(trace) for scheme, trace in three.items()}
    new = {scheme: float(new_before_known_losses(three[scheme])) for scheme in ("sack",)}
    again = [time - repaired["sack"].again_s[0] for time in repaired["sack"].again_s]
    context.fact("spread", f"{again[-1] / repaired['sack'].rtt_s:.1f}")
    return [
        context.number("Tahoe, one drop", "timeouts", float(recovery(one["tahoe"]).timeouts)),
        context.number("Reno, one drop", "timeouts", float(recovery(one["reno"]).timeouts)),
        context.number(
            "Reno, three drops",
            "lost packets resent in a round trip, most",
            most_resent_in_a_round_trip(three["reno"]),
        ),
        context.number("NewReno, three drops", "timeouts", float(repaired["newreno"].timeouts)),
        context.number("NewReno, three drops", "round trips to repair them", repaired["newreno"].round_trips),
        context.number(
            "NewReno, three drops",
            "lost packets resent in a round trip, most",
            most_resent_in_a_round_trip(three["newreno"]),
        ),
        context.number("SACK, three drops", "timeouts", float(repaired["sack"].timeouts)),
        context.number("SACK, three drops", "round trips to repair them", repaired["sack"].round_trips),
        context.number("SACK, three drops", "packets resent", float(len(repaired["sack"].again_s))),
        context.number("SACK, three drops", "new packets sent before a known loss", new["sack"]),
        context.claim(
            "SACK enters recovery as Reno does",
            "time of the first retransmission after the first data",
            {scheme: repaired[scheme].again_s[0] - START_S for scheme in ("reno", "sack")},
        ),
        context.claim(
            "SACK inflates its window as Reno does",
            "largest window in recovery",
            {scheme: largest_window_in_repair(three[scheme]) for scheme in ("reno", "sack")},
        ),
    ]


def draw_schemes(context: Context, path: Path) -> None:
    """Draw the transfers around one and three drops."""
    with picture(path, (13, 7.6)) as figure:
        panels = figure.subplots(2, len(SCHEMES), sharex=True, sharey=True)
        for case, row in zip(CASES, panels, strict=True):
            draw_sequences(row, traced(context, case), (1.5, 4.5), (0, 150), legend=case == CASES[1])
            row[0].set_ylabel(f"{case.replace('-', ' ')}: {row[0].get_ylabel()}")
        for axes in panels[0]:
            axes.set_xlabel("")


def draw_one_drop(context: Context, path: Path) -> None:
    """Draw the transfers around one drop, and queueing delay and throughput in all settings tried."""
    with picture(path, (13, 7.6)) as figure:
        above, below = figure.subfigures(2, 1, squeeze=False)[:, 0]
        draw_sequences(
            above.subplots(1, len(SCHEMES), sharey=True), traced(context, "one-drop"), (1.5, 4.5), (0, 150)
        )
        runs = {setting: cases["one-drop"] for setting, cases in tried(context, CASES[:1]).items()}
        for axes, metric, label in zip(
            below.subplots(1, 3),
            ("delay", "throughput", "efficiency"),
            ("mean queueing delay (ms)", "throughput (Mbit/s)", "efficiency, goodput over throughput (%)"),
            strict=True,
        ):
            for (buffer, window), style in zip(QUEUES, ("-", "--", ":"), strict=True):
                for scheme, width in zip(SCHEMES, (4.2, 3.2, 2.2, 1.2), strict=True):
                    values = [
                        getattr(runs[duration, buffer, window][scheme], metric) for duration in DURATIONS
                    ]
                    name = LABELS[scheme] if style == "-" else None
                    axes.plot(DURATIONS, values, style, color=COLOURS[scheme], lw=width, label=name)
            axes.set_xlabel("traffic (s); dashed: buffer 5, dotted: window 20")
            axes.set_ylabel(label)
        axes.legend(loc="lower right")


def draw_three_drops(context: Context, path: Path) -> None:
    """Draw efficiency with one and three drops, and both quantities in all settings tried."""
    runs = tried(context, CASES)
    traces = traced(context, "three-drops")
    published = float(context.published("SACK", "efficiency").published)
    default = next(iter(runs.values()))
    with picture(path, (13, 7.6)) as figure:
        above, below = figure.subfigures(2, 1, squeeze=False)[:, 0]
        bars, curves, totals = above.subplots(1, 3)
        for offset, case, alpha in ((-0.2, "one-drop", 0.4), (0.2, "three-drops", 1.0)):
            for index, scheme in enumerate(SCHEMES):
                value = default[case][scheme].efficiency
                bar = bars.bar(index + offset, value, 0.38, color=COLOURS[scheme], alpha=alpha)
                bars.bar_label(bar, fmt="%.1f", padding=2, fontsize=7.5)
                every = [cases[case][scheme].efficiency for cases in runs.values()]
                bars.plot([index + offset] * 2, [min(every), max(every)], color=GREY, lw=1)
        bars.axhline(published, color=GREY, lw=0.9, ls="--")
        bars.set_xticks(range(len(SCHEMES)), [LABELS[scheme] for scheme in SCHEMES])
        bars.set_title(f"{TRAFFIC_S} s: one drop (pale), three (full); lines: all settings", fontsize=8.5)
        bars.set_ylabel("efficiency, goodput over throughput (%)")
        bars.set_ylim(80, 102)
        bars.grid(visible=False, axis="x")
        for axes, metric, label in (
            (curves, "efficiency", "efficiency (%)"),
            (totals, "throughput", "throughput (Mbit/s)"),
        ):
            for buffer, window in QUEUES:
                for scheme in SCHEMES:
                    values = [
                        getattr(runs[duration, buffer, window]["three-drops"][scheme], metric)
                        for duration in DURATIONS
                    ]
                    main = (buffer, window) == QUEUES[0]
                    name = LABELS[scheme] if main else None
                    width = 1.6 if main else 0.6
                    axes.plot(
                        DURATIONS, values, color=COLOURS[scheme], lw=width, marker="o", ms=2, label=name
                    )
            axes.set_title("Three drops; thin: other buffer, window", fontsize=8.5)
            axes.set_xlabel("traffic (s)")
            axes.set_ylabel(label)
        curves.axhline(published, color=GREY, lw=0.9, ls="--", label=f"the document's {published:g} %")
        curves.legend(loc="lower right")
        draw_sequences(below.subplots(1, len(SCHEMES), sharey=True), traces, (1.5, 4.5), (0, 150))
