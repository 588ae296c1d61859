"""The folder of a result: its files are replaced together, and what else lies there stays.

A folder that holds nothing else is exchanged for the new one in one step. Where that cannot be (somebody's
own files are there, somebody works in the folder, it is a mount), ``result.json`` goes first and comes last:
a folder without it holds no result.
"""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bentpipe import _core

RESULT, SERIES, PICTURE = FILES = ("result.json", "series.parquet", "plot.png")
"""What ``bentpipe run --out`` writes, and takes away when it writes anew."""

_NEW, _OLD = ".new", ".old"

_COMPLETE = ".complete"
"""Says, within the old folder, that it has all files: what is in the other's place is new."""


def place(folder: Path) -> tuple[Path, str]:
    """Tell where to make the part for the result `folder`, and how the new folder is to be called in it."""
    return (folder, _NEW) if folder.exists() and not _ours_alone(folder) else (folder.parent, folder.name)


def put(new: Path, folder: Path) -> None:
    """Put the files in `new` in the place of the result in `folder`, all of them or, on an error, none.

    Raises OSError: it cannot be done; what was there is there still.
    """
    if not folder.exists():
        try:
            new.rename(folder)
        except OSError:
            # Unless another run made it in this moment.
            if not folder.is_dir():
                raise
        else:
            return
    with _alone(folder):
        if not (_ours_alone(folder) and _exchanged(new, folder)):
            _replace_files(new, folder, new.with_name(_OLD))


def restore(part: Path) -> None:
    """Put back the old result if the writer of `part` was killed while it put the new one in its place."""
    old, folder = part / _OLD, part.parent
    if (part / _NEW).is_dir() and (old / RESULT).exists() and not (folder / RESULT).exists():
        _move_back(old, folder)


def _ours_alone(folder: Path) -> bool:
    """Whether all that is in `folder` is a result, and nobody minds when another folder takes its place."""
    try:
        here = Path.cwd()
        return (
            _names(folder) <= set(FILES)
            and folder.stat().st_uid == os.geteuid()
            and os.access(folder.parent, os.W_OK)
            and not folder.is_mount()
            and folder != here
            and folder not in here.parents
        )
    except OSError:
        return False


def _names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def _exchanged(new: Path, folder: Path) -> bool:
    try:
        shutil.copymode(folder, new)
        _core.exchange(new, folder)
    except OSError:
        # Not on this system, or not on this file system.
        return False
    # Somebody's own file that came in this moment goes back to where it was put.
    for name in _names(new) - set(FILES):
        (new / name).rename(folder / name)
    return True


def _replace_files(new: Path, folder: Path, old: Path) -> None:
    old.mkdir()
    try:
        for name in FILES:
            with suppress(FileNotFoundError):
                (folder / name).rename(old / name)
        (old / _COMPLETE).touch()
        for name in reversed(FILES):
            with suppress(FileNotFoundError):
                (new / name).rename(folder / name)
    except OSError:
        _move_back(old, folder)
        raise


def _move_back(old: Path, folder: Path) -> None:
    if (old / _COMPLETE).exists():
        for name in FILES:
            (folder / name).unlink(missing_ok=True)
    for name in reversed(FILES):
        with suppress(FileNotFoundError):
            (old / name).rename(folder / name)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keep other runs from `folder` meanwhile; where the file system has no locks, hope."""
    while True:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            with suppress(OSError):
                fcntl.flock(handle, fcntl.LOCK_EX)
            # It may be another's old folder by now.
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(handle), folder.stat()):
                    yield
                    return
        finally:
            os.close(handle)
