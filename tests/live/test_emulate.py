"""``bentpipe live emulate`` and ``live shell`` as a person calls them."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from machine import needs_the_machine, traces_of_a_run

from bentpipe import Scenario
from bentpipe.live.emulate import CALLING_CARD, running
from conftest import PROGRAM, Bentpipe

pytestmark = needs_the_machine

NETWORK = """
[links.satellite]
from = "client"
to = "server"
rate = "20 Mbit/s"
delay = "30 ms"
queue = "300 packets"
[flows.file]
from = "client"
to = "server"
bytes = "5 MB"
"""

ECHO = """
import socket
echo = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
echo.bind(("0.0.0.0", 7))
print("ready", flush=True)
while True:
    data, back = echo.recvfrom(2000)
    echo.sendto(data, back)
"""
ASK = """
import socket, sys, time
ask = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
ask.settimeout(float(sys.argv[2]))
for _ in range(int(sys.argv[1])):
    sent = time.monotonic()
    ask.sendto(b"x" * 100, ("10.0.0.2", 7))
    try:
        ask.recv(2000)
        print(time.monotonic() - sent, flush=True)
    except TimeoutError:
        print("nothing", flush=True)
    time.sleep(0.02)
"""
SINK = """
import socket, time
server = socket.create_server(("0.0.0.0", 5001))
print("ready", flush=True)
connection, _ = server.accept()
began, count = time.monotonic(), 0
while chunk := connection.recv(1 << 16):
    count += len(chunk)
print(count, time.monotonic() - began, flush=True)
"""
SOURCE = """
import socket
with socket.create_connection(("10.0.0.2", 5001)) as connection:
    connection.sendall(bytes(5_000_000))
"""

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    file = tmp_path / "net.toml"
    file.write_text(NETWORK)
    return file


@contextmanager
def emulated(scenario: Path, *options: str) -> Iterator["subprocess.Popen[str]"]:
    """Run an emulator whose hosts are ready, and kill it if it has not ended."""
    command = [str(PROGRAM), "live", "emulate", str(scenario), "--json", *options]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            deadline = time.monotonic() + 30
            while process.pid not in [emulator.process for emulator in running()]:
                assert process.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.05)
            yield process
        finally:
            process.kill()


@contextmanager
def program(
    scenario: Path, host: str, text: str, *arguments: str, of: int | None = None
) -> Iterator["subprocess.Popen[str]"]:
    """Run a Python program in a host, and kill it if it has not ended."""
    which = [] if of is None else ["--process", str(of)]
    command = [str(PROGRAM), "live", "shell", *which, str(scenario), host, sys.executable, "-c", text]
    with subprocess.Popen([*command, *arguments], stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def says(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def asked(scenario: Path, times: int, patience_s: float = 2.0, of: int | None = None) -> list[str]:
    """Ask the server's echo from the client; give how long each answer took, in seconds."""
    with program(scenario, "server", ECHO, of=of) as echo:
        assert says(echo) == "ready"
        with program(scenario, "client", ASK, str(times), str(patience_s), of=of) as ask:
            return ask.communicate(timeout=60)[0].split()


def ended(process: "subprocess.Popen[str]", number: signal.Signals = signal.SIGTERM) -> dict[str, Any]:
    process.send_signal(number)
    out, _ = process.communicate(timeout=30)
    assert process.returncode == 0
    report: dict[str, Any] = json.loads(out)
    return report


def test_a_round_trip_takes_the_delay_of_the_path_and_every_packet_is_counted(scenario: Path) -> None:
    with emulated(scenario) as emulator:
        times = sorted(map(float, asked(scenario, 15)))
        report = ended(emulator, signal.SIGINT)
    # 128 bytes at 20 Mbit/s are 0.05 ms, both ways.
    assert times[0] > 0.0601
    assert times[7] < 0.068
    assert report["kernel_release"] == os.uname().release
    assert [(host["name"], host["address"]) for host in report["hosts"]] == [
        ("client", "10.0.0.1"),
        ("server", "10.0.0.2"),
    ]
    assert [(link["name"], link["delivered_packets"]) for link in report["links"]] == [
        ("satellite", 15),
        ("satellite/reverse", 15),
    ]
    own = report["emulator"]
    assert (own["packets"], own["bytes"]) == (30, 30 * 128)
    assert (own["device_lost_packets"], own["unroutable_packets"]) == (0, 0)
    late = own["lateness"]
    assert 0 < late["p50_s"] <= late["p99_s"] <= late["p999_s"] <= late["max_s"]


def test_an_emulator_that_has_not_said_where_it_is_yet_is_not_found() -> None:
    card = os.memfd_create(CALLING_CARD)
    try:
        assert os.getpid() not in [emulator.process for emulator in running()]
        os.write(card, json.dumps({"scenario": "x", "hosts": {}}).encode())
        assert os.getpid() in [emulator.process for emulator in running()]
    finally:
        os.close(card)


def transferred(scenario: Path) -> float:
    """Give the goodput of the kernel's TCP over the emulator, in bit/s."""
    with emulated(scenario) as emulator:
        with program(scenario, "server", SINK) as sink:
            assert says(sink) == "ready"
            with program(scenario, "client", SOURCE) as source:
                count, seconds = map(float, says(sink).split())
                source.wait()
        report = ended(emulator)
    assert count == 5_000_000
    assert report["links"][0]["delivered_bytes"] > 5_000_000
    return count * 8 / seconds


def test_the_simulator_foretells_the_goodput_of_the_kernels_tcp(scenario: Path) -> None:
    tcp = {"flows.file.variant": "cubic", "flows.file.tcp.profile": "linux"}
    simulated = json.loads(Scenario.load(scenario, list(tcp.items())).simulate().json())
    foretold = pytest.approx(simulated["flows"][0]["goodput_bps"], rel=0.05)
    # What else a machine does may take the time of one transfer, and not of three in a row.
    found: list[float] = []
    while len(found) < 3 and (not found or found[-1] != foretold):
        found.append(transferred(scenario))
    assert found[-1] == foretold, found


def test_nothing_comes_through_while_the_rate_is_zero(scenario: Path) -> None:
    schedule = '[{ at = "0 s", outage = "10 s" }]'
    with emulated(scenario, "--set", f"links.satellite.schedule={schedule}") as emulator:
        answers = asked(scenario, 2, 0.5)
        time.sleep(10)
        later = asked(scenario, 5)
        report = ended(emulator)
    assert answers == ["nothing", "nothing"]
    assert all(0.06 < float(answer) < 0.5 for answer in later)
    assert report["emulator"]["overload"] < 0.2


def test_two_emulators_of_one_scenario_do_not_meet(scenario: Path, bentpipe: Bentpipe) -> None:
    with emulated(scenario) as one, emulated(scenario) as two:
        unclear = bentpipe("live", "shell", scenario, "client", "true")
        assert (unclear.returncode, unclear.stderr.count("\n")) == (2, 1)
        assert str(one.pid) in unclear.stderr
        assert str(two.pid) in unclear.stderr
        assert len(asked(scenario, 3, of=two.pid)) == 3
        reports = ended(one), ended(two)
    assert [report["emulator"]["packets"] for report in reports] == [0, 6]


def test_a_killed_emulator_leaves_nothing(scenario: Path) -> None:
    before = traces_of_a_run("no such mark")
    with emulated(scenario) as emulator:
        assert {found.process for found in running()} == {emulator.pid}
        emulator.kill()
        emulator.wait()
        assert running() == []
    after = traces_of_a_run("no such mark")
    assert (after["links"], after["namespaces"]) == (before["links"], before["namespaces"])


def test_a_suspended_emulator_says_how_late_it_was_and_goes_on(scenario: Path) -> None:
    with emulated(scenario) as emulator:
        with program(scenario, "server", ECHO) as echo:
            assert says(echo) == "ready"
            with program(scenario, "client", ASK, "40", "5") as ask:
                assert float(says(ask)) < 1
                emulator.send_signal(signal.SIGSTOP)
                time.sleep(1)
                emulator.send_signal(signal.SIGCONT)
                rest = [float(answer) for answer in ask.communicate(timeout=60)[0].split()]
        report = ended(emulator)
    assert max(rest) > 0.9
    assert sorted(rest)[len(rest) // 2] < 0.1
    assert report["emulator"]["device_lost_packets"] == 0


def test_a_capture_has_what_the_hosts_sent_and_received(scenario: Path, tmp_path: Path) -> None:
    capture = tmp_path / "it.pcapng"
    with emulated(scenario, "--pcap", str(capture)) as emulator:
        assert len(asked(scenario, 3)) == 3
        assert not capture.exists()
        ended(emulator)
    # The packets of both hosts: three questions and three answers, sent and received.
    assert capture.read_bytes().count(b"x" * 100) == 12


def test_it_ends_by_itself_when_its_time_is_over(scenario: Path, bentpipe: Bentpipe) -> None:
    result = bentpipe("live", "emulate", scenario, "--time", "300 ms")
    assert result.returncode == 0
    assert "client" in result.stdout
    assert "lost by devices" in result.stdout
    assert "satellite/reverse" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["emulate", "missing.toml"], "missing.toml"),
        (["emulate", "SCENARIO", "--time", "soon"], "--time"),
        (["shell", "SCENARIO", "client"], "no emulator of it runs here"),
    ],
)
def test_what_cannot_be_is_one_line_and_status_2(
    scenario: Path, bentpipe: Bentpipe, arguments: list[str], expected: str
) -> None:
    given = [str(scenario) if argument == "SCENARIO" else argument for argument in arguments]
    result = bentpipe("live", *given)
    assert result.returncode == 2
    assert expected in result.stderr
    assert "Traceback" not in result.stderr


def test_a_host_that_is_not_there_is_told_beside_those_that_are(scenario: Path, bentpipe: Bentpipe) -> None:
    with emulated(scenario):
        result = bentpipe("live", "shell", scenario, "nobody")
    assert result.returncode == 2
    assert "expected one of client, server, found 'nobody'" in result.stderr


@pytest.mark.parametrize("lacking", ["root", "ip"])
def test_a_machine_that_lacks_something_is_told_in_one_line(
    scenario: Path, tmp_path: Path, lacking: str
) -> None:
    command = [str(PROGRAM), "live", "emulate", str(scenario), "--time", "1 s"]
    environment = dict(os.environ)
    if lacking == "ip":
        environment["PATH"] = str(tmp_path)
        expected = "iproute2"
    else:
        command = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", *command]
        expected = "needs root"
    with suppress(FileNotFoundError):
        result = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        assert (result.returncode, result.stderr.count("\n")) == (2, 1), result.stderr
        assert expected in result.stderr
        return
    pytest.skip("needs setpriv")


def test_packets_take_the_way_of_the_flow_and_its_handover(tmp_path: Path) -> None:
    links = [
        f'[links.{name}]\nfrom = "client"\nto = "server"\nrate = "20 Mbit/s"\ndelay = "{delay}"\n'
        for name, delay in (("near", "10 ms"), ("far", "80 ms"))
    ]
    file = tmp_path / "two-ways.toml"
    file.write_text(
        "".join(links)
        + '[flows.file]\nfrom = "client"\nto = "server"\nbytes = "1 MB"\nvia = ["far"]\n'
        + '[handovers.one]\nat = "6 s"\nflows = ["file"]\nvia = ["near"]\n'
    )
    with emulated(file) as emulator:
        times = [float(answer) for answer in asked(file, 75)]
        report = ended(emulator)
    assert 0.16 < times[0] < 0.25
    assert 0.02 < times[-1] < 0.1
    carried = {link["name"]: link["delivered_packets"] for link in report["links"]}
    assert min(carried.values()) > 0
    assert carried["near"] + carried["far"] == 75
    assert (report["handovers"][0]["name"], report["handovers"][0]["lost_packets"]) == ("one", 0)


def test_packets_between_stations_take_the_path_over_satellites_that_move(tmp_path: Path) -> None:
    file = tmp_path / "shell.toml"
    file.write_text(
        """
        duration = "60 s"
        [constellation]
        preset = "starlink"
        reconfigure = "1 s"
        uplink = { rate = "20 Mbit/s" }
        [stations.client]
        latitude = "51.507 deg"
        longitude = "-0.128 deg"
        [stations.server]
        latitude = "40.713 deg"
        longitude = "-74.006 deg"
        [flows.file]
        from = "server"
        to = "client"
        """
    )
    with emulated(file) as emulator:
        times = sorted(map(float, asked(file, 60)))
        time.sleep(2)
        report = ended(emulator)
    (path,) = report["paths"]
    assert path["flow"] in ("client, server", "server, client")
    # Straight to New York and back is 37 ms at the speed of light.
    assert 0.037 < path["rtt_min_s"] <= path["rtt_median_s"] <= path["rtt_max_s"] < 0.07
    assert path["rtt_min_s"] < times[0] < times[30] < path["rtt_max_s"] + 0.02
    assert (path["left_packets"], path["no_path_packets"], path["no_path_s"]) == (0, 0, 0)
    carried = {link["name"]: link["delivered_packets"] for link in report["links"]}
    ends = ("client.", "server.")
    assert [sum(n for link, n in carried.items() if link.startswith(end)) for end in ends] == [120, 120]
    assert report["emulator"]["unroutable_packets"] == 0


def test_a_station_without_a_satellite_in_sight_hears_nothing(tmp_path: Path) -> None:
    file = tmp_path / "pole.toml"
    station = 'latitude = "{} deg"\nlongitude = "0 deg"\n'
    file.write_text(
        'duration = "60 s"\n[constellation]\npreset = "starlink"\nuplink = { rate = "20 Mbit/s" }\n'
        + "[stations.client]\n"
        + station.format(51.5)
        + "[stations.server]\n"
        + station.format(90)
        + '[flows.file]\nfrom = "server"\nto = "client"\n'
    )
    with emulated(file) as emulator:
        times = asked(file, 3, 0.2)
        report = ended(emulator)
    assert times == ["nothing"] * 3
    (path,) = report["paths"]
    assert (path["rtt_min_s"], path["no_path_packets"]) == (None, 3)
    assert path["no_path_s"] > 0.4
    assert report["links"] == []
