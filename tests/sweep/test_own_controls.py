"""Sweeps with controls written in Python: by class, object and name, here and on a cluster."""
# ruff: noqa: ARG002

import dataclasses
import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow.parquet as pq
import pytest
from test_cluster import cluster

import bentpipe as bp
from conftest import LOSSY, PROGRAM, files_in

SCENARIO = bp.Scenario.from_toml(LOSSY).with_({"flows.download.bytes": "200 kB"})
LOSS, CONTROL = "links.satellite.loss.probability", "flows.download.control"

MODULE = """\
import bentpipe as bp

KEEPS = 0.5


def least(w):
    return 2 * w.smss


class Gentle(bp.Control):
    name = "gentle"

    def __init__(self, keeps=None):
        self.keeps = keeps

    def on_loss(self, w, loss):
        w.cwnd = w.ssthresh = max((self.keeps or KEEPS) * loss.flight, least(w))
        return True


class Broken(bp.Control):
    name = "broken"

    def on_loss(self, w, loss):
        raise ZeroDivisionError("no window\\nat all")


class Tiny(bp.Control):
    name = "tiny"

    def on_loss(self, w, loss):
        w.cwnd = 1.0
        return True
"""


def loaded(folder: Path, text: str = MODULE) -> Any:
    """Load a module that stands in a folder of which only this process knows, as a person's own does."""
    path = folder / "controls_of_mine.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module: ModuleType = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def mine(tmp_path: Path) -> Any:
    yield loaded(tmp_path)
    del sys.modules["controls_of_mine"]


def rows(folder: Path, kind: str = "run") -> list[dict[str, Any]]:
    return [row for row in pq.read_table(folder / "rows.parquet").to_pylist() if row["kind"] == kind]


def sweep(scenario: bp.Scenario, vary: Any, out: Path, **options: Any) -> bp.Sweep:
    return bp.sweep(scenario, vary, out=out, progress=False, **options)


def test_a_row_has_what_the_run_by_itself_gives(mine: Any, tmp_path: Path) -> None:
    bulk = SCENARIO.with_({"flows.download.bytes": "2 MB", "tcp.receive_window": "1 MiB"})
    own = bulk.with_({CONTROL: mine.Gentle(keeps=0.8)})
    sweep(own, {LOSS: [0.001, 0.02]}, tmp_path / "found", runs=2)
    flow = rows(tmp_path / "found", "flow")[3]
    alone = bp.run(own.with_({LOSS: 0.02, "seed": flow["seed"]}))
    assert flow["goodput_bps"] == alone.flows["download"]["goodput_bps"]
    ours = bp.run(bulk.with_({LOSS: 0.02, "seed": flow["seed"]}))
    assert flow["goodput_bps"] != ours.flows["download"]["goodput_bps"]


def test_controls_are_values_of_a_key_by_class_object_and_name(mine: Any, tmp_path: Path) -> None:
    values = ["standard", mine.Gentle, mine.Gentle(keeps=0.8)]
    found = sweep(SCENARIO, {CONTROL: values}, tmp_path / "found", runs=3)
    groups = {group.values[0]: group.numbers[0] for group in found.groups([CONTROL], ["goodput_bps"])}
    assert list(groups) == ["standard", "gentle", "gentle-2"]
    assert groups["standard"] == groups["gentle"] != groups["gentle-2"]
    named = bp.Scenario.from_toml(SCENARIO.toml(), own=[mine.Gentle])
    by_name = sweep(named, {CONTROL: "standard,gentle"}, tmp_path / "named", runs=3)
    again = {group.values[0]: group.numbers[0] for group in by_name.groups([CONTROL], ["goodput_bps"])}
    assert again == {name: groups[name] for name in ("standard", "gentle")}


def test_the_folder_says_what_the_control_was_and_can_be_read_without_it(mine: Any, tmp_path: Path) -> None:
    own = SCENARIO.with_({CONTROL: mine.Gentle(keeps=0.8)})
    sweep(own, {LOSS: [0.01]}, tmp_path / "found")
    told = json.loads((tmp_path / "found" / "sweep.json").read_text())["controls"]["gentle"]
    assert told == (
        "class Gentle(Control):\n"
        "def __init__(self, keeps=None):\n"
        "    self.keeps = keeps\n"
        "def on_loss(self, w, loss):\n"
        "    w.cwnd = w.ssthresh = max((self.keeps or KEEPS) * loss.flight, least(w))\n"
        "    return True\n"
        "KEEPS = 0.5\n"
        "def least(w):\n"
        "    return 2 * w.smss\n"
        "Gentle.name = 'gentle'\n"
        "Gentle().keeps = 0.8"
    )
    shown = subprocess.run([PROGRAM, "show", tmp_path / "found"], capture_output=True, check=True)
    assert b"goodput" in shown.stdout


@pytest.mark.parametrize(
    ("old", "new"), [("KEEPS = 0.5", "KEEPS = 0.6"), ("2 * w", "3 * w"), ("max(", "1.0 * max(")]
)
def test_another_source_is_another_sweep(mine: Any, tmp_path: Path, old: str, new: str) -> None:
    found = tmp_path / "found"
    sweep(SCENARIO.with_({CONTROL: mine.Gentle}), {LOSS: [0.01]}, found)
    before = rows(found)
    assert MODULE.replace(old, new) != MODULE
    changed = SCENARIO.with_({CONTROL: loaded(tmp_path, MODULE.replace(old, new)).Gentle})
    with pytest.raises(bp.InputError, match="found one with another gentle, whose source is in its sweep"):
        sweep(changed, {LOSS: [0.01]}, found)
    sweep(changed, {LOSS: [0.01]}, tmp_path / "other")
    assert rows(tmp_path / "other")[0]["scenario_sha256"] != before[0]["scenario_sha256"]
    # What the control does not use is no part of it.
    beside = loaded(tmp_path, "import os\n" + MODULE.replace("ZeroDivisionError", "ValueError"))
    told: list[Any] = []
    sweep(SCENARIO.with_({CONTROL: beside.Gentle}), {LOSS: [0.01]}, found, on_counts=told.append)
    assert told[0].before == 1


def test_another_object_is_another_sweep(mine: Any, tmp_path: Path) -> None:
    sweep(SCENARIO.with_({CONTROL: mine.Gentle(0.8)}), {LOSS: [0.01]}, tmp_path / "found")
    with pytest.raises(bp.InputError, match="found one with another gentle"):
        sweep(SCENARIO.with_({CONTROL: mine.Gentle(0.7)}), {LOSS: [0.01]}, tmp_path / "found")


def test_what_a_hook_raises_is_the_error_of_its_row(mine: Any, tmp_path: Path) -> None:
    found = sweep(SCENARIO, {CONTROL: [mine.Broken, mine.Gentle, mine.Tiny]}, tmp_path / "found", runs=2)
    line = 1 + MODULE.splitlines().index('        raise ZeroDivisionError("no window\\nat all")')
    told = f"ZeroDivisionError: no window at all (controls_of_mine.py:{line}, on_loss)"
    given = "ValueError: cwnd: expected at least a segment of 1460 bytes, found 1"
    assert found.failed() == [(0, 0, told), (0, 1, told), (2, 0, given), (2, 1, given)]
    assert [row[CONTROL] for row in rows(tmp_path / "found", "flow")] == ["gentle", "gentle"]


@dataclasses.dataclass
class Written(bp.Control):
    """Says its options as a dataclass."""

    name = "written"
    keeps: float = 0.7

    def on_loss(self, w: bp.Window, loss: bp.Loss) -> bool:
        w.cwnd = w.ssthresh = max(self.keeps * loss.flight, 2 * w.smss)
        return True


class Holds(bp.Control):
    name = "holds"

    def __init__(self) -> None:
        self.stream = object()

    def on_loss(self, w: bp.Window, loss: bp.Loss) -> bool:
        return False


def test_a_dataclass_is_one_too(tmp_path: Path) -> None:
    sweep(SCENARIO.with_({CONTROL: Written(keeps=0.9)}), {LOSS: [0.01]}, tmp_path / "found")
    told = json.loads((tmp_path / "found" / "sweep.json").read_text())["controls"]["written"]
    assert "Written().keeps = 0.9" in told


def test_what_cannot_be_written_down_is_one_line_and_nothing_is_written(tmp_path: Path) -> None:
    wanted = r"^scenario: holds: expected numbers and texts, .* found Holds\(\)\.stream of object$"
    with pytest.raises(bp.InputError, match=wanted):
        sweep(SCENARIO.with_({CONTROL: Holds()}), {LOSS: [0.01]}, tmp_path / "found")
    names: dict[str, Any] = {"bp": bp}
    program = "class Lost(bp.Control):\n    name = 'lost'\n    def on_ack(self, w, ack):\n        pass\n"
    exec(program, names)  # noqa: S102
    with pytest.raises(bp.InputError, match=r"^scenario: lost: expected a class whose source can be read"):
        sweep(SCENARIO.with_({CONTROL: names["Lost"]}), {LOSS: [0.01]}, tmp_path / "found")
    assert files_in(tmp_path) == []


def test_workers_of_a_cluster_need_not_have_the_module(mine: Any, tmp_path: Path) -> None:
    vary = {CONTROL: ["standard", mine.Gentle(0.8), mine.Broken]}
    with cluster("1") as running:
        sweep(SCENARIO, vary, tmp_path / "far", runs=2, on=running.address)
    sweep(SCENARIO, vary, tmp_path / "here", runs=2)
    both = [(tmp_path / name / "rows.parquet").read_bytes() for name in ("far", "here")]
    assert both[0] == both[1]
    assert len(rows(tmp_path / "far")) == 6


@pytest.mark.usefixtures("mine")
def test_what_workers_do_not_have_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "helpers_of_mine.py").write_text("def least(w):\n    return 2 * w.smss\n")
    sys.path.insert(0, str(tmp_path))
    try:
        text = "from helpers_of_mine import least\n" + MODULE.replace("def least", "def unused")
        own = SCENARIO.with_({CONTROL: loaded(tmp_path, text).Gentle})
    finally:
        sys.path.remove(str(tmp_path))
    wanted = r"^--on: a worker cannot use the classes in Python \(No module named 'helpers_of_mine'\)$"
    with cluster("1") as running, pytest.raises(bp.RunError, match=wanted):
        sweep(own, {LOSS: [0.01]}, tmp_path / "far", on=running.address)
    del sys.modules["helpers_of_mine"]
