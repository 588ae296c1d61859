"""A flow that breaks is a failed run; one that is open at the end of a stated duration is none."""

import json
from pathlib import Path

import pytest

from conftest import Bentpipe, files_in

REASON = "the retransmission limit was reached without an answer"

DEAD = """\
extends = "preset:geo"
title = "dead"
[links.satellite]
loss = { model = "packet", probability = 1 }
[flows.broken]
from = "server"
to = "client"
bytes = "1 MB"
"""


@pytest.fixture
def dead(tmp_path: Path) -> Path:
    path = tmp_path / "dead.toml"
    path.write_text(DEAD)
    return path


def test_a_connection_that_gives_up_is_a_failed_run_with_its_reason(bentpipe: Bentpipe, dead: Path) -> None:
    shown = bentpipe("run", dead)
    assert (shown.returncode, shown.stderr) == (1, f"bentpipe: broken failed: {REASON}\n")
    assert "broken" in shown.stdout


def test_the_json_and_the_files_of_a_failed_run_are_whole(
    bentpipe: Bentpipe, dead: Path, tmp_path: Path
) -> None:
    result = bentpipe("run", dead, "--json", "--out", "out")
    assert result.returncode == 1
    assert json.loads(result.stdout)["flows"][0]["error"] == REASON
    assert {"result.json", "series.parquet"} <= set(files_in(tmp_path / "out"))


def test_it_is_said_in_how_many_replications_a_flow_failed(bentpipe: Bentpipe, dead: Path) -> None:
    result = bentpipe("run", dead, "--runs", "3")
    assert result.returncode == 1
    assert result.stderr == f"bentpipe: broken failed in 3 of 3 replications: {REASON}\n"


def test_many_failed_flows_are_counted_and_not_listed(bentpipe: Bentpipe, dead: Path) -> None:
    dead.write_text(DEAD + "count = 30\n")
    result = bentpipe("run", dead)
    lines = result.stderr.splitlines()
    assert result.returncode == 1
    assert len(lines) == 11
    assert lines[-1] == "bentpipe: 20 more flows failed (see --json)"


def test_a_picture_of_a_failed_run_says_so_too(bentpipe: Bentpipe, dead: Path, tmp_path: Path) -> None:
    result = bentpipe("plot", dead, "--out", "dead.png")
    assert result.returncode == 1
    assert f"bentpipe: broken failed: {REASON}" in result.stderr.splitlines()
    assert (tmp_path / "dead.png").is_file()


def test_an_open_flow_at_the_end_of_a_stated_duration_is_no_failure(bentpipe: Bentpipe, dead: Path) -> None:
    result = bentpipe("run", dead, "--set", "duration=5 s")
    assert (result.returncode, result.stderr) == (0, "")
    assert ", open" in result.stdout
