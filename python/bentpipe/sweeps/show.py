"""A sweep as a table for people, and as JSON."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from bentpipe.numbers.number import Interval
from bentpipe.results import Number
from bentpipe.show.layout import MAXIMUM_ROWS, new_table, print_whole
from bentpipe.show.units import (
    NOTE_OF_A_PART,
    NOTE_OF_DOUBT,
    NOTHING_RANDOM,
    about_intervals,
    count,
    counted,
    doubted,
    partial,
    percent,
    quantity,
    seconds,
    unit_in,
)
from bentpipe.show.words import number_words
from bentpipe.sweeps.result import METRICS, Group, Sweep, value_text

_MOST_ERRORS = 5


def as_json(
    sweep: Sweep, metrics: Sequence[str], where: Mapping[str, str], interval: Interval = "student-t"
) -> dict[str, Any]:
    """Give what was swept, and the means at every point as ``{mean, ci95, n}``."""
    design = sweep.design
    metrics = metrics or METRICS
    rows = [
        {
            "point": group.values[0],
            "settings": dict(zip(sweep.keys, group.values[2:], strict=True)),
            "name": group.values[1],
            **dict(zip(metrics, group.numbers, strict=True)),
        }
        for group in sweep.groups(["point", "name", *sweep.keys], metrics, where, interval=interval)
    ]
    return {
        "scenario": design.title,
        "seed": design.base.seed,
        "points": len(design.points),
        "runs": design.runs,
        "done": sweep.count(),
        "rows": rows,
        "failed": [
            {"point": point, "replication": replication, "error": error}
            for point, replication, error in sweep.failed()
        ],
    }


def _of_runs(sweep: Sweep) -> str:
    """Say what several runs of a point tell."""
    certain, points = len(sweep.certain()), len(sweep.design.points)
    if certain == points:
        return f", {NOTHING_RANDOM}"
    some = f"; at {certain:,} of {counted(points, 'point')} {NOTHING_RANDOM}" if certain else ""
    return f", {about_intervals(sweep.design.runs)}{some}"


def print_sweep(
    sweep: Sweep,
    to: Console,
    metrics: Sequence[str],
    where: Mapping[str, str],
    interval: Interval = "student-t",
) -> None:
    """Print the mean at each point, the first ones of many, and what failed."""
    design = sweep.design
    metrics = metrics or METRICS
    failed = sweep.failed()
    # So many points fill the table, unless some may be left out.
    enough = None if where or failed else MAXIMUM_ROWS + 1
    there = sweep.count()
    if there < design.total:
        to.print(
            f"{there:,} of {design.total:,} runs are there; the same sweep goes on from there",
            highlight=False,
        )
    runs = f"{counted(len(design.points), 'point')}, {counted(design.runs, 'run')} each"
    groups = list(sweep.groups(["group", "point", *sweep.keys], metrics, where, enough, interval))
    precision = _of_runs(sweep) if design.runs > 1 else ""
    to.print(
        f"[bold]{escape(design.title)}[/bold]  ({runs}, seed {design.base.seed}{precision})", highlight=False
    )
    print_whole(_points(sweep, groups, metrics, failed), to)
    shown = [group.numbers for group in groups[:MAXIMUM_ROWS]]
    if doubted(*shown):
        to.print(NOTE_OF_DOUBT, highlight=False, soft_wrap=True)
    if partial(*shown):
        to.print(NOTE_OF_A_PART, highlight=False, soft_wrap=True)
    if len(groups) > MAXIMUM_ROWS:
        to.print(f"… and more: --where KEY=VALUE chooses, --json has all, {sweep.folder}/rows.parquet too")
    for point, replication, error in failed[:_MOST_ERRORS]:
        to.print(f"point {point}, run {replication}: {escape(' '.join(error.split()))}", highlight=False)
    if len(failed) > _MOST_ERRORS:
        to.print(f"… and {len(failed) - _MOST_ERRORS:,} more runs failed", highlight=False)


def sweep_table(sweep: Sweep) -> Table:
    """Make the table of the means at each point, the first ones of many."""
    groups = list(sweep.groups(["group", "point", *sweep.keys], METRICS, None, MAXIMUM_ROWS + 1))
    return _points(sweep, groups, METRICS, sweep.failed())


def _points(
    sweep: Sweep, groups: Sequence[Group], metrics: Sequence[str], failed: Sequence[tuple[int, int, str]]
) -> Table:
    names = {group.values[0] for group in groups}
    broken = Counter(point for point, _, _ in failed)
    table = _table(
        [*sweep.keys, *(["of"] if len(names) > 1 else [])], [*metrics, *(["failed"] if failed else [])]
    )
    for group in groups[:MAXIMUM_ROWS]:
        name, point, *values = group.values
        cells = [escape(value_text(value)) for value in values]
        cells += [escape(str(name))] if len(names) > 1 else []
        cells += [cell_text(metric, number) for metric, number in zip(metrics, group.numbers, strict=True)]
        cells += [f"{broken[point]} of {sweep.design.runs}"] if failed else []
        table.add_row(*cells)
    return table


def _table(left: Sequence[str], right: Sequence[str]) -> Table:
    table = new_table(left[0])
    for name in left[1:]:
        table.add_column(escape(name), no_wrap=True)
    for name in right:
        table.add_column(number_words(name), justify="right", no_wrap=True)
    return table


def cell_text(metric: str, number: Number) -> str:
    """Write a measured number with its unit and its interval."""
    if metric == "utilization":
        return percent(number)
    unit = unit_in(metric)
    if unit == "s":
        return seconds(number)
    return quantity(number, unit) if unit else count(number)
