"""Section 2: what AFC makes of one loss, and of two by their distance (equation 1), in runs."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bentpipe.show.style import BLUE, GREY, picture
from bentpipe_papers.reproduction.reproduce import Context, Row

from .runs import ALONE, LOSS, PAYLOAD, scheme

FIRST = 600
"""The packet that is lost first: in congestion avoidance, with some 45 segments in flight."""

DISTANCES = (1, 5, 10, 15, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40, 42, 44, 46, 47)
"""Distances Cd of the second loss in segments."""


@dataclass(frozen=True)
class Cut:
    """The window in segments when the first loss was found, and when all sent by then was acknowledged."""

    before: float
    after: float

    @property
    def kept(self) -> float:
        """Give the share of the window that is left."""
        return self.after / self.before


def cut(context: Context, *distances: int) -> Cut:
    """Lose one packet, and others so many segments behind it."""
    packets = [FIRST, *(FIRST + distance for distance in distances)]
    subject = context.trace(
        ALONE,
        {
            **scheme("afc"),
            LOSS: f'{{ model = "drop", packets = {packets}, at_least = "1000 B" }}',
            "flows.transfer.bytes": "2 MB",
            "tcp.initial_ssthresh": "40 segments",
        },
        title="cut",
    )
    cwnd, sent, resent, acked = (
        subject.traces.get("transfer", kind) for kind in ("cwnd", "sent", "resent", "acked")
    )
    found = resent.time_s[0]
    highest = sent.value[sent.time_s <= found].max()
    through = acked.time_s[np.argmax(acked.value > highest)]
    before = cwnd.value[np.searchsorted(cwnd.time_s, found) - 1]
    after = cwnd.value[np.searchsorted(cwnd.time_s, through, side="left") - 1]
    return Cut(float(before) / PAYLOAD, float(after) / PAYLOAD)


def formula(share: float) -> float:
    """Give equation 1 over cwnd, for a distance of that share of cwnd."""
    return 0.5 + (share**4 / 2 if share > 0.5 else 0.0)


def compute(context: Context) -> list[Row]:
    """Give the rows of section 2."""
    alone = cut(context)
    cuts = {distance: cut(context, distance) for distance in DISTANCES}
    metric = "cwnd after over before"
    near = [one.kept for distance, one in cuts.items() if distance <= one.before / 2]
    above = {f"Cd {distance}": one.kept for distance, one in cuts.items() if distance > one.before / 2}
    last = max(cuts)
    context.fact("farthest", f"{last} segments of a window of {cuts[last].before:.1f}")
    losses = next(count for count, one in enumerate((alone, cuts[DISTANCES[0]]), 1) if one.kept < 0.9)
    return [
        context.claim(
            "one loss in the window", metric, {"after": alone.after, "before": alone.before}, unit="segments"
        ),
        context.number("two losses, Cd at most cwnd/2", metric, sum(near) / len(near)),
        context.number("two losses, Cd of cwnd", metric, cuts[last].kept),
        context.claim("two losses, Cd above cwnd/2", "cwnd after over before by rising Cd", above),
        context.number("two losses", "losses before the cut", losses),
    ]


def draw(context: Context, path: Path) -> None:
    """Draw the window that is left over the distance of the two losses: equation 1, and in the runs."""
    alone = cut(context)
    cuts = {distance: cut(context, distance) for distance in DISTANCES}
    shares = np.linspace(0, 1, 401)
    with picture(path, (7, 4)) as figure:
        axes = figure.subplots()
        axes.plot(shares, [formula(share) for share in shares], color=GREY, label="equation 1")
        axes.plot(
            [distance / one.before for distance, one in cuts.items()],
            [one.kept for one in cuts.values()],
            "o",
            ms=4,
            color=BLUE,
            label="runs",
        )
        axes.axhline(alone.kept, color=BLUE, lw=0.9, ls="--", label="run with one loss")
        axes.set_xlabel("distance of the two losses over cwnd")
        axes.set_ylabel("cwnd after over before")
        axes.set_ylim(0, 1.05)
        axes.legend(loc="lower right")
