"""Sections 9 and 10: SACK when more than half of a window is lost, and what the conclusions add."""

from collections.abc import Mapping
from pathlib import Path

from bentpipe.plot import DrawnRun
from bentpipe.results import Number
from bentpipe.show.style import picture
from bentpipe_papers.common import plain
from bentpipe_papers.reproduction.reproduce import Context, Row, Settings

from .recovery import Recovery, position_of_first_retransmission, recovery, subjects
from .runs import COLOURS, CURVE_WINDOWS, LABELS, SCHEMES, Sweep, satellite, scheme_settings
from .satellite import BEYOND
from .sequences import draw_sequences

SCENARIO = "burst.toml"
WINDOW = 64
FIRST = WINDOW + 1
"""The first packet lost, from 1, is of the window that slow start has just filled."""

LATER = 401
"""The same of a later window, which cwnd has outgrown."""

LOST = (24, 28, 29, 32, 33, 34, 36, 40, 44, 48)
"""Adjacent packets lost of a window of 64: half of it, fewer and more."""

LEAST = 33
"""The least that is more than half."""


def _losing(scheme: str, lost: int, *also: int, first: int = FIRST) -> Settings:
    packets = [*range(first, first + lost), *also]
    return {**scheme_settings(scheme), "links.downlink.loss.packets": f"{packets}"}


def _schemes(context: Context) -> dict[str, DrawnRun]:
    """Run every scheme with just more than half of the window lost."""
    return subjects(context, SCENARIO, {scheme: _losing(scheme, LEAST) for scheme in SCHEMES})


def _by_lost(context: Context, scheme: str) -> dict[int, DrawnRun]:
    """Run a scheme with each number of losses."""
    return {lost: context.trace(SCENARIO, _losing(scheme, lost), title=LABELS[scheme]) for lost in LOST}


def _lost_again(context: Context, sack: DrawnRun) -> DrawnRun:
    """Run SACK where its first retransmission is lost too."""
    again = position_of_first_retransmission(sack)
    return context.trace(SCENARIO, _losing("sack", LEAST, again), title=LABELS["sack"])


def _later(context: Context, lost: int) -> Recovery:
    """Run SACK where the window is lost later, and cwnd has grown beyond it."""
    return recovery(context.trace(SCENARIO, _losing("sack", lost, first=LATER), title=LABELS["sack"]))


def _resent(subject: DrawnRun) -> list[int]:
    """Give what is sent again in each round trip of the repair."""
    repair = recovery(subject)
    return [repair.resent_in(one) for one in range(1, round(repair.round_trips or 0) + 1)]


def _growth(resent: list[int]) -> float:
    """Give by what factor the packets of a round trip grow, from the second one to that with most."""
    if len(resent) < 3 or not resent[1]:
        return 1.0
    most = max(range(1, len(resent)), key=lambda place: resent[place])
    return float((resent[most] / resent[1]) ** (1 / max(1, most - 1)))


def compute(context: Context) -> list[Row]:
    """Give the rows on the loss of more than half of a window."""
    repaired = {scheme: recovery(trace) for scheme, trace in _schemes(context).items()}
    sack = _by_lost(context, "sack")
    tahoe = {lost: recovery(trace) for lost, trace in _by_lost(context, "tahoe").items()}
    more = {lost: recovery(trace) for lost, trace in sack.items() if lost >= LEAST}
    lost_again = recovery(_lost_again(context, sack[LEAST]))
    half = WINDOW // 2
    waits = [lost for lost, repair in more.items() if repair.timeouts]
    alone = [lost for lost in LOST if not _later(context, lost).timeouts]
    context.fact("later", f"{max(alone, default=0)} of {FIRST - 1}, with the first of them packet {LATER}")
    context.fact("at_half", ", ".join(map(str, _resent(sack[half])[:5])))
    context.fact("at_least", ", ".join(map(str, _resent(sack[LEAST])[:6])))
    context.fact("waits", f"{min(waits)} to {max(waits)}" if waits else "none")
    context.fact("lost", f"{LEAST} to {max(LOST)}")
    context.fact(
        "half", f"{plain(recovery(sack[half]).round_trips):.1f} and {plain(tahoe[half].round_trips):.1f}"
    )
    context.fact(
        "more", f"{plain(more[max(LOST)].round_trips):.1f} and {plain(tahoe[max(LOST)].round_trips):.1f}"
    )
    return [
        context.claim(
            "SACK repairs no slower than Tahoe",
            "round trips to repair them",
            {scheme: repaired[scheme].round_trips for scheme in ("tahoe", "sack")},
        ),
        context.number(
            "SACK", "resent in the first round trip", float(max(one.resent_in(1) for one in more.values()))
        ),
        context.number("SACK", "resent in the second round trip", float(more[LEAST].resent_in(2))),
        context.number("SACK", "growth from one round trip to the next", _growth(_resent(sack[LEAST]))),
        context.number("SACK", "timeouts", float(max(one.timeouts for one in more.values()))),
        context.claim(
            "SACK times out when a retransmission is lost too",
            "timeouts",
            {"lost again": float(lost_again.timeouts), "not": float(more[LEAST].timeouts)},
        ),
    ]


def _spread(sweep: Sweep, metric: str) -> Mapping[str, Number]:
    """Give the largest and the smallest value of each scheme over the windows that the text names."""
    values = {scheme: [getattr(sweep[scheme, window], metric) for window in BEYOND] for scheme in SCHEMES}
    return {
        f"{scheme} {word}": pick(some)
        for scheme, some in values.items()
        for word, pick in (("most", max), ("least", min))
    }


def conclusions(context: Context) -> list[Row]:
    """Give the rows that only the conclusions have."""
    windows = [window for window in CURVE_WINDOWS if window >= WINDOW]
    sweep = satellite(context, windows)
    efficiency = {window: sweep["sack", window].efficiency for window in windows}
    within = [value for window, value in efficiency.items() if window <= 128]
    beyond = [value for window, value in efficiency.items() if window >= 128]
    timeouts = sum(sweep["sack", window].timeouts for window in windows)
    first = min(window for window in windows if sweep["sack", window].drops)
    context.fact("first", f"{first} packets")
    spread = _spread(sweep, "efficiency")
    lost = {
        scheme: 100 * (1 - plain(spread[f"{scheme} least"]) / plain(spread[f"{scheme} most"]))
        for scheme in SCHEMES
    }
    context.fact("sack_lost", f"{lost.pop('sack'):.0f} %")
    context.fact("others_lost", f"{min(lost.values()):.0f} to {max(lost.values()):.0f} %")
    return [
        context.number("SACK over the satellite, 64 to 200 packets", "timeouts", timeouts),
        context.claim("the window affects efficiency", "efficiency", spread),
        context.claim("the window affects throughput", "throughput", _spread(sweep, "throughput")),
        context.claim("the window affects queueing delay", "queueing delay", _spread(sweep, "delay")),
        context.claim(
            "the window matters most beyond 128 packets",
            "efficiency of SACK, highest less lowest",
            {"128 to 200": max(beyond) - min(beyond), "64 to 128": max(within) - min(within)},
        ),
    ]


def draw(context: Context, path: Path) -> None:
    """Draw each scheme's transfer around the burst, and what SACK and Tahoe do for more losses."""
    sack, tahoe = _by_lost(context, "sack"), _by_lost(context, "tahoe")
    with picture(path, (13, 7.6)) as figure:
        above, below = figure.subfigures(2, 1, squeeze=False)[:, 0]
        draw_sequences(above.subplots(1, len(SCHEMES), sharey=True), _schemes(context), (2.0, 7.5), (0, 280))
        again, rounds, times = below.subplots(1, 3)
        draw_sequences(
            [again], {"sack": _lost_again(context, sack[LEAST])}, (2.0, 7.5), (0, 280), legend=False
        )
        again.set_title("SACK, its first retransmission lost too")
        for lost, trace in sack.items():
            if not recovery(trace).timeouts:
                resent = _resent(trace)
                rounds.plot(range(1, len(resent) + 1), resent, marker="o", ms=3, label=f"{lost} lost")
        rounds.set_title("SACK, while the timer does not expire")
        rounds.set_xlabel("round trip of the repair")
        rounds.set_ylabel("packets sent again")
        rounds.legend()
        later = [_later(context, lost).round_trips for lost in LOST]
        times.plot(LOST, later, "--", color=COLOURS["sack"], label=f"SACK, packet {LATER} the first lost")
        for scheme, traces in (("tahoe", tahoe), ("sack", sack)):
            repairs = {lost: recovery(trace) for lost, trace in traces.items()}
            trips = [repair.round_trips for repair in repairs.values()]
            times.plot(LOST, trips, marker="o", ms=3, color=COLOURS[scheme], label=LABELS[scheme])
            for lost, repair in repairs.items():
                if repair.timeouts and repair.round_trips:
                    times.annotate("timer", (lost, repair.round_trips), fontsize=7, ha="center", va="bottom")
        times.set_title("Until all is repaired")
        times.set_xlabel(f"packets lost of a window of {WINDOW}")
        times.set_ylabel("round trips")
        times.set_ylim(bottom=0)
        times.legend(loc="lower right")
