"""Telephone calls from end to end: results, the table, replications, a wrong codec."""

import json
from pathlib import Path

import pytest

import bentpipe as bp
from conftest import Bentpipe

TEXT = """
extends = "preset:geo"
title = "A call"
duration = "30 s"
[flows.call]
from = "client"
to = "server"
app = "voip"
silence_suppression = false
duration = "20 s"
"""


@pytest.fixture
def call(tmp_path: Path) -> Path:
    path = tmp_path / "call.toml"
    path.write_text(TEXT)
    return path


def test_a_call_has_a_row_that_fits_its_flow(call: Path) -> None:
    found = bp.run(bp.Scenario.load(call))
    (row,) = json.loads(found.json())["calls"]
    assert (row["name"], row["packets_sent"], row["loss"]) == ("call", 1000, 0.0)
    assert row["packets_sent"] == found.flows["call"]["datagrams_sent"]
    assert 0.25 < row["mouth_to_ear_s"] < 0.4
    assert 60 < row["rating"] < 93.2
    assert 1 < row["mos"] < 4.41


def test_the_table_and_replications_have_it(call: Path, bentpipe: Bentpipe) -> None:
    header, told = [
        line.split() for line in bentpipe("run", call).stdout.splitlines() if line.startswith("call")
    ][-2:]
    assert [header[0], header[1], *header[-2:]] == ["call", "sent", "R", "MOS"]
    assert told[:3] == ["call", "1,000", "packets"]
    lossy = bp.Scenario.load(call).with_({"links.satellite.loss": {"model": "packet", "probability": 0.05}})
    mos = bp.replicate(lossy, runs=3).calls["call"]["mos"]
    assert isinstance(mos, dict)
    assert mos["n"] == 3


def test_a_codec_that_is_none_is_named(call: Path, bentpipe: Bentpipe) -> None:
    call.write_text(TEXT + 'codec = "g729"\n')
    refused = bentpipe("run", call)
    assert refused.returncode == 2
    assert 'flows.call.codec: expected one of the known names (g711, opus), found "g729"' in refused.stderr
