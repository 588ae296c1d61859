"""Kinds of values on the command line."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import click

from bentpipe.numbers.number import share

_T = TypeVar("_T")


class Whole(click.IntRange):
    """A whole number within bounds."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Give the number."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            bounds = f"of at least {self.min}" if self.max is None else f"from {self.min} to {self.max}"
            self.fail(f"expected a whole number {bounds}, found {str(value)!r}", param, ctx)


class Value(click.ParamType[_T]):
    """What `read` makes of a text; its ValueError says what was expected."""

    def __init__(self, name: str, read: Callable[[str], _T]) -> None:
        self.name, self._read = name, read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> _T:
        """Give the value."""
        try:
            return self._read(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


def number(text: str) -> float:
    """Read a number; what is none is NaN, which is within no bounds."""
    try:
        return float(text)
    except ValueError:
        return float("nan")


def _precision(text: str) -> float:
    try:
        precision = share(text.strip())
    except ValueError:
        precision = 0.0
    if not 0.0 < precision < 1.0:
        raise ValueError(f"{text!r} is no precision: expected something between 0% and 100%, such as 2%")
    return precision


def _setting(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not (equals and key.strip()):
        raise ValueError(f"{text!r} is not of the form key=value, such as links.satellite.rate='1 Mbit/s'")
    return key.strip(), value.strip()


def checked(kind: str, text: str) -> str:
    """See that a text is a time, a rate, a size or a queue as scenarios write it."""
    from bentpipe import _core

    _core.check_quantity(kind, text)
    return text


def quantity(kind: str) -> Value[str]:
    """Give the kind of value that is a time, a rate, a size or a queue as scenarios write it."""
    return Value(kind, partial(checked, kind))


PRECISION = Value("percent", _precision)
"""A share of one that is neither nothing nor all."""

SETTING = Value("key=value", _setting)
"""A key of a scenario and its new value."""
