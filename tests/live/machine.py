"""What every test against the kernel needs, and what none may leave behind."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest


def _lacking() -> str:
    if os.geteuid() != 0:
        return "needs root for a network namespace"
    return "" if Path("/dev/net/tun").exists() else "needs /dev/net/tun"


LACKING = _lacking()
"""Why these tests cannot run here; empty where they can."""

needs_the_machine = [
    pytest.mark.skipif(bool(LACKING), reason=LACKING),
    pytest.mark.usefixtures("nothing_left_behind"),
]


def children(of: int, program: bytes) -> Iterator[int]:
    """Give the children of a process that run `program`."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == of and program in (folder / "cmdline").read_bytes():
                yield int(folder.name)
        except OSError:
            continue


def traces_of_a_run(mark: str) -> dict[str, set[str]]:
    """List the links and named namespaces, and the processes with `mark` in their environment."""

    def said(*command: str) -> set[str]:
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return set(output.splitlines())

    def marked(process: Path) -> bool:
        try:
            return mark.encode() in (process / "environ").read_bytes()
        except OSError:
            return False

    processes = [path for path in Path("/proc").iterdir() if path.name.isdigit()]
    return {
        "links": said("ip", "-o", "-br", "link"),
        "namespaces": said("ip", "netns", "list"),
        "processes": {process.name for process in processes if marked(process)},
    }
