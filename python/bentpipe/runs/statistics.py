"""Replications: their seeds, and what their numbers say together."""

import gc
import hashlib
import math
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

from bentpipe.numbers.declared import is_text, listed, quantiles
from bentpipe.numbers.intervals import (
    UNSEEN,
    counted_of,
    estimate,
    from_sums,
    judged,
    kind_of,
    pooled_quantile,
    wanted,
)
from bentpipe.results import Estimate, Run, parse

if TYPE_CHECKING:
    from bentpipe._core import RunResult

FIRST_LOOK = 30
"""Replications before a precision is looked at: fewer do not show how skewed a number is."""

MOST_RUNS = 1_000_000
"""The most replications that may be asked for: they make a mean a thousand times as sharp as one run."""

_KEPT_RUNS = 1000
_KEPT_VALUES = 1 << 24


def replication_seed(base: int, replication: int) -> int:
    """Give the seed of a replication: the base seed itself for the first, then a hash of base and number.

    It depends on nothing else, so that two variants meet the same losses in the same replication. It stays
    below 2^53, which every reader of JSON keeps exact.
    """
    if replication == 0:
        return base
    digest = hashlib.blake2b(f"bentpipe {base} {replication}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 11


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

    It is `certain` where nothing in the scenario is random: a single run says all.
    """

    def __init__(self, *, certain: bool = False) -> None:
        self.runs = 0
        """Runs so far."""
        self._certain = certain
        self._first: Run | None = None
        # Those of all runs, in their order; those of listed rows besides; and of the former, those that
        # `RunResult` has numbers for.
        self._fixed: list[_Leaf] = []
        self._listed: dict[str, dict[str, dict[int, dict[str, _Leaf]]]] = {what: {} for what in listed()}
        self._leaves: list[_Leaf] = []
        self._numbers: list[_Leaf] = []
        self._failures: dict[str, tuple[int, dict[str, None]]] = {}
        # By flow, what users waited for in each of the first runs.
        self._responses: dict[str, list[array[float]]] = {}
        self._block = _KEPT_RUNS

    def add(self, run: Run) -> None:
        """Take another run of the same scenario."""
        rest = {key: value for key, value in run.items() if key not in listed()}
        if self._first is None:
            self._first = run
            with _no_collection():
                self._fixed = [self._leaf(key) for key, _ in _values(rest)]
        elif self.runs % self._block == 0:
            for leaf in self._leaves:
                leaf.fold()
        self.runs += 1
        for leaf, (_, value) in zip(self._fixed, _values(rest), strict=True):
            leaf.add(value)
        if self.runs == 1:
            self._numbers = [leaf for leaf in self._fixed if leaf._texts is None and not is_text(leaf.key)]
        if self.runs <= _KEPT_RUNS:
            self._keep_responses(run)
        for what, by_flow in self._listed.items():
            for row in cast(Iterable[dict[str, Any]], run.get(what, ())):
                leaves = by_flow.setdefault(row["flow"], {})
                number = row[listed()[what]]
                if number not in leaves:
                    leaves[number] = {
                        key: self._leaf(key) for key in row if key not in ("flow", listed()[what])
                    }
                for key, leaf in leaves[number].items():
                    leaf.add(row[key])
        if self.runs == 1:
            self._block = max(FIRST_LOOK, min(_KEPT_RUNS, _KEPT_VALUES // len(self._leaves)))
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

        Raises ValueError: there was no run.
        """
        if self._first is None:
            raise ValueError("no run to combine")
        numbers = (leaf.combined() for leaf in self._fixed)
        combined: dict[str, Any] = {
            key: [] if key in listed() else _filled(value, numbers) for key, value in self._first.items()
        }
        for what, number_of in listed().items():
            combined[what] = [
                {"flow": flow, number_of: number, **{key: leaf.combined() for key, leaf in leaves.items()}}
                for flow, numbered in self._listed[what].items()
                for number, leaves in sorted(numbered.items())
            ]
        for flow in combined["flows"]:
            runs = self._responses.get(flow["name"])
            # Beyond what is kept, the mean of the runs' quantiles is what there is.
            if runs and self.runs <= _KEPT_RUNS:
                for key, share in quantiles().items():
                    if flow.get(key) is not None:
                        together = pooled_quantile(runs, share, certain=self._certain)
                        if "present" in flow[key]:
                            together["present"] = flow[key]["present"]
                        flow[key] = together
        combined["seed"] = self._first["seed"]
        head = {key: combined.pop(key) for key in ("scenario", "seed")}
        return cast(Run, {**head, "runs": self.runs, **combined})

    def _keep_responses(self, run: Run) -> None:
        found: dict[str, array[float]] = {}
        for what in listed():
            for row in cast(Iterable[dict[str, Any]], run.get(what, ())):
                if row["response_s"] is not None:
                    found.setdefault(row["flow"], array("d")).append(row["response_s"])
        for flow, responses in found.items():
            self._responses.setdefault(flow, []).append(responses)

    def failures(self) -> tuple[Failure, ...]:
        """Give the flows that broke in some run, in the order in which they first did."""
        return tuple(
            Failure(flow, "; ".join(reasons), often, self.runs)
            for flow, (often, reasons) in self._failures.items()
        )

    def precise_enough(self, precision: float) -> bool:
        """Say whether the goodputs of all flows together are known to `precision` times their means."""
        if self._certain:
            return self.runs > 0
        return self.runs >= FIRST_LOOK and all(
            leaf.is_trusted() and width <= precision * centre for leaf, width, centre in self._widths()
        )

    def reached(self) -> float:
        """Give the widest half-width of a flow's goodput as a share of its mean; infinite for one run.

        The intervals are those that hold all the means together in 95 % of the cases (Bonferroni).
        """
        if self.runs < 2:
            return math.inf
        return max((width / centre for _, width, centre in self._widths() if width), default=0.0)

    def _widths(self) -> Iterator[tuple["_Leaf", float, float]]:
        goodputs = [leaf for leaf in self._fixed if leaf.key == "goodput_bps"]
        for leaf in goodputs:
            found = leaf.plain(1 - 0.05 / len(goodputs))
            yield leaf, found["ci95"] or 0.0, found["mean"]

    def _leaf(self, key: str) -> "_Leaf":
        leaf = _Leaf(self, key)
        self._leaves.append(leaf)
        return leaf


class _Leaf:
    """The values of one number, or the texts that stood in its place."""

    __slots__ = ("_about", "_count", "_fold", "_squares", "_sum", "_texts", "_values", "_wanted", "key")

    def __init__(self, fold: Fold, key: str) -> None:
        self._fold = fold
        self.key = key
        self._values = array("d")
        self._texts: dict[str, None] | None = None
        self._count = 0
        self._about = 0.0
        self._sum: Sequence[float] = ()
        self._squares: Sequence[float] = ()
        # By the first of them, when they are folded.
        self._wanted = 0.0

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
            self._wanted = wanted(self._values)
        self._sum = _exact([*self._sum, *self._values])
        self._squares = _exact([*self._squares, *self._distances()])
        self._count += len(self._values)
        self._values = array("d")

    def plain(self, level: float = 0.95) -> Estimate:
        """Give mean and interval of this level, without judging them."""
        if self._count == 0:
            return estimate(self._values, level=level)
        return from_sums(*self._sums(), level)

    def estimate(self) -> Estimate:
        if self._count == 0:
            found = judged(self._values, kind_of(self.key), certain=self._fold._certain)
        else:
            n, centre, squares = self._sums()
            found = counted_of(kind_of(self.key), n, centre * n, squares) or from_sums(n, centre, squares)
            if n < self._wanted:
                found["doubt"] = "skewed"
        missing = found["n"] < self._fold.runs
        return {**found, "present": found["n"] / self._fold.runs} if missing else found

    def is_trusted(self) -> bool:
        """Say whether its runs are enough for how skewed it is, and enough where all are the same."""
        if self._count:
            return self._count + len(self._values) >= self._wanted
        if min(self._values) == max(self._values):
            return len(self._values) >= UNSEEN
        return len(self._values) >= wanted(self._values)

    def combined(self) -> Estimate | str | None:
        if self._texts is not None:
            return "; ".join(self._texts)
        return self.estimate() if self._count or self._values else None

    def _sums(self) -> tuple[int, float, float]:
        n = self._count + len(self._values)
        total = sum(map(Fraction, _exact([*self._sum, *self._values])), Fraction(0))
        about = math.fsum([*self._squares, *self._distances()])
        off = float(total - n * Fraction(self._about))
        return n, float(total) / n, max(0.0, about - off * off / n)

    def _distances(self) -> Iterable[float]:
        return ((value - self._about) ** 2 for value in self._values)


def _values(of: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Give all values of a run with their keys, from top to end."""
    if isinstance(of, dict):
        for name, part in of.items():
            yield from _values(part, name)
    elif isinstance(of, list):
        for part in of:
            yield from _values(part, key)
    else:
        yield key, of


def _filled(shape: Any, values: Iterator[Any]) -> Any:
    """Give a part of a run with `values` in the place of its own."""
    if isinstance(shape, dict):
        return {key: _filled(part, values) for key, part in shape.items()}
    if isinstance(shape, list):
        return [_filled(part, values) for part in shape]
    return next(values)


@contextmanager
def _no_collection() -> Iterator[None]:
    """Search for no cycles meanwhile: millions of new objects that stay would be walked again and again."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _exact(values: list[float]) -> list[float]:
    """Give a few numbers whose sum is that of `values`, to the last bit."""
    parts = []
    while part := math.fsum(values):
        parts.append(part)
        values.append(-part)
    return parts
