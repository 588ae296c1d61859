"""A program in the place of a virtual kernel: what is tried around a kernel needs none."""

import sys
from pathlib import Path

from bentpipe.live.virtual import kernel

ANSWERS = """
import pickle
from pathlib import Path
function, arguments, options = pickle.loads(Path("task").read_bytes())
def answer(number, kind, content):
    Path("part").write_bytes(pickle.dumps((kind, content)))
    Path("part").rename(f"answer-{number}")
"""
"""The beginning of one that answers as the program in a kernel does."""


def built(folder: Path, program: str, release: str = "6.12.99") -> kernel.Kernel:
    """Make such a kernel of a Python program."""
    folder.mkdir(parents=True)
    (folder / "linux").write_text(f"#!{sys.executable} -S\nimport sys\n{ANSWERS}\n{program}\n")
    (folder / "linux").chmod(0o755)
    for name in ("init", "endpoint", "keeper", "entropy.so"):
        (folder / name).write_bytes(b"")
    kernel.record(folder, {"release": release, "controls": ["reno", "cubic"]})
    return kernel.at(folder)


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
