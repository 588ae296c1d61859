"""Every scenario in scenarios/ and bench/ gives what it gave: numbers and packets, to the last digit."""

import json
from pathlib import Path

import pytest
from golden_runs import FILES, RECORDED, name_of, run_of, summary


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_scenario_gives_what_it_gave(path: Path) -> None:
    recorded = json.loads(RECORDED.read_text())
    assert summary(*run_of(path), recorded["keys"]) == recorded["runs"][name_of(path)]


def test_the_digest_of_a_run_moves_with_every_number_of_it() -> None:
    keys = json.loads(RECORDED.read_text())["keys"]
    run, capture = run_of(next(path for path in FILES if path.stem == "first"))
    before = summary(run, capture, keys)
    run["links"][0]["queue_mean_packets"] += 1e-12
    assert summary(run, capture, keys)["numbers"] != before["numbers"]
