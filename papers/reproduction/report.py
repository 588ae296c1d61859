"""The page of a reproduction, with a picture of each item in it, and the same as JSON beside it."""

import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from bentpipe.files.output import Staging
from bentpipe.reports.page import Cell, Figure, Origin, ReportTable, environment, inline
from bentpipe.results import dump
from bentpipe_papers.reproduction.grid import Grid
from bentpipe_papers.reproduction.moved import ReadOtherwise
from bentpipe_papers.reproduction.pictures import draw_beside, draw_scatter, numbers, positive
from bentpipe_papers.reproduction.rows import explained
from bentpipe_papers.reproduction.statements import Statement, counted, sentence
from bentpipe_papers.reproduction.verdicts import VERDICTS, Verdict

if TYPE_CHECKING:
    from bentpipe_papers.reproduction.reproduce import Context, Reproduced

_LARGEST = 300_000
"""Bytes of a picture as SVG; one with more, such as a trace of thousands of points, is a PNG."""


def write_report(
    results: Sequence["Reproduced"], contexts: Sequence["Context"], folder: Path, command: str = ""
) -> list["Reproduced"]:
    """Write ``index.html``, which needs nothing beside it, and ``result.json``.

    Gives the results with their pictures, each as a part of the page.

    Raises
    ------
    BentpipeError
        The folder cannot be written; it is as it was.
    """
    from bentpipe_papers.reproduction.reproduce import (
        as_json,
        readings_of,
        statements_of,
        verdict_counts,
    )

    with Staging() as staging:
        page = staging.file(folder / "index.html")
        illustrated = [
            replace(result, picture=_picture(result, context))
            for result, context in zip(results, contexts, strict=True)
        ]
        papers = list({result.paper.name: result.paper for result in results}.values())
        found = statements_of(illustrated)
        template, source = environment("report.html.j2")
        text = template.render(
            papers=papers,
            results=illustrated,
            counts=verdict_counts(results),
            verdicts=VERDICTS,
            kind=kind,
            told={name: sentence(counted(some)) for name, some in found.items()},
            unheld={name: unheld(some) for name, some in found.items()},
            assumptions={name: _assumptions(some) for name, some in readings_of(results).items()},
            scatters={name: _scatter(name, results) for name in found},
            rows=_rows,
            beside=_beside,
            notes=lambda rows: explained(rows, all_of_them=True),
            grid=_grid,
            origin=Origin((("command", command),) if command else ()),
            source=source,
        )
        page.write_text(text, encoding="utf-8")
        staging.file(folder / "result.json").write_text(dump(as_json(illustrated)), encoding="utf-8")
    return illustrated


def kind(verdict: Verdict) -> str:
    """Give the class of the style sheet."""
    return "also-without" if verdict == "match (also without)" else verdict


def unheld(statements: Sequence[Statement]) -> ReportTable:
    """Tabulate the statements that do not hold or cannot be told, with why."""
    rows = tuple(
        (
            Cell(one.words),
            Cell(one.where),
            Cell(one.outcome, kind="differs" if one.outcome == "does not hold" else "shape"),
            Cell(" ".join(dict.fromkeys(row.explanation() for row in one.failing)), kind="note"),
        )
        for one in sorted(statements, key=lambda one: one.outcome, reverse=True)
        if one.failing
    )
    headings = ("Statement", "Where", "Outcome", "Why")
    return ReportTable("statements that do not hold, or cannot be told", headings, rows, chosen=(2,))


def _assumptions(readings: Sequence[ReadOtherwise]) -> ReportTable:
    """Tabulate what the authors could correct, each with all rows that another reading moves."""
    rows = tuple(
        (
            Cell(one.reading.about),
            Cell(one.sentence(), kind="note"),
            *(Cell("; ".join(row.text() for row in one.of(change)), kind="note") for change in (1, -1, 0)),
        )
        for one in readings
    )
    headings = ("What is not stated", "In short", "Nearer", "Farther", "Only another")
    return ReportTable("assumptions that the authors could correct", headings, rows)


def _scatter(name: str, results: Sequence["Reproduced"]) -> Figure | None:
    rows = positive(row for result in results if result.paper.name == name for row in result.rows)
    if not rows:
        return None
    about = f"{name}: the numbers of the document and ours, on the line where both are equal"
    return inline(lambda path: draw_scatter(rows, path), about, f"in-{name}-scatter")


def _beside(result: "Reproduced") -> Figure | None:
    """Give what the item prints in numbers beside ours, where there are several."""
    rows = [row for row in numbers(result.rows) if row.measured]
    if len(rows) < 2:
        return None
    name = f"in-{result.paper.name}-{result.item.name}-beside"
    return inline(lambda path: draw_beside(rows, path), f"{result.item.title}: published and computed", name)


def _picture(result: "Reproduced", context: "Context") -> str | None:
    draw = result.item.draw
    if draw is None:
        return None
    name = f"{result.paper.name}-{result.item.name}"
    svg = inline(lambda path: draw(context, path), result.item.title, f"in-{name}").svg
    if len(svg) <= _LARGEST:
        return svg
    (size,) = re.findall(r'^<svg[^>]*( style="[^"]*")', svg)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "picture.png"
        draw(context, path)
        return f'<img{size} alt="" src="data:image/png;base64,{b64encode(path.read_bytes()).decode()}">'


def _rows(result: "Reproduced") -> ReportTable:
    headings = ("Case", "Metric", "Published", "Computed", "Without the scheme", "Deviation", "Verdict")
    rows = tuple(
        (
            Cell(row.case),
            Cell(row.metric),
            Cell(row.published_text(), _number(row.published)),
            Cell(row.computed_text(), _number(row.computed)),
            Cell(row.without_text(), _number(row.without.computed if row.without else None)),
            Cell(row.deviation_text(), row.deviation),
            Cell(row.verdict, kind=kind(row.verdict)),
        )
        for row in result.rows
    )
    return ReportTable(f"{result.item.title}, published and computed", headings, rows, chosen=(1, 6))


def _grid(grid: Grid) -> ReportTable:
    rows = tuple(tuple(map(Cell, row)) for row in grid.text())
    return ReportTable(grid.title, tuple(grid.columns), rows, caption=grid.title)


def _number(value: float | str | None) -> float | None:
    return None if isinstance(value, str) else value
