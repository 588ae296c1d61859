"""Schemes of one's own on the command line: the classes that a Python file defines."""

import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import click

from bentpipe.command_line.options import option
from bentpipe.errors import InputError, one_line

if TYPE_CHECKING:
    from bentpipe.own.scheme import Scheme

own_option = option(
    "--own",
    click.Path(path_type=Path),
    "Python file with classes of your own that the scenario may name; repeatable.",
    multiple=True,
    metavar="FILE.py",
)

_FILES: list[str] = []
"""The files that were run."""


def line_of_hook(error: BaseException) -> str | None:
    """Say in a line what a hook has raised, and where; ``None`` if the error is of none."""
    message = _placed(error, _FILES)
    if message is None and _FILES and isinstance(error, ValueError | TypeError):
        # What a hook has left or given is looked at once it has returned.
        frames = traceback.extract_tb(error.__traceback__)
        if frames and frames[-1].name == "_simulate":
            message = f"{', '.join(_FILES)}: {_in_words(error)}"
    return message


def _placed(error: BaseException, files: Sequence[str]) -> str | None:
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in files]
    what = _in_words(error).removesuffix(":")
    return f"{frames[-1].filename}:{frames[-1].lineno}: {what}" if frames else None


def _in_words(error: BaseException) -> str:
    return one_line(f"{type(error).__name__}: {error}", 400)


def own_in(paths: Sequence[Path]) -> list[type["Scheme"]]:
    """Run the files, and give the named classes of one's own that they define.

    Raises InputError: a file cannot be read or run, or defines none.
    """
    return [scheme for path in paths for scheme in _classes(path)]


def _classes(path: Path) -> list[type["Scheme"]]:
    from bentpipe.own.scheme import Scheme

    module = ModuleType(f"own of {path}")
    module.__file__ = str(path)
    try:
        code = compile(path.read_bytes(), path, "exec")
    except OSError as error:
        raise InputError(
            f"--own {path}: expected a Python file, found none that can be read ({error.strerror})"
        ) from error
    except (SyntaxError, ValueError) as error:
        place = f":{error.lineno}" if isinstance(error, SyntaxError) else ""
        message = error.msg if isinstance(error, SyntaxError) else str(error)
        raise InputError(f"--own {path}{place}: expected Python, found {message}") from error
    sys.modules[module.__name__] = module
    # As for a program of its own: what lies beside it can be imported.
    sys.path.append(str(path.parent))
    try:
        exec(code, vars(module))  # noqa: S102
    except (Exception, SystemExit) as error:
        raise InputError(f"--own {_placed(error, [str(path)]) or f'{path}: {error!r}'}") from error
    _FILES.append(str(path))
    kinds = [
        value for value in vars(module).values() if isinstance(value, type) and issubclass(value, Scheme)
    ]
    own = [kind for kind in dict.fromkeys(kinds) if kind.name and kind.__module__ == module.__name__]
    if not own:
        raise InputError(f"--own {path}: expected a class of your own with a name, found none")
    return own
