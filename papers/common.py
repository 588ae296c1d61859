"""What the papers do alike with finished runs: cases by seed, values with their intervals, curves of them."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from bentpipe.numbers.intervals import estimate
from bentpipe.results import Estimate, Number, Run, half_width, mean
from bentpipe_papers.reproduction.reproduce import Context, Settings

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Case = TypeVar("Case", bound=Hashable)


def seeded(
    context: Context, scenario: str, cases: Mapping[Case, Sequence[Settings]]
) -> dict[Case, list[Run]]:
    """Run each case with each of its settings, all at once."""
    runs = iter(context.runs(scenario, [one for some in cases.values() for one in some]))
    return {case: [next(runs) for _ in some] for case, some in cases.items()}


def flows(run: Run, prefix: str) -> list[Mapping[str, Any]]:
    """Give the flows whose names begin so."""
    return [flow for flow in run["flows"] if flow["name"].startswith(prefix)]


def link(run: Run, name: str = "satellite") -> Mapping[str, Any]:
    """Give one direction of a link."""
    return next(link for link in run["links"] if link["name"] == name)


def plain(number: Number) -> float:
    """Give the value of a number that is always there."""
    return mean(number) or 0.0


def width(number: Number) -> float:
    """Give the half-width of the interval, 0 without one."""
    return half_width(number) or 0.0


def over(values: Iterable[Number]) -> Estimate:
    """Give mean and 95 % interval of several runs, and the runs' values, so that two can be paired."""
    kept = tuple(plain(value) for value in values)
    return {**estimate(kept), "values": kept}


def curve(
    axes: "Axes", places: Sequence[float], values: Sequence[Number], *, scale: float = 1.0, **style: Any
) -> None:
    """Draw a curve of means with their intervals."""
    means, widths = ([scale * part(value) for value in values] for part in (plain, width))
    axes.errorbar(places, means, widths, **{"marker": "o", "ms": 4, "capsize": 2, **style})
