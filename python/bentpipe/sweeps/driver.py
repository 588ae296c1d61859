"""Runs what is missing of a sweep: batches to whoever runs them, rows to disk as they come back."""

import math
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

import pyarrow as pa

from bentpipe.errors import BentpipeError, Interrupted, RunError, reason
from bentpipe.runs.progress import Reporter
from bentpipe.runs.threads import Crew
from bentpipe.sweeps.design import Design
from bentpipe.sweeps.store import Store, missing_runs
from bentpipe.sweeps.work import Done, Job, failed, simulate

if TYPE_CHECKING:
    from bentpipe.sweeps.cluster import Cluster

_WRITE_EVERY_S = 2.0
_ROWS_IN_MEMORY = 50_000
_MOST_OF_A_BATCH = 4096


class Threads:
    """The cores of this machine; the simulator runs without the interpreter's lock."""

    batch_s = 0.25
    """How long a batch should take: long beside what giving it out costs."""

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

    def lost(self, error: BaseException) -> str | None:  # noqa: ARG002
        """Say in a line how those who ran a batch were lost, if this error says so: threads are not lost."""
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
    workers: "Threads | Cluster",
    title: str | None,
    asked_to_stop: threading.Event | None = None,
    on_counts: Callable[[Counts], object] | None = None,
) -> None:
    """Run what `store` does not have yet.

    Raises Interrupted: Ctrl-C, or somebody set `asked_to_stop`; what is finished is kept.
    Raises RunError: those who run it are gone; what is finished is kept.
    """
    done, failed_before, of_others = store.take_over()
    before = int(done.sum())
    counts = Counts(store.design.total, before, before, failed_before, of_others)
    if on_counts is not None:
        on_counts(counts)
    job = _Sweeping(store, workers, counts, missing_runs(done))
    try:
        with Reporter(title) as reporter:
            try:
                job.sweep(reporter, asked_to_stop)
            finally:
                workers.stop()
                job.keep_what_is_done()
        store.finish()
    except KeyboardInterrupt as error:
        raise Interrupted(
            f"interrupted; {counts.done:,} of {counts.total:,} runs are kept in {store.folder}, "
            "and the same command goes on from there"
        ) from error


@dataclass
class _Sweeping:
    store: Store
    workers: "Threads | Cluster"
    counts: Counts
    missing: Iterator[tuple[int, int]]
    under_way: dict[Future[Done], Sequence[Job]] = field(default_factory=dict)
    rows: list[pa.Table] = field(default_factory=list)
    began: float = field(default_factory=time.monotonic)
    written: float = -math.inf
    """The first rows are written at once: a folder that takes none is told of early."""
    spent_s: float = 0.0
    """Seconds of a worker, for what has come back."""

    def sweep(self, reporter: Reporter, asked_to_stop: threading.Event | None) -> None:
        """Give out and take back until all is there."""
        while True:
            self._give_out()
            if not self.under_way:
                return
            for future in wait(self.under_way, timeout=0.2, return_when=FIRST_COMPLETED).done:
                self._take_back(future)
            self._write_now_and_then()
            if asked_to_stop is not None and asked_to_stop.is_set():
                raise KeyboardInterrupt
            if reporter.due():
                counts = self.counts
                before = f", {counts.before:,} of them from before" if counts.before else ""
                broken = f", {counts.failed:,} failed" if counts.failed else ""
                share = (counts.done - counts.before) / ((counts.total - counts.before) or 1)
                reporter.update(share, f"{counts.done:,} of {counts.total:,} runs{before}{broken}")

    def keep_what_is_done(self) -> None:
        """Write what has come back and not been written, also from those who were stopped."""
        for future in [future for future in self.under_way if future.done() and not future.cancelled()]:
            if future.exception() is None:
                del self.under_way[future]
                self._keep(future.result())
        self._write()

    def _give_out(self) -> None:
        at_once = self.workers.at_once()
        while len(self.under_way) < 2 * at_once:
            # Towards the end batches are smaller, so that nobody waits long for the last one.
            fair = (self.counts.total - self.counts.done) / (2 * at_once)
            finished = self.counts.done - self.counts.before
            fitting = self.workers.batch_s * finished / self.spent_s if self.spent_s else 1.0
            jobs = self._jobs(max(1, math.ceil(min(fitting, fair, _MOST_OF_A_BATCH))))
            if not jobs:
                return
            self._submit(jobs)

    def _jobs(self, runs: int) -> list[Job]:
        """Take so many runs off those that are missing; those of a point together."""
        found: dict[int, list[int]] = {}
        for point, replication in islice(self.missing, runs):
            found.setdefault(point, []).append(replication)
        settings = self.store.design.points.settings
        return [(point, settings(point), replications) for point, replications in found.items()]

    def _submit(self, jobs: Sequence[Job]) -> None:
        try:
            self.under_way[self.workers.submit(jobs)] = jobs
        except Exception as error:
            raise self._gone(error) from error

    def _take_back(self, future: Future[Done]) -> None:
        jobs = self.under_way.pop(future)
        try:
            self._keep(future.result())
        except BentpipeError:
            raise
        except (Exception, CancelledError) as error:
            lost = self.workers.lost(error)
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
            self._keep(failed(self.store.design.base, point, replication, lost))

    def _keep(self, done: Done) -> None:
        if done.who != self.store.who:
            (found, its), (engine, version) = done.who, self.store.who
            raise RunError(
                f"a worker has engine {found} of bentpipe {its}, expected {engine} of {version}; "
                f"what is finished is in {self.store.folder}"
            )
        if done.runs:
            self.rows.append(done.rows)
        self.counts.done += done.runs
        self.counts.failed += done.failed
        self.spent_s += done.spent_s

    def _write_now_and_then(self) -> None:
        now = time.monotonic()
        # Often at first, seldom in a long sweep: the number of parts grows with the logarithm of its time.
        every_s = max(min(self.written - self.began, _WRITE_EVERY_S), (now - self.began) / 200)
        if sum(map(len, self.rows)) >= _ROWS_IN_MEMORY or now >= self.written + every_s:
            self._write()

    def _write(self) -> None:
        if self.rows:
            rows, self.rows = self.rows, []
            self.store.add(rows)
            self.written = time.monotonic()

    def _gone(self, error: BaseException) -> RunError:
        return RunError(
            f"no worker is there any more ({reason(error)}); {self.counts.done:,} of {self.counts.total:,} "
            f"runs are kept in {self.store.folder}, and the same command goes on from there"
        )
