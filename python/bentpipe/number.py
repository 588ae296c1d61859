"""A measured value of a single run, or what several replications say of it."""

from typing import NotRequired, TypeAlias, TypedDict


class Estimate(TypedDict):
    """A mean over replications with the half-width of its Student-t 95 % confidence interval.

    `values` are the replications themselves, in the order of their seeds, where they were kept to be compared
    with another's; JSON is without them.
    """

    mean: float
    ci95: float | None
    n: int
    values: NotRequired[tuple[float, ...]]


Number: TypeAlias = float | Estimate | None
"""A measured value; ``None`` where there is none, such as the finish of a flow that did not."""
