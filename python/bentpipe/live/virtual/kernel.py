"""Virtual kernels that ``make virtual-kernel`` has built, each in a folder of the user's cache."""

import hashlib
import json
import os
import platform
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bentpipe.errors import InputError

PROGRAMS = ("linux", "init", "entropy.so")
"""The kernel, the first program in it, and what fixes its entropy."""
FILES = (*PROGRAMS, "endpoint", "keeper")
"""Those, and for an endpoint of a run the first program in it and the process that ends it."""
MANIFEST = "kernel.json"
NEWEST = "newest"
"""The file that names the folder of the kernel that was built last."""
MAKE = "`make virtual-kernel` in bentpipe's source folder builds one"


@dataclass(frozen=True)
class Kernel:
    """A virtual kernel on this machine."""

    folder: Path
    release: str
    controls: tuple[str, ...]
    """Its congestion controls, as it said when it was built."""


def cache() -> Path:
    """Give the folder that holds a folder for each kernel."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return home / "bentpipe" / "virtual-kernel"


def digest(path: Path) -> str:
    """Give the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def facts(folder: Path) -> dict[str, Any]:
    """Read what ``make virtual-kernel`` wrote of the kernel in `folder`."""
    told: dict[str, Any] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    return told


def find(name: str | None = None) -> Kernel:
    """Find the kernel in the folder `name`, or of a release that begins so; the one built last by default.

    Raises InputError: there is none, it is not as it was built, or the machine cannot run one.
    """
    if sys.platform != "linux" or platform.machine() != "x86_64":
        raise InputError("live --virtual: a virtual kernel needs Linux on x86_64")
    if name is not None and (Path(name) / MANIFEST).is_file():
        return at(Path(name))
    if name is None:
        newest = cache() / NEWEST
        if not newest.is_file():
            raise InputError(f"live --virtual: no virtual kernel here: {MAKE}")
        return at(cache() / newest.read_text(encoding="utf-8"))
    built = [at(path.parent) for path in sorted(cache().glob(f"*/{MANIFEST}"))]
    found = [kernel for kernel in built if kernel.release.startswith(name)]
    if len(found) != 1:
        there = ", ".join(f"{kernel.release} in {kernel.folder}" for kernel in built) or "none"
        raise InputError(
            f"--kernel: expected the folder of a virtual kernel or one release of {there}, found {name!r}"
        )
    return found[0]


def why_none() -> str | None:
    """Say why no kernel would be found; ``None`` where one is."""
    try:
        find()
    except InputError as error:
        return str(error)
    return None


def at(folder: Path) -> Kernel:
    """Take the kernel in `folder`.

    Raises InputError: its files are not those that were built.
    """
    try:
        told = facts(folder)
        changed = [name for name in FILES if digest(folder / name) != told["files"][name]]
        kernel = Kernel(folder.resolve(), told["release"], tuple(told["controls"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"live --virtual: {folder} holds no whole virtual kernel: {MAKE}") from error
    if changed:
        raise InputError(f"live --virtual: {folder / changed[0]} is not the file that was built: {MAKE}")
    return kernel
