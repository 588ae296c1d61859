"""``bentpipe live testbed`` as a person calls it."""

import json
import signal
import subprocess
import time
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from machine import children, needs_the_machine

from bentpipe import Scenario
from bentpipe.live.install import available
from conftest import PROGRAM, Bentpipe
from over_a_path import DOWNLOAD, EVERYTHING

pytestmark = needs_the_machine


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    file = tmp_path / "net.toml"
    file.write_text(DOWNLOAD)
    return file


def told(bentpipe: Bentpipe, *arguments: object) -> dict[str, Any]:
    result = bentpipe("live", "testbed", *map(str, arguments), "--json")
    assert result.returncode == 0, result.stderr
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_each_variant_is_beside_the_simulator(bentpipe: Bentpipe, scenario: Path, tmp_path: Path) -> None:
    picture = tmp_path / "both.svg"
    result = told(bentpipe, scenario, "--variants", "reno,cubic", "--both", "--plot", picture)
    assert set(result) == {"kernel_release", "clock", "kernel_seed", "variants"}
    assert result["clock"] == "real"
    assert [variant["variant"] for variant in result["variants"]] == ["reno", "cubic"]
    plain = json.loads(bentpipe("run", scenario, "--json").stdout)
    for variant in result["variants"]:
        assert set(variant) == {"variant", "kernel", "simulator", "goodput_deviation"}
        kernel, simulated = variant["kernel"], variant["simulator"]
        assert set(kernel) - {"emulator"} == set(simulated) == set(plain)
        (flow,), (beside,) = kernel["flows"], simulated["flows"]
        assert set(flow) == set(beside)
        assert flow["bytes_delivered"] == beside["bytes_delivered"] == 2_000_000
        assert flow["error"] is None
        assert variant["goodput_deviation"] == pytest.approx(flow["goodput_bps"] / beside["goodput_bps"] - 1)
        # The link is the limit of most of it, on both sides.
        assert abs(variant["goodput_deviation"]) < 0.1
        assert flow["rtt_mean_s"] > 0.12
    assert picture.read_text().startswith("<?xml")


@pytest.mark.skipif(
    not (files("bentpipe") / "bpf" / "afc.bpf.o").is_file(),
    reason="needs clang-19 and libelf-dev at build time",
)
def test_the_schemes_are_in_the_kernel_for_as_long_as_it_takes(bentpipe: Bentpipe, scenario: Path) -> None:
    lost = 'links.satellite.loss={ model = "drop", packets = [80] }'
    way = ("--set", "links.satellite.delay=150 ms", "--set", "links.satellite.queue=unlimited", "--set", lost)
    result = told(bentpipe, scenario, "--variants", "adalr,afc,reno", "--both", *way)
    found = {variant["variant"]: variant for variant in result["variants"]}
    for variant in found.values():
        assert abs(variant["goodput_deviation"]) < 0.1
    # After a loss ADaLR opens its window faster, and AFC has not made it smaller: in the kernel too.
    adalr, afc, reno = (found[name]["kernel"]["flows"][0]["duration_s"] for name in ("adalr", "afc", "reno"))
    assert adalr < 0.95 * reno
    assert afc < 0.7 * reno
    assert found["afc"]["kernel"]["flows"][0]["variant"] == "afc"
    assert not {"adalr", "afc"} & set(available())


@pytest.mark.skipif(
    not (files("bentpipe") / "bpf" / "afc.bpf.o").is_file(),
    reason="needs clang-19 and libelf-dev at build time",
)
def test_lone_losses_cost_afc_nothing_after_a_reduction_either(bentpipe: Bentpipe, scenario: Path) -> None:
    # Two losses in a window reduce it, five lone ones later do not: Reno takes twice as long.
    lost = 'links.satellite.loss={ model = "drop", packets = [80, 84, 300, 500, 700, 900, 1100] }'
    way = ("--set", "links.satellite.delay=100 ms", "--set", "links.satellite.queue=unlimited", "--set", lost)
    (variant,) = told(bentpipe, scenario, "--variants", "afc", "--both", *way)["variants"]
    assert abs(variant["goodput_deviation"]) < 0.15


def test_a_flow_keeps_the_control_that_its_variant_names(bentpipe: Bentpipe, tmp_path: Path) -> None:
    file = tmp_path / "variants.toml"
    file.write_text(DOWNLOAD + 'variant = "newreno"\n')
    (variant,) = told(bentpipe, file, "--both")["variants"]
    assert [flow["variant"] for flow in variant["kernel"]["flows"]] == ["standard"]
    refused = bentpipe("live", "testbed", str(file), "--set", "flows.download.variant=bbr3")
    assert refused.returncode == 2
    assert "flows.download.control: expected a kernel's" in refused.stderr


def test_hosts_may_take_their_time_to_be_made(bentpipe: Bentpipe, tmp_path: Path) -> None:
    # So many namespaces take longer than the emulator waits between two looks at who wants to stop it.
    links = "".join(
        f'[links.l{number}]\nfrom = "server"\nto = "t{number}"\nrate = "6 Mbit/s"\ndelay = "10 ms"\n'
        f'[flows.f{number}]\nfrom = "server"\nto = "t{number}"\nbytes = "50 kB"\n'
        for number in range(24)
    )
    file = tmp_path / "many.toml"
    file.write_text(f'duration = "5 s"\n{links}')
    (variant,) = told(bentpipe, file)["variants"]
    assert [flow["bytes_delivered"] for flow in variant["kernel"]["flows"]] == [50_000] * 24


def test_pages_and_datagrams_are_those_of_the_simulator(bentpipe: Bentpipe, tmp_path: Path) -> None:
    file = tmp_path / "all.toml"
    file.write_text(EVERYTHING)
    (variant,) = told(bentpipe, file, "--both", "--set", "links.satellite.queue=unlimited")["variants"]
    assert variant["variant"] == "as written"
    kernel, simulated = (
        {flow["name"]: flow for flow in variant[side]["flows"]} for side in ("kernel", "simulator")
    )
    for name, flow in kernel.items():
        assert flow["error"] is None
        assert flow["finish_s"] is not None, name
        assert flow["bytes_delivered"] == simulated[name]["bytes_delivered"], name
        assert flow["datagrams_sent"] == simulated[name]["datagrams_sent"], name
        assert flow["datagrams_lost"] == 0
    assert kernel["download"]["variant"] == "cubic"
    pages = variant["kernel"]["pages"]
    assert [page["page"] for page in pages] == [1, 2, 3]
    # A handshake, a request for the page, one for its objects: three round trips at least.
    assert all(page["response_s"] > 0.24 for page in pages)
    assert kernel["pages"]["response_p50_s"] == sorted(page["response_s"] for page in pages)[1]


def test_the_runs_end_cuts_what_goes_on(bentpipe: Bentpipe, scenario: Path) -> None:
    scenario.write_text(DOWNLOAD.replace('bytes = "2 MB"', "") + '[tcp]\nreceive_window = "64 KiB"\n')
    (variant,) = told(bentpipe, scenario, "--set", "duration=2 s", "--variants", "reno")["variants"]
    assert variant["simulator"] is None
    assert variant["goodput_deviation"] is None
    (flow,) = variant["kernel"]["flows"]
    assert flow["finish_s"] is None
    assert flow["error"] is None
    assert 1.9 < flow["duration_s"] < 3.5
    # A window of 64 KiB a round trip, of which there are seventeen in two seconds.
    assert 100_000 < flow["bytes_delivered"] < 20 * 65_536


def test_flows_keep_the_controls_that_the_scenario_gives(bentpipe: Bentpipe, scenario: Path) -> None:
    second = '[flows.other]\nfrom = "server"\nto = "terminal"\nbytes = "300 kB"\ncontrol = "bbr1"\n'
    scenario.write_text(DOWNLOAD.replace("2 MB", "300 kB") + 'control = "standard"\n' + second)
    (variant,) = told(bentpipe, scenario)["variants"]
    assert [flow["variant"] for flow in variant["kernel"]["flows"]] == ["standard", "bbr1"]
    assert variant["kernel"]["jain_flows"] == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--variants", "reno,vegas"], "--variants: expected of "),
        (["--variants", "reno,"], "--variants: expected names with commas between them, found 'reno,'"),
        (["--plot", "both.gif"], "both.gif: expected a file name that ends in .png, .svg or .pdf"),
        (["--set", "flows.*.control=bbr3"], "flows.download.control: expected a kernel's, "),
    ],
)
def test_what_cannot_be_is_told_before_anything_begins(
    bentpipe: Bentpipe, scenario: Path, arguments: list[str], message: str
) -> None:
    result = bentpipe("live", "testbed", scenario, *arguments)
    assert result.returncode == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert result.stdout == ""


def test_an_application_that_no_program_carries_is_told(bentpipe: Bentpipe, scenario: Path) -> None:
    films = 'app = "video"\nladder = ["1 Mbit/s"]\nlength = "5 s"\n'
    scenario.write_text(DOWNLOAD.replace('bytes = "2 MB"\n', films))
    result = bentpipe("live", "testbed", scenario)
    assert result.returncode == 2
    assert 'flows.download.app: expected "ftp", "http", "onoff" or one over UDP' in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("flow", "message"),
    [
        ('bytes = "2 MB"\nopened_by = "receiver"\n', 'flows.download.opened_by: expected "sender", which'),
        ('app = "http"\npages = 1\ntls = "1.3"\n', "flows.download.tls: expected its default, which"),
        ('app = "http"\npages = 1\nthink = "1 s"\n', "flows.download.think: expected its default, which"),
    ],
)
def test_what_only_the_simulator_carries_is_told(
    bentpipe: Bentpipe, scenario: Path, flow: str, message: str
) -> None:
    scenario.write_text(DOWNLOAD.replace('bytes = "2 MB"\n', flow))
    result = bentpipe("live", "testbed", scenario)
    assert result.returncode == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


def start(scenario: Path) -> "subprocess.Popen[str]":
    command = [
        str(PROGRAM),
        "live",
        "testbed",
        str(scenario),
        "--set",
        "flows.*.bytes=50 MB",
        "--variants",
        "reno",
    ]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def programs(of: int) -> list[int]:
    """Processes in hosts of the testbed `of`, when there are two of them."""
    for _ in range(200):
        found = list(children(of, b"bentpipe.live.program"))
        if len(found) == 2:
            # Until the transfer goes.
            time.sleep(1.0)
            return found
        time.sleep(0.05)
    pytest.fail("no programs")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_and_its_programs(scenario: Path, number: signal.Signals) -> None:
    with start(scenario) as running:
        there = programs(running.pid)
        running.send_signal(number)
        stdout, stderr = running.communicate(timeout=20)
    assert running.returncode == 128 + number
    assert stdout == ""
    assert "interrupted" in stderr.splitlines()[-1]
    assert not any(Path(f"/proc/{process}").exists() for process in there)


def test_nothing_is_left_when_it_is_killed(scenario: Path) -> None:
    with start(scenario) as running:
        there = programs(running.pid)
        running.kill()
        running.communicate(timeout=20)
    gone_by = time.monotonic() + 10
    while any(Path(f"/proc/{process}").exists() for process in there):
        assert time.monotonic() < gone_by
        time.sleep(0.05)


def test_a_program_that_dies_is_told_and_nothing_hangs(scenario: Path) -> None:
    with start(scenario) as running:
        subprocess.run(["kill", "-9", str(programs(running.pid)[0])], check=True)
        stdout, stderr = running.communicate(timeout=20)
    assert running.returncode == 1
    assert stdout == ""
    assert "its program has ended" in stderr.splitlines()[-1]


def test_the_example_is_one_for_it() -> None:
    loaded = Scenario.load("scenarios/live-geo.toml")
    assert loaded.links.satellite.rate == "10 Mbit/s"
