"""Our sender and the kernel's on the same drop patterns, over a TUN device."""

from pathlib import Path

import linux
import pytest
from linux_goodput import measure
from linux_reasons import DIFFERENCES, REASONS, SENDS_ELSEWHERE
from linux_transfers import BY_NAME, PATTERNS, RECOVERIES, run_pairs

from bentpipe import _core

# What both resend; nothing that depends on the kernel's release.
RESENT = {
    ("sack", "one"): (14,),
    ("sack", "three"): (14, 20, 26),
    ("sack", "burst"): (14, 15, 16, 17, 18),
    ("sack", "last-two"): (63, 64),
    ("newreno", "three"): (14, 20, 26),
    ("newreno", "lost-retransmission"): (14, 14),
    ("rack", "three"): (14, 20, 26),
    ("rack", "lost-retransmission"): (14, 14),
    ("rack", "last-segment"): (64,),
}


def test_the_kernel_and_we_resend_the_same_in_the_same_order(tmp_path: Path) -> None:
    try:
        found = run_pairs([(recovery, BY_NAME[name]) for recovery, name in RESENT], tmp_path)
    except _core.LiveMissing as error:
        pytest.skip(str(error))
    for pair, resent in RESENT.items():
        ours, theirs = found[pair]["send"], found[pair]["receive"]
        assert (ours.resent, theirs.resent) == (resent, resent), pair
        timeouts = int(pair[0] != "rack" and pair[1].startswith("l"))
        assert ours.timeouts == theirs.timeouts == timeouts, pair
        assert (ours.sends == theirs.sends) == (pair not in SENDS_ELSEWHERE), pair


def test_goodput_without_loss_is_that_of_the_simulator(tmp_path: Path) -> None:
    try:
        found = measure(tmp_path)
    except _core.LiveMissing as error:
        pytest.skip(str(error))
    for name, goodput in found.items():
        for measured in goodput.measured:
            assert measured == pytest.approx(goodput.simulated, rel=0.02), name


def test_the_page_has_every_pair_with_its_reasons() -> None:
    assert set("".join(DIFFERENCES.values())) == set(REASONS)
    rows = [line.split(" | ") for line in linux.PAGE.read_text().splitlines() if line.startswith("| ")]
    named = {(row[0].removeprefix("| "), row[1]): row[-1] for row in rows if len(row) == 8}
    for recovery in RECOVERIES:
        for pattern in PATTERNS:
            pair = (recovery, pattern.name)
            assert named[pair].removesuffix(" |") == " ".join(DIFFERENCES.get(pair, "")), pair
