"""Statements of a page that is written by a program: each stands beside the conditions that make it true."""

from pathlib import Path

from bentpipe.comparison.result import Variant
from bentpipe.numbers.intervals import gain


class DoesNotHoldError(Exception):
    """A statement of the page is not true any more."""


def says(text: str, *conditions: bool) -> str:
    """Give a statement as a line of a list.

    Raises
    ------
    DoesNotHoldError
        One of the conditions is not met.
    """
    if not all(conditions):
        raise DoesNotHoldError(text)
    return f"- {text}\n"


def whole(share: float) -> str:
    """Write a share in whole per cent."""
    return f"{share:.0%}".replace("%", " %")


def more(one: Variant, other: Variant) -> bool:
    """Say whether it has more than the other, by the interval of their ratio."""
    found = gain(one.values, other.values)
    return found is not None and found["mean"] > (found["ci95"] or 0.0)


def between_marks(page: Path, program: str, text: str) -> str:
    """Give the page with `text` in place of what stands between the marks of `program`."""
    return between(page.read_text(encoding="utf-8"), program, text)


def between(page: str, program: str, text: str) -> str:
    """Give a page's text with `text` in place of what stands between the marks of `program`."""
    begin, end = (f"<!-- written by {program}: {mark} -->\n" for mark in ("begin", "end"))
    before, rest = page.split(begin)
    _, after = rest.split(end)
    return f"{before}{begin}{text}{end}{after}"
