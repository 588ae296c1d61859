"""A program in the place of a virtual kernel: what is tried around a kernel needs none."""

import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import virtual_kernel as recipe
from bentpipe.live.virtual import kernel, machine

ANSWERS = """
import pickle
from pathlib import Path
function, arguments, options = pickle.loads(Path("task").read_bytes())
def answer(number, kind, content):
    Path("part").write_bytes(pickle.dumps((kind, content)))
    Path("part").rename(f"answer-{number}")
"""
"""The beginning of one that answers as the program in a kernel does."""


KEEPER = Path(__file__).parents[2] / "virtual-kernel" / "keeper.c"


@cache
def keeper() -> bytes:
    """Give the program that ends a kernel with its command."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["gcc", "-O2", "-static", "-o", f"{folder}/keeper", KEEPER], check=True)
        return (Path(folder) / "keeper").read_bytes()


def built(folder: Path, program: str, release: str = "6.12.99") -> kernel.Kernel:
    """Make such a kernel of a Python program."""
    folder.mkdir(parents=True)
    (folder / "linux").write_text(f"#!{sys.executable} -S\nimport sys\n{ANSWERS}\n{program}\n")
    (folder / "linux").chmod(0o755)
    for name in ("init", "endpoint", "entropy.so"):
        (folder / name).write_bytes(b"")
    (folder / "keeper").write_bytes(keeper())
    (folder / "keeper").chmod(0o755)
    recipe.record(folder, {"release": release, "controls": ["reno", "cubic"]})
    return kernel.at(folder)


def folders(of: int | str = "*") -> list[Path]:
    """List the folders of runs, of all or of those that a process asked for."""
    return [folder for base in machine.BASES for folder in Path(base).glob(f"bentpipe-kernel-{of}-*")]


def working_in(folder: Path) -> list[int]:
    """List the processes that work in a folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            state = (process / "stat").read_text().rpartition(")")[2].split()[0]
            if state != "Z" and (process / "cwd").readlink() == folder:
                found.append(int(process.name))
        except OSError:
            continue
    return found


def with_another_program(does: str, to: Path) -> None:
    """Make the cache hold the kernel with another first program for scenarios, in C."""
    found = kernel.find()
    folder = to / "bentpipe" / "virtual-kernel" / "another"
    shutil.copytree(found.folder, folder)
    source = to / "endpoint.c"
    source.write_text(f"#include <stdio.h>\n#include <unistd.h>\nint main(void) {{ {does} }}\n")
    subprocess.run(["gcc", "-static", "-o", folder / "endpoint", source], check=True)
    recipe.record(folder, {"release": found.release, "controls": list(found.controls)})
    (folder.parent / "newest").write_text(folder.name)
