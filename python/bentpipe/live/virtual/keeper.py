"""The process between a command and its virtual kernel, so that nothing of the kernel outlives the command.

Its one argument is JSON: ``folder``, in which the kernel is started, ``command``, ``environment`` and
``processor``. It says ``ended STATUS`` when the kernel has ended by itself. When its standard input closes,
whoever started it has what it wants or is gone, by SIGKILL too: it ends what is left of the kernel, removes
the folder and ends. When it is killed itself, the kernel is killed with it.
"""

import contextlib
import ctypes
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_ADDR_NO_RANDOMIZE = 0x0040000
_END_S = 10.0


def _prepare(libc: Any, keeper: int, processor: int) -> None:
    """Make the child's process what the kernel needs."""
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != keeper:
        os._exit(1)
    # Where a container forbids it, addresses differ from run to run, which nothing that is measured looks at.
    libc.personality(_ADDR_NO_RANDOMIZE)
    # The kernel and its programs take turns: on two processors they only wait for each other.
    os.sched_setaffinity(0, {processor})


def _left_of(folder: Path) -> list[int]:
    """Find the processes that work in the folder: the kernel's, and those of its programs."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if int(process.name) != os.getpid() and (process / "cwd").readlink() == folder:
                found.append(int(process.name))
    return found


def _end_all(folder: Path) -> None:
    """Kill what works in the folder until there is nothing, and take what the kernel has left to us."""
    until = time.monotonic() + _END_S
    while (left := _left_of(folder)) and time.monotonic() < until:
        for process in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(0.01)


def main() -> None:
    """Start the kernel, wait, and clear away."""
    task = json.loads(sys.argv[1])
    folder = Path(task["folder"])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    keeper = os.getpid()
    os.chdir("/")
    kernel = None
    try:
        with (folder / "console").open("wb") as console:
            kernel = subprocess.Popen(
                task["command"],
                cwd=folder,
                env=task["environment"],
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=console,
                preexec_fn=lambda: _prepare(libc, keeper, task["processor"]),
            )
        ended = os.pidfd_open(kernel.pid)
        while 0 not in select.select([0, *([ended] if kernel.returncode is None else [])], [], [])[0]:
            kernel.wait()
            with contextlib.suppress(OSError):
                os.write(1, f"ended {kernel.returncode}\n".encode())
    except OSError as error:
        os.write(1, f"failed {error}\n".encode())
        select.select([0], [], [])
    finally:
        if kernel is not None:
            if kernel.returncode is None:
                kernel.kill()
                kernel.wait()
            _end_all(folder)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
