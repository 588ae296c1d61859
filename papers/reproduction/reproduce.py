"""Runs what a paper ran and holds its numbers and claims against ours.

How to add a paper stands in `bentpipe_papers.reproduction.papers`.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bentpipe.errors import BentpipeError, InputError, Interrupted
from bentpipe.files.output import Outputs
from bentpipe_papers.reproduction import papers
from bentpipe_papers.reproduction.context import Context
from bentpipe_papers.reproduction.finished import Cache
from bentpipe_papers.reproduction.grid import Grid
from bentpipe_papers.reproduction.moved import ReadOtherwise, moved
from bentpipe_papers.reproduction.papers import Paper
from bentpipe_papers.reproduction.readings import Reading, Settings
from bentpipe_papers.reproduction.rows import Row, beside, with_notes, with_shapes
from bentpipe_papers.reproduction.statements import Statement, counted, statements
from bentpipe_papers.reproduction.verdicts import VERDICTS, Verdict

__all__ = ["Context", "Item", "Reproduced", "Row", "Settings", "as_json", "reproduce", "verdict_counts"]


def _no_rows(_: Context) -> list[Row]:
    return []


@dataclass(frozen=True)
class Item:
    """A table, figure or passage of a paper: how to compute its rows, and how to draw it if it can be.

    `about` is what a reader of the report should know first, a paragraph each: what the paper did, what had
    to be inferred, what comes out and why. `measure` gives a table of numbers that the paper does not have.
    An item without `compute` has no row in ``published.csv``. The picture shows the runs of the rows, except
    those of the scenario files that are `undrawn`, which the rows are compared with.
    """

    name: str
    title: str
    compute: Callable[[Context], list[Row]] = _no_rows
    draw: Callable[[Context, Path], None] | None = None
    about: tuple[str, ...] = ()
    measure: Callable[[Context], Grid] | None = None
    undrawn: tuple[str, ...] = ()

    @classmethod
    def beyond(
        cls,
        what: str,
        title: str,
        about: tuple[str, ...],
        measure: Callable[[Context], Grid] | None = None,
        draw: Callable[[Context, Path], None] | None = None,
    ) -> "Item":
        """Give the item ``beyond-WHAT``: something that the paper did not look at."""
        return cls(f"beyond-{what}", f"Beyond the paper: {title}", draw=draw, about=about, measure=measure)


@dataclass(frozen=True)
class Reproduced:
    """An item with its rows and its own table; `picture` is its part of the page.

    `read` has what the paper's other readings move of it, of those that can.
    """

    paper: Paper
    item: Item
    rows: list[Row]
    grid: Grid | None = None
    picture: str | None = None
    read: tuple[ReadOtherwise, ...] = ()


def reproduce(
    what: str,
    cache: Cache,
    *,
    threads: int | None = None,
    report: Path | None = None,
    command: str = "",
    otherwise: bool = False,
) -> list[Reproduced]:
    """Reproduce ``PAPER/ITEM``, ``PAPER``, or with an empty name every paper; write a report if asked for.

    The report names the `command` that it was asked for by, if there was one. `otherwise` also puts each of
    the papers' other readings in place, and gives each result what it moves.

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
        return _reproduce(
            chosen, cache, threads or len(os.sched_getaffinity(0)), report, command, otherwise=otherwise
        )
    except KeyboardInterrupt:
        kept = f"finished runs are kept in {cache.folder}" if cache.folder else "nothing was written"
        raise Interrupted(f"interrupted; {kept}") from None


@dataclass(frozen=True)
class Live:
    """An item as simulated, and its rows as the kernel's TCP has them in real time."""

    simulated: Reproduced
    rows: list[Row]


def reproduce_live(what: str, cache: Cache, *, threads: int | None = None) -> list[Live]:
    """Reproduce what of ``PAPER/ITEM`` or ``PAPER`` can run under the kernel's TCP, and simulate it.

    Raises
    ------
    InputError
        Nothing of it can, or the machine or the user does not allow it.
    BentpipeError
        A transfer failed.
    """
    for paper, items in _select(what) if what else ():
        module = paper.live()
        some = [item for item in items if module is not None and item.name in module.ITEMS]
        if module is None or not some:
            continue
        cache.require_writable()
        shared = Context(paper, "", cache, threads or len(os.sched_getaffinity(0)))
        contexts = {item.name: replace(shared, item=item.name, asked=set(), facts={}) for item in some}
        # First what needs more than a simulation does.
        rows = module.live_rows(contexts)
        return [
            Live(Reproduced(paper, item, _answer(contexts[item.name], item)), rows[item.name])
            for item in some
        ]
    raise InputError(
        f"--live: expected afc, or of it table-2, figure-3, figure-4 or figure-5, found {what!r}"
    )


def live_as_json(results: Iterable[Live], kernel_release: str) -> dict[str, Any]:
    """Give the JSON of ``bentpipe reproduce --live``: rows as in `as_json`, with the kernel's as ``live``."""
    items = []
    for result in results:
        kernel = {(row.case, row.metric): row.as_json() for row in result.rows}
        (item,) = as_json([result.simulated])["items"]
        rows = [{**row, "live": kernel.get((row["case"], row["metric"]))} for row in item["rows"]]
        items.append({**item, "rows": [row for row in rows if row["live"] is not None]})
    return {"kernel_release": kernel_release, "items": items}


def as_json(results: Iterable[Reproduced]) -> dict[str, Any]:
    """Give the JSON of ``bentpipe reproduce``."""
    results = list(results)
    return {
        "statements": {name: counted(found) for name, found in statements_of(results).items()},
        "readings": {name: [one.as_json() for one in some] for name, some in readings_of(results).items()},
        "items": [
            {
                "paper": result.paper.name,
                "item": result.item.name,
                "title": result.item.title,
                "rows": [row.as_json() for row in result.rows],
                "grid": result.grid and result.grid.as_json(),
            }
            for result in results
        ],
    }


def verdict_counts(results: Iterable[Reproduced]) -> dict[str, dict[Verdict, int]]:
    """Count each paper's rows of each verdict."""
    counts: dict[str, dict[Verdict, int]] = {}
    for result in results:
        of_paper = counts.setdefault(result.paper.name, dict.fromkeys(VERDICTS, 0))
        for row in result.rows:
            of_paper[row.verdict] += 1
    return counts


def statements_of(results: Iterable[Reproduced]) -> dict[str, list[Statement]]:
    """Collect each paper's statements."""
    rows: dict[str, list[Row]] = {}
    for result in results:
        rows.setdefault(result.paper.name, []).extend(result.rows)
    return {name: statements(some) for name, some in rows.items()}


def _reproduce(
    chosen: Sequence[tuple[Paper, Sequence[Item]]],
    cache: Cache,
    threads: int,
    report: Path | None,
    command: str,
    *,
    otherwise: bool,
) -> list[Reproduced]:
    if report is not None:
        _expect_own_files(chosen, cache, report)
    results: list[Reproduced] = []
    contexts: list[Context] = []
    for paper, items in chosen:
        shared = Context(paper, "", cache, threads)
        for item in items:
            context = replace(shared, item=item.name, asked=set(), facts={})
            grid = item.measure(context) if item.measure else None
            rows = _answer(context, item)
            read = tuple(_read_otherwise(context, item, rows)) if otherwise else ()
            results.append(Reproduced(paper, item, rows, grid, read=read))
            contexts.append(context)
    if report is None:
        return results
    from bentpipe_papers.reproduction.report import write_report

    return write_report(results, contexts, report, command)


def _expect_own_files(chosen: Sequence[tuple[Paper, Sequence[Item]]], cache: Cache, report: Path) -> None:
    """See, before anything runs, that the report replaces no file of a paper and no finished run."""
    read = [path for paper, _ in chosen for path in paper.folder.rglob("*") if path.is_file()]
    outputs = Outputs([*read, *(cache.folder.glob("*.json") if cache.folder else ())])
    for name in ("index.html", "result.json"):
        outputs.add(report / name, "--report")


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


def _read_otherwise(context: Context, item: Item, rows: Sequence[Row]) -> Iterable[ReadOtherwise]:
    """Compute an item in each of its paper's readings that can move it."""
    readings: tuple[Reading, ...] = getattr(context.paper.module(), "READINGS", ())
    for reading in readings:
        if reading.moves(item.name) and any(row.measured for row in rows):
            other = replace(context, readings=(*context.readings, reading), asked=set(), facts={})
            yield ReadOtherwise(reading, tuple(moved(item.name, rows, with_shapes(item.compute(other)))))


def readings_of(results: Iterable[Reproduced]) -> dict[str, list[ReadOtherwise]]:
    """Collect what each reading of each paper moves."""
    found: dict[str, dict[str, ReadOtherwise]] = {}
    for result in results:
        of_paper = found.setdefault(result.paper.name, {})
        for one in result.read:
            before = of_paper.get(one.reading.name, ReadOtherwise(one.reading, ()))
            of_paper[one.reading.name] = replace(before, moved=before.moved + one.moved)
    return {name: [*some.values()] for name, some in found.items()}


def _answer(context: Context, item: Item) -> list[Row]:
    rows = with_shapes(item.compute(context))
    without: Reading | None = getattr(context.paper.module(), "WITHOUT", None)
    if without and any(row.measured for row in rows):
        bare = replace(context, readings=(*context.readings, without), asked=set(), facts={})
        rows = beside(rows, with_shapes(item.compute(bare)))
    rows = with_notes(context.paper, item.name, rows, context.facts)
    wanted = [(row.case, row.metric) for row in context.paper.published if row.item == item.name]
    given = [(row.case, row.metric) for row in rows]
    if sorted(wanted) != sorted(given):
        missing = ", ".join(map(repr, sorted(set(wanted) - set(given)))) or "rows given twice"
        raise BentpipeError(f"{context.paper.name}/{item.name}: published rows without an answer: {missing}")
    return rows
