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
    """Print a table with nothing cut off."""
    # On a narrow terminal a long row goes on in the next line; a name or a number that is cut says nothing.
    table.width = to.measure(table, options=to.options.update(max_width=_UNLIMITED)).maximum
    to.print(table, crop=False)
