"""A measured value of a single run, or what several replications say of it."""

from contextlib import suppress
from typing import Literal, NotRequired, TypeAlias, TypedDict

Interval = Literal["student-t", "bootstrap"]
"""How an interval of a mean is made: by Student's t, or by the bootstrap (BCa)."""

INTERVALS: tuple[Interval, ...] = ("student-t", "bootstrap")


Doubt = Literal["few", "equal", "skewed", "single"]
"""Why an interval may hold the mean more seldom than in 95 % of the cases: it is of fewer than 10 runs, all
were the same although something is random, they are too few for so skewed a number, or packets were lost one
by one in all of them, so that they show nothing of a rare loss of many at once."""


class Estimate(TypedDict):
    """A mean over replications with the half-width of its 95 % confidence interval.

    The interval is Student's t around the mean. One by the bootstrap, and one of a count, has its ends in
    `low` and `high`; it need not be the same on both sides, and `ci95` is half of its width. `doubt` says why
    an interval may be too narrow. `present` is the share of what it would be of, where some have no such
    number, as the end of a flow that did not end.

    `values` are the replications themselves, in the order of their seeds, where they were kept to be compared
    with another's; JSON is without them.
    """

    mean: float
    ci95: float | None
    n: int
    low: NotRequired[float]
    high: NotRequired[float]
    doubt: NotRequired[Doubt]
    present: NotRequired[float]
    values: NotRequired[tuple[float, ...]]


Number: TypeAlias = float | Estimate | None
"""A measured value; ``None`` where there is none, such as the finish of a flow that did not."""


def ends(number: Estimate) -> tuple[float, float]:
    """Give the ends of the interval; twice the mean where there is none."""
    width = number["ci95"] or 0.0
    return number.get("low", number["mean"] - width), number.get("high", number["mean"] + width)


def share(text: str) -> float:
    """Read a share of one: ``0.01`` or ``1%``.

    Raises ValueError: it is none, or not between 0 and 1.
    """
    with suppress(ValueError):
        value = float(text.removesuffix("%")) / 100 if text.endswith("%") else float(text)
        if 0.0 <= value <= 1.0:
            return value
    raise ValueError(f"expected a share such as 0.01 or 1%, found {text!r}")
