"""TCP-AFC as a BPF program: what equation 1 leaves of the window, in the kernel beside the simulator."""

import json
from importlib.resources import files
from pathlib import Path

import pytest
from machine import needs_the_machine

from conftest import Bentpipe
from over_a_path import DOWNLOAD

pytestmark = [
    *needs_the_machine,
    pytest.mark.skipif(
        not (files("bentpipe") / "bpf" / "afc.bpf.o").is_file(),
        reason="needs clang-19 and libelf-dev at build time",
    ),
]
ONE_OF_SIXTEEN = [number for number in range(80, 140) if number % 16]


@pytest.mark.parametrize(
    ("acks_lost", "deviation"), [([], 0.05), (ONE_OF_SIXTEEN, 0.15)], ids=["each reported", "many by an ACK"]
)
@pytest.mark.parametrize("second", [140, 150])
def test_a_second_loss_beyond_half_of_the_window_costs_less_than_half_of_it(
    bentpipe: Bentpipe, tmp_path: Path, acks_lost: list[int], second: int, deviation: float
) -> None:
    # Slow start has 80 segments under way. Where an ACK reports many, as behind a receiver's GRO, the kernel
    # tells of both losses at once or late, and the second is taken to be as near as it can be.
    scenario = tmp_path / "two.toml"
    scenario.write_text(
        DOWNLOAD
        + f"""
[links.satellite.loss]
model = "drop"
at_least = "500 B"
packets = [75, {second}]
"""
        + f'[links.satellite.reverse]\nloss = {{ model = "drop", packets = {acks_lost} }}\n' * bool(acks_lost)
    )
    way = ("--set", "links.satellite.delay=150 ms", "--set", "links.satellite.queue=unlimited")
    result = bentpipe("live", "testbed", scenario, "--variants", "afc,reno", "--both", *way, "--json")
    assert result.returncode == 0, result.stderr
    afc, reno = json.loads(result.stdout)["variants"]
    took = [variant["kernel"]["flows"][0]["duration_s"] for variant in (afc, reno)]
    assert took[0] < 0.95 * took[1]
    assert abs(afc["goodput_deviation"]) < deviation
    assert [variant["kernel"]["flows"][0]["retransmitted_segments"] for variant in (afc, reno)] == [2, 2]
