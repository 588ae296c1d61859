"""Where a scenario comes from: a file, a ready-made one, a pipe, or standard input.

Python reads the pipes: what it waits for gives way to a signal.
"""

import os
import stat
import sys
from pathlib import Path

from bentpipe import _core
from bentpipe._core import Scenario
from bentpipe.errors import InputError

STANDARD_INPUT = "-"
"""Stands for standard input where a scenario is named."""

_MOST_BYTES = 4 << 20


def read_scenario(name: str, settings: list[tuple[str, str]]) -> Scenario:
    """Read the scenario that a person named, with `settings` on top.

    Raises
    ------
    ScenarioError
        It cannot be used.
    InputError
        The pipe or standard input cannot be read.
    """
    if name == STANDARD_INPUT:
        if sys.stdin is None:
            raise InputError("standard input: expected a scenario, found that it is closed")
        return _core.parse_bytes("standard input", _read(0, "standard input"), settings, _file_behind(0))
    if _is_pipe(name):
        return _core.parse_bytes(name, _read(name, name), settings, None)
    return _core.load(name, settings)


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
