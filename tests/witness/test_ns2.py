"""bentpipe's recoveries against ns-2's agents, on the same drop patterns."""

import random
import shutil
from pathlib import Path

import compare
import pytest
from patterns import BY_NAME, PATTERNS, SEGMENTS, VARIANTS, Pattern
from reasons import DIFFERENCES, REASONS
from transfers import Transfer, difference, read_golden, run_bentpipe, run_ns2

PAIRS = [(variant, pattern.name) for variant in VARIANTS for pattern in PATTERNS]
# The only transfers in which another order means other retransmissions too: ours.
OTHER_RETRANSMISSIONS = {
    ("reno", "half-window"): (*range(15, 29),),
    ("reno", "alternate"): (15, 17, *range(19, 32)),
    ("reno-2000", "half-window"): (*range(15, 26),),
    ("reno-2000", "alternate"): (15, 17, *range(19, 31)),
    ("sack", "lost-retransmission"): (14, 41, 14),
    ("sack", "lost-retransmission-limited"): (14, 41, 14),
}
# Those that send the same segments again, but new ones at other places between them.
OTHER_ORDER = {
    ("tahoe", "two-windows"),
    ("sack", "two"),
    ("sack", "three"),
    ("sack", "four"),
    ("sack", "three-limited"),
}


@pytest.fixture(scope="module")
def goldens() -> dict[str, dict[str, Transfer]]:
    return {variant: read_golden(variant) for variant in VARIANTS}


@pytest.mark.parametrize(("variant", "name"), PAIRS)
def test_who_sends_what_when(
    goldens: dict[str, dict[str, Transfer]], variant: str, name: str, tmp_path: Path
) -> None:
    theirs = goldens[variant][name]
    ours = run_bentpipe(variant, BY_NAME[name], tmp_path)
    found = difference(theirs, ours)
    key = (variant, name)

    assert ours.timeouts == theirs.timeouts
    assert ours.resent == OTHER_RETRANSMISSIONS.get(key, theirs.resent)
    if key not in DIFFERENCES:
        assert found is None
    else:
        expected = "what" if key in OTHER_RETRANSMISSIONS or key in OTHER_ORDER else "when"
        assert found is not None, "no longer differs: take it off the list"
        assert found.kind == expected


def test_every_listed_difference_has_its_reason() -> None:
    used = set("".join(DIFFERENCES.values()))
    assert used == set(REASONS)
    assert set(DIFFERENCES) <= set(PAIRS)


def test_the_page_is_what_the_comparison_gives() -> None:
    assert compare.PAGE.read_text() == compare.page_with(compare.page_part()), "run tests/witness/compare.py"


@pytest.mark.skipif(shutil.which("ns") is None, reason="ns-2 is not installed")
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_goldens_are_what_ns2_does(goldens: dict[str, dict[str, Transfer]], variant: str) -> None:
    for pattern in PATTERNS:
        now, kept = run_ns2(variant, pattern), goldens[variant][pattern.name]
        assert now.timeouts == kept.timeouts, pattern.name
        assert difference(kept, now) is None, pattern.name


@pytest.mark.skipif(shutil.which("ns") is None, reason="ns-2 is not installed")
@pytest.mark.parametrize("variant", ["tahoe-2000", "newreno-1999", "newreno-2003", "sack-1996"])
def test_the_stacks_of_then_send_again_what_ns2_does_on_any_few_losses(variant: str, tmp_path: Path) -> None:
    drawn = random.Random(1999)  # noqa: S311
    for _ in range(20):
        lost = sorted(drawn.sample(range(1, SEGMENTS + 5), drawn.randint(1, 5)))
        pattern = Pattern("drawn", tuple(lost), "drawn at random")
        theirs, ours = run_ns2(variant, pattern), run_bentpipe(variant, pattern, tmp_path)
        assert (ours.resent, ours.timeouts) == (theirs.resent, theirs.timeouts), lost
