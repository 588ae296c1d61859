"""Every scenario in scenarios/ and bench/ gives what it gave: numbers and packets, to the last digit."""

import json
from pathlib import Path

import pytest
from golden_runs import FILES, RECORDED, moved, name_of, run_of, summary


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_scenario_gives_what_it_gave(path: Path) -> None:
    recorded = json.loads(RECORDED.read_text())
    then, now = recorded["runs"][name_of(path)], summary(*run_of(path), recorded["keys"])
    assert now == then, f"{name_of(path)} moved (--anew records it):\n{moved(then, now)}"


def test_the_digest_of_a_run_moves_with_every_number_of_it() -> None:
    keys = json.loads(RECORDED.read_text())["keys"]
    run, capture = run_of(next(path for path in FILES if path.stem == "first"))
    before = summary(run, capture, keys)
    run["links"][0]["queue_mean_packets"] += 1e-12
    assert summary(run, capture, keys)["numbers"] != before["numbers"]


def test_what_moved_is_a_table_with_the_farthest_first() -> None:
    then = {"numbers": "a", "flows.timeouts": 2, "flows.goodput_bps": 1e6, "links.dropped_packets": 0}
    now = {"numbers": "b", "flows.timeouts": 3, "flows.goodput_bps": 0.99e6, "links.dropped_packets": 0}
    assert [line.split() for line in moved(then, now).splitlines()] == [
        ["numbers", "a", "b", "+inf%"],
        ["flows.timeouts", "2", "3", "+50.000%"],
        ["flows.goodput_bps", "1000000.0", "990000.0", "-1.000%"],
    ]
