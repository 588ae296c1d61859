"""Runs what is missing of a sweep: batches to whoever runs them, rows to disk as they come back."""

import math
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Protocol

from bentpipe.errors import BentpipeError, Interrupted, RunError
from bentpipe.runs.progress import Reporter
from bentpipe.runs.threads import Crew
from bentpipe.sweeps.design import Design
from bentpipe.sweeps.store import Store, missing_runs
from bentpipe.sweeps.work import Done, Job, failed, simulate, who

if TYPE_CHECKING:
    import pyarrow as pa

_WRITE_EVERY_S = 2.0
_ROWS_IN_MEMORY = 50_000
_MOST_OF_A_BATCH = 4096


class Workers(Protocol):
    """Who runs batches."""

    batch_s: float
    """How long a batch should take: long beside what sending it costs."""

    def at_once(self) -> int:
        """Give how many batches run at a time."""

    def submit(self, jobs: Sequence[Job]) -> Future[Done]:
        """Begin a batch."""

    def lost(self, error: BaseException) -> str | None:
        """Say in a line how those who ran a batch were lost, if this error says that they were."""

    def stop(self) -> None:
        """End what is under way; batches that were begun may still give what they have."""


class Threads:
    """The cores of this machine; the simulator runs without the interpreter's lock."""

    batch_s = 0.25

    def __init__(self, design: Design, threads: int | None) -> None:
        self._design = design
        self._threads = threads or len(os.sched_getaffinity(0))
        self._crew = Crew(self._threads)
        self._stop = threading.Event()

    def at_once(self) -> int:
        """Give the number of threads."""
        return self._threads

    def submit(self, jobs: Sequence[Job]) -> Future[Done]:
        """Begin a batch in the next thread that is free."""
        return self._crew.submit(simulate, self._design.base, jobs, self._stop)

    def lost(self, error: BaseException) -> str | None:
        """Say nothing: threads are not lost."""
        del error
        return None

    def stop(self) -> None:
        """Let every thread come back with what it has."""
        self._stop.set()
        self._crew.dismiss()


@dataclass
class Counts:
    """Runs of a sweep: in all, done, of those from before, failed, and of another engine, run again."""

    total: int
    done: int = 0
    before: int = 0
    failed: int = 0
    other_engine: int = 0


def run_missing(
    store: Store,
    design: Design,
    workers: Workers,
    title: str | None,
    told_to_stop: threading.Event | None = None,
    told: Callable[[Counts], object] | None = None,
) -> Counts:
    """Run what `store` does not have yet.

    Raises
    ------
    Interrupted
        Ctrl-C, or somebody set `told_to_stop`; what is finished is kept.
    RunError
        Those who run it are gone; what is finished is kept.
    """
    engine, version = who()
    done, before_failed, dropped = store.take_over(engine)
    before = int(done.sum())
    counts = Counts(design.total, before, before, before_failed, dropped)
    if told is not None:
        told(counts)
    job = _Sweeping(store, design, workers, counts, (engine, version), missing_runs(done))
    try:
        with Reporter(title) as reporter:
            try:
                job.sweep(reporter, told_to_stop)
            finally:
                workers.stop()
                job.keep_what_is_done()
        store.finish(engine)
    except KeyboardInterrupt as error:
        raise Interrupted(
            f"interrupted; {counts.done:,} of {counts.total:,} runs are kept in {store.folder}, "
            "and the same command goes on from there"
        ) from error
    return counts


class _Sweeping:
    def __init__(
        self,
        store: Store,
        design: Design,
        workers: Workers,
        counts: Counts,
        who: tuple[str, str],
        missing: Iterator[tuple[int, int]],
    ) -> None:
        self._store = store
        self._design = design
        self._workers = workers
        self._counts = counts
        self._engine, self._version = who
        self._missing = missing
        self._under_way: dict[Future[Done], Sequence[Job]] = {}
        self._rows: list[pa.Table] = []
        self._waiting_rows = 0
        self._began = time.monotonic()
        # The first rows are written at once: a folder that takes none is told of early.
        self._written = -math.inf
        # Of what has come back: runs, and seconds of a worker.
        self._runs, self._spent_s = 0, 0.0

    def sweep(self, reporter: Reporter, told_to_stop: threading.Event | None) -> None:
        """Give out and take back until all is there."""
        while True:
            self._give_out()
            if not self._under_way:
                return
            for future in wait(self._under_way, timeout=0.2, return_when=FIRST_COMPLETED).done:
                self._take_back(future)
            self._write_now_and_then()
            if told_to_stop is not None and told_to_stop.is_set():
                raise KeyboardInterrupt
            if reporter.due():
                counts = self._counts
                before = f", {counts.before:,} of them from before" if counts.before else ""
                broken = f", {counts.failed:,} failed" if counts.failed else ""
                share = (counts.done - counts.before) / ((counts.total - counts.before) or 1)
                reporter.update(share, f"{counts.done:,} of {counts.total:,} runs{before}{broken}")

    def keep_what_is_done(self) -> None:
        """Write what has come back and not been written, also from those who were stopped."""
        for future in [future for future in self._under_way if future.done() and not future.cancelled()]:
            if future.exception() is None:
                del self._under_way[future]
                self._keep(future.result())
        self._write()

    def _give_out(self) -> None:
        at_once = self._workers.at_once()
        while len(self._under_way) < 2 * at_once:
            # Towards the end batches are smaller, so that nobody waits long for the last one.
            left = self._counts.total - self._counts.done
            fair = left / (2 * at_once)
            fitting = self._workers.batch_s * self._runs / self._spent_s if self._spent_s else 1.0
            size = math.ceil(min(fitting, fair, _MOST_OF_A_BATCH))
            jobs = self._jobs(max(1, size))
            if not jobs:
                return
            self._submit(jobs)

    def _jobs(self, runs: int) -> list[Job]:
        """Take so many runs off those that are missing; those of a point together."""
        found: dict[int, list[int]] = {}
        for point, replication in islice(self._missing, runs):
            found.setdefault(point, []).append(replication)
        settings = self._design.points.settings
        return [(point, settings(point), replications) for point, replications in found.items()]

    def _submit(self, jobs: Sequence[Job]) -> None:
        try:
            self._under_way[self._workers.submit(jobs)] = jobs
        except Exception as error:
            raise self._gone(error) from error

    def _take_back(self, future: Future[Done]) -> None:
        jobs = self._under_way.pop(future)
        try:
            self._keep(future.result())
        except BentpipeError:
            raise
        except (Exception, CancelledError) as error:
            lost = self._workers.lost(error)
            if lost is None:
                raise self._gone(error) from error
            self._one_by_one(jobs, lost)

    def _one_by_one(self, jobs: Sequence[Job], lost: str) -> None:
        """Run the jobs of a batch that ended its workers by themselves; one that does it again has failed."""
        single = [(point, settings, [k]) for point, settings, replications in jobs for k in replications]
        if len(single) > 1:
            for job in single:
                self._submit([job])
        else:
            ((point, _, (replication,)),) = single
            self._keep(failed(self._design.base, point, replication, lost))

    def _keep(self, done: Done) -> None:
        if (done.engine, done.version) != (self._engine, self._version):
            raise RunError(
                f"a worker has engine {done.engine} of bentpipe {done.version}, "
                f"expected {self._engine} of {self._version}; what is finished is in {self._store.folder}"
            )
        if done.runs:
            self._rows.append(done.rows)
            self._waiting_rows += len(done.rows)
        self._counts.done += done.runs
        self._counts.failed += done.failed
        self._runs += done.runs
        self._spent_s += done.spent_s

    def _write_now_and_then(self) -> None:
        now = time.monotonic()
        # Often at first, seldom in a long sweep: the number of parts grows with the logarithm of its time.
        every_s = max(min(self._written - self._began, _WRITE_EVERY_S), (now - self._began) / 200)
        if self._waiting_rows >= _ROWS_IN_MEMORY or now >= self._written + every_s:
            self._write()

    def _write(self) -> None:
        if self._rows:
            rows, self._rows, self._waiting_rows = self._rows, [], 0
            self._store.add(rows, self._engine, self._version)
            self._written = time.monotonic()

    def _gone(self, error: BaseException) -> RunError:
        reason = " ".join(str(error).split()) or type(error).__name__
        return RunError(
            f"no worker is there any more ({reason}); {self._counts.done:,} of {self._counts.total:,} runs "
            f"are kept in {self._store.folder}, and the same command goes on from there"
        )
