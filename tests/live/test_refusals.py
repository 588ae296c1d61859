"""What `live` is asked and would mean nothing is one line with status 2, before anything is done."""

import pytest

from conftest import Bentpipe

GATEWAY = ("live", "gateway", "lo", "--rate", "10 Mbit/s")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((*GATEWAY, "--time", "nan"), "--time: expected seconds above 0, found nan"),
        ((*GATEWAY, "--time", "inf"), "--time: expected seconds above 0, found inf"),
        ((*GATEWAY, "--rtt", "0 s"), "live gateway: --rtt: expected more than nothing, found '0 s'"),
        ((*GATEWAY, "--queue", "0 B"), "live gateway: --queue: expected more than nothing, found '0 B'"),
        (
            (*GATEWAY, "--rtt", "1 s", "--isl-delay", "5 ms"),
            "live gateway: expected either --rtt or --isl-delay, found both",
        ),
        (
            ("live", "shell", "s.toml", "--process", "3"),
            "live shell: expected SCENARIO and HOST, found '--process'; --process N stands before SCENARIO",
        ),
        (
            ("live", "testbed", "preset:geo", "--variants", "reno,cubic,reno"),
            "--variants: expected each variant once, found 'reno' twice",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_what_means_nothing_is_refused(bentpipe: Bentpipe, arguments: tuple[str, ...], told: str) -> None:
    result = bentpipe(*arguments)
    assert (result.returncode, result.stdout, result.stderr) == (2, "", f"bentpipe: {told}\n")
