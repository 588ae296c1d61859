"""Our TCP and the kernel's over the links of scenario files."""

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from cases import faults
from machine import children, needs_the_machine
from networks import NETWORKS, SATELLITE, every_network, transfer

from bentpipe.live.interop import interop
from conftest import PROGRAM, Bentpipe, Result, tshark_fields

pytestmark = needs_the_machine

Rows = dict[str, dict[str, Any]]

TRANSFERS = {
    **every_network(),
    "no rain": transfer("a slower satellite", {"links.satellite.schedule": "[]"}),
}


@pytest.fixture(scope="module")
def rows() -> Rows:
    result = interop(list(TRANSFERS.values()), threads=len(TRANSFERS), title=None)
    return dict(zip(TRANSFERS, result["rows"], strict=True))


def links(row: dict[str, Any]) -> Rows:
    return {link["name"]: link for link in row["links"]}


@pytest.mark.parametrize("name", TRANSFERS)
def test_every_byte_arrives_and_both_ends_close(rows: Rows, name: str) -> None:
    assert faults(rows[name]) == []
    assert rows[name]["bytes"] == 600_000


@pytest.mark.parametrize("end", ["send", "receive", "linux"])
def test_the_losses_are_those_of_the_link_where_the_packets_meet_too_much(rows: Rows, end: str) -> None:
    def lost(name: str, link: str) -> tuple[bool, bool]:
        counted = links(rows[f"{name}, {end}"])[link]
        return counted["dropped_packets"] > 0, counted["corrupted_packets"] > 0

    assert (lost("two bottlenecks", "satellite"), lost("two bottlenecks", "line")) == (
        (False, False),
        (True, False),
    )
    assert (lost("an outage", "satellite"), lost("an outage", "line")) == ((False, True), (True, False))
    assert (lost("a slower satellite", "satellite"), lost("a slower satellite", "line")) == (
        (True, False),
        (False, False),
    )
    for name in NETWORKS:
        row = rows[f"{name}, {end}"]
        counted = [link["dropped_packets"] + link["corrupted_packets"] for link in row["links"]]
        left = sum(handover["lost_packets"] for handover in row["handovers"])
        both = (row["forward"], row["backward"])
        assert sum(counted) + left == sum(way["dropped"] + way["lost"] for way in both), name


def test_a_slower_link_moves_the_queue(rows: Rows) -> None:
    rain, none = links(rows["a slower satellite, send"]), links(rows["no rain"])
    assert none["satellite"]["dropped_packets"] == 0
    assert none["satellite"]["queue_max_packets"] < rain["satellite"]["queue_max_packets"]
    assert none["line"]["queue_max_packets"] > rain["line"]["queue_max_packets"]


def test_marks_gateways_and_handovers_are_on_the_wire(rows: Rows) -> None:
    for end in ("send", "receive", "linux"):
        marked = rows[f"a queue that marks, {end}"]
        assert links(marked)["line"]["marked_packets"] > 0
        assert links(marked)["line"]["dropped_packets"] == 0
        gateway = rows[f"a gateway, {end}"]["gateways"][0]
        assert (gateway["name"], gateway["scheme"]) == ("line", "xfwa")
        assert gateway["windows_lowered"] > 100
        moved = rows[f"a handover that loses, {end}"]
        assert [handover["name"] for handover in moved["handovers"]] == ["first"]
        assert links(moved)["satellite"]["delivered_packets"] > 100
        assert links(moved)["other"]["delivered_packets"] > 100


FILE = NETWORKS["two bottlenecks"].replace("600 kB", "100 kB")
TRAFFIC = """
[flows.voice]
app = "cbr"
from = "server"
to = "client"
rate = "64 kbit/s"
bytes = "10 kB"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "two.toml"
    path.write_text('title = "two in a row"\nseed = 5\n' + FILE + TRAFFIC)
    return path


def complaints(result: Result) -> list[str]:
    """Give what is on stderr beside the lines that tell a slow machine's user how far the run is."""
    return [line for line in result.stderr.splitlines() if not line.startswith("live interop: ")]


def test_a_scenario_file_says_all_that_no_option_says(bentpipe: Bentpipe, file: Path) -> None:
    result = bentpipe("live", "interop", file, "--json")
    assert (result.returncode, complaints(result)) == (0, [])
    report = json.loads(result.stdout)
    assert report["scenario"] == {
        "title": "two in a row",
        "flow": "download",
        "from": "server",
        "to": "client",
        "way": ["satellite", "line"],
        "way_back": ["line/reverse", "satellite/reverse"],
        "left_out": ["voice"],
    }
    (row,) = report["rows"]
    assert (row["recovery"], row["control"], row["direction"]) == ("sack", "standard", "send")
    assert (row["bytes"], row["delay_s"], row["loss"], row["sha256_equal"]) == (100_000, 0.04, None, True)
    simulated = json.loads(bentpipe("run", file, "--json").stdout)
    assert [link.keys() for link in row["links"]] == [link.keys() for link in simulated["links"]]


def test_options_choose_and_the_table_says_what_is_left_out(bentpipe: Bentpipe, file: Path) -> None:
    chosen = ("--recovery", "reno,linux", "--direction", "receive", "--bytes", "50 kB", "--seed", "3")
    changed = ("--set", "links.line.delay=20 ms", "--flow", "download")
    result = bentpipe("live", "interop", file, *chosen, *changed)
    assert (result.returncode, complaints(result)) == (0, [])
    lines = result.stdout.splitlines()
    assert lines[1] == (
        "two in a row, download: server → client over satellite, line; "
        "back over line/reverse, satellite/reverse"
    )
    assert lines[2] == "Not run, so on no link: voice"
    rows = [line.split() for line in lines if line.split()[0] in ("reno", "linux") and "equal" in line]
    assert [row[:7] for row in rows] == [
        ["reno", "standard", "receive", "50", "ms", "50", "kB"],
        ["linux", "reno", "receive", "50", "ms", "50", "kB"],
    ]
    assert sum(line.startswith("satellite/reverse") for line in lines) == 2


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (
            ("--rate", "10 Mbit/s"),
            "--rate: expected none beside SCENARIO, which says it: --set links.NAME.rate=VALUE changes it",
        ),
        (
            ("--no-sack",),
            "--sack: expected none beside SCENARIO, which says it: --set flows.NAME.tcp.sack=VALUE ",
        ),
        (("--flow", "voice"), '--flow: expected a flow with app = "ftp" (download), found "voice"'),
        (
            ("--set", "links.line.rate=fast"),
            '--set: links.line.rate: expected a rate such as "2.048 Mbit/s", found "fast"',
        ),
        (("--pcap", "two.toml"), "--pcap: expected a file that this command does not read, found two.toml"),
        (("--pcap", "link.toml"), "--pcap: expected a file that this command does not read, found link.toml"),
    ],
)
def test_what_contradicts_the_file_is_one_line(
    bentpipe: Bentpipe, file: Path, options: tuple[str, ...], expected: str
) -> None:
    (file.parent / "link.toml").symlink_to(file)
    before = file.read_bytes()
    result = bentpipe("live", "interop", file.name, *options)
    (complaint,) = complaints(result)
    assert (result.returncode, result.stdout) == (2, "")
    assert complaint.startswith(f"bentpipe: {expected}")
    assert file.read_bytes() == before
    assert sorted(path.name for path in file.parent.iterdir()) == ["link.toml", "two.toml"]


def test_what_needs_a_file_or_its_bytes_says_so(bentpipe: Bentpipe, file: Path) -> None:
    for option in (("--flow", "download"), ("--set", "seed=3")):
        result = bentpipe("live", "interop", *option)
        assert result.returncode == 2
        assert result.stderr == f"bentpipe: {option[0]} needs SCENARIO, of which it says more\n"
    file.write_text('duration = "10 s"\n' + FILE.replace('bytes = "100 kB"', ""))
    result = bentpipe("live", "interop", file.name)
    expected = "flows.download.bytes: expected how much is transferred, here or as --bytes, found none"
    assert (result.returncode, result.stderr) == (2, f"bentpipe: two.toml: {expected}\n")
    file.write_text(SATELLITE + TRAFFIC.replace("client", "terminal"))
    result = bentpipe("live", "interop", file.name)
    expected = 'flows: expected one with app = "ftp", found none'
    assert (result.returncode, result.stderr) == (2, f"bentpipe: two.toml: {expected}\n")


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_the_capture_has_the_addresses_of_the_simulated_one(
    bentpipe: Bentpipe, file: Path, tmp_path: Path
) -> None:
    def opened(name: str) -> tuple[str, int]:
        fields = ("ip.src", "tcp.srcport", "ip.dst", "tcp.dstport", "tcp.seq", "tcp.len")
        sent = tshark_fields(tmp_path / name, *fields)
        first = sent[0][:4]
        data = {line[4]: int(line[5]) for line in sent if line[:4] == first and line[5] != "0"}
        return " ".join(first), sum(data.values())

    assert bentpipe("run", file, "--pcap", "simulated.pcapng").returncode == 0
    assert bentpipe("live", "interop", file, "--pcap", "wire.pcapng").returncode == 0
    assert opened("wire.pcapng") == opened("simulated.pcapng") == ("10.0.0.1 49152 10.0.0.3 5001", 100_000)


def test_an_interrupted_run_over_a_file_writes_nothing(file: Path) -> None:
    command = [str(PROGRAM), "live", "interop", file.name, "--bytes", "1 GB", "--pcap", "wire.pcapng"]
    with subprocess.Popen(command, cwd=file.parent, stderr=subprocess.PIPE, text=True) as process:
        # Until the other end's program is there, nothing has begun.
        while not list(children(process.pid, b"bentpipe.live.program")):
            time.sleep(0.05)
        os.kill(process.pid, signal.SIGTERM)
        _, complaint = process.communicate(timeout=30)
    assert process.returncode == 128 + signal.SIGTERM
    assert complaint.splitlines()[-1] == "bentpipe: interrupted; nothing was written"
    assert [path.name for path in file.parent.iterdir()] == ["two.toml"]
