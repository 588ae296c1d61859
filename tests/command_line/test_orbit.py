"""`bentpipe orbit`: paths without a run, as the run has them."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from bentpipe import _core
from bentpipe.orbit.station_path import StationPath, pairs
from bentpipe.scenario import Scenario
from conftest import PROGRAM, SCENARIOS, Bentpipe

SHELL = SCENARIOS / "shell.toml"


@pytest.mark.parametrize(
    "settings",
    [
        [],
        ["constellation.preset=kuiper"],
        ["constellation.preset=iridium", "constellation.step=500 ms", "duration=900 s"],
        ["constellation.reconfigure=4 s", "constellation.start=3 h"],
        ["constellation.preset=oneweb"],
    ],
    ids=" ".join,
)
def test_paths_are_those_of_the_run(bentpipe: Bentpipe, settings: list[str]) -> None:
    options = [part for setting in settings for part in ("--set", setting)]
    told = json.loads(bentpipe("run", SHELL, *options, "--json").stdout)
    loaded = Scenario.load(str(SHELL), [tuple(setting.split("=", 1)) for setting in settings])  # type: ignore[misc]
    sky = _core.Sky(loaded.toml())
    assert sky.duration_s is not None
    assert len(sky.satellites) > 60
    for path, flow in zip(told["paths"], loaded.to_dict()["flows"].values(), strict=True):
        course = StationPath.of(sky, flow["from"], flow["to"], sky.duration_s)
        assert len(course.changes()) == path["handovers"]
        without = sum(end - start for start, end in course.gaps())
        assert without == pytest.approx(path["no_path_s"], abs=sky.step_s / 2)
        expected = [path[f"rtt_{which}_s"] for which in ("min", "median", "max")]
        if expected[0] is None:
            assert course.summary() is None
        else:
            assert course.summary() == pytest.approx(expected, abs=2e-9)


def test_a_table_and_three_pictures(bentpipe: Bentpipe, tmp_path: Path) -> None:
    files = [
        "--plot",
        "rtt.html",
        "--map",
        "map.svg",
        "--film",
        "film.html",
        "--step",
        "10 s",
        "--at",
        "30 s",
    ]
    result = bentpipe("orbit", SHELL, *files)
    assert (result.returncode, result.stderr) == (0, "Wrote rtt.html\nWrote map.svg\nWrote film.html\n")
    lines = result.stdout.splitlines()
    assert " ".join(lines[0].split()) == ("path RTT, least median most changes without a path vacuum fibre")
    assert [line.split("  ")[0] for line in lines[1:]] == [
        "new-york – london",
        "sydney – cape-town",
        "london – sydney",
    ]
    assert " ".join(lines[1].split()[3:]) == "42.9 ms 44.7 ms 46.0 ms 3 0 % 37.2 ms 54.6 ms"
    for name in files[1:6:2]:
        text = (tmp_path / name).read_text()
        assert "new-york – london" in text
    # The command stands in the pages.
    assert "bentpipe orbit" in (tmp_path / "film.html").read_text()


def test_some_flows_as_json(bentpipe: Bentpipe) -> None:
    result = bentpipe("orbit", SHELL, "--flows", "c*", "--until", "30 s", "--json")
    london, sydney = json.loads(result.stdout)
    assert (london["from"], london["to"], london["until_s"]) == ("new-york", "london", 30)
    assert (sydney["from"], sydney["to"]) == ("london", "sydney")
    assert london["vacuum_rtt_s"] < london["rtt_min_s"] < london["rtt_median_s"] < london["rtt_max_s"]
    assert london["rtt_max_s"] < london["fibre_rtt_s"]
    assert len(london["changes_s"]) == 1
    assert london["no_path_s"] == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([SCENARIOS / "first.toml"], "constellation: expected satellites, found a scenario without"),
        (
            [SHELL, "--plot", "rtt.gif"],
            "rtt.gif: expected a file name that ends in .png, .svg, .pdf or .html",
        ),
        ([SHELL, "--map", "map.png", "--at", "noon"], "'--at': expected a time such as '30 s'"),
        ([SHELL, "--film", "film.png", "--step", "-1 s"], "'--step': expected a time such as '30 s'"),
        ([SHELL, "--until", "1 ms"], "--until: expected a step, 0.1 s, or more, found 0.001 s"),
        ([SHELL, "--flows", "web*"], "--flows: expected the name of a flow (cubic, bbr, call)"),
        ([SHELL, "--at", "2 s"], "--at needs --map FILE"),
        ([SHELL, "--plot", "a.png", "--map", "a.png"], "expected a file that nothing else is written to"),
    ],
)
def test_a_wrong_call_is_one_line_and_writes_nothing(
    bentpipe: Bentpipe, tmp_path: Path, arguments: list[str | Path], message: str
) -> None:
    result = bentpipe("orbit", *arguments)
    assert result.returncode == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""
    assert [path.name for path in tmp_path.iterdir() if path.name != "cache"] == []


def test_the_scenario_is_not_drawn_over(bentpipe: Bentpipe, tmp_path: Path) -> None:
    text = SHELL.read_text()
    (tmp_path / "shell.png").write_text(text)
    result = bentpipe("orbit", "shell.png", "--plot", "shell.png")
    assert result.returncode == 2
    assert (tmp_path / "shell.png").read_text() == text


def test_a_long_film_tells_how_far_it_is_and_can_be_interrupted(tmp_path: Path) -> None:
    command = [str(PROGRAM), "orbit", str(SHELL), "--film", "film.png", "--step", "150 ms"]
    running = subprocess.Popen(
        command, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert running.stderr is not None
    first = running.stderr.readline()
    assert first.startswith("film: ")
    assert "of 800" in first
    assert len(list(tmp_path.iterdir())) == 1
    os.kill(running.pid, signal.SIGINT)
    began = time.monotonic()
    _, told = running.communicate(timeout=60)
    assert time.monotonic() - began < 10
    assert running.returncode == 130
    assert told.strip() == "bentpipe: interrupted; nothing was written"
    assert list(tmp_path.iterdir()) == []


def test_each_pair_of_stations_comes_once() -> None:
    assert pairs([("a", "b"), ("b", "a"), ("a", "c"), ("a", "b")]) == [("a", "b"), ("a", "c")]


def test_a_station_that_is_not_there_is_named() -> None:
    sky = _core.Sky(Scenario.load(str(SHELL)).toml())
    with pytest.raises(ValueError, match=r"expected a station \(london, .*\), found \"rome\""):
        sky.follow("london", "rome", 1.0)
