"""A batch of runs, and what it gives: one function for a thread of this process and for another machine."""

import hashlib
import json
import threading
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

import pyarrow as pa

from bentpipe import _core
from bentpipe.errors import RunError, ScenarioError, one_line
from bentpipe.numbers.declared import structure, tables
from bentpipe.runs.statistics import replication_seed
from bentpipe.runs.threads import Halted, Stopped

Job = tuple[int, Sequence[tuple[str, str]], Sequence[int]]
"""A point, what it changes of the scenario, and which of its replications are to be run."""

KINDS = tuple(table.removesuffix("s") for table in tables())
"""What a run has rows of, beside the one row ``run``, in the order of the dataset."""


@dataclass(frozen=True)
class Base:
    """The scenario that the points of a sweep change: what errors call it, and its whole text.

    `sources` says by name what its schemes in Python are; `own` are these, where it is to be run.
    """

    name: str
    text: str
    seed: int
    sources: Mapping[str, str] = field(default_factory=dict)
    own: tuple[_core.OwnScheme, ...] = ()


@dataclass(frozen=True)
class Done:
    """The rows of finished runs, what they took, and engine and version of who ran them."""

    rows: pa.Table
    runs: int
    failed: int
    spent_s: float
    who: tuple[str, str]


def simulate(base: Base, jobs: Sequence[Job], stop: threading.Event | None = None) -> Done:
    """Run the jobs, and give their rows; those of the jobs that were finished when somebody set `stop`.

    A run that fails has a row with its error.
    """
    began = time.monotonic()
    gathered = _Gathered()
    progress = _watching(stop) if stop is not None else None
    for point, settings, replications in jobs:
        scenario: _core.Scenario | None = None
        unusable: str | None = None
        try:
            scenario = changed(base, settings)
        except ScenarioError as wrong:
            unusable = str(wrong)
        for replication in replications:
            if stop is not None and stop.is_set():
                return gathered.done(began)
            seed = replication_seed(base.seed if scenario is None else scenario.seed, replication)
            row = _row(point, replication, seed, unusable)
            run = None
            if scenario is not None:
                row["scenario_sha256"] = _digest(base, scenario.toml(seed))
                try:
                    run = json.loads(scenario.simulate(seed=seed, progress=progress).json())
                    row["random"] = scenario.is_random()
                except (Stopped, Halted):
                    return gathered.done(began)
                except RunError as wrong:
                    row["error"] = str(wrong)
                except (Exception, SystemExit) as wrong:
                    if not base.own:
                        raise
                    row["error"] = _raised(wrong)
            gathered.add(row, run)
    return gathered.done(began)


def failed(base: Base, point: int, replication: int, error: str) -> Done:
    """Give the row of a run that nobody could finish, for this reason."""
    gathered = _Gathered()
    gathered.add(_row(point, replication, replication_seed(base.seed, replication), error), None)
    return gathered.done(time.monotonic())


def _row(point: int, replication: int, seed: int, error: str | None) -> dict[str, Any]:
    row = {"point": point, "replication": replication, "seed": seed}
    return {**row, "scenario_sha256": None, "error": error}


def who() -> tuple[str, str]:
    """Give engine and version of the bentpipe that this process has."""
    return _core.engine_version(), _core.version()


def changed(base: Base, settings: Sequence[tuple[str, str]]) -> _core.Scenario:
    """Give the scenario with these settings."""
    own = list(base.own)
    return _core.Scenario(base.name, list(settings), base.text.encode(), base.name, own=own)


def _digest(base: Base, text: str) -> str:
    """Give the hash of all that makes a run: its text, and the sources of its schemes in Python."""
    digest = hashlib.sha256(text.encode())
    if base.sources:
        digest.update(json.dumps(base.sources, sort_keys=True).encode())
    return digest.hexdigest()


def _raised(error: BaseException) -> str:
    """Say in a line what a hook has raised, and where; of what a hook has given, there is no place."""
    message = one_line(f"{type(error).__name__}: {error}", 400).removesuffix(":")
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename != __file__]
    if not frames:
        return message
    return f"{message} ({PurePath(frames[-1].filename).name}:{frames[-1].lineno}, {frames[-1].name})"


def _watching(stop: threading.Event) -> Any:
    def progress(*_: object) -> None:
        if stop.is_set():
            raise Stopped

    return progress


class _Gathered:
    def __init__(self) -> None:
        self._runs: list[dict[str, Any]] = []
        self._rows: dict[str, list[dict[str, Any]]] = {kind: [] for kind in KINDS}
        # Of each row the run that it is of.
        self._of: dict[str, list[int]] = {kind: [] for kind in KINDS}

    def add(self, row: dict[str, Any], run: dict[str, Any] | None) -> None:
        if run is not None:
            broken = [f"{flow['name']} failed: {flow['error']}" for flow in run["flows"] if flow.get("error")]
            row["error"] = "; ".join(broken) or None
            # What the scenario or the machine gives is not in the dataset.
            for numbers, of in ((structure("EngineResult"), run["engine"]), (structure(), run)):
                row |= {key: of[key] for key, one in numbers.items() if one.kind != "text" and not one.runs}
            for kind in KINDS:
                rows = run[f"{kind}s"]
                self._rows[kind] += rows
                self._of[kind] += [len(self._runs)] * len(rows)
        self._runs.append(row)

    def done(self, began: float) -> Done:
        heads = _table(self._runs) if self._runs else pa.table({})
        tables = [_of_kind("run", heads)] if self._runs else []
        for kind, rows in self._rows.items():
            if rows:
                of = pa.array(self._of[kind], pa.int32())
                about = heads.select(["point", "replication", "seed", "scenario_sha256"]).take(of)
                measured = _table(rows)
                for name in measured.column_names:
                    about = about.append_column("name" if name == "flow" else name, measured[name])
                tables.append(_of_kind(kind, about))
        table = pa.concat_tables(tables, promote_options="default") if tables else pa.table({})
        failures = sum(row["error"] is not None for row in self._runs)
        return Done(table, len(self._runs), failures, time.monotonic() - began, who())


def _of_kind(kind: str, table: pa.Table) -> pa.Table:
    return table.append_column("kind", pa.array([kind] * len(table), pa.string()))


def _table(rows: Sequence[dict[str, Any]]) -> pa.Table:
    """Make a table of rows that all have the keys of one of them."""
    names = max(rows, key=len)
    return pa.table({name: pa.array([row.get(name) for row in rows]) for name in names})
