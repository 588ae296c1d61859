"""XCP beside ns-2's."""

import shutil

import pytest
import xcp


@pytest.mark.skipif(shutil.which("ns") is None, reason="ns-2 is not installed")
@pytest.mark.parametrize("case", xcp.CASES)
def test_both_come_to_the_same_rates(case: str) -> None:
    theirs, ours = xcp.ns2(case), xcp.ours(case)

    assert sum(ours.rates(60, 120)) == pytest.approx(sum(theirs.rates(60, 120)), rel=0.01)
    assert ours.rates(60, 120) == pytest.approx(theirs.rates(60, 120), rel=0.03)
    assert ours.together(120) == pytest.approx(theirs.together(120), rel=0.03)
