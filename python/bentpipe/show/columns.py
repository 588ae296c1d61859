"""Columns of tables for people: headings and units come with the numbers."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.table import Table

from bentpipe.numbers.declared import Declared, tables
from bentpipe.results import Number
from bentpipe.show.layout import MAXIMUM_ROWS, mention_rest, new_table
from bentpipe.show.units import count, counted, percent, quantity, seconds


def columns(what: str, *keys: str) -> list[Declared]:
    """Give these columns of a table of the result."""
    return [tables()[what][key] for key in keys]


def written(number: Number, about: Declared) -> str:
    """Write a number in its unit, which a heading may say already."""
    if about.unit == "s":
        return seconds(number)
    if about.unit in ("B", "bit/s"):
        return quantity(number, about.unit)
    if about.unit == "share":
        return percent(number)
    return count(number) if about.unit in about.heading else counted(number, about.unit)


def cells(row: Mapping[str, Any], of: Iterable[Declared]) -> list[str]:
    """Write these numbers of a row; what it does not have is a dash."""
    return [written(row.get(one.key), one) for one in of]


def plain_table(
    what: str, rows: Sequence[Any], title: str, keys: Sequence[str], *, texts: Sequence[str] = ()
) -> list[Table]:
    """Make a table of rows of the result's table `what`, if there are any.

    It has their names under `title`, other texts by their keys, and the numbers of `keys`.
    """
    if not rows:
        return []
    of = columns(what, *keys)
    table = new_table(title, *texts, *(one.heading for one in of))
    for row in rows[:MAXIMUM_ROWS]:
        name = row["name"] if "name" in row else row["flow"]
        table.add_row(name, *(row[key] for key in texts), *cells(row, of))
    mention_rest(table, len(rows))
    return [table]
