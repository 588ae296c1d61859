"""The library function of comparisons: runs, and when there are enough of them."""

import os
import re
import threading
from array import array
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import chain
from math import inf
from typing import Any, TypeAlias

from bentpipe import _core, checks
from bentpipe.comparison.measure import Measure, averaged, metrics, shares, with_variant
from bentpipe.comparison.result import Comparison, Variant, share
from bentpipe.errors import InputError, ScenarioError
from bentpipe.numbers.intervals import (
    UNSEEN,
    estimate,
    gain,
    judged,
    pooled_quantile,
    quantile_by_run,
    wanted,
)
from bentpipe.numbers.number import INTERVALS, Interval
from bentpipe.results import Run
from bentpipe.runs.progress import Reporter
from bentpipe.runs.runner import Plan, in_turn
from bentpipe.runs.statistics import FIRST_LOOK, Fold
from bentpipe.scenario import Scenario

Variants: TypeAlias = Iterable[str] | Mapping[str, str | checks.Settings]
"""Names of variants, or names of one's own, each with a variant or with settings."""

_RUNS = 10
"""How often with each variant unless something else is asked for."""

_LOOKS = 1000
"""Up to so many runs each one is a look at the precision; from then on every so many."""


def compare(
    scenario: Scenario | str | os.PathLike[str],
    variants: Variants,
    *,
    runs: int | None = None,
    precision: float | None = None,
    flows: Sequence[str] = (),
    metric: str | None = None,
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
        How often with each variant, 10 times by default, once where nothing is random; with `precision` the
        most there may be.
    precision
        Run until the numbers of all variants, and their ratios to the first's, are together known to this
        share: 0.02 for 2 %; after 30 runs at the earliest and 1,000 at the latest.
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
    chosen = _chosen(variants, [own.name for own in loaded.own if own.kind == "control"])
    patterns = checks.texts("flows", flows)
    if interval not in INTERVALS:
        raise InputError(f"interval: expected {' or '.join(INTERVALS)}, found {interval!r}")
    if metric is not None and metric not in metrics():
        raise InputError(f"metric: expected one of {', '.join(metrics())}, found {metric!r}")
    several = [_changed(loaded, name, change, patterns) for name, change in chosen.items()]
    random = any(one.is_random() for one in several)
    if runs is None and precision is None:
        runs = _RUNS if random else 1
    plan = Plan(seed=seed, runs=runs, precision=precision, threads=threads)
    found = _Found(
        [_Runs(*named, Fold(certain=not random)) for named in zip(chosen, several, strict=True)], not random
    )
    title = f"comparing {loaded.headline}" if progress else None
    precise = plan.precision is None
    # Closed at once, so that no run goes on behind an error.
    runs_of_all = in_turn(several, plan, title=title, reached=found.reached, stop=stop, limits=explain)
    with closing(runs_of_all) as replications:
        first = next(replications)
        found.measure = Measure.of(first[0], loaded, patterns, metric)
        for replication in chain([first], replications):
            found.add(replication)
            if plan.precision is not None and found.is_precise(plan.precision):
                precise = True
                break
    with Reporter(title) as reporter:
        variants_found = found.variants(interval, reporter)
    first_seed = loaded.seed if plan.seed is None else plan.seed
    return Comparison(
        loaded.title,
        first_seed,
        found.count,
        found.measure,
        next(iter(chosen)),
        variants_found,
        precise,
        tuple((one.name, failure) for one in found.each for failure in one.fold.failures()),
        loaded.toml(first_seed),
        random,
        interval,
    )


@dataclass
class _Runs:
    """The runs of one variant."""

    name: str
    scenario: Scenario
    fold: Fold
    values: list[float] = field(default_factory=list)
    # Of a percentile, which is of all runs together.
    responses: list["array[float]"] = field(default_factory=list)
    limits: list[dict[str, float]] = field(default_factory=list)
    came: int = 0
    begun: int = 0

    def add(self, run: Run, measure: Measure) -> None:
        if measure.quantile is not None:
            self.responses.append(array("d", measure.responses(run)))
        self.values.append(measure.value(run))
        came, begun = measure.came(run)
        self.came, self.begun = self.came + came, self.begun + begun
        recorded = run.pop("recording", {})
        if "limits" in recorded:
            self.limits.append(shares(recorded["limits"], measure.names))
        self.fold.add(run)


class _Found:
    measure: Measure
    """What is compared; the first runs say what they carry."""

    def __init__(self, each: Sequence[_Runs], certain: bool) -> None:
        self.each, self._certain = each, certain

    @property
    def count(self) -> int:
        """Runs of each variant so far."""
        return len(self.each[0].values)

    def add(self, replication: Sequence[Run]) -> None:
        for variant, run in zip(self.each, replication, strict=True):
            variant.add(run, self.measure)

    def is_precise(self, precision: float) -> bool:
        """Say whether this is a look, and all is known well enough by runs that are enough to tell so."""
        if self._certain:
            return True
        if not (FIRST_LOOK <= self.count <= _LOOKS or self.count % _LOOKS == 0):
            return False
        return self.reached() <= precision and all(
            self.count >= (UNSEEN if min(values) == max(values) else wanted(values))
            for values in self._pairs()
        )

    def _pairs(self) -> list[list[float]]:
        """Give what is held against each other, run by run."""
        share = self.measure.quantile
        return [one.values if share is None else quantile_by_run(one.responses, share) for one in self.each]

    def reached(self) -> float:
        """Give the widest interval of a variant's number, or of its ratio to the first's, as a share of it.

        The intervals are those that hold all of these together in 95 % of the cases (Bonferroni).
        """
        if self.count < 2:
            return inf
        first, *others = pairs = self._pairs()
        level = 1 - 0.05 / (len(pairs) + len(others))
        known = [estimate(values, level=level) for values in pairs]
        ratios = [gain(values, first, level=level) for values in others]
        widths = [(number["ci95"] or 0.0, number["mean"]) for number in known]
        widths += [(ratio["ci95"] or 0.0, 1 + ratio["mean"]) for ratio in ratios if ratio]
        return max((width / mean for width, mean in widths if width), default=0.0)

    def variants(self, interval: Interval, reporter: Reporter) -> tuple[Variant, ...]:
        """Give the variants, best first."""
        found: list[Variant] = []
        measure, certain = self.measure, self._certain
        pairs = self._pairs()
        for place, one in enumerate(self.each):
            reporter.update(place / len(self.each), f"taking the runs of {one.name} together")
            run = one.fold.combined()
            if measure.quantile is None:
                value = judged(one.values, interval=interval, certain=certain)
            else:
                value = pooled_quantile(one.responses, measure.quantile, certain=certain)
            found.append(
                Variant(
                    one.name,
                    value,
                    gain(pairs[place], pairs[0], interval, certain=certain) if place else None,
                    share(value, measure.carried_bps(one.scenario, run)),
                    run,
                    tuple(one.values),
                    tuple(pairs[place]),
                    one.came / one.begun if one.begun else None,
                    averaged(one.limits, certain=certain),
                )
            )
        sign = -1 if measure.number.better == "more" else 1
        return tuple(sorted(found, key=lambda variant: sign * variant.value["mean"]))


_OF_A_KERNEL = re.compile(r"linux(-[^:\s]+)?:\S+")
"""A control of a kernel in the place of our TCP, as ``linux:cubic`` or ``linux-6.1:cubic``."""


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
    known = [*(name for name, _ in _core.schemes("variants")), *own]
    for name in chosen.values():
        if isinstance(name, str) and name not in known and not _OF_A_KERNEL.fullmatch(name):
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
        raise error.within(f"variants: {name}") from None
