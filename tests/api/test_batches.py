"""Short runs come several at a time, and what a caller sees of them is as if they came one by one."""

import threading
from typing import Any

import pytest

import bentpipe as bp
from bentpipe.runs.runner import how_many
from conftest import LOSSY


@pytest.mark.parametrize(
    ("left", "finished", "spent_s", "expected"),
    [
        (1000, 0, 0.0, (1, 2)),  # nothing is known yet
        (1000, 10, 0.01, (20, 4)),  # 1 ms each: 20 ms at a time
        (1000, 10, 10.0, (1, 2)),  # long ones, of which none is begun in vain
        (1000, 10, 0.00001, (250, 4)),  # no more than everybody's share
        (100_000, 10, 0.00001, (256, 4)),
        (3, 997, 0.997, (1, 4)),  # the last ones are spread
        (1, 10, 0.0, (1, 4)),
    ],
)
def test_how_many(left: int, finished: int, spent_s: float, expected: tuple[int, int]) -> None:
    assert how_many(left, finished, spent_s, threads=2) == expected


class Fails(bp.Control):
    """Raises in run number `at`: in each it takes up as many handshakes."""

    name = "fails"
    made = 0
    at = 0

    def on_handshake(self, w: bp.Window, now_s: float, rtt_s: float) -> None:  # noqa: ARG002
        Fails.made += 1
        if Fails.made == Fails.at:
            raise ValueError("in its turn")


def failing(at: int) -> bp.Scenario:
    scenario = bp.Scenario.from_toml(LOSSY.replace("0.01", "0")).with_(
        {"flows.download.bytes": "20 kB", "flows.download.control": Fails}
    )
    Fails.made = Fails.at = 0
    bp.run(scenario)
    Fails.made, Fails.at = 0, at * Fails.made
    return scenario


def test_the_error_of_a_run_comes_in_its_turn() -> None:
    # One at a time: what is behind the last run that is wanted is begun, and its error is nobody's.
    assert bp.replicate(failing(500), 499, threads=1, progress=False).run["runs"] == 499
    with pytest.raises(ValueError, match="in its turn"):
        bp.replicate(failing(500), 500, threads=1, progress=False)
    # All alike, though a control may be random: known from 300 runs on.
    loose: Any = bp.replicate(failing(340), 1000, precision=0.9, threads=1, progress=False)
    assert loose.run["runs"] == 300


def test_somebody_stops_runs_that_are_short() -> None:
    stop = threading.Event()
    scenario = bp.Scenario.from_toml(LOSSY).with_({"flows.download.bytes": "20 kB"})
    threading.Timer(0.3, stop.set).start()
    with pytest.raises(bp.Interrupted):
        bp.replicate(scenario, 1_000_000, progress=False, stop=stop)
