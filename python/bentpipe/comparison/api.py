"""The library function."""

import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from difflib import get_close_matches
from itertools import chain
from math import inf
from typing import Any, TypeAlias

from bentpipe import _core, checks
from bentpipe.comparison.limits import averaged, shares
from bentpipe.comparison.measure import Measure, with_variant
from bentpipe.comparison.metrics import METRICS, Metric
from bentpipe.comparison.result import Comparison, Variant, gain, share
from bentpipe.errors import InputError, ScenarioError
from bentpipe.number import INTERVALS, Interval
from bentpipe.results import Run
from bentpipe.runner import Plan, in_turn
from bentpipe.scenario import Scenario
from bentpipe.statistics import MINIMUM_RUNS, Failure, Fold, estimate

Variants: TypeAlias = Iterable[str] | Mapping[str, str | checks.Settings]
"""Names of variants, or names of one's own, each with a variant or with settings."""

_LOOKS = 1000
"""Up to so many runs each one is a look at the precision; from then on every so many."""


def compare(
    scenario: Scenario | str | os.PathLike[str],
    variants: Variants,
    *,
    runs: int | None = None,
    precision: float | None = None,
    flows: Sequence[str] = (),
    metric: Metric | None = None,
    explain: bool = False,
    interval: Interval = "student-t",
    seed: int | None = None,
    threads: int | None = None,
    progress: bool = True,
    stop: threading.Event | None = None,
) -> Comparison:
    """Run a scenario with several variants, and say which is best and by how much.

    Run k has the same seed with every variant, so that gains are differences of pairs. Flows of bulk data
    are compared by their goodput together; pages, transactions and short transfers by their mean response
    time, if there is nothing else, and films by their bit rate. The numbers do not depend on the threads.

    Parameters
    ----------
    scenario
        A scenario, or what `bentpipe.Scenario.load` takes.
    variants
        At least two, as ``["sack", "cubic", "bbr3"]``; the others gain or lose over the first. The names of
        the scenario's controls in Python are variants too. A mapping
        gives them names of your own, and takes settings as `Scenario.with_` does beside names of variants:
        ``{"cubic": "cubic", "mine": {"flows.*.control": Mine}}``.
    runs
        How often with each variant, 10 times by default; with `precision` the most there may be.
    precision
        Run until the 95 % interval of every variant's number is this share of its mean: 0.02 for 2 %, after
        10 runs at the earliest and 1,000 at the latest.
    flows
        Give the variants to flows that fit these patterns alone, and compare these; by default to all over
        TCP.
    metric
        What is compared instead: ``"goodput_bps"``, or of the flows whose users wait ``"response_s"``, the
        mean response time, or a percentile: ``"response_p50_s"``, ``"response_p95_s"``, ``"response_p99_s"``;
        of films ``"bit_rate_mean_bps"``, ``"startup_s"`` or ``"stalled_s"``.
    explain
        Measure what limits each variant, and say so: see `Variant.limits` and `Comparison.plot`.
    interval
        How intervals are made: ``"student-t"``, or ``"bootstrap"`` (BCa) for few runs whose numbers are far
        from a normal distribution.
    seed
        The first seed, instead of the scenario's own.
    threads
        How many runs at a time; all cores by default.
    progress
        Show how far it is when it takes long.
    stop
        Somebody may set it to end the comparison, as Ctrl-C does.

    Raises
    ------
    InputError
        Something that was given cannot be used; the message names it.
    RunError
        A run has no result, or no number to compare.
    Interrupted
        Ctrl-C, or somebody set `stop`.
    """
    loaded = scenario if isinstance(scenario, Scenario) else Scenario.load(scenario)
    chosen = _chosen(variants, [control.name for control in loaded.controls])
    names = tuple(chosen)
    patterns = checks.texts("flows", flows)
    if interval not in INTERVALS:
        raise InputError(f"interval: expected {' or '.join(INTERVALS)}, found {interval!r}")
    if metric is not None and metric not in METRICS:
        raise InputError(f"metric: expected one of {', '.join(METRICS)}, found {metric!r}")
    if runs is None and precision is None:
        runs = MINIMUM_RUNS
    plan = Plan(seed=seed, runs=runs, precision=precision, threads=threads)
    several = [_changed(loaded, name, change, patterns) for name, change in chosen.items()]
    found = _Found(names, several, interval)
    title = f"comparing {loaded.title}" if progress else None
    precise = plan.precision is None
    # Closed at once, so that no run goes on behind an error.
    runs_of_all = in_turn(several, plan, title=title, reached=found.reached, stop=stop, limits=explain)
    with closing(runs_of_all) as replications:
        first = next(replications)
        measure = Measure.of(first[0], loaded, patterns, metric)
        for replication in chain([first], replications):
            found.add(replication, measure)
            if plan.precision is not None and found.is_look() and found.reached() <= plan.precision:
                precise = True
                break
    variants_found, broken = found.variants(measure)
    first_seed = loaded.seed if plan.seed is None else plan.seed
    return Comparison(
        loaded.title,
        first_seed,
        found.runs,
        measure,
        names[0],
        variants_found,
        precise,
        broken,
        loaded.toml(first_seed),
    )


class _Found:
    def __init__(self, names: Sequence[str], scenarios: Sequence[Scenario], interval: Interval) -> None:
        self._names, self._scenarios, self._interval = names, scenarios, interval
        self._folds = [Fold() for _ in names]
        self._values: list[list[float]] = [[] for _ in names]
        self._limits: list[list[dict[str, float]]] = [[] for _ in names]

    @property
    def runs(self) -> int:
        """Runs of each variant so far."""
        return len(self._values[0])

    def add(self, replication: Sequence[Run], measure: Measure) -> None:
        """Take a run of each variant."""
        for run, fold, values, limits in zip(
            replication, self._folds, self._values, self._limits, strict=True
        ):
            values.append(measure.value(run))
            recorded = run.pop("recording", {})
            if "limits" in recorded:
                limits.append(shares(recorded["limits"], measure.flows))
            fold.add(run)

    def is_look(self) -> bool:
        """Say whether the precision is looked at after so many runs."""
        return MINIMUM_RUNS <= self.runs <= _LOOKS or self.runs % _LOOKS == 0

    def reached(self) -> float:
        """Give the widest interval of a variant's number as a share of its mean."""
        if self.runs < 2:
            return inf
        known = [estimate(values) for values in self._values]
        widths = [(number["ci95"] or 0.0, number["mean"]) for number in known]
        return max((width / mean for width, mean in widths if width), default=0.0)

    def variants(self, measure: Measure) -> tuple[tuple[Variant, ...], tuple[tuple[str, Failure], ...]]:
        """Give the variants, best first, and the flows that broke."""
        found: list[Variant] = []
        broken: list[tuple[str, Failure]] = []
        for name, scenario, fold, values, limits in zip(
            self._names, self._scenarios, self._folds, self._values, self._limits, strict=True
        ):
            run, value = fold.combined(), estimate(values, self._interval)
            carried = measure.carried_bps(scenario, run)
            over = None if name == self._names[0] else gain(values, self._values[0], self._interval)
            of_link = share(value, carried)
            found.append(Variant(name, value, over, of_link, run, tuple(values), averaged(limits)))
            broken += [(name, failure) for failure in fold.failures()]
        sign = -1 if measure.higher_is_better else 1
        found.sort(key=lambda variant: sign * variant.value["mean"])
        return tuple(found), tuple(broken)


def _chosen(variants: Any, own: Sequence[str]) -> dict[str, Any]:
    """Give what each name stands for: a variant that exists, or settings."""
    if isinstance(variants, Mapping):
        checks.texts("variants", list(variants))
        chosen = dict(variants)
    else:
        names = checks.texts("variants", variants)
        if len(set(names)) < len(names):
            twice = next(name for place, name in enumerate(names) if name in names[:place])
            raise InputError(f"variants: expected each variant once, found {twice!r} twice")
        chosen = {name: name for name in names}
    known = [*(name for name, _ in _core.variants()), *own]
    for name in chosen.values():
        if isinstance(name, str) and name not in known:
            close = get_close_matches(name.lower(), known, 1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise InputError(f"variants: expected a variant ({', '.join(known)}), found {name!r}{hint}")
    if len(chosen) < 2:
        raise InputError(f"variants: expected at least two, found {', '.join(chosen) or 'none'}")
    return chosen


def _changed(scenario: Scenario, name: str, change: Any, patterns: Sequence[str]) -> Scenario:
    try:
        if isinstance(change, str):
            return with_variant(scenario, change, patterns)
        return scenario.with_(change)
    except ScenarioError as error:
        raise ScenarioError(f"variants: {name}: {str(error).removeprefix('settings: ')}") from None
