"""Files that are either whole or not there.

Everything is written in a hidden folder beside its destination, and takes its place only when all files of
the result are complete. What fails on the way (a full disk, Ctrl-C) leaves nothing behind.
"""

import os
import stat
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Self

from bentpipe.errors import BentpipeError, InputError, Interrupted
from bentpipe.files import folder as result_folder
from bentpipe.files.parts import Part, sweep


class Staging:
    """A set of files that appear together when the ``with`` block ends well, and not at all otherwise.

    `reads` are the files that the command has read, or will: none of them may be written.

    Raises BentpipeError: a file cannot be written; the message names it and says why.
    Raises Interrupted: Ctrl-C within the block; nothing was written.
    """

    def __init__(self, reads: Iterable[Path] = ()) -> None:
        self._outputs = Outputs(reads)
        self._parts: dict[Path, Part] = {}
        # Where each is written now, where it is to be, and what puts it there.
        self._staged: list[tuple[Path, Path, Callable[[Path, Path], object]]] = []
        self._made: list[Path] = []
        self._written = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        interrupted = isinstance(error, KeyboardInterrupt | Interrupted)
        try:
            if error is None:
                self._commit()
            elif isinstance(error, OSError):
                raise self._failure(error) from error
            elif isinstance(error, BentpipeError) and not interrupted:
                raise type(error)(self._rename(str(error))) from error
        finally:
            self._sweep(failed=not self._written)
        if interrupted:
            raise Interrupted("interrupted; nothing was written") from error

    def file(self, destination: Path, option: str = "") -> Path:
        """Give the path to write to now for what is to become `destination`; makes its folder if needed.

        Raises InputError: it is a file that the command reads, or writes already; the message names the
        `option`.
        """
        self._outputs.add(destination, option)
        destination = Path(os.path.realpath(destination))
        _expect_file(destination)
        path = self._part(destination.parent, destination) / destination.name
        self._staged.append((path, destination, Path.replace))
        return path

    def result_folder(self, destination: Path, option: str = "") -> Path:
        """Give the folder to write to now for what is to become the result in `destination`.

        The files of a result that are there go, and others stay.

        Raises InputError: one of its files is one that the command reads, or writes already; the message
        names the `option`.
        """
        for name in result_folder.FILES:
            self._outputs.add(destination / name, option)
        destination = Path(os.path.realpath(destination))
        for name in result_folder.FILES:
            _expect_file(destination / name)
        place, name = result_folder.place(destination)
        path = self._part(place, destination) / name
        path.mkdir()
        sweep(destination)
        self._staged.append((path, destination, result_folder.put))
        return path

    def _part(self, folder: Path, destination: Path) -> Path:
        if folder not in self._parts:
            try:
                self._make_folder(folder)
                self._parts[folder] = Part(folder)
            except OSError as error:
                raise BentpipeError(f"cannot write {destination}: {error.strerror}") from error
        return self._parts[folder].path

    def _make_folder(self, folder: Path) -> None:
        missing = [path for path in (folder, *folder.parents) if not path.exists()]
        for path in reversed(missing):
            # Somebody else, another thread of this run for one, may be quicker.
            with suppress(FileExistsError):
                path.mkdir()
                self._made.append(path)

    def _commit(self) -> None:
        try:
            for temporary, _, _ in self._staged:
                for path in temporary.iterdir() if temporary.is_dir() else [temporary]:
                    with path.open("rb") as file:
                        os.fsync(file.fileno())
            # A signal is raised in the main thread: it waits until this is through.
            with ThreadPoolExecutor(1) as pool:
                pool.submit(self._put).result()
        except OSError as error:
            raise self._failure(error) from error

    def _put(self) -> None:
        for temporary, destination, put in self._staged:
            put(temporary, destination)
            self._written = True

    def _failure(self, error: OSError) -> BentpipeError:
        written = self._rename(str(error.filename)) if error.filename else None
        if written is None and self._staged:
            written = str(self._staged[-1][1])
        return BentpipeError(f"cannot write {written}: {error.strerror}")

    def _rename(self, message: str) -> str:
        for temporary, destination, _ in self._staged:
            message = message.replace(str(temporary), str(destination))
        return message

    def _sweep(self, *, failed: bool) -> None:
        for part in self._parts.values():
            part.remove()
        if failed:
            for folder in reversed(self._made):
                if not any(folder.iterdir()):
                    folder.rmdir()


class Outputs:
    """The files that a command is to write: all different, and none that it reads."""

    def __init__(self, reads: Iterable[Path]) -> None:
        self._reads: set[object] = set().union(*map(_names, reads))
        self._writes: set[object] = set()

    def add(self, path: Path, option: str) -> None:
        """Take one more.

        Raises InputError: it is, by whatever name, a file that the command reads or one of those taken
        before.
        """
        names, option = _names(path), f"{option}: " if option else ""
        if names & self._reads:
            raise InputError(f"{option}expected a file that this command does not read, found {path}")
        if names & self._writes:
            raise InputError(f"{option}expected a file that nothing else is written to, found {path}")
        self._writes |= names


def _names(path: Path) -> set[object]:
    """Give what a file is known by through links of both kinds: its real path, and its number."""
    names: set[object] = {os.path.realpath(path)}
    with suppress(OSError):
        found = path.stat()
        names.add((found.st_dev, found.st_ino))
    return names


def _expect_file(path: Path) -> None:
    # One look: between two, another run may put its result here.
    try:
        mode = path.stat().st_mode
    except OSError:
        return
    if not stat.S_ISREG(mode):
        raise BentpipeError(f"cannot write {path}: it is there already and not a file")


def write_text(destination: Path, text: str) -> None:
    """Write a text file, whole or not at all."""
    with Staging() as staging:
        staging.file(destination).write_text(text, encoding="utf-8")
