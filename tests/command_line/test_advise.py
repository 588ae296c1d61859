"""Settings of a Linux server behind a satellite link."""

import json
import re
import subprocess
from typing import Any

import pytest

from conftest import Bentpipe

GEO = ("--rate", "60/3", "--rtt", "600ms")


def settings(bentpipe: Bentpipe, *arguments: str) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(bentpipe("advise", *arguments, "--json").stdout)
    return told


def test_windows_hold_twice_rate_times_round_trip(bentpipe: Bentpipe) -> None:
    lines = {one["line"]: one for one in settings(bentpipe, *GEO)["settings"]}
    sizes = {
        name: int(max(re.findall(r"\d+", line), key=int))
        for line in lines
        for name in re.findall(r"tcp_[rw]mem", line)
    }
    # 2 x 60 Mbit/s x 0.6 s are 9 MB: of a receive buffer 160/256 are window, of a send buffer 69 % payload.
    assert 9e6 / 0.625 <= sizes["tcp_rmem"] <= 9e6 / 0.625 + 2**20
    assert 9e6 / 0.69 <= sizes["tcp_wmem"] <= 9e6 / 0.69 + 2**20
    (wmem,) = (one for line, one in lines.items() if "tcp_wmem" in line)
    assert wmem["worth"]
    assert "100 MB: 27.3 s -> 20.44 s" in wmem["gain"]


def test_what_brings_nothing_over_a_link_stands_behind_a_sign_and_the_rest_is_a_script(
    bentpipe: Bentpipe,
) -> None:
    text = bentpipe("advise", *GEO).stdout
    # Over a link without errors bbr is not faster; with errors it is.
    assert "\n# no gain here: tc qdisc" in text
    assert "\ntc qdisc" in bentpipe("advise", "--rate", "20/2", "--rtt", "600ms", "--loss", "1e-3").stdout
    commands = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert all(line.startswith(("sysctl -w net.ipv4.", "ip route change ")) for line in commands)
    assert len(commands) >= 4
    assert subprocess.run(["sh", "-n"], input=text, text=True, check=False).returncode == 0


def test_a_narrow_link_needs_no_larger_buffers(bentpipe: Bentpipe) -> None:
    found = settings(bentpipe, "--rate", "2/0.25", "--rtt", "600ms")["settings"]
    buffers = {one["line"].partition("=")[0]: one["worth"] for one in found if "mem=" in one["line"]}
    assert buffers == {"sysctl -w net.ipv4.tcp_wmem": False, "sysctl -w net.ipv4.tcp_rmem": False}


def test_a_proxy_is_for_servers_without_the_settings_and_ends_nothing_that_it_cannot_read(
    bentpipe: Bentpipe,
) -> None:
    shared = (*GEO, "--users", "10")
    readable = {(row["who"], row["size"]): row for row in settings(bentpipe, *shared)["files"]}
    assert readable["One user", "1 MB"]["proxy"] == "for other servers"
    assert readable["One user", "1 MB"]["proxy_s"] < 0.8 * readable["One user", "1 MB"]["installed_s"]
    # What is a tenth of the link needs no large window.
    assert readable["Each of 10 busy users", "100 MB"]["proxy"] == "no"
    assert {row["proxy"] for row in settings(bentpipe, *shared, "--encryption", "quic")["files"]} == {"no"}
    hidden = bentpipe("advise", *GEO, "--encryption", "vpn").stdout
    assert "A proxy (PEP): no, for it cannot end connections inside VPN" in hidden
    assert "proxy:" not in hidden


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ("--rate", "60", "--rtt", "600ms"),
            "expected Mbit/s to the clients and back, 0.01 to 10,000, such as 60/3, found '60'",
        ),
        (("--rate", "60/3", "--rtt", "600"), "expected a time from 1 ms to 10 s, such as 600ms, found '600'"),
        ((*GEO, "--loss", "1"), "expected a share from 0 to below 0.5, such as 1e-4, found '1'"),
        (("--rate", "60/3"), "--rtt"),
    ],
)
def test_what_is_no_link_is_one_line(bentpipe: Bentpipe, arguments: tuple[str, ...], told: str) -> None:
    refused = bentpipe("advise", *arguments)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert told in refused.stderr
    assert refused.stderr.count("\n") == 1
