"""Our TCP and the kernel's, all transfers at once: most of the time they wait."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from cases import DIRECTIONS, between_kernels, every_situation, every_variant, faults, packet_loss, transfer
from machine import needs_the_machine

from bentpipe import _core
from bentpipe.live.interop import interop

pytestmark = needs_the_machine

WAY = {"rate": "20 Mbit/s", "delay": "20 ms"}
FAR = {"rate": "20 Mbit/s", "delay": "250 ms"}

TRANSFERS = {
    **every_situation(),
    **between_kernels(),
    **every_variant(bytes="500 kB", forward=WAY | packet_loss(0.02), backward=WAY),
    **{
        f"far away, {direction}": transfer({"bytes": "2 MB"}, direction=direction, forward=FAR, backward=FAR)
        for direction in DIRECTIONS
    },
}

Rows = dict[str, dict[str, Any]]

# A program that says nothing for a while, and then that it is over.
SLOW = "import pathlib, sys, time; time.sleep(5); pathlib.Path(sys.argv[1]).touch()"


@pytest.fixture(scope="module")
def rows() -> Rows:
    result = interop(list(TRANSFERS.values()), threads=24, title=None)
    assert result["kernel_release"]
    return dict(zip(TRANSFERS, result["rows"], strict=True))


@pytest.mark.parametrize("name", TRANSFERS)
def test_every_byte_arrives_and_both_ends_close(rows: Rows, name: str) -> None:
    assert faults(rows[name]) == []
    assert rows[name]["state"] in ("TimeWait", "Closed")


def test_options_are_in_use_where_both_ends_offer_them(rows: Rows) -> None:
    for direction in DIRECTIONS:
        agreed = {
            name: {
                key: rows[f"{name}, {direction}"]["kernel_info"][key]
                for key in ("timestamps", "sack", "scaling")
            }
            for name in ("plain", "timestamps", "no sack", "no scaling")
        }
        plain = {"timestamps": False, "sack": True, "scaling": True}
        assert agreed == {
            "plain": plain,
            "timestamps": plain | {"timestamps": True},
            "no sack": plain | {"sack": False},
            "no scaling": plain | {"scaling": False},
        }
        for name, segment in (("mss 536", 536), ("mss 8960", 8960), ("mss 536, the kernel's 8960", 536)):
            assert rows[f"{name}, {direction}"]["kernel_info"]["mss_bytes"] == segment
    assert not rows["timestamps, not the kernel, send"]["kernel_info"]["timestamps"]


def test_what_was_lost_was_sent_again_by_the_end_that_sent_it(rows: Rows) -> None:
    for name in ("lost data", "bursts", "mss 8960"):
        ours, theirs = rows[f"{name}, send"], rows[f"{name}, receive"]
        assert ours["retransmitted_segments"] >= ours["forward"]["lost"] > 0
        assert theirs["kernel_retransmitted_segments"] >= theirs["forward"]["lost"] > 0
        # The other end has SYN, FIN and nothing else to send again.
        assert ours["kernel_retransmitted_segments"] < 3
        assert theirs["retransmitted_segments"] < 3
    for direction in DIRECTIONS:
        assert rows[f"reordered, {direction}"]["forward"]["reordered"] > 0
        assert rows[f"duplicated, {direction}"]["backward"]["duplicated"] > 0
        plain = rows[f"plain, {direction}"]
        assert plain["retransmitted_segments"] == plain["kernel_retransmitted_segments"] == 0


def test_a_kernel_in_our_place_does_what_its_options_say(rows: Rows) -> None:
    for direction in DIRECTIONS:
        plain = rows[f"linux, plain, {direction}"]
        offered = {"timestamps": False, "sack": True, "scaling": True}
        for name, expected in (
            ("plain", offered),
            ("timestamps", offered | {"timestamps": True}),
            ("no scaling", offered | {"scaling": False}),
            ("no sack", offered | {"sack": False}),
        ):
            row = rows[f"linux, {name}, {direction}"]
            for whose in ("own_kernel_info", "kernel_info"):
                assert {key: row[whose][key] for key in expected} == expected, (name, whose)
        infos = [plain["own_kernel_info"], plain["kernel_info"]]
        sender, receiver = infos if direction == "send" else reversed(infos)
        # The kernel begins a segment with some of the program's writes.
        assert sender["data_segments"] >= -(-plain["bytes"] // 1460)
        assert receiver["data_segments"] == 0
        lost = rows[f"linux, lost both ways, {direction}"]
        whose = "" if direction == "send" else "kernel_"
        assert lost[f"{whose}retransmitted_segments"] >= lost["forward"]["lost"] - 2 > 0


def test_a_closed_window_is_probed_until_it_opens(rows: Rows) -> None:
    assert rows["zero window, send"]["window_probes"] > 0
    counters = rows["zero window, receive"]["kernel_counters"]
    assert counters["TcpExtTCPWinProbe"] > 0
    for direction in DIRECTIONS:
        assert rows[f"zero window, {direction}"]["duration_s"] > 3


def test_a_program_that_is_never_ready_gives_way_to_an_interruption(tmp_path: Path) -> None:
    settings = json.dumps(next(iter(TRANSFERS.values())).settings)
    over = tmp_path / "over"

    def progress(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _core.interop(settings, [sys.executable, "-c", SLOW, str(over)], progress=progress)
    assert not over.exists(), "it was waited for"
