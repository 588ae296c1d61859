"""``bentpipe live emulate --interface``: a scenario's network between two machines, here two namespaces."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from machine import needs_the_machine

from conftest import PROGRAM

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

# Two machines, west and east, and this one between them, at west0 and east0.
MACHINES = """
set -e
join() {
    unshare -n sleep 100 & eval "$1=$!"
    until [ "$(readlink /proc/$!/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.01; done
    ip link add "$1"0 type veth peer name far0 netns $!
    ip link set "$1"0 up
    nsenter --net=/proc/$!/ns/net ip addr add $2/24 dev far0
    nsenter --net=/proc/$!/ns/net ip link set far0 up
}
join west 10.1.0.1
join east 10.1.0.2
trap 'kill $west $east' EXIT
west() { nsenter --net=/proc/$west/ns/net "$@"; }
east() { nsenter --net=/proc/$east/ns/net "$@"; }
begin() {
    "$BENTPIPE" live emulate "$NET" --json --interface client=west0 --interface server=east0 "$@" \\
        > "$OUT" 2> "$OUT.said" &
    emulator=$!
    until grep -q satellite "$OUT.said"; do kill -0 $emulator; sleep 0.05; done
}
end() { kill -TERM $emulator; wait $emulator; }
wrong() { "$1" nstat -asz TcpInCsumErrors | awk '/Csum/ {print $2}'; }
promiscuity() { ip -d link show $1 | grep -o 'promiscuity [0-9]*'; }
"""

TRANSFER = """
begin OPTIONS
east iperf3 -s -1 > /dev/null & server=$!
until east ss -Hltn 'sport = 5201' | grep -q .; do sleep 0.05; done
west iperf3 -c 10.1.0.2 -n 3M --json > "$OUT.sent"
wait $server
echo "wrong $(wrong west) $(wrong east)"
promiscuity west0
end
promiscuity west0
"""

# A frame with a VLAN tag, to everybody.
TAGGED = """
import socket
everybody, sender = b"\\xff" * 6, bytes([2, 0, 0, 0, 0, 1])
with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as raw:
    raw.bind(("far0", 0))
    raw.send(everybody + sender + b"\\x81\\x00\\x20\\x05" + b"\\x88\\xb5" + b"tagged" * 10)
"""


WEST = "--interface client=west0"


@pytest.fixture
def machines(tmp_path: Path) -> Any:
    net = tmp_path / "net.toml"
    net.write_text(NETWORK)

    def run(script: str) -> "subprocess.CompletedProcess[str]":
        names = {"BENTPIPE": str(PROGRAM), "NET": str(net), "OUT": str(tmp_path / "out")}
        lines = [f"{name}='{value}'" for name, value in names.items()]
        command = ["unshare", "-n", "sh", "-c", "\n".join([*lines, MACHINES, script])]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=90)

    return run


@pytest.mark.parametrize("options", ["", "--no-offloads"])
def test_two_machines_talk_over_the_network_and_nothing_is_wrong(
    machines: Any, tmp_path: Path, options: str
) -> None:
    result = machines(TRANSFER.replace("OPTIONS", options))
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == ["wrong 0 0", "promiscuity 1", "promiscuity 0"]
    report = json.loads((tmp_path / "out").read_text())
    assert [(host["name"], host["address"], host["interface"]) for host in report["hosts"]] == [
        ("client", None, "west0"),
        ("server", None, "east0"),
    ]
    # What the links carry are the packets of a wire of 1,500 bytes, as long as those of IP.
    forward = report["links"][0]
    assert forward["delivered_packets"] > 1000
    assert 1400 < forward["delivered_bytes"] / forward["delivered_packets"] <= 1500
    own = report["emulator"]
    assert (own["device_lost_packets"], own["unroutable_packets"]) == (0, 0)
    stream = json.loads((tmp_path / "out.sent").read_text())["end"]["streams"][0]["sender"]
    assert stream["min_rtt"] > 60_000


def test_a_frame_goes_over_as_it_is(machines: Any, tmp_path: Path) -> None:
    (tmp_path / "tagged.py").write_text(TAGGED)
    result = machines(f"""
        begin --pcap "$OUT.pcapng"
        west python3 {tmp_path}/tagged.py
        sleep 0.3
        end
    """)
    assert result.returncode == 0, result.stderr
    frame = b"\x81\x00\x20\x05\x88\xb5" + b"tagged" * 10
    # Where it came in, and where it went out.
    assert (tmp_path / "out.pcapng").read_bytes().count(frame) == 2


def test_a_killed_emulator_leaves_the_interfaces_as_they_were(machines: Any) -> None:
    result = machines("begin\nkill -9 $emulator; wait $emulator || promiscuity west0")
    assert result.stdout.strip() == "promiscuity 0", result.stderr


def test_an_interface_that_goes_ends_it_with_a_line(machines: Any) -> None:
    result = machines('begin\nip link del east0; wait $emulator || echo "status $?"; cat "$OUT.said"')
    assert "status 1" in result.stdout
    assert "the interface east0 is gone" in result.stdout


def test_an_interface_that_is_down_for_a_while_loses_what_comes_meanwhile(machines: Any) -> None:
    result = machines(
        TRANSFER.replace("OPTIONS", "").replace(
            "west iperf3",
            "(sleep 0.5; ip link set east0 down; sleep 0.5; ip link set east0 up) & west iperf3",
        )
    )
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(
    ("before", "options", "message"),
    [
        ("", WEST, "--interface: expected two hosts, each with an interface"),
        (
            "",
            "--interface client=west0 --interface nobody=east0",
            "hosts of the scenario, which are client, server",
        ),
        (
            "",
            "--interface client=west0 --interface server=west0",
            "expected two interfaces, found west0 twice",
        ),
        ("", "--interface client=west0 --interface server=no0", "an interface of this machine, found 'no0'"),
        ("", "--interface client=west0 --interface server=lo", "expected an Ethernet interface, found lo"),
        ("", "--interface west0", "expected a host and an interface, as server=eth1"),
        (
            "ip link set west0 down",
            f"{WEST} --interface server=east0",
            "west0 is down: ip link set west0 up",
        ),
        (
            "ip addr add 10.9.0.1/24 dev east0",
            f"{WEST} --interface server=east0",
            "found 10.9.0.1 at east0",
        ),
        (
            "ip link set east0 mtu 1400",
            f"{WEST} --interface server=east0",
            "expected the same MTU, found 1500 bytes at west0 and 1400 bytes at east0",
        ),
    ],
)
def test_what_cannot_be_an_interface_is_one_line_and_status_2(
    machines: Any, before: str, options: str, message: str
) -> None:
    result = machines(f'{before}\n"$BENTPIPE" live emulate "$NET" --time "1 s" {options} || echo "status $?"')
    assert result.stdout.splitlines() == ["status 2"]
    assert message.replace("'", '"') in result.stderr.replace("'", '"')
    assert len(result.stderr.splitlines()) == 1


def test_without_rights_it_says_so(machines: Any) -> None:
    result = machines(
        'setpriv --bounding-set=-all --inh-caps=-all "$BENTPIPE" live emulate "$NET" --time "1 s" '
        "--interface client=west0 --interface server=east0"
    )
    assert result.returncode == 2
    assert "needs root" in result.stderr
