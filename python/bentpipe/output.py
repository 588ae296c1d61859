"""Files that are either whole or not there.

Everything is written beside its destination under a temporary name, and takes its real name only when all
files of the result are complete. What fails on the way (a full disk, Ctrl-C) leaves nothing behind.
"""

import os
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

from bentpipe.errors import BentpipeError


class Staging:
    """A set of files that appear together when the ``with`` block ends well, and not at all otherwise.

    Raises
    ------
    BentpipeError
        A file cannot be written; the message names it and says why.
    """

    def __init__(self) -> None:
        self._staged: list[tuple[Path, Path]] = []
        self._made: list[Path] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self._commit()
            elif isinstance(error, OSError):
                raise self._failure(error) from error
            elif isinstance(error, BentpipeError):
                raise type(error)(self._rename(str(error))) from error
        finally:
            self._sweep(failed=error is not None or bool(self._staged))

    def file(self, destination: Path) -> Path:
        """Give the path to write to now for what is to become `destination`; makes its folder if needed."""
        destination = Path(os.path.realpath(destination))
        if destination.exists() and not destination.is_file():
            raise BentpipeError(f"cannot write {destination}: it is there already and not a file")
        try:
            self._make_folder(destination.parent)
            handle, name = tempfile.mkstemp(
                prefix=".bentpipe-", suffix=destination.suffix, dir=destination.parent
            )
        except OSError as error:
            raise BentpipeError(f"cannot write {destination}: {error.strerror}") from error
        os.close(handle)
        self._staged.append((Path(name), destination))
        return Path(name)

    def _make_folder(self, folder: Path) -> None:
        missing = [folder, *folder.parents]
        missing = missing[: next(i for i, path in enumerate(missing) if path.exists())]
        for path in reversed(missing):
            try:
                path.mkdir()
            except FileExistsError:
                # Somebody else, another thread of this run for one, was quicker.
                if not path.is_dir():
                    raise
            else:
                self._made.append(path)

    def _commit(self) -> None:
        mode = 0o666 & ~_umask()
        try:
            for temporary, _ in self._staged:
                temporary.chmod(mode)
                with temporary.open("rb") as file:
                    os.fsync(file.fileno())
            while self._staged:
                temporary, destination = self._staged[0]
                temporary.replace(destination)
                del self._staged[0]
        except OSError as error:
            raise self._failure(error) from error

    def _failure(self, error: OSError) -> BentpipeError:
        names = {str(temporary): destination for temporary, destination in self._staged}
        written = names.get(str(error.filename)) if error.filename else None
        if written is None and self._staged:
            written = self._staged[-1][1]
        return BentpipeError(
            f"cannot write {written or error.filename}: {error.strerror}; nothing was written"
        )

    def _rename(self, message: str) -> str:
        for temporary, destination in self._staged:
            message = message.replace(str(temporary), str(destination))
        return message

    def _sweep(self, *, failed: bool) -> None:
        for temporary, _ in self._staged:
            temporary.unlink(missing_ok=True)
        if failed:
            for folder in reversed(self._made):
                if not any(folder.iterdir()):
                    folder.rmdir()


def write_text(destination: Path, text: str) -> None:
    """Write a text file, whole or not at all."""
    with Staging() as staging:
        staging.file(destination).write_text(text, encoding="utf-8")


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
