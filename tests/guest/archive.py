"""A cpio archive as the kernel unpacks it at its start: the format `newc` of initramfs-buffer-format.rst."""

import os
import re
import stat
import subprocess
import sysconfig
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import BinaryIO

_LIBRARY = re.compile(r"(/\S+) \(0x")
_PROGRAM = b"\x7fELF"


class Archive:
    """Files of this machine at the paths that they have here, and others that are written for the guest."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._there: set[str] = set()

    def add(self, path: Path) -> None:
        """Add a file, a link with what it points to, or a folder; a program with its libraries."""
        # Of the path itself only the folder is resolved: a link may have a meaning by its name.
        path = path.parent.resolve() / path.name
        if str(path) in self._there:
            return
        if path.is_symlink():
            self._entry(str(path), stat.S_IFLNK | 0o777, os.fsencode(path.readlink()))
            target = path.parent / path.readlink()
            self._alias(target)
            self.add(target)
        elif path.is_dir():
            self.folder(str(path))
        else:
            data = path.read_bytes()
            # With their times, so that Python takes its compiled files for those of its sources.
            there = path.stat()
            self._entry(str(path), stat.S_IFREG | stat.S_IMODE(there.st_mode), data, int(there.st_mtime))
            if data.startswith(_PROGRAM):
                for library in _libraries(path):
                    # Loaders ask for a library by the folder that they know, which may be a link itself.
                    self._alias(library)
                    self.add(library)

    def add_all(self, folder: Path, wanted: Callable[[Path], bool] = lambda _: True) -> None:
        """Add the files below a folder that are wanted; of folders that are not, none."""
        for path in sorted(folder.iterdir()):
            if not wanted(path):
                continue
            if path.is_dir() and not path.is_symlink():
                self.add_all(path, wanted)
            else:
                self.add(path)

    def folder(self, path: str) -> None:
        """Add a folder."""
        if path not in self._there and path != "/":
            self._entry(path, stat.S_IFDIR | 0o755, b"")

    def write(self, path: str, text: str, mode: int = 0o644) -> None:
        """Add a file of this text."""
        self._entry(path, stat.S_IFREG | mode, text.encode())

    def write_bytes(self, path: str, data: bytes) -> None:
        """Add a file of these bytes."""
        self._entry(path, stat.S_IFREG | 0o644, data)

    def link(self, path: str, target: str) -> None:
        """Add a symbolic link."""
        self._entry(path, stat.S_IFLNK | 0o777, target.encode())

    def close(self) -> None:
        """Write the end of the archive."""
        self._header("TRAILER!!!", 0, b"")

    def _alias(self, path: Path) -> None:
        for folder in reversed(path.parents):
            if folder.is_symlink() and str(folder) not in self._there:
                self.link(str(folder), os.fspath(folder.readlink()))

    def _entry(self, path: str, mode: int, data: bytes, time: int = 0) -> None:
        if path in self._there:
            return
        if (parent := os.path.dirname(path)) != "/":  # noqa: PTH120 - a path of the guest
            self.folder(parent)
        self._there.add(path)
        self._header(path.lstrip("/"), mode, data, time)

    def _header(self, name: str, mode: int, data: bytes, time: int = 0) -> None:
        encoded = os.fsencode(name) + b"\0"
        # The file's number, mode, owner, group, links, time and size, two devices of two numbers each, the
        # size of its name, and a checksum that this format does not use.
        numbers = (len(self._there), mode, 0, 0, 1, time, len(data), 0, 0, 0, 0, len(encoded), 0)
        head = b"070701" + b"".join(b"%08X" % number for number in numbers) + encoded
        self._file.write(head + b"\0" * (-len(head) % 4))
        self._file.write(data + b"\0" * (-len(data) % 4))


@cache
def _libraries(program: Path) -> tuple[Path, ...]:
    said = subprocess.run(["ldd", str(program)], capture_output=True, text=True, check=False).stdout
    return tuple(Path(found) for found in _LIBRARY.findall(said))


def add_python(archive: Archive, environment: Path, packages: Iterable[str]) -> None:
    """Add the interpreter of a virtual environment, its standard library, and packages that patterns name."""
    left_out = ("test", "tests", "idlelib", "tkinter", "ensurepip", "lib2to3", "site-packages", "pydoc_data")
    archive.add(environment / "pyvenv.cfg")
    archive.add(environment / "bin/python")
    archive.add_all(
        Path(sysconfig.get_path("stdlib")),
        lambda path: path.name not in left_out and not path.name.startswith("config-"),
    )
    installed = Path(sysconfig.get_path("purelib"))
    for path in sorted(path for pattern in packages for path in installed.glob(pattern)):
        if path.is_dir():
            archive.add_all(path, lambda path: path.name not in left_out)
        else:
            archive.add(path)
