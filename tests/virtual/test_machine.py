"""What stands around a virtual kernel, with a small program in its place: answers, ends, and nothing left."""

import operator
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from stand_in import built, working_in

from bentpipe.errors import BentpipeError, InputError
from bentpipe.live.virtual import machine
from bentpipe.live.virtual.machine import Machine

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a virtual kernel needs Linux")

ADDS = 'answer(0, "value", function(*arguments))\nanswer(1, "end", None)'
SPINS = "import time\nPath('ready').touch()\ntime.sleep(1000)"
BREEDS = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        time.sleep(1000)
Path('ready').touch()
time.sleep(1000)
"""


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give the folder of the runs of a test, which must be empty when it is over."""
    folder = tmp_path / "runs"
    folder.mkdir()
    monkeypatch.setattr(machine, "BASES", (str(folder),))
    yield folder
    assert list(folder.iterdir()) == []


def test_what_the_function_gives_comes_out(tmp_path: Path) -> None:
    with Machine(built(tmp_path / "kernel", ADDS)) as there:
        assert list(there.call(operator.add, 2, 3)) == [5]


def test_its_errors_are_raised_here(tmp_path: Path) -> None:
    program = 'from_here = ValueError("expected less")\nanswer(0, "error", from_here)'
    with (
        Machine(built(tmp_path / "kernel", program)) as there,
        pytest.raises(ValueError, match="expected less"),
    ):
        list(there.call(operator.add, 2, 3))


def test_a_panic_is_one_line(tmp_path: Path) -> None:
    program = (
        'print("Checking that ptrace works...OK\\nKernel panic - not syncing: No init found", flush=True)'
        '\nprint("---[ end Kernel ]---", flush=True)'
    )
    with (
        Machine(built(tmp_path / "kernel", program), who="live testbed") as there,
        pytest.raises(BentpipeError) as raised,
    ):
        list(there.call(operator.add, 2, 3))
    assert str(raised.value) == (
        "live testbed: the virtual kernel stopped: Kernel panic - not syncing: No init found"
    )


def test_one_that_stands_still_is_ended(tmp_path: Path) -> None:
    with (
        Machine(built(tmp_path / "kernel", SPINS), stall_s=1.0) as there,
        pytest.raises(BentpipeError, match="nothing has moved in the virtual kernel for 1 s: it loops"),
    ):
        list(there.call(operator.add, 2, 3))


def test_one_that_goes_on_too_long_is_ended_and_says_how_far_it_was(tmp_path: Path) -> None:
    program = """
import json, time
with open("told", "a", buffering=1) as told:
    while True:
        print(json.dumps(["a title", 0.5, "3 s, 0.2 MB arrived"]), file=told)
        time.sleep(0.05)
"""
    with (
        Machine(built(tmp_path / "kernel", program), limit_s=1, stall_s=0.9) as there,
        pytest.raises(BentpipeError, match=r"after 1 s, its time limit \(3 s, 0.2 MB arrived\)"),
    ):
        list(there.call(operator.add, 2, 3))


def test_a_kernel_that_cannot_be_started_is_one_line(tmp_path: Path) -> None:
    kernel = built(tmp_path / "kernel", "")
    (kernel.folder / "linux").chmod(0o644)
    with (
        Machine(kernel) as there,
        pytest.raises(BentpipeError, match=r"stopped: \./linux: Permission denied"),
    ):
        list(there.call(operator.add, 2, 3))


def test_without_room_it_is_not_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "BASES", ("/proc", str(tmp_path / "nowhere")))
    with (
        pytest.raises(InputError, match=r"expected 1024 MB of room .* of /proc, "),
        Machine(built(tmp_path / "kernel", "")),
    ):
        pass


def test_all_that_a_kernel_started_is_gone_with_it(tmp_path: Path) -> None:
    with Machine(built(tmp_path / "kernel", BREEDS), stall_s=1.5) as there:
        with pytest.raises(BentpipeError, match="nothing has moved"):
            list(there.call(operator.add, 2, 3))
        assert len(working_in(there.folder)) == 4
    assert working_in(there.folder) == []


CALLS = """
import operator, sys
from pathlib import Path
from typing import Any
from bentpipe.live.virtual import kernel, machine
machine.BASES = (sys.argv[2],)
with machine.Machine(kernel.at(Path(sys.argv[1]))) as there:
    list(there.call(operator.add, 2, 3))
"""


def started(tmp_path: Path, runs: Path) -> tuple["subprocess.Popen[bytes]", Path]:
    """Start a command with a kernel that breeds, and give it and its folder once the kernel is there."""
    kernel = built(tmp_path / "kernel", BREEDS)
    command = subprocess.Popen([sys.executable, "-c", CALLS, str(kernel.folder), str(runs)])
    while not (ready := list(runs.glob("*/ready"))):
        time.sleep(0.02)
    return command, ready[0].parent


def gone(folder: Path) -> None:
    """Wait until a run is gone, processes and folder; a test that hangs here has failed."""
    while working_in(folder) or folder.exists():
        time.sleep(0.02)


def test_a_command_that_is_killed_with_its_folder_leaves_nothing(tmp_path: Path, runs: Path) -> None:
    kernel = built(tmp_path / "kernel", SPINS)
    for turn in range(5):
        command = subprocess.Popen(
            [sys.executable, "-c", CALLS, str(kernel.folder), str(runs)], stderr=subprocess.PIPE
        )
        while not list(runs.iterdir()):
            time.sleep(0.0001)
        time.sleep(0.001 * turn)
        command.kill()
        # Its keeper ends last.
        assert command.communicate()[1] == b""
        assert list(runs.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_is_left_when_the_command_is_killed(
    tmp_path: Path, runs: Path, number: signal.Signals
) -> None:
    command, folder = started(tmp_path, runs)
    command.send_signal(number)
    command.wait()
    gone(folder)


def keepers_of(command: "subprocess.Popen[Any]") -> list[int]:
    children = Path(f"/proc/{command.pid}/task/{command.pid}/children")
    return [int(number) for number in children.read_text().split()]


def test_the_kernel_dies_with_its_keeper(tmp_path: Path, runs: Path) -> None:
    # A kernel's programs die with it, by ptrace, which this one's do not: it has none.
    kernel = built(tmp_path / "kernel", SPINS)
    command = subprocess.Popen(
        [sys.executable, "-c", CALLS, str(kernel.folder), str(runs)], stderr=subprocess.PIPE, text=True
    )
    while not (ready := list(runs.glob("*/ready"))):
        time.sleep(0.02)
    (keeper,) = keepers_of(command)
    os.kill(keeper, signal.SIGKILL)
    _, stderr = command.communicate()
    assert "the virtual kernel stopped: " in stderr
    gone(ready[0].parent)


def test_what_was_killed_together_is_swept_by_the_next_run(tmp_path: Path, runs: Path) -> None:
    kernel = built(tmp_path / "kernel", SPINS)
    command = subprocess.Popen([sys.executable, "-c", CALLS, str(kernel.folder), str(runs)])
    while not (ready := list(runs.glob("*/ready"))):
        time.sleep(0.02)
    folder = ready[0].parent
    with Machine(kernel):
        assert folder.exists(), "a run that goes on is left alone"
    (keeper,) = keepers_of(command)
    for process in (keeper, command.pid):
        os.kill(process, signal.SIGSTOP)
    for process in (keeper, command.pid):
        os.kill(process, signal.SIGKILL)
    command.wait()
    while working_in(folder):
        time.sleep(0.02)
    assert folder.exists()
    with Machine(kernel):
        assert not folder.exists()
