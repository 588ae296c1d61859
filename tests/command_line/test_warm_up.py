"""A stated warm-up, and quantiles of the queueing delay, from end to end."""

import json

import pytest

import bentpipe as bp
from bentpipe.results import mean
from conftest import Bentpipe

LONG = {"duration": "60 s", "flows.download.bytes": "1 GB"}
FULL = "links.satellite.queue=400 packets"


@pytest.fixture(scope="module")
def busy() -> bp.Scenario:
    return bp.Scenario.load("preset:geo").with_(LONG)


def test_a_comparison_measures_what_comes_after_it(busy: bp.Scenario) -> None:
    wide = busy.with_({"tcp.receive_window": "1 MiB"})
    whole = bp.compare(wide, ["sack", "cubic"], runs=1)
    steady = bp.compare(wide.with_({"warm_up": "20 s"}), ["sack", "cubic"], runs=1, explain=True)
    for variant in steady.variants:
        flow = variant.run["flows"][0]
        assert mean(flow["duration_s"]) == 40
        of_link = variant.of_link
        assert of_link is not None
        # What the link carries is of the same 40 s.
        assert whole[variant.name].value["mean"] / variant.value["mean"] < 1.0
        # And what lay behind a hole when the warm-up ended is delivered after it.
        assert 0.5 < of_link["mean"] <= 1.05
        assert variant.limits is not None
        assert variant.limits["slow_start"]["mean"] == 0


def test_the_table_says_from_when_on(bentpipe: Bentpipe) -> None:
    settings = [f"--set={key}={value}" for key, value in LONG.items()]
    printed = bentpipe("run", "preset:geo", *settings, "--set", "warm_up=20 s").stdout
    assert printed.splitlines()[0].endswith("(seed 1, measured from 20 s on)")
    replicated = bentpipe("run", "preset:geo", *settings, "--set", "warm_up=20 s", "--runs", "2").stdout
    assert "measured from 20 s on" in " ".join(replicated.split())


def test_a_warm_up_longer_than_the_run_is_one_line(bentpipe: Bentpipe) -> None:
    warm_up = ("--set", "warm_up=20 s")
    done = bentpipe("run", "preset:geo", "--set", "flows.download.bytes=1 kB", *warm_up)
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert "warm_up: expected a time before the last flow is over" in line
    late = bentpipe("run", "preset:geo", "--set", "duration=10 s", *warm_up)
    assert late.returncode == 2
    assert "warm_up: expected a time below the duration (10 s), found 20 s" in late.stderr


def test_a_link_tells_the_quantiles_of_its_queue(bentpipe: Bentpipe) -> None:
    asked = ("--set", "queueing_quantiles=true", "--set", FULL, "--set", "tcp.receive_window=1 MiB")
    run = json.loads(bentpipe("run", "preset:geo", *asked, "--json").stdout)
    link = next(link for link in run["links"] if link["name"] == "satellite")
    p50, p95, p99 = (link[f"queueing_delay_p{share}_s"] for share in (50, 95, 99))
    assert 0 < p50 <= p95 <= p99
    assert link["queueing_delay_mean_s"] <= p99
    header = next(
        line for line in bentpipe("run", "preset:geo", *asked).stdout.splitlines() if "busy" in line
    )
    assert header.split()[-3:] == ["p50", "p95", "p99"]
    plain = bentpipe("run", "preset:geo").stdout
    assert "p50" not in plain
