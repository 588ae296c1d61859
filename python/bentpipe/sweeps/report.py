"""The page of a sweep: its curves, and the mean of each point."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

from bentpipe.errors import InputError
from bentpipe.numbers.number import Number
from bentpipe.reports.page import Cell, Curves, Figure, Origin, Report, ReportTable, Section, inline
from bentpipe.results import half_width, mean
from bentpipe.show.scales import unit_of
from bentpipe.show.units import counted
from bentpipe.show.words import number_words
from bentpipe.sweeps.design import SCENARIO
from bentpipe.sweeps.picture import draw_sweep
from bentpipe.sweeps.result import METRICS, Sweep, value_text
from bentpipe.sweeps.show import cell_text

MOST_ROWS = 5_000
"""Rows of the table of means; a browser takes a second for them."""

_MOST_ERRORS = 50


class _Row(NamedTuple):
    """The values of what was set, and the mean of each metric."""

    values: dict[str, Any]
    numbers: dict[str, Number]


def page_of(
    sweep: Sweep, metrics: Sequence[str] = (), where: Mapping[str, str] | None = None, command: str = ""
) -> Report:
    """Give the page of a sweep, of these measured numbers and rows, made by `command` if one made it.

    Raises InputError: a name is none of the sweep's, or no run is there yet.
    """
    where, metrics = where or {}, tuple(metrics) or METRICS
    design = sweep.design
    columns = {key: design.numeric_column(key) for key in sweep.keys}
    by = ["point", "name", *dict.fromkeys([*sweep.keys, *columns.values()])]
    rows = [
        _Row(dict(zip(by, group.values, strict=True)), dict(zip(metrics, group.numbers, strict=True)))
        for group in sweep.groups(by, metrics, where)
    ]
    if not rows:
        raise InputError(f"{sweep.folder}: expected rows with {', '.join(metrics)}, found none")
    there = sweep.count()
    runs = f"{counted(len(design.points), 'point')}, {counted(design.runs, 'run')} each"
    remarks = [f"{runs}; each number is the mean{' with its 95 % interval' if design.runs > 1 else ''}."]
    if there < design.total:
        remarks.append(f"The sweep is not finished: {there:,} of {design.total:,} runs are there.")
    failed = sweep.failed()
    sections = [
        Section("Curves", (), _still(sweep, metrics[0], where), _curves(sweep, rows, columns)),
        Section("Points", _cut(rows), tables=(_points(rows, columns),)),
    ]
    if failed:
        lines = tuple(f"Point {point}, run {run}: {error}" for point, run, error in failed[:_MOST_ERRORS])
        rest = len(failed) - _MOST_ERRORS
        lines += (f"And {rest:,} more.",) if rest > 0 else ()
        sections.append(Section(f"{counted(len(failed), 'run')} failed", lines))
    facts = [("scenario", design.title), ("first seed", str(design.base.seed))]
    facts += [(key, _values(values)) for key, values in _axes(sweep)]
    facts += [(f"only {key}", value) for key, value in where.items()]
    facts += [("command", command)] if command else []
    text = (sweep.folder / SCENARIO).read_text(encoding="utf-8")
    origin = Origin(tuple(facts), (("scenario as one text", text),))
    return Report(f"{design.title}: a sweep", tuple(sections), tuple(remarks), origin)


def _axes(sweep: Sweep) -> list[tuple[str, Sequence[Any]]]:
    return [(axis.key, axis.values) for axis in sweep.design.points.axes]


def _values(values: Sequence[Any]) -> str:
    different = list(dict.fromkeys(str(value) for value in values))
    shown = ", ".join(different[:12])
    return shown if len(different) <= 12 else f"{shown} and {len(different) - 12:,} more"


def _still(sweep: Sweep, metric: str, where: Mapping[str, str]) -> tuple[Figure, ...]:
    """Give the picture for a page on paper, where one can hold the sweep."""
    over = _first_over(sweep)
    if over is None:
        return ()
    free = [key for key, values in _axes(sweep) if key not in where and key != over and len(set(values)) > 1]
    by = free if sweep.design.points.sample is None else []
    by += ["name"] if len(sweep.names(metric)) > 1 and "name" not in where else []

    def draw(path: Path) -> None:
        draw_sweep(sweep, path, over, metric, by, where)

    try:
        return (inline(draw, f"{number_words(metric)} over {over}", "curves"),)
    except InputError:
        return ()


def _first_over(sweep: Sweep) -> str | None:
    numeric = [axis.key for axis in sweep.design.points.axes if axis.numbers() is not None]
    return next(
        (key for key in numeric if len(set(dict(_axes(sweep))[key])) > 1), numeric[0] if numeric else None
    )


def _curves(sweep: Sweep, rows: Sequence[_Row], columns: Mapping[str, str]) -> Curves | None:
    over = _first_over(sweep)
    if over is None or sweep.design.points.sample is not None:
        return None
    keys = {key: [value_text(row.values[key]) for row in rows] for key in ("name", *columns)}
    drawn = {}
    for key, column in columns.items():
        at = [_number(row.values[column]) for row in rows]
        if None not in at:
            drawn[column] = (key, cast(list[float], at))
    numbers: dict[str, list[tuple[float, float] | None]] = {}
    for metric in rows[0].numbers:
        found = [row.numbers[metric] for row in rows]
        if any(mean(number) is not None for number in found):
            scale, unit = unit_of(metric, [mean(number) for number in found])
            label = number_words(metric) + (f" ({unit})" if unit else "")
            numbers[label] = [_scaled(number, scale) for number in found]
    return Curves(keys, drawn, numbers, columns[over], next(iter(numbers))) if numbers else None


def _scaled(value: Number, scale: float) -> tuple[float, float] | None:
    centre = mean(value)
    return None if centre is None else (centre / scale, (half_width(value) or 0.0) / scale)


def _points(rows: Sequence[_Row], columns: Mapping[str, str]) -> ReportTable:
    several = len({row.values["name"] for row in rows}) > 1
    headings = [*columns, *(["of"] if several else []), *map(number_words, rows[0].numbers)]
    table = []
    for values, numbers in rows[:MOST_ROWS]:
        cells = [Cell(value_text(values[key]), _number(values[column])) for key, column in columns.items()]
        cells += [Cell(str(values["name"]))] if several else []
        cells += [Cell(cell_text(metric, number), mean(number)) for metric, number in numbers.items()]
        table.append(tuple(cells))
    chosen = tuple(range(len(columns) + several))
    return ReportTable("points", tuple(headings), tuple(table), chosen)


def _cut(rows: Sequence[_Row]) -> tuple[str, ...]:
    if len(rows) <= MOST_ROWS:
        return ()
    return (f"The first {MOST_ROWS:,} of {len(rows):,} rows; rows.parquet has all.",)


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) else None
