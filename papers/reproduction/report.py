"""The page of a reproduction, with a picture of each item in it, and the same as JSON beside it."""

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from bentpipe.files.output import Staging
from bentpipe.reports.page import Cell, Origin, ReportTable, environment, inline
from bentpipe.results import dump
from bentpipe_papers.reproduction.grid import Grid

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
    from bentpipe_papers.reproduction.reproduce import as_json, verdict_counts

    with Staging() as staging:
        page = staging.file(folder / "index.html")
        illustrated = [
            replace(result, picture=_picture(result, context))
            for result, context in zip(results, contexts, strict=True)
        ]
        papers = list({result.paper.name: result.paper for result in results}.values())
        template, source = environment("report.html.j2")
        text = template.render(
            papers=papers,
            results=illustrated,
            counts=verdict_counts(results),
            rows=_rows,
            grid=_grid,
            origin=Origin((("command", command),) if command else ()),
            source=source,
        )
        page.write_text(text, encoding="utf-8")
        staging.file(folder / "result.json").write_text(dump(as_json(illustrated)), encoding="utf-8")
    return illustrated


def _picture(result: "Reproduced", context: "Context") -> str | None:
    draw = result.item.draw
    if draw is None:
        return None
    name = f"{result.paper.name}-{result.item.name}"
    svg = inline(lambda path: draw(context, path), result.item.title, f"in-{name}").svg
    if len(svg) <= _LARGEST:
        return svg
    with TemporaryDirectory() as folder:
        path = Path(folder) / "picture.png"
        draw(context, path)
        return f'<img alt="" src="data:image/png;base64,{b64encode(path.read_bytes()).decode()}">'


def _rows(result: "Reproduced") -> ReportTable:
    headings = ("Case", "Metric", "Published", "Computed", "Deviation", "Verdict", "Note")
    rows = tuple(
        (
            Cell(row.case),
            Cell(row.metric),
            Cell(row.published_text(), _number(row.published)),
            Cell(row.computed_text(), _number(row.computed)),
            Cell(row.deviation_text(), row.deviation),
            Cell(row.verdict, kind=row.verdict),
            Cell(row.explanation(), kind="note"),
        )
        for row in result.rows
    )
    return ReportTable(f"{result.item.title}, published and computed", headings, rows, chosen=(1, 5))


def _grid(grid: Grid) -> ReportTable:
    rows = tuple(tuple(map(Cell, row)) for row in grid.text())
    return ReportTable(grid.title, tuple(grid.columns), rows, caption=grid.title)


def _number(value: float | str | None) -> float | None:
    return None if isinstance(value, str) else value
