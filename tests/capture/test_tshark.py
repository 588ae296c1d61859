"""A capture as tshark sees it, which knows nothing of this project."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import SCENARIOS, Bentpipe, tshark_fields

pytestmark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")

RESENT = " || ".join(
    f"tcp.analysis.{kind}"
    for kind in ("retransmission", "fast_retransmission", "spurious_retransmission", "out_of_order")
)


def frames(capture: Path, display_filter: str) -> int:
    return len(tshark_fields(capture, "frame.number", display_filter=display_filter))


@pytest.mark.parametrize("variant", ["tahoe", "reno", "newreno", "sack"])
@pytest.mark.parametrize("timestamps", ["true", "false"])
def test_tshark_counts_the_retransmissions_that_we_count(
    bentpipe: Bentpipe, lossy: Path, tmp_path: Path, variant: str, timestamps: str
) -> None:
    both_ways = 'links.satellite.reverse.loss={model = "packet", probability = 0.02}'
    options = [
        "--set",
        f"flows.download.variant={variant}",
        "--set",
        f"tcp.timestamps={timestamps}",
        "--set",
        both_ways,
    ]
    result = bentpipe("run", lossy, *options, "--pcap", "lossy.pcapng", "--json")
    flow = json.loads(result.stdout)["flows"][0]
    capture = tmp_path / "lossy.pcapng"
    assert flow["retransmitted_segments"] > 5
    assert frames(capture, f"tcp.len > 0 && ({RESENT})") == flow["retransmitted_segments"]
    assert frames(capture, "tcp.len > 0") == flow["data_segments_sent"]
    assert (
        frames(capture, "_ws.malformed || _ws.expert.severity == error || tcp.analysis.ack_lost_segment") == 0
    )
    stamped = frames(capture, "tcp.len > 0 && tcp.options.timestamp.tsval")
    assert stamped == (flow["data_segments_sent"] if timestamps == "true" else 0)


def test_flows_of_one_host_are_conversations_of_their_own(
    bentpipe: Bentpipe, lossy: Path, tmp_path: Path
) -> None:
    result = bentpipe("run", lossy, "--set", "flows.download.count=3", "--pcap", "three.pcapng", "--json")
    flows = json.loads(result.stdout)["flows"]
    assert len(flows) == 3
    for stream, flow in enumerate(flows):
        resent = frames(tmp_path / "three.pcapng", f"tcp.stream == {stream} && tcp.len > 0 && ({RESENT})")
        assert resent == flow["retransmitted_segments"]


def test_datagrams_have_lengths_and_checksums_of_their_own(bentpipe: Bentpipe, tmp_path: Path) -> None:
    call = 'flows.call={ from = "client", to = "server", app = "cbr", rate = "64 kbit/s", packet = "161 B" }'
    shortened = ("--set", "duration=5 s", "--set", call)
    result = bentpipe("run", SCENARIOS / "multimedia.toml", *shortened, "--pcap", "udp.pcapng", "--json")
    download, video, call_result = json.loads(result.stdout)["flows"]
    capture = tmp_path / "udp.pcapng"
    sent = video["datagrams_sent"]
    assert sent > 400
    assert frames(capture, "tcp.len > 0") == download["data_segments_sent"]
    assert frames(capture, "udp && frame.interface_name == server") == sent
    assert frames(capture, "udp && frame.interface_name == client") == call_result["datagrams_sent"]
    assert frames(capture, "udp.length == 169 && frame.len == 189") >= call_result["datagrams_sent"]
    assert frames(capture, "udp.length <= 1324 && frame.len == ip.len && ip.len - udp.length == 20") > sent
    assert frames(capture, "_ws.malformed || _ws.expert.severity == error") == 0
    assert payload_bytes(capture) == round(video["throughput_bps"] * video["duration_s"] / 8)


def payload_bytes(capture: Path) -> int:
    """Add up the payload of the server's datagrams, and hold the checksum of each against zeros."""
    fields = [
        "ip.src",
        "ip.dst",
        "udp.srcport",
        "udp.dstport",
        "udp.length",
        "udp.checksum",
        "ip.checksum.status",
    ]
    command = ["tshark", "-r", str(capture), "-Y", "udp && frame.interface_name == server", "-T", "fields"]
    command += ["-o", "ip.check_checksum:TRUE", *(part for field in fields for part in ("-e", field))]
    total = 0
    for line in subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines():
        source, destination, *ports, length, checksum, ip_status = line.split("\t")
        octets = [int(octet) for address in (source, destination) for octet in address.split(".")]
        words = sum(octets[0::2]) * 256 + sum(octets[1::2]) + 17 + sum(map(int, ports)) + 2 * int(length)
        assert (words + int(checksum, 16)) % 0xFFFF == 0
        assert ip_status == "1"
        total += int(length) - 8
    return total
