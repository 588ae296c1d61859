"""What a user of Debian's kernel gets, as `make live-test` runs it: each of these tests boots it."""

import json
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

import pytest
from netem_grid import Cell, by_the_kernel, by_the_simulator

from guest import ROOT, GuestError, boot, lacking

pytestmark = pytest.mark.skipif(bool(lacking()), reason=lacking())

PYTHON = ".venv/bin/python"
LOSS_MODELS = {"none", "packet", "ber", "drop", "gilbert-elliott"}


def transfers(which: str) -> dict[str, Any]:
    """Give what tests/guest/guest_transfers.py says of these on the guest's kernel."""
    said = boot([PYTHON, "tests/guest/guest_transfers.py", which], timeout_s=900)
    assert said.status == 0, said.stderr
    result: dict[str, Any] = json.loads(said.stdout)
    assert result["kernel_release"] != platform.release()
    wrong = [f"{row['name']}: {row['faults']}" for row in result["rows"] if row["faults"]]
    assert wrong == []
    assert all(row["sha256_equal"] for row in result["rows"])
    return result


def test_what_a_command_says_and_its_status_come_back() -> None:
    said = boot(["sh", "-c", "cat given; uname -r; echo wrong >&2; exit 7"], files={"given": "as written\n"})
    assert said.stdout.splitlines()[0] == "as written"
    assert said.stdout.splitlines()[1] != platform.release()
    assert (said.stderr, said.status) == ("wrong\n", 7)


def test_a_guest_that_does_not_end_is_ended() -> None:
    with pytest.raises(GuestError, match="sleep 1000: not done after 15 s"):
        boot(["sleep", "1000"], timeout_s=15)
    mine = ["pgrep", "-P", str(os.getpid()), "qemu"]
    assert subprocess.run(mine, capture_output=True, text=True, check=False).stdout == ""


def test_adalr_and_afc_carry_every_byte_through_every_loss_model() -> None:
    result = transfers("controls")
    assert {row["control"] for row in result["rows"]} == {"adalr", "afc"}
    assert {row["name"].split(", ")[1] for row in result["rows"]} == LOSS_MODELS
    assert {row["bytes"] for row in result["rows"]} == {10_000_000}
    assert result["installed"] == ["adalr", "afc"]
    assert result["left"] == []


def test_the_kernels_controls_and_our_ends_understand_each_other() -> None:
    result = transfers("kernel")
    kernel = [row for row in result["rows"] if row["recovery"] == "linux"]
    assert {row["control"] for row in kernel} >= {"reno", "cubic", "bbr", "hybla", "westwood"}
    ours = [row for row in result["rows"] if row["recovery"] != "linux"]
    assert {(row["direction"], row["name"].split(", ")[1]) for row in ours} == {
        (direction, model) for direction in ("send", "receive") for model in LOSS_MODELS
    }


def test_controls_are_installed_used_and_removed_as_on_a_newer_kernel() -> None:
    tests = "tests/live/test_controls_in_the_kernel.py"
    said = boot([PYTHON, "-m", "pytest", "-p", "no:cacheprovider", tests], timeout_s=900)
    assert said.status == 0, said.stdout
    assert " passed" in said.stdout.splitlines()[-1]
    assert "skipped" not in said.stdout.splitlines()[-1]


def test_the_emulator_and_netem_agree() -> None:
    said = boot([PYTHON, "tests/guest/beside_netem.py", "cubic"], timeout_s=600)
    assert said.status == 0, said.stderr
    found = json.loads(said.stdout)
    print(found)  # for docs/how-to/emulator.md: pytest -rP shows it
    emulator, netem = found["emulator"], found["netem"]
    for one in (emulator, netem):
        # Of 400 echoes over 1 % loss each way 8 are lost on average.
        assert 370 <= one["echoes"] < 400
        assert 500 <= one["rtt_p50_ms"] < 550
        assert 0.005 < one["resent_share"] < 0.02
    assert emulator["emulator"]["device_lost_packets"] == 0
    assert emulator["goodput_bps"] == pytest.approx(netem["goodput_bps"], rel=0.35)


def test_the_kernels_controls_over_netem_do_as_ours_do() -> None:
    cells = [Cell(control, 520, 0.0) for control in ("reno", "westwood", "veno", "vegas", "illinois")]
    cells.append(Cell("hybla", 60, 0.0))
    _, kernel = by_the_kernel(cells)
    for cell, theirs in zip(cells, kernel, strict=True):
        ours = by_the_simulator(cell)
        # Nothing is lost at random, but boots differ: Westwood+ in goodput, Hybla in what its bursts lose.
        assert theirs.goodput_bps == pytest.approx(ours.goodput_bps, rel=0.1), cell
        assert theirs.resent == pytest.approx(ours.resent, rel=0.3), cell
        assert theirs.timeouts == ours.timeouts == 0, cell


def test_where_a_kernel_is_missing_one_line_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("guest.KERNEL", ROOT / tmp_path)
    monkeypatch.setattr("guest.ROOT", tmp_path.parent)
    assert lacking() == f"needs a kernel in {tmp_path.name}: scripts/guest-kernel"
