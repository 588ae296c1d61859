"""Flows of a kernel in scenarios, by the commands. They need the kernel that `make virtual-kernel` builds."""

import contextlib
import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from stand_in import folders, with_another_program, working_in

from bentpipe.live.virtual import kernel
from conftest import PROGRAM

WHY_NOT = kernel.why_none()

pytestmark = pytest.mark.skipif(WHY_NOT is not None, reason=WHY_NOT or "")

LINK = """\
[tcp]
profile = "linux"
[links.path]
from = "a"
to = "b"
rate = "5 Mbit/s"
delay = "100 ms"
loss = { model = "packet", probability = 0.01 }
"""
FLOW = """\
[flows.file]
from = "a"
to = "b"
"""


def called(*arguments: object, status: int = 0) -> str:
    command = [str(PROGRAM), *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == status, result.stderr
    return result.stdout if status == 0 else result.stderr


def told(*arguments: object) -> dict[str, Any]:
    text = json.loads(called(*arguments, "--json"))
    text["engine"].pop("wall_s")
    return dict(text)


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    file = tmp_path / "net.toml"
    file.write_text(LINK + FLOW + 'bytes = "500 kB"\nvariant = "linux:cubic"\n')
    return file


def test_a_run_says_what_the_kernel_tells_and_null_for_what_it_does_not(scenario: Path) -> None:
    run = told("run", scenario)
    assert told("run", scenario) == run
    (flow,) = run["flows"]
    assert (flow["variant"], flow["bytes_delivered"], flow["error"]) == ("linux:cubic", 500_000, None)
    assert flow["kernel_release"] == kernel.find().release
    assert (flow["recoveries"], flow["rtt_mean_s"], flow["loss_cause_cuts"]) == (None, None, None)
    assert flow["retransmitted_segments"] >= flow["loss_cause_random"] > 0
    assert told("run", scenario, "--seed", "2")["flows"] != run["flows"]


def test_kernel_and_simulator_meet_the_same_losses_in_one_table(scenario: Path) -> None:
    names = "cubic,linux:cubic,bbr1,linux:bbr"
    table = called("compare", scenario, "--variants", names, "--runs", 2)
    assert all(name in table for name in names.split(","))
    losses = {
        name: told("run", scenario, "--set", f"flows.file.variant={name}", "--seed", "3")["links"][0]
        for name in ("rack", "linux:reno")
    }
    assert losses["rack"]["corrupted_packets"] == losses["linux:reno"]["corrupted_packets"] > 0


def test_a_sweep_goes_over_kernels_and_ours(scenario: Path, tmp_path: Path) -> None:
    way = ("--vary", "flows.file.variant=cubic,linux:cubic,linux:bbr", "--out", tmp_path / "sweep")
    table = called("sweep", scenario, *way)
    assert "linux:cubic" in table
    assert "linux:bbr" in table


@pytest.mark.parametrize(
    "app",
    [
        'bytes = "200 kB"\nopened_by = "receiver"',
        'app = "http"\npages = 2\npage_interval = "1 s"',
        'app = "onoff"\nrate = "1 Mbit/s"\nduration = "3 s"',
        'app = "transactions"\nrequest = "300 B"\nresponse = "20 kB"\ntransactions = 3',
        'app = "short-flows"\nmean_interval = "300 ms"\nbytes = "20 kB"\ntransfers = 5',
    ],
)
def test_an_application_of_the_simulator_uses_the_sockets_of_the_kernel(app: str, tmp_path: Path) -> None:
    file = tmp_path / "app.toml"
    file.write_text(f"duration = '60 s'\n{LINK}{FLOW}{app}\nvariant = 'linux:reno'\n")
    (flow,) = told("run", file)["flows"]
    assert flow["error"] is None
    assert flow["bytes_delivered"] > 0
    assert flow["finish_s"] is not None


@pytest.mark.parametrize("moment", ["before its folder", "with its folder", "with its kernel"])
def test_a_killed_run_leaves_nothing(tmp_path: Path, moment: str) -> None:
    file = tmp_path / "long.toml"
    file.write_text(f"duration = '100000 s'\n{LINK}{FLOW}variant = 'linux:cubic'\n")
    for turn in range(10):
        # Closed by the last of the run's processes.
        ends, end = os.pipe()
        process = subprocess.Popen(
            [str(PROGRAM), "run", str(file)], stderr=subprocess.DEVNULL, pass_fds=[end]
        )
        os.close(end)
        if moment == "before its folder":
            time.sleep(0.001 * turn)
        else:
            while not folders(process.pid):
                time.sleep(0.0001)
            time.sleep(0.1 * turn if moment == "with its kernel" else 0.0002 * turn)
        process.kill()
        process.wait()
        with os.fdopen(ends, "rb") as read:
            assert read.read() == b""
        assert folders(process.pid) == []


ENDS = {
    "a first program that ends": ("return 1;", "Kernel panic - not syncing: Attempted to kill init!"),
    "one that says why it cannot go on": (
        'puts("bentpipe: eth2: no such device"); fflush(stdout); return 1;',
        "bentpipe: eth2: no such device",
    ),
    "a panic": (
        'FILE *file = fopen("/proc/sysrq-trigger", "w"); *(volatile int *)0 = file != 0; return 0;',
        "Kernel panic - not syncing: ",
    ),
    "one that waits for ever": ("pause(); return 0;", "the virtual kernel: its program does not start"),
}
"""What the first program in a kernel does, and what is said of it."""


@pytest.mark.parametrize("end", ENDS)
def test_a_kernel_that_ends_or_does_not_begin_is_one_line(
    end: str, scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    does, said = ENDS[end]
    with_another_program(does, tmp_path / "cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    line = called("run", scenario, status=2)
    assert said in line
    assert len(line.splitlines()) == 1


def test_a_kernel_that_is_killed_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "long.toml"
    file.write_text(f"duration = '100000 s'\n{LINK}{FLOW}variant = 'linux:cubic'\n")
    process = subprocess.Popen([str(PROGRAM), "run", str(file)], stderr=subprocess.PIPE, text=True)
    while not (own := folders(process.pid)) or not working_in(own[0]):
        time.sleep(0.01)
    time.sleep(1)
    for number in working_in(own[0]):
        with contextlib.suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
    _, stderr = process.communicate()
    assert process.returncode == 1
    assert stderr.splitlines()[-1] == "bentpipe: the virtual kernel stopped: it was killed"
    assert folders(process.pid) == []


def test_what_cannot_be_is_one_line(scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    variant = "flows.file.variant=linux:{}"
    line = called("run", scenario, "--set", variant.format("mine"), status=2)
    assert line.splitlines()[-1].startswith(
        "bentpipe: flows.file: variant: linux:mine: expected a control of"
    )
    line = called("run", scenario, "--set", "flows.file.variant=linux-1.0:reno", status=2)
    assert "expected one virtual kernel of " in line
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert "make virtual-kernel" in called("run", scenario, status=2)
