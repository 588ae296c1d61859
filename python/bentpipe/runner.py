"""Runs a scenario once, or so often that its numbers can be trusted."""

import os
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypedDict

from bentpipe._core import RunError, RunResult, Scenario, ScenarioError
from bentpipe.errors import BentpipeError, InputError, Interrupted
from bentpipe.progress import Reporter
from bentpipe.provenance import Recorded, stated
from bentpipe.recording import FileRecorder, MemoryRecorder, require_room
from bentpipe.results import Recording, Run, parse
from bentpipe.source import read_scenario
from bentpipe.statistics import combine, precise_enough, replication_seed
from bentpipe.subjects import Subjects
from bentpipe.traces import Traces

MAXIMUM_RUNS = 1000
"""Where ``--precision`` gives up unless ``--runs`` says otherwise."""

SERIES_LIMIT = 20_000_000
"""Points of time series after which their recording ends, unless a plan says otherwise."""

PCAP_LIMIT = 4 << 30
"""Bytes of a capture at which the recording ends, unless a plan says otherwise."""


@dataclass(frozen=True)
class Plan:
    """How often to run a scenario, and what to keep.

    `runs` is the number of replications, or with `precision` (a share of one) the most there may be; with
    neither, one plain run. Traces and packets are kept of the first replication only.

    `traces` keeps time series in memory, `series_file` writes them to a Parquet file; `series` chooses some,
    as ``("web*:cwnd,rtt", ":queue")``. Their recording ends at `series_limit` points, that of packets at
    `pcap_limit` bytes of the file, or when the disk is nearly full; ``None`` is no limit. `snap` is how many
    bytes are kept of each packet.
    """

    seed: int | None = None
    runs: int | None = None
    precision: float | None = None
    threads: int | None = None
    traces: bool = False
    pcap: Path | None = None
    series: Sequence[str] = ()
    series_file: Path | None = None
    series_limit: int | None = SERIES_LIMIT
    pcap_limit: int | None = PCAP_LIMIT
    snap: int | None = None


@dataclass(frozen=True)
class Outcome:
    """What came out: the run, its traces if they were asked for, and whether the precision was reached."""

    run: Run
    traces: Traces
    precise: bool


def load(path: str, settings: Iterable[tuple[str, str]] = ()) -> Scenario:
    """Read a scenario file, ``preset:NAME`` or ``-``, standard input, and change some settings.

    A setting is a key and a value, as ``("seed", "7")``.

    The scenario of a finished run is read from the folder that ``run --out`` wrote, or from the run's JSON.

    Raises
    ------
    InputError
        It cannot be read or used; the message names file, line, key and what was expected.
    """
    recorded = Recorded.at(path)
    try:
        return recorded.load(settings) if recorded else read_scenario(path, list(settings))
    except ScenarioError as error:
        raise InputError(str(error)) from error


def execute(scenario: Scenario, plan: Plan, *, title: str | None = "running") -> Outcome:
    """Run `scenario` as `plan` says, with a progress line of this `title`, or without.

    The numbers depend on scenario and seed alone, not on the threads: replications are taken in their order,
    and those that ran ahead of the stopping rule are dropped.

    Raises
    ------
    BentpipeError
        A run failed.
    Interrupted
        Ctrl-C; every thread has stopped.
    """
    subjects = Subjects.of(scenario, plan.series)
    if plan.pcap is not None:
        require_room(plan.pcap)
    runs: list[Run] = []
    recorded: Recording | None = None
    precise = plan.precision is None
    with _recorder(plan, subjects) as recorder:
        for result in _Job(scenario, plan, title, recorder).results():
            run = parse(result.json())
            # Of the first replication only.
            recorded = run.pop("recording", recorded)
            runs.append(run)
            if plan.precision is not None and precise_enough(runs, plan.precision):
                precise = True
                break
    plain = plan.runs is None and plan.precision is None
    run = runs[0] if plain else combine(runs)
    if recorded is not None:
        run["recording"] = recorded
    traces = recorder.traces() if isinstance(recorder, MemoryRecorder) else Traces((), subjects)
    return Outcome(stated(run, scenario, plan), traces, precise)


def _recorder(plan: Plan, subjects: Subjects) -> FileRecorder | MemoryRecorder | nullcontext[None]:
    if plan.series_file is not None:
        return FileRecorder(plan.series_file, subjects)
    return MemoryRecorder(subjects) if plan.traces else nullcontext()


class _Watching(TypedDict, total=False):
    """What a run is told of recording."""

    series: FileRecorder | MemoryRecorder
    wanted: list[int] | None
    series_limit: int
    pcap: str
    pcap_limit: int | None
    snap: int | None


class _Stopped(Exception):
    """Leaves a run of which nobody wants the result."""


class _Job:
    def __init__(
        self,
        scenario: Scenario,
        plan: Plan,
        title: str | None,
        recorder: FileRecorder | MemoryRecorder | None,
    ) -> None:
        self._scenario = scenario
        self._recorder = recorder
        self._plan = plan
        self._title = title
        self._base = scenario.seed if plan.seed is None else plan.seed
        self._total = plan.runs or (1 if plan.precision is None else MAXIMUM_RUNS)
        self._stop = threading.Event()
        # How many runs are under way. The pool does not know: an interruption while it starts a thread
        # loses it that thread.
        self._under_way = 0
        self._changed = threading.Condition()
        self._events: dict[int, int] = {}
        self._shares: dict[int, float] = {}

    def results(self) -> Iterator[RunResult]:
        """Give the results in the order of their replications, as long as the caller wants more."""
        threads = min(self._plan.threads or len(os.sched_getaffinity(0)), self._total)
        pool = ThreadPoolExecutor(threads)
        ahead: deque[Future[RunResult]] = deque()
        waiting = iter(range(self._total))
        try:
            with Reporter(self._title) as reporter:
                for _ in range(self._total):
                    ahead.extend(pool.submit(self._one, k) for k in islice(waiting, threads - len(ahead)))
                    result = ahead.popleft()
                    while not wait([result], timeout=0.2).done:
                        reporter.update(self._share(), self._detail())
                    yield result.result()
        except KeyboardInterrupt:
            raise Interrupted("interrupted; nothing was written") from None
        except RunError as error:
            raise BentpipeError(str(error)) from error
        finally:
            with self._changed:
                self._stop.set()
                self._changed.wait_for(lambda: self._under_way == 0)
            pool.shutdown(cancel_futures=True)

    def _one(self, replication: int) -> RunResult:
        with self._changed:
            if self._stop.is_set():
                raise _Stopped
            self._under_way += 1
        try:
            return self._simulate(replication)
        finally:
            with self._changed:
                self._under_way -= 1
                self._changed.notify_all()

    def _simulate(self, replication: int) -> RunResult:
        first = replication == 0

        def progress(simulated_s: float, total_s: float | None, events: int) -> None:
            if self._stop.is_set():
                raise _Stopped
            self._events[replication] = events
            self._shares[replication] = simulated_s / total_s if total_s else 0.0

        result = self._scenario.run(
            seed=replication_seed(self._base, replication),
            **(self._recording() if first else {}),
            progress=progress,
        )
        self._shares[replication] = 1.0
        return result

    def _recording(self) -> "_Watching":
        plan, recorder = self._plan, self._recorder
        recorded: _Watching = {}
        if recorder is not None:
            recorded |= {"series": recorder, "wanted": recorder.subjects.wanted()}
            if plan.series_limit is not None:
                recorded["series_limit"] = plan.series_limit
        if plan.pcap is not None:
            recorded |= {"pcap": str(plan.pcap), "pcap_limit": plan.pcap_limit, "snap": plan.snap}
        return recorded

    def _share(self) -> float | None:
        return sum(self._shares.values()) / self._total if self._plan.precision is None else None

    def _detail(self) -> str:
        events = f"{sum(self._events.values()) / 1e6:,.1f} million events"
        return events if self._total == 1 else f"replication {len(self._shares)}, {events}"
