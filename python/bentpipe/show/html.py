"""Tables of notebooks."""

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table


def html_table(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Give a table of texts."""
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def html_of(tables: Iterable["Table"]) -> str:
    """Give tables of the command line."""
    from rich.text import Text

    def plain(cell: object) -> str:
        return Text.from_markup(str(cell)).plain

    return "".join(
        html_table(
            (plain(column.header) for column in table.columns),
            zip(*(map(plain, column.cells) for column in table.columns), strict=True),
        )
        for table in tables
    )
