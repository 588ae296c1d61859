"""A virtual kernel that runs: a function of bentpipe is called in it, and its answers come out."""

import contextlib
import json
import os
import pickle
import random
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Self, cast

import bentpipe
from bentpipe import _core
from bentpipe.errors import BentpipeError, InputError, Interrupted
from bentpipe.live.virtual.kernel import MAKE, PROGRAMS, Kernel
from bentpipe.runs.progress import Reporter

BASES = ("/dev/shm", tempfile.gettempdir())  # noqa: S108 - the run's folder there is ours alone
"""Where the folder of a run may be, the best first."""
STALL_S = 60.0
"""After so long on the wall clock without a sign of it, a kernel is said to be stuck."""

_GUEST = Path(__file__).with_name("guest.py")
_MEMORY = "2G"
"""Only what is touched counts. With less, a buffer of 15 MB in TCP stands still for want of it."""
_ROOM_MB = 1024
_TURN_S = 0.1

_PREAMBLE = ("Checking ", "Core dump limits", "soft - ", "hard - ", "reboot: ")
"""What it says on its console when all is well."""

ARGUMENTS = (
    f"mem={_MEMORY}",
    # The kernel's command line is a part of its entropy: constant names, whatever the folder is.
    *("root=/dev/root", "rootfstype=hostfs", "rootflags=/proc/self/cwd", "rw", "init=/init"),
    *("time-travel=inf-cpu", "time-travel-start=1700000000000000000"),
    *("random.trust_cpu=on", "random.trust_bootloader=on"),
    *("con=null", "con0=null,fd:1", "loglevel=4", "panic=-1", "umid=kernel", "uml_dir=./"),
)


@dataclass
class Machine:
    """A virtual kernel with one call in it; it and its folder are gone when the ``with`` block ends."""

    kernel: Kernel
    seed: int = 1
    limit_s: float | None = None
    who: str = "live --virtual"
    """The command that asked for it."""
    stall_s: float = STALL_S

    def __enter__(self) -> Self:
        processor = random.choice(sorted(os.sched_getaffinity(0)))  # noqa: S311 - any does
        program = self.kernel.folder / "keeper"
        self._keeper = subprocess.Popen(
            [program, ":".join(BASES), str(_ROOM_MB), str(processor), "./linux", *ARGUMENTS],
            env={
                "PATH": os.environ.get("PATH", os.defpath),
                "LD_PRELOAD": "./entropy.so",
                "SEED": str(self.seed),
            },
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # A signal of the terminal's is for us, who then close its standard input.
            start_new_session=True,
        )
        self._stdin, self._stdout = (
            cast("IO[bytes]", self._keeper.stdin),
            cast("IO[bytes]", self._keeper.stdout),
        )
        line = self._stdout.readline().decode()
        if not line.strip():
            self._keeper.communicate()
            raise InputError(
                f"{self.who}: expected {_ROOM_MB} MB of room for programs in one of {', '.join(BASES)}"
                if line
                else f"{self.who}: {program} is of another version: {MAKE}"
            )
        self.folder = Path(line.rstrip("\n"))
        return self

    def __exit__(self, *_: object) -> None:
        self._stdin.close()
        self._keeper.wait()
        self._stdout.close()
        # Where the keeper was killed.
        shutil.rmtree(self.folder, ignore_errors=True)

    @staticmethod
    def inside(name: str) -> Path:
        """Give the path by which a program in the kernel knows the file of that name in the run's folder."""
        return Path("/run/bentpipe") / name

    def call(self, function: Callable[..., Any], *arguments: object, **options: object) -> Iterator[Any]:
        """Call the function in the kernel and give what it yields, or what it returns.

        Raises BentpipeError: what the function raised; or the kernel stopped, or stands still, or its time is
        over.
        Raises Interrupted: Ctrl-C.
        """
        modules = [path for path in sys.path if path]
        ours = str(Path(bentpipe.__file__).parent.parent)
        modules = modules if ours in modules else [ours, *modules]
        (self.folder / "path").write_text(json.dumps([os.path.realpath(path) for path in modules]))
        (self.folder / "task").write_bytes(pickle.dumps((function, arguments, options)))
        (self.folder / "command").write_text(f"{sys.executable}\n-I\n-B\n/run/bentpipe/guest.py\n")
        shutil.copy(_GUEST, self.folder / "guest.py")
        for name in PROGRAMS:
            shutil.copy(self.kernel.folder / name, self.folder / name)
        with contextlib.suppress(BrokenPipeError):
            self._stdin.write(b"\n")
        try:
            yield from self._answers()
        except KeyboardInterrupt as error:
            raise Interrupted(f"{self.who}: interrupted") from error

    def _answers(self) -> Iterator[Any]:
        began = alive = time.monotonic()
        count, heard, over, title, detail = 0, 0, False, None, ""
        reporter = Reporter(title)
        with contextlib.ExitStack() as shown:
            while True:
                answer = self.folder / f"answer-{count}"
                if answer.exists():
                    count += 1
                    kind, content = pickle.loads(answer.read_bytes())  # noqa: S301 - our own program wrote it
                    answer.unlink()
                    if kind == "end":
                        return
                    if kind == "error":
                        raise content
                    # Others write now.
                    shown.close()
                    title, reporter = None, Reporter(None)
                    yield content
                    alive = time.monotonic()
                    continue
                if over:
                    raise BentpipeError(f"{self.who}: the virtual kernel stopped: {self._last_words()}")
                over = self._has_ended()
                said, heard = self._said(heard)
                now = time.monotonic()
                if said:
                    alive = now
                    if said[0] != title:
                        shown.close()
                        reporter = shown.enter_context(Reporter(said[0]))
                    title, share, detail = said
                    reporter.update(share, detail)
                at = f" ({detail})" if detail else ""
                if now > alive + self.stall_s:
                    raise BentpipeError(
                        f"{self.who}: nothing has moved in the virtual kernel for {self.stall_s:g} s{at}: "
                        "it loops without time passing, or waits for ever"
                    )
                if self.limit_s is not None and now > began + self.limit_s:
                    raise BentpipeError(f"{self.who}: not over after {self.limit_s:g} s, its time limit{at}")

    def _has_ended(self) -> bool:
        """Wait a moment; whether the kernel has ended meanwhile."""
        if not select.select([self._stdout], [], [], _TURN_S)[0]:
            return False
        self._stdout.read(4096)
        return True

    def _said(self, heard: int) -> tuple[list[Any] | None, int]:
        """Give the last whole line that the program has said since the place `heard`, and the new place."""
        lines = b""
        with contextlib.suppress(FileNotFoundError), (self.folder / "told").open("rb") as file:
            file.seek(heard)
            lines = file.read().rpartition(b"\n")[0]
        if not lines:
            return None, heard
        return json.loads(lines.rpartition(b"\n")[2]), heard + len(lines) + 1

    def _last_words(self) -> str:
        """Say why the kernel ended: its panic, or what it or its program said last."""
        said = []
        for name in ("console", "stderr"):
            with contextlib.suppress(OSError):
                said += (self.folder / name).read_text(encoding="utf-8", errors="replace").splitlines()
        said = [line.strip() for line in said if line.strip() and not line.strip().startswith(_PREAMBLE)]
        panics = [line for line in said if "anic" in line or line.startswith("bentpipe: ")]
        return (panics or said[-1:] or ["it was killed"])[0]


def stated(release: str, virtual: Machine | None) -> dict[str, Any]:
    """Say for JSON which kernel it was and whose clock."""
    return {
        "kernel_release": release,
        "clock": "real" if virtual is None else "virtual",
        "kernel_seed": None if virtual is None else virtual.seed,
    }


def facts() -> tuple[str, tuple[str, ...]]:
    """Give release and congestion controls of the kernel that runs this."""
    return _core.kernel_release(), tuple(_core.kernel_controls())
