"""The library function of sweeps."""

import os
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from bentpipe import checks
from bentpipe.errors import InputError, ScenarioError
from bentpipe.own.scheme import NamedSchemes, is_scheme
from bentpipe.runs.runner import Plan
from bentpipe.runs.statistics import MOST_RUNS as MOST_REPLICATIONS
from bentpipe.scenario import Scenario
from bentpipe.sweeps import store
from bentpipe.sweeps.axes import MOST_RUNS, Axis, Points, points_of
from bentpipe.sweeps.cluster import Cluster
from bentpipe.sweeps.design import Design
from bentpipe.sweeps.driver import Counts, Threads, run_missing
from bentpipe.sweeps.result import Sweep
from bentpipe.sweeps.sources import sources
from bentpipe.sweeps.work import Base, changed

Vary: TypeAlias = Mapping[str, str | Iterable[object]] | Iterable[tuple[str, str | Iterable[object]]]
"""Keys of a scenario, each with its values, or with a text as ``bentpipe sweep --vary`` takes it."""

_MOST_CHECKED = 1000


def sweep(
    scenario: Scenario | str | os.PathLike[str],
    vary: Vary,
    *,
    out: str | os.PathLike[str],
    runs: int = 1,
    sample: int | None = None,
    seed: int | None = None,
    threads: int | None = None,
    on: str | None = None,
    progress: bool = True,
    stop: threading.Event | None = None,
    on_counts: Callable[[Counts], object] | None = None,
) -> Sweep:
    """Run a scenario at many points, and keep a row of every run in the folder `out`.

    What is there from before is not run again, if it is of the same sweep and the same engine. The rows
    depend on neither threads nor cluster, and replication k has the same seed at each point.

    Parameters
    ----------
    scenario
        A scenario, or what `bentpipe.Scenario.load` takes.
    vary
        As ``{"flows.download.variant": ["reno", "sack"], "links.satellite.loss.probability":
        "1e-6..1e-2:log:5"}``: every combination is a point. A `Control`, its class or an object, may stand
        for a control's name.
    out
        A new folder, or that of the same sweep, which goes on.
    runs
        Replications of each point.
    sample
        Draw so many points, a Latin hypercube, in place of every combination. A range is then ``"LO..HI"`` or
        ``"LO..HI:log"``.
    seed
        Instead of the scenario's own, for what is drawn too.
    threads
        How many runs at a time on this machine; all cores by default.
    on
        The address of a Dask scheduler, as ``"tcp://10.0.0.1:8786"``, whose workers run it.
    progress
        Show how far it is when it takes long.
    stop
        Somebody may set it to end the sweep, as Ctrl-C does.
    on_counts
        Called once with what there is from before.

    Raises
    ------
    InputError
        Something that was given cannot be used; nothing was written.
    RunError
        The cluster was lost; what is finished is kept.
    Interrupted
        Ctrl-C; what is finished is kept, and the same call goes on from there.
    """
    folder = checks.path("out", out)
    runs = checks.whole("runs", runs, 1, MOST_REPLICATIONS)
    if sample is not None:
        sample = checks.whole("sample", sample, 1, MOST_RUNS)
    plan = Plan(seed=seed, threads=threads)
    loaded = scenario if isinstance(scenario, Scenario) else Scenario.load(scenario)
    design = _design(loaded, vary, runs, sample, loaded.seed if plan.seed is None else plan.seed)
    store.check(folder, design)
    workers = Threads(design, plan.threads) if on is None else Cluster(design, on)
    try:
        with store.Store(folder, design) as rows:
            run_missing(rows, workers, f"sweeping {design.title}" if progress else None, stop, on_counts)
    finally:
        workers.stop()
    return Sweep(folder)


def _design(scenario: Scenario, vary: Vary, runs: int, sample: int | None, seed: int) -> Design:
    named = NamedSchemes(scenario.own)
    pairs = _pairs(vary, named)
    own = tuple(named.known)
    base = Base(scenario.file, scenario.toml(seed), seed, sources(own), own)
    points = points_of(pairs, sample, seed)
    if len(points) * runs > MOST_RUNS:
        raise InputError(
            f"--vary: expected at most {MOST_RUNS:,} runs, found {len(points):,} points with {runs:,} each"
        )
    for axis in points.axes:
        _require_usable(base, points, axis)
    return Design(scenario.title, base, points, runs)


def _pairs(vary: Any, named: NamedSchemes) -> list[tuple[str, Any]]:
    try:
        pairs = [
            (key, values if isinstance(values, str) else [_value(key, value, named) for value in values])
            for key, values in checks.items(vary)
        ]
    except (TypeError, ValueError):
        raise InputError(
            f'vary: expected keys with values, as {{"tcp.mss": ["500 B", "1460 B"]}}, found {vary!r}'
        ) from None
    for key, _ in pairs:
        if not isinstance(key, str):
            raise InputError(f'vary: expected names such as "links.satellite.rate", found {key!r}')
        if key == "seed":
            raise InputError("--vary seed: expected another key: --runs N runs each point with N seeds")
    return pairs


def _value(key: str, value: Any, named: NamedSchemes) -> Any:
    given = named.names(value)
    # A loss model or a queue stands in a table, which an axis has as text.
    return checks.toml(key, given) if is_scheme(value) and isinstance(given, dict) else given


def _require_usable(base: Base, points: Points, axis: Axis) -> None:
    """See that each value of an axis is one, in the scenario itself or beside the first values of the others.

    A value that can be used in neither is a mistake. What fails for other combinations is a row.
    """
    others = [(key, value) for key, value in points.settings(0) if key != axis.key]
    for value in dict.fromkeys((*axis.values[:_MOST_CHECKED], axis.values[-1])):
        alone = _wrong_with(base, [(axis.key, value)])
        if alone is not None and _wrong_with(base, [*others, (axis.key, value)]) is not None:
            raise InputError(f"--vary {axis.key}: {alone}")


def _wrong_with(base: Base, settings: list[tuple[str, str]]) -> ScenarioError | None:
    try:
        changed(base, settings)
    except ScenarioError as error:
        return error
    return None
