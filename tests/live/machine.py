"""What every test against the kernel needs, and what none may leave behind."""

import os
import subprocess
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


def traces_of_a_run() -> dict[str, set[str]]:
    """List the links, namespaces and socket programs that there are."""

    def said(*command: str) -> set[str]:
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return set(output.splitlines())

    processes = [path for path in Path("/proc").iterdir() if path.name.isdigit()]
    programs: set[str] = set()
    networks: set[str] = set()
    for process in processes:
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
            networks.add(str((process / "ns/net").readlink()))
        except OSError:
            continue
        if any(word.endswith(b"live/peer.py") for word in words):
            programs.add(process.name)
    return {
        "links": said("ip", "-o", "-br", "link"),
        "named namespaces": said("ip", "netns", "list"),
        "namespaces of processes": networks,
        "socket programs": programs,
    }
