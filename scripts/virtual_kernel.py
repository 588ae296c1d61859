"""Build Linux as a virtual kernel (User-Mode Linux in time-travel mode) into the user's cache folder.

The result is named by a digest of the source, the configuration and the patches: one that is there is not
built again. Nothing is written to the source.
"""

import argparse
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from bentpipe.errors import BentpipeError, InputError
from bentpipe.live.virtual import kernel, machine

RECIPE = Path(__file__).resolve().parent.parent / "virtual-kernel"
CONFIG, PATCH, RINGS = (RECIPE / "linux" / name for name in ("config", "time-travel.patch", "rings.patch"))
PROGRAMS = {
    "init": (RECIPE / "init.c", ["-static", "-s"]),
    "endpoint": (RECIPE / "endpoint.c", ["-static", "-s"]),
    "keeper": (RECIPE / "keeper.c", ["-static", "-s"]),
    "entropy.so": (RECIPE / "entropy.c", ["-shared", "-fPIC", "-s"]),
}
DEFAULT = Path("/usr/src/linux-source-6.12.tar.xz")
NEEDED = ("gcc", "make", "flex", "bison", "bc", "patch", "tar", "xz", "strip", "perl")
"""Programs; scripts/debian-packages knows the packages that hold them."""
NOT_READ = (
    "*/.git/*",
    *(
        f"*/{folder}/*.[ch]"
        for folder in (
            "drivers/gpu",
            "drivers/media",
            "drivers/net/ethernet",
            "drivers/net/wireless",
            "sound",
        )
    ),
    "*/arch/[!ux]*/*.[chS]",
    "*.dts*",
    "*/Documentation/devicetree/*",
)
"""What the build of an ARCH=um kernel does not read; Kconfig files and Makefiles it reads everywhere."""


class Failed(BentpipeError):
    """The build ended without a kernel."""


def files_of(tree: Path) -> Iterator[str]:
    """Give the files of a source tree that the build reads, in their order."""
    for folder, folders, names in os.walk(tree):
        inside = Path(folder).relative_to(tree)
        folders[:] = sorted(name for name in folders if name != ".git")
        for name in sorted(names):
            path = str(inside / name)
            if not any(fnmatchcase(f"linux/{path}", pattern) for pattern in NOT_READ):
                yield path


def digest_of(source: Path) -> str:
    """Name what is built: by the source, a tar file or a tree, the configuration and the patches."""
    found = hashlib.sha256()
    if source.is_file():
        found.update(kernel.digest(source).encode())
    else:
        for path in files_of(source):
            if not (source / path).is_symlink():
                found.update(f"{path}\0{kernel.digest(source / path)}\n".encode())
    for file in (CONFIG, PATCH, RINGS):
        found.update(kernel.digest(file).encode())
    return found.hexdigest()[:16]


def require(source: Path) -> None:
    """Say in one line what is missing.

    Raises
    ------
    InputError
        Something is.
    """
    if sys.platform != "linux" or os.uname().machine != "x86_64":
        raise InputError("a virtual kernel needs Linux on x86_64")
    missing = [program for program in NEEDED if not shutil.which(program)]
    if source == DEFAULT and not source.exists():
        missing.append(str(DEFAULT))
    if missing:
        raise InputError(f"missing: {', '.join(missing)} (scripts/debian-packages virtual-kernel)")
    if not source.exists():
        raise InputError(f"SOURCE: expected a source tree of Linux or a tar file of one, found no {source}")
    if source.is_dir() and not (source / "arch" / "um" / "Kconfig").is_file():
        raise InputError(f"SOURCE: expected a source tree of Linux, found none in {source}")
    if source.is_dir() and (source / ".config").exists():
        raise InputError(f"SOURCE: {source} was built in: expected a clean tree (make mrproper)")


def unpack(source: Path, to: Path, log: Path) -> None:
    """Put the part of the source that the build reads into the folder `to`."""
    if source.is_dir():
        print(f"copying {source}", flush=True)
        for path in files_of(source):
            (to / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source / path, to / path, follow_symlinks=False)
        return
    excluded = [f"--exclude={pattern}" for pattern in NOT_READ]
    step(f"unpacking {source}", ["tar", "xf", source, "-C", to, "--strip-components=1", *excluded], log)
    if not (to / "arch" / "um" / "Kconfig").is_file():
        raise InputError(f"SOURCE: expected a tar file of Linux's source, found none in {source}")


def step(what: str, command: list[str | Path], log: Path) -> None:
    """Run a command; of one that fails the log's last line with an error is told."""
    print(what, flush=True)
    with log.open("ab") as file:
        status = subprocess.run(command, stdout=file, stderr=file, stdin=subprocess.DEVNULL, check=False)
    if status.returncode:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        told = [line for line in lines if "rror" in line or "FAILED" in line] or lines or [""]
        kept = kernel.cache() / "build.log"
        shutil.copy(log, kept)
        raise Failed(f"{what} failed: {told[-1].strip()} (all of it: {kept})")


def build(source: Path, to: Path, work: Path, jobs: int) -> None:
    """Make the kernel's files in the folder `to`; `work` is for what is needed meanwhile."""
    tree, objects, log = work / "linux", work / "objects", work / "log"
    tree.mkdir()
    objects.mkdir()
    unpack(source, tree, log)
    clock = (tree / "include" / "uapi" / "linux" / "um_timetravel.h").read_text(encoding="utf-8")
    # Older kernels have messages only.
    for patch in (PATCH, RINGS) if "SCHEDSHM" in clock else (PATCH,):
        step(f"applying {patch.name}", ["patch", "-p1", "-d", tree, "-i", patch], log)
    # The kernel's version string is a part of its entropy: the same for everyone.
    fixed = {f"KBUILD_BUILD_{name}": value for name, value in (("USER", "bentpipe"), ("HOST", "bentpipe"))}
    fixed |= {"KBUILD_BUILD_TIMESTAMP": "2025-01-01", "KBUILD_BUILD_VERSION": "1"}
    make: list[str | Path] = [
        "make",
        "-C",
        tree,
        "ARCH=um",
        f"O={objects}",
        *(f"{k}={v}" for k, v in fixed.items()),
    ]
    step("configuring", [*make, "allnoconfig", f"KCONFIG_ALLCONFIG={CONFIG}"], log)
    step(f"compiling, {jobs} at a time (five minutes on two processors)", [*make, f"-j{jobs}", "linux"], log)
    step("stripping", ["strip", "-o", to / "linux", objects / "linux"], log)


def compile_programs(to: Path, log: Path) -> None:
    """Make what runs beside the kernel in the folder `to`."""
    for name, (file, flags) in PROGRAMS.items():
        command: list[str | Path] = [
            "gcc",
            "-O2",
            "-Wall",
            "-Wextra",
            "-Werror",
            *flags,
            "-o",
            to / name,
            file,
        ]
        step(f"compiling {name}", command, log)


def virtual_kernel(source: Path, jobs: int) -> kernel.Kernel:
    """Give the kernel of `source`, from the cache or built now, and have it be the one that is used."""
    require(source)
    cache = kernel.cache()
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for left in cache.glob("building-*"):
            shutil.rmtree(left, ignore_errors=True)
        folder = _made(source, jobs)
        use(folder)
    return kernel.at(folder)


def _made(source: Path, jobs: int) -> Path:
    """Give the folder of the kernel of `source`."""
    cache = kernel.cache()
    name = digest_of(source)
    folder = cache / name
    programs = {file.name: kernel.digest(file) for file, _ in PROGRAMS.values()}
    with suppress(InputError):
        kernel.at(folder)
        if kernel.facts(folder)["programs"] == programs:
            return folder
    with tempfile.TemporaryDirectory(prefix="building-", dir=cache) as temporary:
        work, made = Path(temporary), Path(temporary) / name
        made.mkdir()
        if _has_kernel(folder):
            shutil.copy(folder / "linux", made / "linux")
        else:
            build(source, made, work, jobs)
        compile_programs(made, work / "log")
        told = {"source": source.name, "programs": programs}
        record(made, {**told, "release": "", "controls": []})
        print("asking it what it is", flush=True)
        with machine.Machine(kernel.at(made), who="the virtual kernel") as asked:
            ((release, controls),) = asked.call(machine.facts)
        record(made, {**told, "release": release, "controls": list(controls)})
        shutil.rmtree(folder, ignore_errors=True)
        made.rename(folder)
    return folder


def record(folder: Path, facts: Mapping[str, Any]) -> None:
    """Write what is known of the kernel in `folder`, with digests of its files."""
    told = {**facts, "files": {name: kernel.digest(folder / name) for name in kernel.FILES}}
    (folder / kernel.MANIFEST).write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")


def use(folder: Path) -> None:
    """Make the kernel in `folder`, one of the cache's, the one that is taken where none is named."""
    part = kernel.cache() / f".{kernel.NEWEST}-{os.getpid()}"
    part.write_text(folder.name, encoding="utf-8")
    part.replace(kernel.cache() / kernel.NEWEST)


def _has_kernel(folder: Path) -> bool:
    """Whether the kernel in the folder is as it was built, whatever programs are beside it."""
    try:
        return bool(kernel.facts(folder)["files"]["linux"] == kernel.digest(folder / "linux"))
    except (OSError, ValueError, KeyError, TypeError):
        return False


def main() -> None:
    """Build it, or say in one line why not."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--source", type=Path, default=DEFAULT, help="a tree or tar file of Linux")
    arguments.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    given = arguments.parse_args()
    try:
        found = virtual_kernel(given.source.absolute(), given.jobs)
    except BentpipeError as error:
        sys.exit(f"make virtual-kernel: {error}")
    print(f"Linux {found.release} with {', '.join(found.controls)}: {found.folder}")


if __name__ == "__main__":
    main()
