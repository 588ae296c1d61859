"""The page of a sweep: its curves, and the mean of each point."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bentpipe.errors import InputError
from bentpipe.numbers.number import Number
from bentpipe.reports.page import Cell, Curves, Figure, Origin, Report, ReportTable, Section, inline
from bentpipe.results import half_width, mean
from bentpipe.show.scales import unit_of
from bentpipe.show.units import counted
from bentpipe.sweeps.design import SCENARIO
from bentpipe.sweeps.picture import draw_sweep
from bentpipe.sweeps.result import METRICS, Group, Sweep, value_text
from bentpipe.sweeps.show import cell_text, heading

MOST_ROWS = 5_000
"""Rows of the table of means; a browser takes a second for them."""

_MOST_ERRORS = 50


def page_of(
    sweep: Sweep, metrics: Sequence[str] = (), where: Mapping[str, str] | None = None, command: str = ""
) -> Report:
    """Give the page of a sweep, of these measured numbers and rows, made by `command` if one made it.

    Raises
    ------
    InputError
        A name is none of the sweep's, or no run is there yet.
    """
    where, metrics = where or {}, tuple(metrics) or METRICS
    design = sweep.design
    columns = {key: design.numeric_column(key) for key in sweep.keys}
    by = ["point", "name", *sweep.keys, *(column for key, column in columns.items() if column != key)]
    groups = list(sweep.groups(by, metrics, where))
    if not groups:
        raise InputError(f"{sweep.folder}: expected rows with {', '.join(metrics)}, found none")
    there = sweep.count()
    runs = f"{counted(len(design.points), 'point')}, {counted(design.runs, 'run')} each"
    told = [f"{runs}; each number is the mean{' with its 95 % interval' if design.runs > 1 else ''}."]
    if there < design.total:
        told.append(f"The sweep is not finished: {there:,} of {design.total:,} runs are there.")
    failed = sweep.failed()
    sections = [
        Section("Curves", (), _still(sweep, metrics[0], where), _curves(sweep, groups, by, columns, metrics)),
        Section("Points", _cut(groups), tables=(_points(sweep, groups, by, columns, metrics),)),
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
    return Report(f"{design.title}: a sweep", tuple(sections), tuple(told), origin)


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
        return (inline(draw, f"{heading(metric)} over {over}", "curves"),)
    except InputError:
        return ()


def _first_over(sweep: Sweep) -> str | None:
    numeric = [axis.key for axis in sweep.design.points.axes if axis.numbers() is not None]
    return next(
        (key for key in numeric if len(set(dict(_axes(sweep))[key])) > 1), numeric[0] if numeric else None
    )


def _curves(
    sweep: Sweep,
    groups: Sequence[Group],
    by: Sequence[str],
    columns: Mapping[str, str],
    metrics: Sequence[str],
) -> Curves | None:
    over = _first_over(sweep)
    if over is None:
        return None
    places = {name: by.index(name) for name in by}
    keys = {name: [value_text(group.values[places[name]]) for group in groups] for name in ("name", *columns)}
    drawn = {}
    for key, column in columns.items():
        written = [_number(group.values[places[column]]) for group in groups]
        at = [value for value in written if value is not None]
        if len(at) == len(written):
            drawn[column] = (key, at)
    if sweep.design.points.sample is not None:
        return None
    numbers: dict[str, list[tuple[float, float] | None]] = {}
    for place, metric in enumerate(metrics):
        values = [group.numbers[place] for group in groups]
        if any(mean(value) is not None for value in values):
            scale, unit = unit_of(metric, [mean(value) for value in values])
            label = heading(metric) + (f" ({unit})" if unit else "")
            numbers[label] = [_scaled(value, scale) for value in values]
    if not numbers:
        return None
    return Curves(keys, drawn, numbers, columns[over], next(iter(numbers)))


def _scaled(value: Number, scale: float) -> tuple[float, float] | None:
    centre = mean(value)
    return None if centre is None else (centre / scale, (half_width(value) or 0.0) / scale)


def _points(
    sweep: Sweep,
    groups: Sequence[Group],
    by: Sequence[str],
    columns: Mapping[str, str],
    metrics: Sequence[str],
) -> ReportTable:
    several = len({group.values[1] for group in groups}) > 1
    headings = [*sweep.keys, *(["of"] if several else []), *map(heading, metrics)]
    rows = []
    for group in groups[:MOST_ROWS]:
        value = dict(zip(by, group.values, strict=True))
        cells = [Cell(value_text(value[key]), _number(value[column])) for key, column in columns.items()]
        cells += [Cell(str(value["name"]))] if several else []
        cells += [
            Cell(cell_text(metric, number), mean(number))
            for metric, number in zip(metrics, group.numbers, strict=True)
        ]
        rows.append(tuple(cells))
    chosen = tuple(range(len(sweep.keys) + several))
    return ReportTable("points", tuple(headings), tuple(rows), chosen)


def _cut(groups: Sequence[Group]) -> tuple[str, ...]:
    if len(groups) <= MOST_ROWS:
        return ()
    return (f"The first {MOST_ROWS:,} of {len(groups):,} rows; rows.parquet has all.",)


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) else None
