"""What the items of a paper compute with: runs of its scenarios, kept and run once, and rows out of them."""

import hashlib
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bentpipe import _core
from bentpipe.errors import BentpipeError
from bentpipe.plot import DrawnRun
from bentpipe.results import Number, Run
from bentpipe.runs import runner
from bentpipe.runs.progress import Reporter
from bentpipe.runs.statistics import replication_seed
from bentpipe.scenario import Scenario
from bentpipe_papers.reproduction.finished import Cache
from bentpipe_papers.reproduction.papers import Paper, Published
from bentpipe_papers.reproduction.readings import Reading, Settings
from bentpipe_papers.reproduction.rows import Row, claim_row, number_row

Asked = tuple[str, tuple[tuple[str, str], ...], int | None]
"""A run: scenario file, settings by name, and the seed if it is not the scenario's own."""


@dataclass
class Context:
    """What an item computes with: runs of its paper's scenarios, and rows out of them.

    `asked` is every run that was asked for: scenario file, settings, and seed (none is the scenario's own);
    `facts` is what the item found for its notes. every run is
    made by the `readings`, in their order.
    """

    paper: Paper
    item: str
    cache: Cache
    threads: int
    asked: set[Asked] = field(default_factory=set)
    facts: dict[str, str] = field(default_factory=dict)
    readings: tuple[Reading, ...] = ()
    _kept: dict[str, Run] = field(default_factory=dict)
    _base: str = ""
    _stages: int = 0

    def __post_init__(self) -> None:
        if not self._base:
            digest = hashlib.blake2b(Path(_core.__file__).read_bytes(), digest_size=16)
            for path in sorted(self.paper.folder.rglob("*.toml")):
                digest.update(
                    path.relative_to(self.paper.folder).as_posix().encode() + b"\0" + path.read_bytes()
                )
            self._base = digest.hexdigest()

    def run(
        self,
        scenario: str,
        settings: Settings | None = None,
        *,
        seed: int | None = None,
        runs: int | None = None,
    ) -> Run:
        """Run a scenario file of the paper, or take the finished run; with `runs`, that many replications.

        Raises
        ------
        BentpipeError
            The scenario cannot be used or the run failed.
        """
        return self.runs(scenario, [settings or {}], seed=seed, runs=runs)[0]

    def runs(
        self, scenario: str, settings: Sequence[Settings], *, seed: int | None = None, runs: int | None = None
    ) -> list[Run]:
        """Run a scenario once for each of `settings`, several at a time, in that order."""
        return self._all(
            scenario, [_Wanted(*self._read(scenario, changes), seed, runs) for changes in settings]
        )

    def replicate(self, scenario: str, settings: Sequence[Settings], *, runs: int) -> list[list[Run]]:
        """Run a scenario `runs` times for each of `settings`, and keep every replication by itself.

        Replication `k` has the same seed for each of them, so that what is made of them can be paired.
        """
        seeds = {self._load(*self._read(scenario, changes)).seed for changes in settings[:1]}
        wanted = [
            _Wanted(*self._read(scenario, changes), replication_seed(base, k) if k else None, None)
            for changes in settings
            for base in seeds
            for k in range(runs)
        ]
        found = self._all(scenario, wanted)
        return [found[first : first + runs] for first in range(0, len(found), runs)]

    def _all(self, scenario: str, wanted: Sequence["_Wanted"]) -> list[Run]:
        self._stages += 1
        title = f"{self.paper.name}/{self.item}, stage {self._stages} ({scenario})"
        stop = threading.Event()
        self.asked.update(_asked(one.scenario, one.settings, one.seed) for one in wanted)

        def one(run: _Wanted) -> tuple[Run, bool]:
            what = self._what(run)
            key = repr(what)
            known = self._kept.get(key) or self.cache.get(what)
            if known is None:
                plan = runner.Plan(seed=run.seed, runs=run.runs, threads=1)
                found = runner.execute(
                    self._load(run.scenario, run.settings), plan, title=None, stop=stop
                ).run
                self.cache.put(what, found)
            else:
                found = known
            self._kept[key] = found
            return found, known is not None

        pool = ThreadPoolExecutor(min(self.threads, len(wanted) or 1))
        try:
            with Reporter(title) as reporter:
                waiting = futures = [pool.submit(one, run) for run in wanted]
                while waiting:
                    done, left = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
                    waiting = [future for future in waiting if future in left]
                    for future in done:
                        future.result()
                    if reporter.due():
                        finished = [future.result() for future in futures if future.done()]
                        kept = sum(known for _, known in finished)
                        share = (len(finished) - kept) / ((len(wanted) - kept) or 1)
                        before = f", {kept} of them from before" if kept else ""
                        reporter.update(share, f"{len(finished)} of {len(wanted)} runs{before}")
                return [future.result()[0] for future in futures]
        finally:
            # Nobody wants what is still under way.
            stop.set()
            pool.shutdown(cancel_futures=True)

    def trace(
        self,
        scenario: str,
        settings: Settings | None = None,
        *,
        seed: int | None = None,
        title: str,
        series: Sequence[str] = (),
    ) -> DrawnRun:
        """Run a scenario with its time series, or some, ready for the panels of `bentpipe.plot`."""
        scenario, settings = self._read(scenario, settings or {})
        self.asked.add(_asked(scenario, settings, seed))
        outcome = runner.execute(
            self._load(scenario, settings),
            runner.Plan(seed=seed, traces=True, series=series, series_limit=None, threads=1),
        )
        return DrawnRun(title, outcome.run, outcome.series)

    def published(self, case: str, metric: str) -> Published:
        """Give the row of ``published.csv`` for this item.

        Raises
        ------
        BentpipeError
            There is none.
        """
        for row in self.paper.published:
            if (row.item, row.case, row.metric) == (self.item, case, metric):
                return row
        raise BentpipeError(f"{self.paper.name}/{self.item}: published.csv has no row {case!r}, {metric!r}")

    def number(self, case: str, metric: str, computed: Number) -> Row:
        """Hold a computed number, in the published unit, against the published one."""
        return number_row(self.published(case, metric), computed)

    def claim(self, case: str, metric: str, values: Mapping[str, Number], unit: str = "") -> Row:
        """Hold computed values, by the names and in the order that the claim speaks of, against it."""
        try:
            return claim_row(self.published(case, metric), values, unit)
        except ValueError as error:
            raise BentpipeError(f"{self.paper.name}/{self.item}: {case!r}, {metric!r}: {error}") from error

    def fact(self, name: str, text: str) -> None:
        """Keep what the item found, for ``{name}`` in its notes."""
        self.facts[name] = text

    @property
    def explains(self) -> bool:
        """Say whether facts are wanted, for notes: they are of no use in other readings."""
        return not self.readings

    def reads(self, reading: Reading) -> bool:
        """Say whether this is one of the readings."""
        return reading in self.readings

    def _read(self, scenario: str, settings: Settings) -> tuple[str, Settings]:
        for reading in self.readings:
            scenario, settings = reading.change(scenario, settings)
        return scenario, settings

    def _load(self, scenario: str, settings: Settings) -> Scenario:
        changes = [(key, str(value)) for key, value in settings.items()]
        return Scenario.load(str(self.paper.folder / scenario), changes)

    def _what(self, run: "_Wanted") -> dict[str, Any]:
        changes = [[key, str(value)] for key, value in run.settings.items()]
        parts = {"engine and scenarios": self._base, "paper": self.paper.name, "scenario": run.scenario}
        return {**parts, "settings": changes, "seed": run.seed, "runs": run.runs}


@dataclass(frozen=True)
class _Wanted:
    scenario: str
    settings: Settings
    seed: int | None
    runs: int | None


def _asked(scenario: str, settings: Settings, seed: int | None) -> Asked:
    return scenario, tuple(sorted((key, str(value)) for key, value in settings.items())), seed
