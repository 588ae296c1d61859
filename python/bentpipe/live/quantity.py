"""A time, a rate, a size or a queue as an option of the command line."""

from typing import Any

import click


class Quantity(click.ParamType[str]):
    """A time, a rate, a size or a queue as scenarios write it."""

    def __init__(self, kind: str) -> None:
        self.name = kind

    def convert(  # noqa: D102 - click's
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        from bentpipe import _core

        try:
            _core.check_quantity(self.name, str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)
        return str(value)
