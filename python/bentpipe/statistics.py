"""Replications: their seeds, and what their numbers say together."""

import hashlib
import math
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from bentpipe.number import Interval
from bentpipe.results import Estimate, Run, parse

if TYPE_CHECKING:
    from bentpipe._core import RunResult

MINIMUM_RUNS = 10
"""Replications before `Fold.precise_enough` may say yes: fewer give intervals that mean little."""

MOST_RUNS = 1_000_000
"""The most replications that may be asked for: they make a mean a thousand times as sharp as one run."""

RESAMPLES = 9_999
"""How often the bootstrap draws the values again."""

_KEPT_RUNS = 1000
_KEPT_VALUES = 1 << 24

_LISTED = {"pages": "page", "transactions": "transaction"}
"""Tables whose rows are as many as came in a run, and what numbers those of a flow."""
_NOTHING_LISTED: dict[str, list[Any]] = {what: [] for what in _LISTED}


def replication_seed(base: int, replication: int) -> int:
    """Give the seed of a replication: the base seed itself for the first, then a hash of base and number.

    It depends on nothing else, so that two variants meet the same losses in the same replication. It stays
    below 2^53, which every reader of JSON keeps exact.
    """
    if replication == 0:
        return base
    digest = hashlib.blake2b(f"bentpipe {base} {replication}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 11


def estimate(values: Sequence[float], interval: Interval = "student-t") -> Estimate:
    """Give mean, half-width of the 95 % interval, and number of `values` (at least one).

    The half-width is ``None`` for a single value, which says nothing of its spread.
    """
    n = len(values)
    if n == 1:
        return {"mean": float(values[0]), "ci95": None, "n": 1}
    # Divided and multiplied again, a value may come out a bit beside itself.
    equal = min(values) == max(values)
    centre = float(values[0]) if equal else math.fsum(values) / n
    if interval == "bootstrap":
        low, high = bootstrap(values)
        return {"mean": centre, "ci95": (high - low) / 2, "n": n, "low": low, "high": high}
    if equal:
        return {"mean": centre, "ci95": 0.0, "n": n}
    return _interval(n, centre, math.fsum((value - centre) ** 2 for value in values))


def paired(ours: Sequence[float], theirs: Sequence[float], interval: Interval = "student-t") -> Estimate:
    """Give the estimate of how much larger `ours` are than `theirs`, which met the same seeds one by one."""
    return estimate([one - other for one, other in zip(ours, theirs, strict=True)], interval)


def bootstrap(
    values: Sequence[float], statistic: Callable[..., Any] | None = None, *, seed: int = 0
) -> tuple[float, float]:
    """Give the ends of the 95 % interval of a statistic of `values`, at least two, by the bootstrap.

    Of the mean it is BCa, bias-corrected and accelerated (Efron 1987), of another statistic the percentiles,
    which also exist where the statistic stays the same without any one of the values. Both are from 9,999
    samples, by `scipy.stats.bootstrap`.

    Parameters
    ----------
    values
        One number of each replication, in any unit; the ends have the same.
    statistic
        The mean by default; else a function of an array and its ``axis``, as ``numpy.median``.
    seed
        Of the samples, so that the same values give the same ends.

    Raises
    ------
    ValueError
        There are fewer than two values.
    """
    import numpy as np
    from scipy import stats

    if len(values) < 2:
        raise ValueError(f"expected at least two values to draw from, found {len(values)}")
    if min(values) == max(values):
        return float(values[0]), float(values[0])
    drawn = stats.bootstrap(
        (np.asarray(values, dtype=float),),
        np.mean if statistic is None else statistic,
        n_resamples=RESAMPLES,
        vectorized=True,
        method="BCa" if statistic is None else "percentile",
        rng=np.random.default_rng(seed),
    )
    return float(drawn.confidence_interval.low), float(drawn.confidence_interval.high)


def jain(values: Sequence[float]) -> float:
    """Give Jain's index of fairness, (Σx)² / (n Σx²) (Chiu and Jain 1989).

    It is 1 when all are equal, also when nobody has anything, and 1/n when one has everything. A run brings
    its own, which the engine makes of the goodputs of its flows.
    """
    squares = math.fsum(value * value for value in values)
    return math.fsum(values) ** 2 / (len(values) * squares) if squares > 0 else 1.0


@dataclass(frozen=True)
class Failure:
    """A flow that broke: its name, why (each reason once), and in how many of how many runs."""

    flow: str
    reason: str
    runs: int = 1
    of: int = 1

    def __str__(self) -> str:
        often = "" if self.of == 1 else f" in {self.runs:,} of {self.of:,} replications"
        return f"{self.flow} failed{often}: {self.reason}"


def failures(run: Run) -> tuple[Failure, ...]:
    """Give the flows that broke in a single run."""
    return tuple(Failure(flow["name"], reason) for flow in run["flows"] if (reason := flow.get("error")))


class Fold:
    """Takes the runs of one scenario as they come, and gives what they say together.

    Memory does not grow with their number. Up to 1,000 runs each value is kept, 8 bytes each, and an
    estimate is that of `estimate`. Beyond that, and earlier where 1,000 runs have more than 16 million
    numbers in all, the values so far give way to two sums: of the values, exact, so that a mean is the same
    to the last digit; and of the squares of their distances from the mean of the first of them.
    """

    def __init__(self) -> None:
        self.runs = 0
        """Runs so far."""
        self._first: Run | None = None
        self._tree: _Node | None = None
        self._listed: dict[str, dict[str, dict[int, dict[str, _Node]]]] = {what: {} for what in _LISTED}
        self._leaves: list[_Leaf] = []
        # Those that `RunResult` has numbers for, in its order.
        self._numbers: list[_Leaf] = []
        self._failures: dict[str, tuple[int, dict[str, None]]] = {}
        self._block = _KEPT_RUNS

    def add(self, run: Run) -> None:
        """Take another run of the same scenario."""
        if self._first is None:
            self._first = run
            self._tree = self._node({**run, **_NOTHING_LISTED})
        elif self.runs % self._block == 0:
            for leaf in self._leaves:
                leaf.fold()
        self.runs += 1
        _add(self._tree, {**run, **_NOTHING_LISTED})
        if self.runs == 1:
            self._numbers = [leaf for leaf in self._leaves if leaf._texts is None]
        for what, by_flow in self._listed.items():
            for row in cast(Iterable[dict[str, Any]], run.get(what, ())):
                kept = by_flow.setdefault(row["flow"], {})
                number = row[_LISTED[what]]
                if number not in kept:
                    kept[number] = {
                        key: self._node(None) for key in row if key not in ("flow", _LISTED[what])
                    }
                for key, node in kept[number].items():
                    cast(_Leaf, node).add(row[key])
        if self.runs == 1:
            self._block = max(MINIMUM_RUNS, min(_KEPT_RUNS, _KEPT_VALUES // len(self._leaves)))
        for failure in failures(run):
            often, reasons = self._failures.get(failure.flow, (0, {}))
            self._failures[failure.flow] = (often + 1, {**reasons, failure.reason: None})

    def add_results(self, results: "Sequence[RunResult]") -> None:
        """Take more runs of the same scenario, at once where they have the same numbers."""
        # `bentpipe --help` comes without the Rust side.
        from bentpipe._core import columns

        if self._first is not None and (numbers := columns(results)) is not None:
            values = memoryview(numbers).cast("d")
            if len(values) == len(results) * len(self._numbers):
                self._add_columns(values, len(results))
                return
        for result in results:
            self.add(parse(result.json()))

    def _add_columns(self, values: "memoryview[float]", runs: int) -> None:
        begin = 0
        while begin < runs:
            if self.runs % self._block == 0:
                for leaf in self._leaves:
                    leaf.fold()
            end = min(runs, begin + self._block - self.runs % self._block)
            for number, leaf in enumerate(self._numbers):
                leaf.extend(values[number * runs + begin : number * runs + end])
            self.runs += end - begin
            begin = end

    def combined(self) -> Run:
        """Give the first run with each number replaced by its estimate over all.

        A number that is missing in some replications (the finish of a flow that did not) is estimated over
        the others, which its ``n`` shows; one that is missing in all stays ``None``. The seed stays the base
        seed. Pages and transactions are combined by flow and number, over the replications that came so far.

        Raises
        ------
        ValueError
            There was no run.
        """
        if self._first is None:
            raise ValueError("no run to combine")
        combined = _combined(self._tree)
        for what, number_of in _LISTED.items():
            combined[what] = [
                {"flow": flow, number_of: number, **{key: _combined(node) for key, node in nodes.items()}}
                for flow, numbered in self._listed[what].items()
                for number, nodes in sorted(numbered.items())
            ]
        combined["seed"] = self._first["seed"]
        head = {key: combined.pop(key) for key in ("scenario", "seed")}
        return cast(Run, {**head, "runs": self.runs, **combined})

    def failures(self) -> tuple[Failure, ...]:
        """Give the flows that broke in some run, in the order in which they first did."""
        return tuple(
            Failure(flow, "; ".join(reasons), often, self.runs)
            for flow, (often, reasons) in self._failures.items()
        )

    def precise_enough(self, precision: float) -> bool:
        """Say whether the interval of every flow's goodput is at most `precision` times its mean."""
        return self.runs >= MINIMUM_RUNS and all(
            (goodput["ci95"] or 0.0) <= precision * goodput["mean"] for goodput in self._goodputs()
        )

    def reached(self) -> float:
        """Give the widest half-width of a flow's goodput as a share of its mean; infinite for one run."""
        if self.runs < 2:
            return math.inf
        widths = ((goodput["ci95"] or 0.0, goodput["mean"]) for goodput in self._goodputs())
        # A flow that delivered nothing in every run is known precisely.
        return max((width / centre for width, centre in widths if width), default=0.0)

    def _goodputs(self) -> Iterator[Estimate]:
        return (flow["goodput_bps"].estimate() for flow in cast(Any, self._tree)["flows"])

    def _node(self, value: Any) -> "_Node":
        if isinstance(value, dict):
            return {key: self._node(part) for key, part in value.items()}
        if isinstance(value, list):
            return [self._node(part) for part in value]
        leaf = _Leaf()
        self._leaves.append(leaf)
        return leaf


class _Leaf:
    """The values of one number, or the texts that stood in its place."""

    __slots__ = ("_about", "_count", "_squares", "_sum", "_texts", "_values")

    def __init__(self) -> None:
        self._values = array("d")
        self._texts: dict[str, None] | None = None
        self._count = 0
        self._about = 0.0
        self._sum: Sequence[float] = ()
        self._squares: Sequence[float] = ()

    def add(self, value: Any) -> None:
        if value is None:
            return
        if isinstance(value, int | float) and not isinstance(value, bool):
            self._values.append(value)
        else:
            if self._texts is None:
                self._texts = {}
            self._texts[str(value)] = None

    def extend(self, values: "memoryview[float]") -> None:
        """Add values of which NaN is none."""
        whole = array("d", values)
        # A sum is NaN when a value is.
        total = sum(whole)
        self._values.extend(whole if total == total else array("d", (one for one in whole if one == one)))

    def fold(self) -> None:
        """Let the values kept give way to their sums."""
        if not self._values:
            return
        if self._count == 0:
            self._about = math.fsum(self._values) / len(self._values)
        self._sum = _exact([*self._sum, *self._values])
        self._squares = _exact([*self._squares, *self._distances()])
        self._count += len(self._values)
        self._values = array("d")

    def estimate(self) -> Estimate:
        if self._count == 0:
            return estimate(self._values)
        n = self._count + len(self._values)
        total = sum(map(Fraction, _exact([*self._sum, *self._values])), Fraction(0))
        about = math.fsum([*self._squares, *self._distances()])
        off = float(total - n * Fraction(self._about))
        return _interval(n, float(total) / n, max(0.0, about - off * off / n))

    def combined(self) -> Estimate | str | None:
        if self._texts is not None:
            return "; ".join(self._texts)
        return self.estimate() if self._count or self._values else None

    def _distances(self) -> Iterable[float]:
        return ((value - self._about) ** 2 for value in self._values)


_Node: TypeAlias = dict[str, Any] | list[Any] | _Leaf


def _add(node: Any, value: Any) -> None:
    pairs = (
        ((part, value[key]) for key, part in node.items())
        if isinstance(node, dict)
        else zip(node, value, strict=True)
    )
    for part, one in pairs:
        if not isinstance(part, _Leaf):
            _add(part, one)
        # Most are numbers, and a call for each would be most of what a short run costs.
        elif type(one) is float or type(one) is int:
            part._values.append(one)
        else:
            part.add(one)


def _combined(node: Any) -> Any:
    if isinstance(node, _Leaf):
        return node.combined()
    if isinstance(node, dict):
        return {key: _combined(part) for key, part in node.items()}
    return [_combined(part) for part in node]


def _exact(values: list[float]) -> list[float]:
    """Give a few numbers whose sum is that of `values`, to the last bit."""
    parts = []
    while part := math.fsum(values):
        parts.append(part)
        values.append(-part)
    return parts


def _interval(n: int, centre: float, squares: float) -> Estimate:
    """Give the estimate of `n` values, at least two, with this sum of squared distances from their mean."""
    variance = squares / (n - 1)
    return {"mean": centre, "ci95": _student_t(n - 1) * math.sqrt(variance / n), "n": n}


def _student_t(degrees: int) -> float:
    # Imported here: it costs a fifth of a second, and a single run has no interval.
    from scipy.special import stdtrit

    return float(stdtrit(degrees, 0.975))
