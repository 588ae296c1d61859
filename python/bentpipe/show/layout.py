"""How every table for people looks."""

from rich.console import Console
from rich.table import Table

MAXIMUM_ROWS = 20
"""Rows of a table of flows or links; what the others carried stands in its last row, and all in the JSON."""

_UNLIMITED = 10_000


def new_table(first: str, *rest: str) -> Table:
    """Make an empty table with a column of names and others of numbers."""
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(first, no_wrap=True)
    for name in rest:
        table.add_column(name, justify="left" if name == "variant" else "right", no_wrap=True)
    return table


def more(rows: int) -> str:
    """Name the row that stands for those that are not shown."""
    return f"… and {rows:,} more (see --json)"


def mention_rest(table: Table, rows: int) -> None:
    """Say how many rows are not shown, if any."""
    if rows > MAXIMUM_ROWS:
        table.add_row(more(rows - MAXIMUM_ROWS))


def print_whole(table: Table, to: Console) -> None:
    """Print a table with nothing cut off.

    On a terminal too narrow for it the columns go on below, each part with the first of them; a name or a
    number that is cut says nothing.
    """
    for part in _parts(table, to) if to.is_terminal else [table]:
        part.width = _width(part, to)
        to.print(part, crop=False)


def _parts(table: Table, to: Console) -> list[Table]:
    numbers = range(1, len(table.columns))
    parts: list[list[int]] = [[0]]
    for number in numbers:
        if len(parts[-1]) > 1 and _width(_columns(table, [*parts[-1], number]), to) > to.width:
            parts.append([0])
        parts[-1].append(number)
    if len(parts) == 1:
        return [table]
    several = [_columns(table, part) for part in parts]
    several[0].title, several[-1].caption = table.title, table.caption
    several[-1].caption_justify = table.caption_justify
    return several


def _columns(table: Table, numbers: list[int]) -> Table:
    """Give a table of some of the columns."""
    part = Table(box=None, header_style=table.header_style, pad_edge=False, padding=(0, 2, 0, 0))
    columns = [table.columns[number] for number in numbers]
    for column in columns:
        part.add_column(column.header, justify=column.justify, no_wrap=column.no_wrap)
    cells = zip(*(column.cells for column in columns), strict=True)
    for row, texts in zip(table.rows, cells, strict=True):
        part.add_row(*texts, style=row.style, end_section=row.end_section)
    return part


def _width(table: Table, to: Console) -> int:
    return to.measure(table, options=to.options.update(max_width=_UNLIMITED)).maximum
