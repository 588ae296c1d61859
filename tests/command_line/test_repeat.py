"""A result can be had again from itself."""

import hashlib
import json
from pathlib import Path

import pytest

from bentpipe.runs.statistics import replication_seed
from conftest import LOSSY, SCENARIOS, Bentpipe

BASE = LOSSY.replace('title = "lossy"\n', "")
MINE = 'extends = "base.toml"\n[links.satellite]\nrate = "1 Mbit/s"\n'


def numbers(text: str) -> str:
    run = json.loads(text)
    del run["engine"]["wall_s"]
    run.pop("recording", None)
    run.pop("recording", None)
    return json.dumps(run)


@pytest.fixture
def mine(tmp_path: Path) -> str:
    (tmp_path / "base.toml").write_text(BASE)
    (tmp_path / "mine.toml").write_text(MINE)
    return "mine.toml"


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--set", "links.satellite.loss.probability=0.02", "--set", "flows.*.variant=reno"],
        ["--seed", "11"],
        ["--runs", "3", "--seed", "11"],
        ["--precision", "40%", "--runs", "60"],
    ],
    ids=" ".join,
)
def test_a_result_alone_gives_the_same_result_again(
    bentpipe: Bentpipe, tmp_path: Path, mine: str, options: list[str]
) -> None:
    first = bentpipe("run", mine, *options, "--out", "result", "--json")
    assert first.returncode == 0, first.stderr
    for path in ("base.toml", "mine.toml"):
        (tmp_path / path).unlink()
    for again in ("result", "result/result.json"):
        result = bentpipe("run", again, "--json")
        assert (result.returncode, result.stderr) == (0, "")
        assert numbers(result.stdout) == numbers(first.stdout)


def test_the_scenario_text_of_a_result_runs_by_itself(bentpipe: Bentpipe, tmp_path: Path, mine: str) -> None:
    text = bentpipe("run", mine, "--seed", "11", "--set", "links.satellite.delay=100 ms", "--json").stdout
    run = json.loads(text)
    assert run["scenario_sha256"] == hashlib.sha256(run["scenario_toml"].encode()).hexdigest()
    assert "extends" not in run["scenario_toml"]
    (tmp_path / "whole.toml").write_text(run["scenario_toml"])
    alone = json.loads(bentpipe("run", "whole.toml", "--json").stdout)
    same = ("scenario", "seed", "duration_s", "flows", "links", "scenario_toml", "scenario_sha256")
    assert [alone[key] for key in same] == [run[key] for key in same]


def test_every_scenario_runs_the_same_from_its_text(bentpipe: Bentpipe, tmp_path: Path) -> None:
    for path in sorted(SCENARIOS.glob("*.toml")):
        run = json.loads(bentpipe("run", path, "--json").stdout)
        (tmp_path / "whole.toml").write_text(run["scenario_toml"])
        alone = json.loads(bentpipe("run", "whole.toml", "--json").stdout)
        for part in ("scenario", "flows", "links", "gateways", "handovers", "pages", "jain"):
            assert alone[part] == run[part], (path.name, part)


def test_a_result_states_version_file_settings_and_seeds(bentpipe: Bentpipe, mine: str) -> None:
    options = ["--set", "flows.*.variant=reno", "--runs", "3", "--seed", "5"]
    run = json.loads(bentpipe("run", mine, *options, "--json").stdout)
    assert run["scenario_file"] == mine
    assert run["settings"] == {"set": ["flows.*.variant=reno"], "seed": 5, "runs": 3, "precision": None}
    assert run["seeds"] == [replication_seed(5, number) for number in range(3)]
    assert f"version {run['bentpipe']}" in bentpipe("--version").stdout
    # Each replication can be run by itself.
    alone = [
        json.loads(bentpipe("run", mine, *options[:2], "--seed", seed, "--json").stdout)
        for seed in run["seeds"]
    ]
    goodput = [one["flows"][0]["goodput_bps"] for one in alone]
    assert run["flows"][0]["goodput_bps"]["mean"] == pytest.approx(sum(goodput) / 3)


def test_options_go_over_what_a_result_says(bentpipe: Bentpipe, mine: str) -> None:
    bentpipe("run", mine, "--set", "flows.*.variant=reno", "--runs", "3", "--seed", "5", "--out", "result")
    plain = json.loads(bentpipe("run", "result", "--runs", "2", "--set", "seed=8", "--json").stdout)
    assert (plain["runs"], plain["seed"]) == (2, 8)
    assert plain["settings"]["set"] == ["flows.*.variant=reno", "seed=8"]
    assert plain["flows"][0]["variant"] == "reno"
    assert json.loads(bentpipe("run", "result", "--seed", "9", "--json").stdout)["seed"] == 9


@pytest.mark.parametrize("edited", [True, False], ids=["edited", "null"])
def test_a_result_that_was_changed_is_not_run(
    bentpipe: Bentpipe, tmp_path: Path, mine: str, edited: bool
) -> None:
    run = json.loads(bentpipe("run", mine, "--json").stdout)
    run["scenario_toml"] = run["scenario_toml"].replace("1 Mbit/s", "9 Mbit/s") if edited else None
    (tmp_path / "changed.json").write_text(json.dumps(run))
    result = bentpipe("run", "changed.json")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("bentpipe: changed.json: ")
    assert ("found one that was changed" if edited else "expected the result of a run") in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("content", ["{}", "[]", "nonsense", "[" * 100_000, '{"scenario_toml": 1}', "\xff"])
def test_json_that_is_no_result_is_one_line(bentpipe: Bentpipe, tmp_path: Path, content: str) -> None:
    (tmp_path / "x.json").write_text(content, encoding="latin-1")
    (tmp_path / "empty").mkdir()
    for name in ("x.json", "empty", "nowhere.json"):
        result = bentpipe("run", name)
        assert (result.returncode, result.stdout) == (2, "")
        assert result.stderr.startswith(f"bentpipe: {name}")
        assert result.stderr.count("\n") == 1


def test_another_version_is_said(bentpipe: Bentpipe, tmp_path: Path, mine: str) -> None:
    run = json.loads(bentpipe("run", mine, "--json").stdout)
    run["bentpipe"] = "0.0.1"
    (tmp_path / "old.json").write_text(json.dumps(run))
    result = bentpipe("run", "old.json", "--json")
    assert result.returncode == 0
    assert result.stderr.startswith("bentpipe: old.json is of bentpipe 0.0.1, this is ")


def test_a_result_of_another_engine_says_so(bentpipe: Bentpipe, tmp_path: Path, mine: str) -> None:
    run = json.loads(bentpipe("run", mine, "--json").stdout)
    assert len(run["engine_version"]) >= 16
    (tmp_path / "old.json").write_text(json.dumps({**run, "engine_version": "0123456789abcdef"}))
    told = bentpipe("run", "old.json", "--json")
    assert told.returncode == 0
    assert told.stderr.startswith("bentpipe: old.json is of engine 0123456789abcdef, this is ")
