"""Python as a user imports it."""

import copy
import json
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

import bentpipe
from bentpipe.cli import cli
from conftest import ENDLESS, SCENARIOS, without_engine


def test_every_exported_name_is_there_and_is_listed() -> None:
    assert set(bentpipe.__all__) <= set(dir(bentpipe))
    assert all(getattr(bentpipe, name) is not None for name in bentpipe.__all__)
    with pytest.raises(AttributeError, match="nope"):
        _ = bentpipe.nope


def test_errors_are_one_family_and_an_interruption_is_none_of_them() -> None:
    assert issubclass(bentpipe.ScenarioError, bentpipe.InputError)
    assert issubclass(bentpipe.InputError, bentpipe.BentpipeError)
    assert issubclass(bentpipe.RunError, bentpipe.BentpipeError)
    assert issubclass(bentpipe.Interrupted, KeyboardInterrupt)
    assert not issubclass(bentpipe.Interrupted, Exception)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("runs", value) for value in (0, -1, True, 1.5, "x", math.nan, 1_000_001, [3])),
        *(("seed", value) for value in (-1, 2**53, True, "1", 0.5)),
        *(("threads", value) for value in (0, -1, True, "2", 10**9)),
        *(("precision", value) for value in (-1, 0, 1, 2.0, math.nan, math.inf, True, "2%", [0.1])),
        ("traces", "yes"),
        ("pcap", 7),
        ("series_file", 7),
        ("series", ":cwnd"),
        *((limit, value) for limit in ("series_limit", "pcap_limit", "snap") for value in (0, True, 1.5)),
    ],
)
def test_a_plan_that_cannot_be_names_its_field(field: str, value: Any) -> None:
    with pytest.raises(bentpipe.InputError, match=f"^{field}: expected .*found"):
        bentpipe.Plan(**{field: value})


def test_a_plan_takes_the_numbers_of_numpy_and_paths_as_text() -> None:
    plan: Any = bentpipe.Plan(
        runs=np.int64(3),  # type: ignore[arg-type]
        seed=np.uint8(7),  # type: ignore[arg-type]
        precision=np.float32(0.25),  # type: ignore[arg-type]
        pcap="packets.pcapng",  # type: ignore[arg-type]
    )
    assert plan == bentpipe.Plan(seed=7, runs=3, precision=0.25, pcap=Path("packets.pcapng"))
    assert type(plan.runs) is int


def test_the_command_line_has_the_bound_of_a_plan() -> None:
    (runs,) = [option for option in cli.commands["run"].params if option.name == "runs"]
    assert "1,000,000" in str(getattr(runs, "help", ""))
    assert bentpipe.Plan(runs=1_000_000).runs == 1_000_000


@pytest.mark.parametrize("scenario", [None, "lossy.toml", 7])
def test_what_is_no_scenario_is_said_to_be_none(scenario: Any) -> None:
    with pytest.raises(bentpipe.InputError, match=r"expected a scenario, as bentpipe\.load gives it, found"):
        bentpipe.execute(scenario)


def test_what_is_no_plan_is_said_to_be_none(lossy: Path) -> None:
    with pytest.raises(bentpipe.InputError, match=r"expected a bentpipe\.Plan, found int"):
        bentpipe.execute(bentpipe.load(lossy), 3)  # type: ignore[arg-type]


def test_a_scenario_alone_is_run_once(lossy: Path) -> None:
    outcome = bentpipe.execute(bentpipe.load(lossy))
    assert outcome.run["seed"] == 7
    assert isinstance(outcome.run["flows"][0]["goodput_bps"], float)
    assert outcome.failures == ()


def test_settings_are_a_mapping_or_pairs_and_values_may_be_numbers(lossy: Path) -> None:
    mapping = bentpipe.load(lossy, {"seed": 9, "title": "other"})
    pairs = bentpipe.load(str(lossy), [("seed", "9"), ("title", "other")])
    assert (mapping.seed, mapping.title) == (pairs.seed, pairs.title) == (9, "other")


@pytest.mark.parametrize(
    "settings", [7, "seed=7", b"seed", ["seed"], [("a", 1, 2)], {7: 1}, {"seed": None}, {"a": "\udc80"}]
)
def test_settings_that_cannot_be_are_one_line(lossy: Path, settings: Any) -> None:
    with pytest.raises(bentpipe.InputError, match=r"^settings: .*expected .*found"):
        bentpipe.load(lossy, settings)


@pytest.mark.parametrize("path", [None, 7, b"lossy.toml"])
def test_a_path_is_text_or_a_path(path: Any) -> None:
    with pytest.raises(bentpipe.InputError, match=r"^path: expected a str or a Path, found"):
        bentpipe.load(path)


@pytest.mark.parametrize("settings", [{}, {"nope": "1"}])
def test_a_scenario_that_cannot_be_read_is_an_exported_error(
    tmp_path: Path, lossy: Path, settings: dict[str, str]
) -> None:
    with pytest.raises(bentpipe.ScenarioError):
        bentpipe.load(lossy if settings else tmp_path / "none.toml", settings)


def test_a_run_without_a_result_is_an_exported_error(lossy: Path, tmp_path: Path) -> None:
    for plan in (bentpipe.Plan(pcap=tmp_path / "no" / "x"), bentpipe.Plan(series_file=tmp_path / "no" / "x")):
        with pytest.raises(bentpipe.RunError, match=r"cannot write .*: there is no folder"):
            bentpipe.execute(bentpipe.load(lossy), plan)
    with pytest.raises(bentpipe.RunError, match="cannot write the capture"):
        bentpipe.execute(bentpipe.load(lossy), bentpipe.Plan(pcap=Path("/proc/x.pcapng")))


def test_flows_that_break_are_in_the_outcome(lossy: Path) -> None:
    dead = bentpipe.load(lossy, {"links.satellite.loss.probability": 1})
    single = bentpipe.execute(dead).failures
    assert single == (bentpipe.Failure("download", "the retransmission limit was reached without an answer"),)
    (several,) = bentpipe.execute(dead, bentpipe.Plan(runs=2)).failures
    assert (several.runs, several.of) == (2, 2)


def test_ctrl_c_is_not_swallowed_by_those_who_catch_every_exception(tmp_path: Path) -> None:
    (tmp_path / "endless.toml").write_text(ENDLESS)
    program = """\
import _thread, threading
import bentpipe
scenario = bentpipe.load("endless.toml")
threading.Timer(0.5, _thread.interrupt_main).start()
try:
    try:
        bentpipe.execute(scenario, bentpipe.Plan(runs=3))
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
    with pytest.raises(bentpipe.Interrupted):
        bentpipe.execute(bentpipe.load(tmp_path / "endless.toml"), stop=stop, title=None)


def numbers(scenario: bentpipe.Scenario) -> str:
    return without_engine(json.dumps(bentpipe.execute(scenario, title=None).run))


@pytest.mark.parametrize("name", ["demo.toml", "pages.toml", "leo-handover.toml"])
def test_a_pickled_scenario_is_the_same_run(name: str) -> None:
    scenario = bentpipe.load(SCENARIOS / name, {"seed": 5})
    again = pickle.loads(pickle.dumps(scenario))  # noqa: S301
    assert numbers(again) == numbers(scenario)
    assert copy.copy(scenario) is copy.deepcopy(scenario) is scenario


def test_a_pickled_scenario_needs_no_file(lossy: Path, tmp_path: Path) -> None:
    child = tmp_path / "child.toml"
    child.write_text(f'extends = "{lossy.name}"\n[flows.download]\nbytes = "100 kB"\n')
    scenarios = [bentpipe.load(child, {"seed": seed}) for seed in (1, 2)]
    expected = [numbers(scenario) for scenario in scenarios]
    lossy.unlink()
    child.unlink()
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(numbers, scenarios) == expected
