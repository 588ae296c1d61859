"""Where a scenario comes from: a file, a ready-made one, a pipe, or standard input.

Python reads the pipes: what it waits for gives way to a signal.
"""

import os
import stat
import sys
from pathlib import Path
from typing import TypeAlias

from bentpipe.errors import InputError

STANDARD_INPUT = "-"
"""Stands for standard input where a scenario is named."""

_MOST_BYTES = 80 << 20


Pairs: TypeAlias = list[tuple[str, str]]
"""Keys and values, as texts."""

Source: TypeAlias = tuple[str, Pairs, bytes | None, str | None, Pairs, list[Path]]
"""What the constructor of `bentpipe._core.Scenario` takes."""


def read_source(name: str, settings: Pairs) -> Source:
    """Give what the scenario that a person named is made of, with `settings` on top.

    Raises InputError: the pipe or standard input cannot be read.
    """
    if name == STANDARD_INPUT:
        if sys.stdin is None:
            raise InputError("standard input: expected a scenario, found that it is closed")
        return _piped(settings, "standard input", 0, _file_behind(0))
    if _is_pipe(name):
        return _piped(settings, name, name, None)
    return name, settings, None, None, [], []


def _piped(settings: Pairs, name: str, what: str | int, file: Path | None) -> Source:
    return name, settings, _read(what, name), None, [], [file] if file else []


def _is_pipe(name: str) -> bool:
    try:
        return stat.S_ISFIFO(Path(name).stat().st_mode)
    except (OSError, ValueError):
        return False


def _read(what: str | int, name: str) -> bytes:
    try:
        with open(what, "rb", closefd=isinstance(what, str)) as file:
            # One more than a scenario may have, to be refused for it.
            return file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise InputError(
            f"{name}: expected a scenario, found none that can be read ({error.strerror})"
        ) from error


def _file_behind(descriptor: int) -> Path | None:
    """Give the path of the file that a shell opened, as with ``bentpipe run - < scenario.toml``."""
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        return None
    return Path(f"/dev/fd/{descriptor}").resolve()
