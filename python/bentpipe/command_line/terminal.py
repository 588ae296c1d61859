"""Standard output and error that can be written to whatever their encoding is."""

import codecs
import io
import os
import sys
from collections.abc import Sequence
from typing import TextIO

import click

from bentpipe.results import dump

_PLAIN = {"–": "-", "±": "+-", "…": "...", "µ": "u", "×": "x", "²": "2"}
_HANDLER = "bentpipe.plain"
_MOST_FAILURES = 10


def prepare() -> None:
    """Let both streams write, for what their encoding lacks, a plain sign or a number."""
    # No picture of a command is shown in a window, and none is dated.
    os.environ["MPLBACKEND"] = "agg"
    os.environ.pop("SOURCE_DATE_EPOCH", None)
    if sys.stdout is None:
        sys.stdout = _closed(1, os.O_RDONLY)
    if sys.stderr is None:
        sys.stderr = _closed(2, os.O_WRONLY)
    codecs.register_error(_HANDLER, _written_out)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_HANDLER)


def _closed(number: int, how: int) -> TextIO:
    """Give a stream in the place of one that was closed; opened to read, it takes nothing, and says so."""
    null = os.open(os.devnull, how)
    if null != number:
        os.dup2(null, number)
        os.close(null)
    return os.fdopen(number, "w", encoding="utf-8", closefd=False)


def say(line: str) -> None:
    """Print a line beside the output, on stderr."""
    click.echo(f"bentpipe: {line}", err=True)


def give_up_for(failures: Sequence[object]) -> None:
    """Name what failed, the first ten of it, if anything did, and leave with the status of a failed run."""
    for failure in failures[:_MOST_FAILURES]:
        say(str(failure))
    if len(failures) > _MOST_FAILURES:
        say(f"{len(failures) - _MOST_FAILURES:,} more flows failed (see --json)")
    if failures:
        click.get_current_context().exit(1)


def print_json(value: object) -> None:
    """Print JSON; characters that the encoding may lack stand as JSON's own escapes."""
    whole = codecs.lookup(sys.stdout.encoding or "ascii").name.startswith("utf")
    sys.stdout.write(dump(value, escaped=not whole))


def _written_out(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    # What stands for a sign must itself be ASCII.
    lacking = error.object[error.start : error.end]
    signs = (_PLAIN.get(sign) or sign.encode("ascii", "backslashreplace").decode() for sign in lacking)
    return "".join(signs), error.end
