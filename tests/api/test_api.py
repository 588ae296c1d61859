"""Python as a user imports it."""

import copy
import math
import multiprocessing
import pickle
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bentpipe as bp
from bentpipe.cli import cli
from conftest import ENDLESS, LOSSY, SCENARIOS, without_engine


def test_every_exported_name_is_there_and_is_listed() -> None:
    assert set(bp.__all__) <= set(dir(bp))
    assert all(getattr(bp, name) is not None for name in bp.__all__)
    with pytest.raises(AttributeError, match="nope"):
        _ = bp.nope  # type: ignore[attr-defined]


def test_errors_are_one_family_and_an_interruption_is_none_of_them() -> None:
    assert issubclass(bp.ScenarioError, bp.InputError)
    assert issubclass(bp.InputError, bp.BentpipeError)
    assert issubclass(bp.RunError, bp.BentpipeError)
    assert issubclass(bp.Interrupted, KeyboardInterrupt)
    assert not issubclass(bp.Interrupted, Exception)


LOSSY_SCENARIO = bp.Scenario.from_toml(LOSSY)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("runs", value) for value in (0, -1, True, 1.5, "x", math.nan, 1_000_001, [3])),
        *(("seed", value) for value in (-1, 2**53, True, "1", 0.5)),
        *(("threads", value) for value in (0, -1, True, "2", 10**9)),
        *(("precision", value) for value in (-1, 0, 1, 2.0, math.nan, math.inf, True, "2%", [0.1])),
        ("keep", "yes"),
    ],
)
def test_replications_that_cannot_be_name_their_argument(field: str, value: Any) -> None:
    with pytest.raises(bp.InputError, match=f"^{field}: expected .*found"):
        bp.replicate(LOSSY_SCENARIO, **{"runs": 2, field: value})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("seed", -1),
        ("pcap", 7),
        ("series_file", 7),
        ("series", ":cwnd"),
        *((limit, value) for limit in ("series_limit", "pcap_limit", "snap") for value in (0, True, 1.5)),
    ],
)
def test_a_run_that_cannot_be_names_its_argument(field: str, value: Any) -> None:
    with pytest.raises(bp.InputError, match=f"^{field}: expected .*found"):
        bp.run(LOSSY_SCENARIO, **{field: value})


def test_numbers_of_numpy_and_paths_as_text_will_do(tmp_path: Path) -> None:
    numbers: Any = {"runs": np.int64(3), "seed": np.uint8(7), "precision": np.float32(0.25)}
    assert bp.replicate(LOSSY_SCENARIO, **numbers).run["runs"] == 3
    capture: Any = str(tmp_path / "packets.pcapng")
    bp.run(LOSSY_SCENARIO, pcap=capture)
    assert Path(capture).stat().st_size > 10_000


def test_the_command_line_has_the_bound_of_replicate() -> None:
    (runs,) = [option for option in cli.commands["run"].params if option.name == "runs"]
    assert "1,000,000" in str(getattr(runs, "help", ""))


def test_replicate_wants_to_know_how_often() -> None:
    with pytest.raises(bp.InputError, match=r"^runs: expected how often to run, or precision, found neither"):
        bp.replicate(LOSSY_SCENARIO)


def test_a_file_that_is_not_there_is_told_by_its_name() -> None:
    with pytest.raises(bp.InputError, match=r"^nowhere\.toml: expected a scenario file, found none"):
        bp.run("nowhere.toml")


@pytest.mark.parametrize("scenario", [None, 7])
def test_what_is_no_scenario_is_said_to_be_none(scenario: Any) -> None:
    with pytest.raises(bp.InputError, match=r"^scenario: expected a scenario, as .* found"):
        bp.run(scenario)
    with pytest.raises(bp.InputError, match=r"^scenario: expected a scenario, as .* found"):
        bp.replicate(scenario, 2)


def test_a_scenario_alone_is_run_once() -> None:
    result = bp.run(LOSSY_SCENARIO)
    assert result.seed == 7
    assert isinstance(result.flows[0]["goodput_bps"], float)
    assert result.failures == ()


def test_settings_are_a_mapping_or_pairs_and_values_may_be_numbers(lossy: Path) -> None:
    mapping = bp.Scenario.load(lossy, {"seed": 9, "title": "other"})
    pairs = bp.Scenario.load(str(lossy), [("seed", "9"), ("title", "other")])
    assert (mapping.seed, mapping.title) == (pairs.seed, pairs.title) == (9, "other")


@pytest.mark.parametrize(
    "settings", [7, "seed=7", b"seed", ["seed"], [("a", 1, 2)], {7: 1}, {"seed": None}, {"a": "\udc80"}]
)
def test_settings_that_cannot_be_are_one_line(lossy: Path, settings: Any) -> None:
    with pytest.raises(bp.InputError, match=r"^settings: .*expected .*found"):
        bp.Scenario.load(lossy, settings)
    with pytest.raises(bp.InputError, match=r"^settings: .*expected .*found"):
        LOSSY_SCENARIO.with_(settings)


@pytest.mark.parametrize("path", [None, 7, b"lossy.toml"])
def test_a_path_is_text_or_a_path(path: Any) -> None:
    with pytest.raises(bp.InputError, match=r"^path: expected a str or a Path, found"):
        bp.Scenario.load(path)


@pytest.mark.parametrize("settings", [{}, {"nope": "1"}])
def test_a_scenario_that_cannot_be_read_is_an_exported_error(
    tmp_path: Path, lossy: Path, settings: dict[str, str]
) -> None:
    with pytest.raises(bp.ScenarioError):
        bp.Scenario.load(lossy if settings else tmp_path / "none.toml", settings)


def test_a_run_without_a_result_is_an_exported_error(lossy: Path, tmp_path: Path) -> None:
    scenario = bp.Scenario.load(lossy)
    for name in ("pcap", "series_file"):
        options: Any = {name: tmp_path / "no" / "x"}
        with pytest.raises(bp.RunError, match=r"cannot write .*: there is no folder"):
            bp.run(scenario, **options)
    with pytest.raises(bp.RunError, match="cannot write the capture"):
        bp.run(scenario, pcap=Path("/proc/x.pcapng"))


def test_flows_that_break_are_in_the_outcome(lossy: Path) -> None:
    dead = bp.Scenario.load(lossy, {"links.satellite.loss.probability": 1})
    single = bp.run(dead).failures
    assert single == (bp.Failure("download", "the retransmission limit was reached without an answer"),)
    (several,) = bp.replicate(dead, 2).failures
    assert (several.runs, several.of) == (2, 2)


def test_ctrl_c_is_not_swallowed_by_those_who_catch_every_exception(tmp_path: Path) -> None:
    (tmp_path / "endless.toml").write_text(ENDLESS)
    program = """\
import _thread, threading
import bentpipe as bp
scenario = bp.Scenario.load("endless.toml")
bp.replicate(scenario.with_({"duration": "1 s"}), 3)  # imports what it takes
threading.Timer(0.5, _thread.interrupt_main).start()
try:
    try:
        bp.replicate(scenario, 3)
    except Exception:
        print("swallowed")
except KeyboardInterrupt as error:
    print(type(error).__name__)
"""
    command = [sys.executable, "-c", program]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert (result.stdout, result.stderr) == ("Interrupted\n", "")
    assert result.returncode != -signal.SIGINT


def test_another_thread_can_end_a_run(tmp_path: Path) -> None:
    (tmp_path / "endless.toml").write_text(ENDLESS)
    stop = threading.Event()
    stop.set()
    with pytest.raises(bp.Interrupted):
        bp.run(bp.Scenario.load(tmp_path / "endless.toml"), stop=stop, progress=False)


def numbers(scenario: bp.Scenario) -> str:
    return without_engine(bp.run(scenario, progress=False).json())


@pytest.mark.parametrize("name", ["demo.toml", "pages.toml", "short-flows.toml", "leo-handover.toml"])
def test_a_pickled_scenario_is_the_same_run(name: str) -> None:
    scenario = bp.Scenario.load(SCENARIOS / name, {"seed": 5})
    again = pickle.loads(pickle.dumps(scenario))  # noqa: S301
    assert numbers(again) == numbers(scenario)
    assert copy.copy(scenario) is copy.deepcopy(scenario) is scenario


def test_a_pickled_scenario_needs_no_file(lossy: Path, tmp_path: Path) -> None:
    child = tmp_path / "child.toml"
    child.write_text(f'extends = "{lossy.name}"\n[flows.download]\nbytes = "100 kB"\n')
    scenarios = [bp.Scenario.load(child, {"seed": seed}) for seed in (1, 2)]
    expected = [numbers(scenario) for scenario in scenarios]
    lossy.unlink()
    child.unlink()
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(numbers, scenarios) == expected
