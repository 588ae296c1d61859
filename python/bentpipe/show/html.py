"""Tables of notebooks."""

from collections.abc import Iterable
from html import escape


def html_table(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Give a table of texts."""
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
