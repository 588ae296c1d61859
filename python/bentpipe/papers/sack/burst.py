"""Sections 9 and 10: SACK when more than half of a window is lost, and what the conclusions add."""

from pathlib import Path
from statistics import mean

from bentpipe.reproduction import Context, Row

from . import notes
from .recovery import position_of_first_retransmission, recovery, subjects
from .runs import CURVE_WINDOWS, satellite, scheme_settings
from .sequences import draw_sequences

LOST = range(401, 441)


def compute(context: Context) -> list[Row]:
    """Give the rows on the loss of more than half of a window."""
    repaired = {scheme: recovery(trace) for scheme, trace in subjects(context, "burst.toml").items()}
    sack = repaired["sack"]
    again = position_of_first_retransmission(
        context.trace("burst.toml", scheme_settings("sack"), title="SACK")
    )
    settings = {**scheme_settings("sack"), "links.downlink.loss.packets": f"{[*LOST, again]}"}
    lost_again = recovery(context.trace("burst.toml", settings, title="SACK"))
    return [
        context.claim(
            "SACK repairs no slower than Tahoe",
            "round trips to repair them",
            {scheme: repaired[scheme].round_trips for scheme in ("tahoe", "sack")},
            notes.burst(repaired["newreno"].round_trips or 0.0),
        ),
        context.number("SACK", "resent in the first round trip", float(sack.resent_in(1)), notes.BURST_FIRST),
        context.number(
            "SACK", "resent in the second round trip", float(sack.resent_in(2)), notes.BURST_SECOND
        ),
        context.number("SACK", "timeouts", float(sack.timeouts), notes.BURST_TIMEOUT),
        context.claim(
            "SACK times out when a retransmission is lost too",
            "timeouts",
            {"lost again": float(lost_again.timeouts), "not": float(sack.timeouts)},
        ),
    ]


def conclusions(context: Context) -> list[Row]:
    """Give the rows that only the conclusions have."""
    windows = [window for window in CURVE_WINDOWS if window >= 64]
    sweep = satellite(context, windows, ("sack",))
    efficiency = {window: sweep["sack", window].efficiency for window in windows}
    within = [value for window, value in efficiency.items() if window <= 128]
    beyond = [value for window, value in efficiency.items() if window >= 128]
    timeouts = sum(measured.timeouts for measured in sweep.values())
    return [
        context.number("SACK over the satellite, 64 to 200 packets", "timeouts", timeouts, notes.NO_TIMEOUT),
        context.claim(
            "the window matters most beyond 128 packets",
            "efficiency of SACK, highest less lowest",
            {"128 to 200": max(beyond) - min(beyond), "64 to 128": max(within) - min(within)},
            notes.matters(mean(within), mean(beyond)),
        ),
    ]


def draw(context: Context, path: Path) -> None:
    """Draw each scheme's transfer around the burst."""
    draw_sequences(subjects(context, "burst.toml"), path, (3.6, 9.0), (140, 420))
