"""Runs a scenario once, or so often that its numbers can be trusted."""

import math
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, wait
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, cast

from bentpipe import checks
from bentpipe._core import RunResult
from bentpipe.errors import InputError, Interrupted, RunError
from bentpipe.files.output import Outputs
from bentpipe.result_types import Recording
from bentpipe.results import Run, parse
from bentpipe.runs.progress import Reporter
from bentpipe.runs.provenance import identity, stated
from bentpipe.runs.recording import FileRecorder, MemoryRecorder, require_room
from bentpipe.runs.result import Result, Runs
from bentpipe.runs.statistics import MOST_RUNS, Fold, failures, replication_seed
from bentpipe.runs.subjects import Subjects
from bentpipe.runs.threads import Crew, Stopped
from bentpipe.runs.traces import Traces
from bentpipe.scenario import Scenario

MAXIMUM_RUNS = 1000
"""Where ``--precision`` gives up unless ``--runs`` says otherwise."""

MOST_THREADS = 1024
"""The most runs at a time."""

SERIES_LIMIT = 20_000_000
"""Points of time series after which their recording ends, unless a plan says otherwise."""

PCAP_LIMIT = 4 << 30
"""Bytes of a capture at which the recording ends, unless a plan says otherwise."""


_BATCH_S = 0.02
_MOST_OF_A_BATCH = 256


@dataclass(frozen=True)
class Plan:
    """How often to run a scenario, and what to keep: what `run` and `replicate` take.

    With neither `runs` nor `precision` it is one plain run; `traces` keeps its time series in memory.

    Raises InputError: a value that cannot be used; the message names its field.
    """

    seed: int | None = None
    runs: int | None = None
    precision: float | None = None
    threads: int | None = None
    traces: bool = False
    keep: bool = False
    pcap: Path | None = None
    series: Sequence[str] = ()
    series_file: Path | None = None
    series_limit: int | None = SERIES_LIMIT
    pcap_limit: int | None = PCAP_LIMIT
    snap: int | None = None

    def __post_init__(self) -> None:
        for name, least, most in (
            ("seed", 0, 2**53 - 1),
            ("runs", 1, MOST_RUNS),
            ("threads", 1, MOST_THREADS),
            ("series_limit", 1, 2**63 - 1),
            ("pcap_limit", 1, 2**63 - 1),
            ("snap", 1, 2**31 - 1),
        ):
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, checks.whole(name, value, least, most))
        if self.precision is not None:
            object.__setattr__(self, "precision", checks.precision(self.precision))
        for name in ("traces", "keep"):
            if not isinstance(value := getattr(self, name), bool):
                raise InputError(f"{name}: expected True or False, found {value!r}")
        for name in ("pcap", "series_file"):
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, checks.path(name, value))
        object.__setattr__(self, "series", checks.texts("series", self.series))


def run(
    scenario: Scenario | str | os.PathLike[str],
    *,
    seed: int | None = None,
    series: bool | Sequence[str] = False,
    series_file: Path | None = None,
    series_limit: int | None = SERIES_LIMIT,
    pcap: Path | None = None,
    pcap_limit: int | None = PCAP_LIMIT,
    snap: int | None = None,
    progress: bool = True,
    stop: threading.Event | None = None,
) -> Result:
    """Run a scenario once.

    A flow that breaks raises nothing: see `Result.failures`.

    Parameters
    ----------
    scenario
        A `Scenario`, or what `Scenario.load` takes: a file, or ``preset:NAME``.
    seed
        Instead of the scenario's own.
    series
        Keep time series in memory: all of them, or some, as ``("web*:cwnd,rtt", ":queue")``.
    series_file, pcap
        Write the time series to this Parquet file, every packet to this pcapng file.
    series_limit, pcap_limit
        Points of time series, and bytes of the capture, at which their recording ends; it also ends when the
        disk is nearly full. ``None`` is no limit.
    snap
        How many bytes are kept of each packet.
    progress
        Show how far it is when it takes long.
    stop
        Another thread ends the run by setting it.

    Raises
    ------
    InputError
        An argument cannot be used; the message names it.
    RunError
        The run has no result.
    Interrupted
        Ctrl-C, or somebody set `stop`.
    """
    plan = Plan(
        seed=seed,
        traces=bool(series) and series_file is None,
        series=() if isinstance(series, bool) else series,
        series_file=series_file,
        series_limit=series_limit,
        pcap=pcap,
        pcap_limit=pcap_limit,
        snap=snap,
    )
    loaded = _loaded(scenario)
    return execute(loaded, plan, title=loaded.headline if progress else None, stop=stop)


def replicate(
    scenario: Scenario | str | os.PathLike[str],
    runs: int | None = None,
    *,
    precision: float | None = None,
    seed: int | None = None,
    threads: int | None = None,
    keep: bool = True,
    progress: bool = True,
    stop: threading.Event | None = None,
) -> Result:
    """Run a scenario with many seeds on all cores, until its numbers can be trusted.

    Replication k has the same seed whatever the scenario, so that two of them can be compared in pairs. The
    numbers do not depend on the threads.

    Parameters
    ----------
    scenario
        A `Scenario`, or what `Scenario.load` takes: a file, or ``preset:NAME``.
    runs
        Replications, at most 1,000,000; with `precision` the most there may be.
    precision
        Replicate until the goodputs of all flows together are known to this share of their means: 0.02 for
        2 %; 30 times at least, and oftener the more skewed they are.
    seed
        The first seed, instead of the scenario's own.
    threads
        How many runs at a time; all cores by default.
    keep
        Keep the numbers of each replication for `Result.replications`.
    progress, stop
        As in `run`.

    Raises
    ------
    InputError
        An argument cannot be used; the message names it.
    RunError
        A run has no result.
    Interrupted
        Ctrl-C, or somebody set `stop`; every thread has stopped.
    """
    if runs is None and precision is None:
        raise InputError("runs: expected how often to run, or precision, found neither")
    plan = Plan(seed=seed, runs=runs, precision=precision, threads=threads, keep=keep)
    loaded = _loaded(scenario)
    return execute(loaded, plan, title=loaded.headline if progress else None, stop=stop)


def execute(
    scenario: Scenario,
    plan: Plan,
    *,
    title: str | None = "running",
    stop: threading.Event | None = None,
) -> Result:
    """Run `scenario` as `plan` says, with a progress line of this `title`, or without one.

    Replications are taken in their order, and those that ran ahead of the stopping rule are dropped.

    Raises InputError: a file to write is one that the scenario was read from.
    Raises RunError: a run has no result, or the folder of a file to write is not there.
    Raises OSError: time series could not be written to their file.
    Raises Interrupted: Ctrl-C, or somebody set `stop`; every thread has stopped.
    """
    subjects = Subjects.of(scenario, plan.series)
    outputs = Outputs(scenario.files)
    for name, path in (("pcap", plan.pcap), ("series_file", plan.series_file)):
        if path is not None:
            outputs.add(path, name)
            if path.is_dir():
                raise InputError(f"{name}: expected a file to write, found the folder {path}")
            if not path.parent.is_dir():
                raise RunError(f"cannot write {path}: there is no folder {path.parent}")
    if plan.pcap is not None:
        require_room(plan.pcap)
    plain = plan.runs is None and plan.precision is None
    recorded: Recording | None = None
    kept: list[RunResult] = []
    precise = plan.precision is None
    with _recorder(scenario, plan, subjects) as recorder:
        random = scenario.is_random()
        fold = Fold(certain=not random)
        job = _Job([scenario], plan, title, stop or threading.Event(), fold.reached, recorder)
        batches = job.batches()
        if plan.precision is not None:
            # Each run is a look at the precision.
            batches = ([result] for results in batches for result in results)
        with closing(batches):
            for results in batches:
                kept += results if plan.keep else []
                if fold.runs == 0:
                    first = parse(results[0].json())
                    recorded = first.pop("recording", None)
                    if plain:
                        break
                    fold.add(first)
                    results = results[1:]
                fold.add_results(results)
                if plan.precision is not None and fold.precise_enough(plan.precision):
                    precise = True
                    break
    broken = failures(first) if plain else fold.failures()
    run = first if plain else cast(Run, {**fold.combined(), "random": random})
    if recorded is not None:
        run["recording"] = recorded
    traces = recorder.traces() if isinstance(recorder, MemoryRecorder) else Traces((), subjects)
    return Result(
        stated(run, scenario, plan),
        traces,
        precise,
        broken,
        Runs([result.json for result in kept[: fold.runs]]),
    )


def in_turn(
    scenarios: Sequence[Scenario],
    plan: Plan,
    *,
    title: str | None,
    reached: Callable[[], float],
    stop: threading.Event | None = None,
    limits: bool = False,
) -> Generator[list[Run]]:
    """Give the runs of all `scenarios` with the same seed, one replication after the other.

    `plan` says how often at most, and at how many a time; the caller ends it earlier by asking for no more.
    `reached` is the precision so far, for the progress line of this `title`. With `limits`, the ``recording``
    of each run says for how long what limited each flow. Errors are those of `execute`.
    """
    job = _Job(scenarios, plan, title, stop or threading.Event(), reached, limits=limits)
    with closing(job.batches()) as batches:
        results = (parse(result.json()) for batch in batches for result in batch)
        while replication := list(islice(results, len(scenarios))):
            yield replication


def _loaded(scenario: Any) -> Scenario:
    if isinstance(scenario, str | os.PathLike):
        return Scenario.load(scenario)
    if not isinstance(scenario, Scenario):
        wanted = "a scenario, as bentpipe.Scenario.load gives it, or its file"
        raise InputError(f"scenario: expected {wanted}, found {checks.found(scenario)}")
    return scenario


def _recorder(
    scenario: Scenario, plan: Plan, subjects: Subjects
) -> AbstractContextManager[FileRecorder | MemoryRecorder | None]:
    if plan.series_file is not None:
        return FileRecorder(plan.series_file, subjects, identity(scenario, plan))
    return nullcontext(MemoryRecorder(subjects) if plan.traces else None)


@dataclass(frozen=True)
class _Batch:
    """Results of runs in a row, the error that ended them if one did, and what they took of a thread."""

    results: Sequence[RunResult]
    error: BaseException | None
    spent_s: float


def how_many(left: int, finished: int, spent_s: float, threads: int) -> tuple[int, int]:
    """Give how many runs a batch has, and how many batches may be begun that nobody has taken up.

    Short runs come several at a time, and some of them wait, so that no thread does. Of long ones none is
    begun that may not be wanted; nor before it is known what they take.
    """
    each_s = spent_s / finished if finished else math.inf
    if each_s > _BATCH_S:
        return 1, threads
    fair = math.ceil(left / (2 * threads))
    fitting = _BATCH_S / each_s if each_s else math.inf
    return max(1, int(min(fair, fitting, _MOST_OF_A_BATCH))), 2 * threads


@dataclass
class _Job:
    scenarios: Sequence[Scenario]
    plan: Plan
    title: str | None
    asked_to_stop: threading.Event
    precision: Callable[[], float]
    recorder: FileRecorder | MemoryRecorder | None = None
    limits: bool = False

    def __post_init__(self) -> None:
        plan = self.plan
        self._base = self.scenarios[0].seed if plan.seed is None else plan.seed
        self._replications = plan.runs or (1 if plan.precision is None else MAXIMUM_RUNS)
        self._total = self._replications * len(self.scenarios)
        self._stop = threading.Event()
        self._changed = threading.Lock()
        # Of each run under way: its share of simulated time, and its events.
        self._reached: dict[int, tuple[float, int]] = {}
        self._finished, self._events, self._spent_s = 0, 0, 0.0

    def batches(self) -> Generator[Sequence[RunResult]]:
        """Give the results of each replication, one scenario after the other, as they were run together."""
        threads = min(self.plan.threads or len(os.sched_getaffinity(0)), self._total)
        crew = Crew(threads)
        ahead: deque[Future[_Batch]] = deque()
        begun = 0
        try:
            with Reporter(self.title) as reporter:
                while self._finished < self._total:
                    left = self._total - self._finished
                    size, most = how_many(left, self._finished, self._spent_s, threads)
                    while begun < self._total and len(ahead) < most:
                        numbers = range(begun, min(begun + size, self._total))
                        ahead.append(crew.submit(self._batch, numbers))
                        begun = numbers.stop
                    batch = ahead.popleft()
                    while True:
                        if self.asked_to_stop.is_set():
                            raise KeyboardInterrupt
                        if reporter.due():
                            reporter.update(self._share(), self._detail())
                        if batch.done() or wait([batch], timeout=0.2).done:
                            break
                    done = batch.result()
                    self._spent_s += done.spent_s
                    self._finished += len(done.results)
                    self._events += sum(result.events for result in done.results)
                    if done.results:
                        yield done.results
                    if done.error is not None:
                        raise done.error
        except KeyboardInterrupt:
            raise Interrupted("interrupted; nothing was written") from None
        finally:
            self._stop.set()
            crew.dismiss()

    def _batch(self, numbers: range) -> _Batch:
        """Run some; the error of one ends them, and those before it have their results."""
        if self._stop.is_set():
            raise Stopped
        began = time.monotonic()
        results: list[RunResult] = []
        error: BaseException | None = None
        try:
            for number in numbers:
                if self._stop.is_set():
                    raise Stopped
                results.append(self._simulate(number))
        except (Exception, SystemExit) as wrong:
            error = wrong
        finally:
            with self._changed:
                for number in numbers:
                    self._reached.pop(number, None)
        return _Batch(results, error, time.monotonic() - began)

    def _simulate(self, number: int) -> RunResult:
        replication, which = divmod(number, len(self.scenarios))

        def progress(simulated_s: float, total_s: float | None, events: int) -> None:
            if self._stop.is_set():
                raise Stopped
            with self._changed:
                self._reached[number] = (simulated_s / total_s if total_s else 0.0, events)

        return self.scenarios[which].simulate(
            seed=replication_seed(self._base, replication),
            **(self._recording() if number == 0 else {}),
            limits=self.limits,
            progress=progress,
        )

    def _recording(self) -> dict[str, Any]:
        """Give what the first run is told of recording."""
        plan, recorder = self.plan, self.recorder
        recorded: dict[str, Any] = {}
        if recorder is not None:
            recorded |= {"series": recorder, "series_rows": recorder.rows_at_a_time}
            recorded["wanted"] = recorder.subjects.wanted()
            if plan.series_limit is not None:
                recorded["series_limit"] = plan.series_limit
        if plan.pcap is not None:
            recorded |= {"pcap": str(plan.pcap), "pcap_limit": plan.pcap_limit, "snap": plan.snap}
        return recorded

    def _share(self) -> float | None:
        if self.plan.precision is not None:
            return None
        with self._changed:
            return (self._finished + sum(share for share, _ in self._reached.values())) / self._total

    def _detail(self) -> str:
        with self._changed:
            events = self._events + sum(events for _, events in self._reached.values())
        spent = f"{events / 1e6:,.1f} million events"
        if self._total == 1:
            return spent
        done = self._finished // len(self.scenarios)
        if self.plan.precision is None:
            return f"replication {done:,} of {self._replications:,}, {spent}"
        reached = self.precision()
        known = (
            f"; goodput is known to {reached:.2%}, wanted {self.plan.precision:.2%}"
            if reached < math.inf
            else ""
        )
        return f"replication {done:,} of at most {self._replications:,}, {spent}{known}"
