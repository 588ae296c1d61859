"""Runs what a paper ran and holds its numbers and claims against ours.

How to add a paper stands in `bentpipe.papers`.
"""

import hashlib
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from bentpipe import _core, papers, runner
from bentpipe.errors import BentpipeError, InputError, Interrupted
from bentpipe.finished import Cache
from bentpipe.grid import Grid
from bentpipe.output import Outputs
from bentpipe.papers import Paper, Published
from bentpipe.plot import Subject
from bentpipe.progress import Reporter
from bentpipe.results import Number, Run, half_width, mean
from bentpipe.verdicts import Verdict, describe, judge_claim, judge_number, same_order

Settings = Mapping[str, str | float]
"""Changes to a scenario: ``{"flows.download.variant": "reno", "tcp.receive_window": "96 segments"}``."""


@dataclass(frozen=True)
class Row:
    """One thing a paper printed beside what came out here. `deviation` is relative: 0.02 is 2 % above."""

    case: str
    metric: str
    unit: str
    published: float | str
    computed: float | str | None
    ci95: float | None
    deviation: float | None
    verdict: Verdict
    note: str

    def published_text(self) -> str:
        """Write the published value for people."""
        return self._text(self.published, None)

    def computed_text(self) -> str:
        """Write the computed value, with its interval, for people."""
        return self._text(self.computed, self.ci95)

    def deviation_text(self) -> str:
        """Write the deviation in per cent."""
        if self.deviation is None:
            return ""
        return "0.0%" if abs(self.deviation) < 0.5e-3 else f"{self.deviation:+.1%}"

    def _text(self, value: float | str | None, width: float | None) -> str:
        if value is None:
            return "–"
        if isinstance(value, str):
            return value
        interval = "" if width is None else f" ± {width:.2g}"
        return f"{value:.6g}{interval} {self.unit}".rstrip()


def _no_rows(_: "Context") -> list[Row]:
    return []


@dataclass(frozen=True)
class Item:
    """A table, figure or passage of a paper: how to compute its rows, and how to draw it if it can be.

    `about` is what a reader of the report should know first, a paragraph each: what the paper did, what had
    to be inferred, what comes out and why. `measure` gives a table of numbers that the paper does not have.
    An item without `compute` has no row in ``published.csv``.
    """

    name: str
    title: str
    compute: Callable[["Context"], list[Row]] = _no_rows
    draw: Callable[["Context", Path], None] | None = None
    about: tuple[str, ...] = ()
    measure: Callable[["Context"], Grid] | None = None

    @classmethod
    def beyond(
        cls,
        what: str,
        title: str,
        about: tuple[str, ...],
        measure: Callable[["Context"], Grid] | None = None,
        draw: Callable[["Context", Path], None] | None = None,
    ) -> "Item":
        """Give the item ``beyond-WHAT``: something that the paper did not look at."""
        return cls(f"beyond-{what}", f"Beyond the paper: {title}", draw=draw, about=about, measure=measure)


@dataclass(frozen=True)
class Reproduced:
    """An item with its rows and its own table; `picture` is the file beside the report, if there is one."""

    paper: Paper
    item: Item
    rows: list[Row]
    grid: Grid | None = None
    picture: str | None = None


@dataclass
class Context:
    """What an item computes with: runs of its paper's scenarios, and rows out of them."""

    paper: Paper
    item: str
    cache: Cache
    threads: int
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
        self._stages += 1
        title = f"{self.paper.name}/{self.item}, stage {self._stages} ({scenario})"
        stop = threading.Event()

        def one(changes: Settings) -> tuple[Run, bool]:
            what = self._what(scenario, changes, seed, runs)
            key = repr(what)
            known = self._kept.get(key) or self.cache.get(what)
            if known is None:
                plan = runner.Plan(seed=seed, runs=runs, threads=1)
                run = runner.execute(self._load(scenario, changes), plan, title=None, stop=stop).run
                self.cache.put(what, run)
            else:
                run = known
            self._kept[key] = run
            return run, known is not None

        pool = ThreadPoolExecutor(min(self.threads, len(settings) or 1))
        try:
            with Reporter(title) as reporter:
                waiting = futures = [pool.submit(one, changes) for changes in settings]
                while waiting:
                    done, left = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
                    waiting = [future for future in waiting if future in left]
                    for future in done:
                        future.result()
                    if reporter.due():
                        finished = [future.result() for future in futures if future.done()]
                        kept = sum(known for _, known in finished)
                        share = (len(finished) - kept) / ((len(settings) - kept) or 1)
                        before = f", {kept} of them from before" if kept else ""
                        reporter.update(share, f"{len(finished)} of {len(settings)} runs{before}")
                return [future.result()[0] for future in futures]
        finally:
            # Nobody wants what is still under way.
            stop.set()
            pool.shutdown(cancel_futures=True)

    def trace(
        self, scenario: str, settings: Settings | None = None, *, seed: int | None = None, title: str
    ) -> Subject:
        """Run a scenario with its time series, ready for the panels of `bentpipe.plot`."""
        outcome = runner.execute(
            self._load(scenario, settings or {}),
            runner.Plan(seed=seed, traces=True, series_limit=None, threads=1),
        )
        return Subject(title, outcome.run, outcome.traces)

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

    def number(self, case: str, metric: str, computed: Number, note: str = "") -> Row:
        """Hold a computed number, in the published unit, against the published one."""
        row = self.published(case, metric)
        published, value = float(row.published), mean(computed)
        return Row(
            case=case,
            metric=metric,
            unit=row.unit,
            published=published,
            computed=value,
            ci95=half_width(computed),
            deviation=None if value is None or published == 0 else value / published - 1,
            verdict=judge_number(published, computed),
            note=note,
        )

    def claim(
        self, case: str, metric: str, values: Mapping[str, Number], note: str = "", unit: str = ""
    ) -> Row:
        """Hold computed values, by the names and in the order that the claim speaks of, against it."""
        row = self.published(case, metric)
        try:
            verdict = judge_claim(row.published, values)
        except ValueError as error:
            raise BentpipeError(f"{self.paper.name}/{self.item}: {case!r}, {metric!r}: {error}") from error
        computed = describe(values, unit or row.unit)
        return Row(case, metric, row.unit, row.published, computed, None, None, verdict, note)

    def _load(self, scenario: str, settings: Settings) -> _core.Scenario:
        changes = [(key, str(value)) for key, value in settings.items()]
        return runner.load(str(self.paper.folder / scenario), changes)

    def _what(self, scenario: str, settings: Settings, seed: int | None, runs: int | None) -> dict[str, Any]:
        changes = [[key, str(value)] for key, value in settings.items()]
        parts = {"engine and scenarios": self._base, "paper": self.paper.name, "scenario": scenario}
        return {**parts, "settings": changes, "seed": seed, "runs": runs}


def reproduce(
    what: str, cache: Cache, *, threads: int | None = None, report: Path | None = None
) -> list[Reproduced]:
    """Reproduce ``PAPER/ITEM``, ``PAPER``, or with an empty name every paper; write a report if asked for.

    Raises
    ------
    InputError
        There is no such paper or item, or nothing can be written to the cache.
    BentpipeError
        A run failed, or an item did not answer each of its published rows.
    """
    try:
        chosen = _select(what)
        cache.require_writable()
        return _reproduce(chosen, cache, threads or len(os.sched_getaffinity(0)), report)
    except KeyboardInterrupt:
        kept = f"finished runs are kept in {cache.folder}" if cache.folder else "nothing was written"
        raise Interrupted(f"interrupted; {kept}") from None


def as_json(results: Iterable[Reproduced]) -> dict[str, Any]:
    """Give the JSON of ``bentpipe reproduce``."""
    return {
        "items": [
            {
                "paper": result.paper.name,
                "item": result.item.name,
                "title": result.item.title,
                "rows": [asdict(row) for row in result.rows],
                "grid": result.grid and result.grid.as_json(),
            }
            for result in results
        ]
    }


def verdict_counts(results: Iterable[Reproduced]) -> dict[Verdict, int]:
    """Count the rows of each verdict."""
    counts: dict[Verdict, int] = {"match": 0, "shape": 0, "differs": 0}
    for result in results:
        for row in result.rows:
            counts[row.verdict] += 1
    return counts


def with_shapes(rows: Sequence[Row]) -> list[Row]:
    """Turn ``differs`` into ``shape`` where a number keeps its published place among those of its metric."""
    judged = []
    for row in rows:
        group = [other for other in rows if other.metric == row.metric and isinstance(other.published, float)]
        if (
            row.verdict == "differs"
            and row in group
            and all(isinstance(other.computed, float) for other in group)
        ):
            published = [other.published for other in group if isinstance(other.published, float)]
            computed = [other.computed for other in group if isinstance(other.computed, float)]
            if same_order(published, computed, group.index(row)):
                judged.append(replace(row, verdict="shape"))
                continue
        judged.append(row)
    return judged


def _reproduce(
    chosen: Sequence[tuple[Paper, Sequence[Item]]], cache: Cache, threads: int, report: Path | None
) -> list[Reproduced]:
    if report is not None:
        _expect_own_files(chosen, cache, report)
    results: list[Reproduced] = []
    contexts: list[Context] = []
    for paper, items in chosen:
        shared = Context(paper, "", cache, threads)
        for item in items:
            context = replace(shared, item=item.name)
            grid = item.measure(context) if item.measure else None
            results.append(Reproduced(paper, item, _answer(context, item), grid))
            contexts.append(context)
    if report is None:
        return results
    from bentpipe.report import write_report

    return write_report(results, contexts, report)


def _expect_own_files(chosen: Sequence[tuple[Paper, Sequence[Item]]], cache: Cache, report: Path) -> None:
    """See, before anything runs, that the report replaces no file of a paper and no finished run."""
    read = [path for paper, _ in chosen for path in paper.folder.rglob("*") if path.is_file()]
    outputs = Outputs([*read, *(cache.folder.glob("*.json") if cache.folder else ())])
    pictures = [picture_name(paper, item) for paper, items in chosen for item in items if item.draw]
    for name in ("index.html", "result.json", *pictures):
        outputs.add(report / name, "--report")


def picture_name(paper: Paper, item: Item) -> str:
    """Give the name of an item's picture beside the report."""
    return f"{paper.name}-{item.name}.png"


def _select(what: str) -> list[tuple[Paper, list[Item]]]:
    name, _, wanted = what.partition("/")
    everything = papers.all_papers()
    chosen = [paper for paper in everything if name in ("", paper.name)]
    if not chosen:
        known = ", ".join(paper.name for paper in everything) or "none"
        raise InputError(f"no paper named {name!r}; there are: {known}")
    selected = []
    for paper in chosen:
        items: Sequence[Item] = paper.module().ITEMS
        strays = {row.item for row in paper.published} - {item.name for item in items}
        if strays:
            raise BentpipeError(
                f"{paper.name}: published.csv has rows of items nobody computes: {', '.join(strays)}"
            )
        matching = [item for item in items if wanted in ("", item.name)]
        if not matching:
            known = ", ".join(item.name for item in items)
            raise InputError(f"{paper.name} has no item {wanted!r}; there are: {known}")
        selected.append((paper, matching))
    return selected


def _answer(context: Context, item: Item) -> list[Row]:
    rows = with_shapes(item.compute(context))
    wanted = [(row.case, row.metric) for row in context.paper.published if row.item == item.name]
    given = [(row.case, row.metric) for row in rows]
    if sorted(wanted) != sorted(given):
        missing = ", ".join(map(repr, sorted(set(wanted) - set(given)))) or "rows given twice"
        raise BentpipeError(f"{context.paper.name}/{item.name}: published rows without an answer: {missing}")
    return rows
