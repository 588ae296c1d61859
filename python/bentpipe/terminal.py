"""Standard output and error that can be written to whatever their encoding is."""

import codecs
import io
import sys
from typing import TextIO

from bentpipe.results import dump

_PLAIN = {"–": "-", "±": "+-", "…": "...", "µ": "u", "×": "x", "²": "2"}
_HANDLER = "bentpipe.plain"


def prepare() -> None:
    """Let both streams write, for what their encoding lacks, a plain sign or the number of the character."""
    codecs.register_error(_HANDLER, _written_out)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_HANDLER)


def print_json(value: object, to: TextIO | None = None) -> None:
    """Print JSON; characters that the encoding may lack stand as JSON's own escapes."""
    stream = to or sys.stdout
    whole = codecs.lookup(stream.encoding or "ascii").name.startswith("utf")
    stream.write(dump(value, escaped=not whole))


def _written_out(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    # What stands for a sign must itself be ASCII.
    lacking = error.object[error.start : error.end]
    signs = (_PLAIN.get(sign) or sign.encode("ascii", "backslashreplace").decode() for sign in lacking)
    return "".join(signs), error.end
