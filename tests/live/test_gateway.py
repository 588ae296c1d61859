"""``bentpipe live gateway``: XFWA in the kernel, between two hosts joined by a pair of Ethernet devices."""

import json
import subprocess
from importlib.resources import files
from typing import Any

import pytest
from machine import needs_the_machine

from conftest import PROGRAM, Bentpipe

pytestmark = [
    *needs_the_machine,
    pytest.mark.skipif(
        not (files("bentpipe") / "bpf" / "xfwa.bpf.o").is_file(),
        reason="needs clang-19 and libelf-dev at build time",
    ),
]

TWO_HOSTS = """
set -e
ip link set lo up
ip link add sat0 type veth peer name far0
unshare -n sleep 100 & far=$!
trap 'kill $far' EXIT
until [ "$(readlink /proc/$far/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.01; done
ip link set far0 netns $far
ip addr add 10.1.0.1/24 dev sat0; ip link set sat0 up
far() { nsenter --net=/proc/$far/ns/net "$@"; }
far ip addr add 10.1.0.2/24 dev far0; far ip link set far0 up; far ip link set lo up
serve() { far iperf3 -s -1 > /dev/null & until far ss -Hltn 'sport = 5201' | grep -q .; do sleep 0.05; done; }
window() { ss -tin dst 10.1.0.2 | grep -o 'snd_wnd:[0-9]*' | cut -d: -f2 | sort -n | tail -1; }
# Until it sees what passes: a flow whose handshake it has not seen is left alone.
said=$(mktemp)
ready() { until grep -q "^live gateway" "$said"; do sleep 0.05; done; rm "$said"; }
errors() { nstat -asz TcpInCsumErrors | awk '/Csum/ {print $2}'; }
"""

# Of one flow of 200 ms: 8 Mbit/s for that long, and the queue.
WINDOW = 1_000_000 * 0.2 + 20_480


def between_hosts(script: str) -> "subprocess.CompletedProcess[str]":
    command = ["unshare", "-n", "sh", "-c", TWO_HOSTS + script]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


GATEWAY = f'{PROGRAM} live gateway sat0 --rate "8 Mbit/s" --queue "20 KiB" --rtt "200 ms"'


def test_the_sender_sees_the_lowered_window_and_no_checksum_is_wrong() -> None:
    result = between_hosts(
        f"""
        {GATEWAY} --json > report.$$ 2> "$said" & gateway=$!
        ready
        serve
        iperf3 -c 10.1.0.2 -b 200M -t 3 > /dev/null & sender=$!
        sleep 2; echo "window $(window)"
        wait $sender
        kill -TERM $gateway; wait $gateway
        echo "errors $(errors) $(far nstat -asz TcpInCsumErrors | awk '/Csum/ {{print $2}}')"
        cat report.$$; rm report.$$
        """
    )
    assert result.returncode == 0, result.stderr
    first, second, *rest = result.stdout.splitlines()
    window = int(first.split()[1])
    # A scaled window is told in units of up to a kilobyte.
    assert WINDOW - 2048 < window <= WINDOW
    assert second == "errors 0 0"
    report: dict[str, Any] = json.loads("\n".join(rest))
    assert report["interface"] == "sat0"
    assert report["scheme"] == "xfwa"
    assert report["windows_lowered"] > 100
    assert report["segments_forward"] > 100
    assert report["window_mean_bytes"] <= WINDOW
    assert report["flows_remembered"] <= 3


def test_it_is_gone_with_its_process_and_the_transfer_goes_on() -> None:
    result = between_hosts(
        f"""
        {GATEWAY} > "$said.out" 2> "$said" & gateway=$!
        ready; rm "$said.out"
        serve
        iperf3 -c 10.1.0.2 -b 200M -t 4 > sent.$$ & sender=$!
        sleep 1.5; echo "window $(window)"
        kill -9 $gateway; wait $gateway || true
        sleep 1; echo "window $(window)"
        wait $sender && echo whole; rm sent.$$
        """
    )
    lines = result.stdout.splitlines()
    assert lines[2] == "whole", result.stderr
    before, after = (int(line.split()[1]) for line in lines[:2])
    assert before <= WINDOW
    assert after > 2 * WINDOW


BETWEEN = """
set -e
unshare -n sleep 100 & near=$!
unshare -n sleep 100 & far=$!
trap 'kill $near $far' EXIT
mine=$(readlink /proc/self/ns/net)
for process in $near $far; do
    until [ "$(readlink /proc/$process/ns/net)" != "$mine" ]; do sleep 0.01; done
done
near() { nsenter --net=/proc/$near/ns/net "$@"; }
far() { nsenter --net=/proc/$far/ns/net "$@"; }
ip link add near0 type veth peer name host0 netns $near
ip link add sat0 type veth peer name host0 netns $far
ip link set near0 up; ip link set sat0 up
near ip link set host0 up; far ip link set host0 up; far ip link set lo up
said=$(mktemp)
ready() { until grep -q "^live gateway" "$said"; do sleep 0.05; done; rm "$said"; }
"""

BRIDGED = """
ip link add bridge0 type bridge; ip link set bridge0 up
ip link set near0 master bridge0; ip link set sat0 master bridge0
near ip addr add 10.1.0.1/24 dev host0; far ip addr add 10.1.0.2/24 dev host0; to=10.1.0.2
"""

ROUTED = """
echo 1 > /proc/sys/net/ipv4/ip_forward
ip addr add 10.1.0.1/24 dev near0; near ip addr add 10.1.0.2/24 dev host0
near ip route add default via 10.1.0.1
ip addr add 10.2.0.1/24 dev sat0; far ip addr add 10.2.0.2/24 dev host0
far ip route add default via 10.2.0.1; to=10.2.0.2
"""


@pytest.mark.parametrize("joins", [BRIDGED, ROUTED], ids=["bridge", "router"])
def test_hops_are_counted_on_a_bridge_and_at_a_router(joins: str) -> None:
    """No router lies between the hosts but the machine itself, if it is one: 2 (0 + 0 + 2) hops of 20 ms."""
    result = between(
        f"""
        {joins}
        {PROGRAM} live gateway sat0 --rate "8 Mbit/s" --queue "20 KiB" --isl-delay "20 ms" --json \
            > report.$$ 2> "$said" & gateway=$!
        ready
        far iperf3 -s -1 > /dev/null & until far ss -Hltn 'sport = 5201' | grep -q .; do sleep 0.05; done
        near iperf3 -c $to -b 4M -t 2 > /dev/null
        kill -TERM $gateway; wait $gateway; cat report.$$; rm report.$$
        """
    )
    assert result.returncode == 0, result.stderr
    report: dict[str, Any] = json.loads(result.stdout)
    assert report["segments_forward"] > 10
    assert report["rtt_mean_s"] == pytest.approx(0.08)


def between(script: str) -> "subprocess.CompletedProcess[str]":
    command = ["unshare", "-n", "sh", "-c", BETWEEN + script]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize("factor", ["0", "7", "1.5"])
def test_delta_is_a_whole_number_of_round_trips(bentpipe: Bentpipe, factor: str) -> None:
    result = bentpipe("live", "gateway", "lo", "--rate", "8 Mbit/s", "--delta-factor", factor)
    assert result.returncode == 2
    assert "--delta-factor" in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere0", "--rate", "8 Mbit/s"], "live gateway: IFACE: expected one of "),
        (["lo"], "Missing option '--rate'"),
        (["lo", "--rate", "20 Gbit/s"], "--rate: expected above 0 and below 17 Gbit/s, found 20 Gbit/s"),
        (["lo", "--rate", "8 Mbit/s", "--rtt", "soon"], "--rtt: "),
        (["lo", "--rate", "8 Mbit/s", "--scheme", "ewa"], "'ewa' is not 'xfwa'"),
    ],
)
def test_what_cannot_be_is_told_in_a_line(bentpipe: Bentpipe, arguments: list[str], message: str) -> None:
    result = bentpipe("live", "gateway", *arguments)
    assert result.returncode == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_without_rights_it_says_so() -> None:
    command = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]
    command += [str(PROGRAM), "live", "gateway", "lo", "--rate", "8 Mbit/s"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert "a BPF program needs root" in result.stderr
