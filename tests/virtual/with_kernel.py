"""Runs in the kernel that `make virtual-kernel` built, by `make live-test`: `make test` needs none."""

import json
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest
from networks import transfer
from stand_in import folders, with_another_program, working_in

from bentpipe.live.interop import in_virtual_kernel
from bentpipe.live.virtual import kernel
from bentpipe.live.virtual.machine import Machine
from conftest import PROGRAM, SCENARIOS
from over_a_path import EVERYTHING


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    file = tmp_path / "net.toml"
    file.write_text(EVERYTHING)
    return file


def called(*arguments: object, status: int = 0, under: tuple[str, ...] = ()) -> str:
    command = [*under, str(PROGRAM), "live", "--virtual", *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == status, result.stderr
    return result.stdout if status == 0 else result.stderr


def test_the_same_command_gives_the_same_bytes_and_another_seed_others(scenario: Path) -> None:
    lost = 'links.satellite.reverse.loss={ model = "packet", probability = 0.01 }'
    arguments = ("testbed", scenario, "--set", lost, "--variants", "reno,cubic,bbr", "--both", "--json")
    text = called(*arguments)
    assert called(*arguments) == text
    told = json.loads(text)
    assert told["clock"] == "virtual"
    assert told["kernel_release"] == kernel.find().release
    for variant in told["variants"]:
        assert [flow["error"] for flow in variant["kernel"]["flows"]] == [None] * 4
        assert variant["kernel"]["emulator"]["lateness"]["max_s"] < 0.001
    # Of what is random in a kernel, these numbers show BBR's phase alone, one of seven.
    of_bbr = ("testbed", scenario, "--set", lost, "--variants", "bbr", "--json")
    first, *others = (json.loads(called("--kernel-seed", seed, *of_bbr)) for seed in "2345")
    assert [other["kernel_seed"] for other in (first, *others)] == [2, 3, 4, 5]
    assert any(other["variants"] != first["variants"] for other in others)


def test_a_fixed_window_is_held(scenario: Path) -> None:
    # 64 KiB a round trip of 120 ms: what is under way, and so what the queue holds, is bounded by it.
    way = ("--set", "tcp.receive_window=64 KiB", "--set", "links.satellite.rate=50 Mbit/s")
    (variant,) = json.loads(called("testbed", scenario, "--variants", "cubic", *way, "--json"))["variants"]
    download = next(flow for flow in variant["kernel"]["flows"] if flow["name"] == "download")
    assert download["goodput_bps"] < 1.1 * 8 * 65_536 / 0.12


def test_every_control_of_the_kernel_is_a_variant(tmp_path: Path) -> None:
    file = tmp_path / "net.toml"
    file.write_text('extends = "preset:geo"\n[flows.a]\nfrom = "server"\nto = "client"\nbytes = "50 kB"\n')
    controls = kernel.find().controls
    told = json.loads(called("testbed", file, "--variants", ",".join(controls), "--json"))
    assert [variant["variant"] for variant in told["variants"]] == list(controls)
    delivered = [variant["kernel"]["flows"][0]["bytes_delivered"] for variant in told["variants"]]
    assert delivered == [50_000] * len(controls)
    said = called("testbed", file, "--variants", "bbr9", status=2)
    assert said == f"bentpipe: --variants: expected of {', '.join(controls)}, found 'bbr9'\n"
    said = called("testbed", file, "--variants", "bic", "--both", status=2)
    assert said == "bentpipe: --both: expected controls that the simulator has too, found 'bic'\n"


def test_interop_and_its_capture_are_the_same_again(tmp_path: Path) -> None:
    options = ("interop", "--recovery", "rack", "--bytes", "100 kB", "--loss", "2%", "--json", "--pcap")
    first, again = (tmp_path / name for name in ("first", "again"))
    assert called(*options, first) == called(*options, again)
    assert first.read_bytes() == again.read_bytes()


@pytest.mark.parametrize("name", ["two bottlenecks", "an outage", "a handover that loses"])
def test_the_simulator_foretells_goodput_and_losses(name: str) -> None:
    sent = transfer(name, direction="send")
    (row,) = in_virtual_kernel(Machine(kernel.find()), [sent])["rows"]
    assert sent.over is not None
    simulated = json.loads(sent.over.scenario.simulate().json())
    assert row["goodput_bps"] == pytest.approx(simulated["flows"][0]["goodput_bps"], rel=1e-3)
    for ours, theirs in zip(row["links"], simulated["links"], strict=True):
        for cause in ("name", "dropped_packets", "corrupted_packets"):
            assert ours[cause] == theirs[cause]
        # An end that closes sends a packet more or less.
        assert ours["delivered_packets"] == pytest.approx(theirs["delivered_packets"], abs=2)
        assert ours["queue_mean_packets"] == pytest.approx(theirs["queue_mean_packets"], abs=0.5)
    moved = [
        [(handover["at_s"], handover["lost_packets"]) for handover in side["handovers"]]
        for side in (row, simulated)
    ]
    assert moved[0] == moved[1]


def test_nobody_need_be_root(scenario: Path) -> None:
    # Root without any capability is nobody, but may read the checkout.
    who = ("setpriv", "--bounding-set=-all", "--inh-caps=-all") if os.geteuid() == 0 else ()
    text = called("testbed", scenario, "--variants", "cubic", "--json", under=who)
    assert json.loads(text)["variants"][0]["kernel"]["flows"][0]["bytes_delivered"] == 2_000_000


def test_programs_inside_cannot_write_the_users_files(tmp_path: Path) -> None:
    with Machine(kernel.find()) as machine, pytest.raises(Exception, match="Read-only file system"):
        list(machine.call(os.mkdir, str(tmp_path / "made")))
    assert list(tmp_path.iterdir()) == []


def test_a_program_that_breaks_off_is_one_line() -> None:
    with (
        Machine(kernel.find()) as machine,
        pytest.raises(Exception, match=r"virtual kernel stopped: .*panic"),
    ):
        list(machine.call(os._exit, 3))


def test_a_spin_inside_is_ended() -> None:
    with Machine(kernel.find(), stall_s=5.0) as machine, pytest.raises(Exception, match="loops without time"):
        list(machine.call(sum, iter(range(10**15))))


def test_a_spin_in_a_kernel_of_a_scenario_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "net.toml"
    text = 'extends = "preset:geo"\n[flows.a]\nfrom = "server"\nto = "client"\nbytes = "1 MB"\n'
    file.write_text(text + 'variant = "linux:reno"\n')
    with_another_program("for (;;);", tmp_path / "cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    result = subprocess.run([str(PROGRAM), "run", str(file)], capture_output=True, text=True, check=False)
    said = "nothing has moved in the virtual kernel for 60 s: it loops without time passing"
    assert (result.returncode, result.stdout) == (2, "")
    assert said in result.stderr


LONG = [str(PROGRAM), "live", "--virtual", "testbed", str(SCENARIOS / "live-geo.toml"), "--variants", "bbr"]
"""A command that takes long enough to be ended while the kernel runs."""


@pytest.mark.parametrize("moment", range(10))
def test_kill_9_at_any_moment_leaves_nothing(moment: int) -> None:
    before = set(folders())
    process = subprocess.Popen(LONG, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(random.Random(moment).uniform(0.2, 4.0))  # noqa: S311 - any moment does
    mine = set(folders()) - before
    process.kill()
    process.wait()
    while any(working_in(folder) or folder.exists() for folder in mine):
        time.sleep(0.05)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_is_one_line(number: signal.Signals) -> None:
    before = set(folders())
    process = subprocess.Popen(LONG, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not (mine := set(folders()) - before):
        time.sleep(0.05)
    while not any((folder / "told").exists() for folder in mine):
        time.sleep(0.05)
    process.send_signal(number)
    _, stderr = process.communicate()
    assert process.returncode == 128 + number
    assert stderr.splitlines()[-1] == "bentpipe: live testbed: interrupted" or "nothing was written" in stderr
    assert not any(folder.exists() for folder in mine)
