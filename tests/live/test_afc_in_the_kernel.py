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
# The receiver gets segments one by one, or long ones. Its buffer is fixed: the own one of a kernel grows by
# arrivals, the less the longer they are, and where it limits, the second loss is of another window.
SLOW = DOWNLOAD
FAST = DOWNLOAD.replace("6 Mbit/s", "1 Gbit/s") + '[tcp]\nreceive_window = "1 MiB"\n'


@pytest.mark.parametrize(
    ("path", "acks_lost", "second", "most_acks"),
    [
        (SLOW, [], 140, 1400),
        (SLOW, [], 150, 1400),
        (SLOW, ONE_OF_SIXTEEN, 140, 1400),
        (SLOW, ONE_OF_SIXTEEN, 150, 1400),
        (FAST, [], 143, 1000),
        (FAST, [], 146, 1000),
    ],
    ids=["each reported", "farther", "many by an ACK", "many, farther", "long segments", "long, farther"],
)
def test_a_second_loss_beyond_half_of_the_window_costs_less_than_half_of_it(
    bentpipe: Bentpipe, tmp_path: Path, path: str, acks_lost: list[int], second: int, most_acks: int
) -> None:
    # Slow start has 80 segments under way. An ACK that reports many tells of the second loss late.
    scenario = tmp_path / "two.toml"
    scenario.write_text(
        path
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
    # Where the second loss is placed by its report alone, 11 to 15 %.
    assert abs(afc["goodput_deviation"]) < 0.08
    assert [variant["kernel"]["flows"][0]["retransmitted_segments"] for variant in (afc, reno)] == [2, 2]
    assert afc["kernel"]["links"][1]["delivered_packets"] < most_acks
