"""A batch of runs, and what it gives: one function for a thread of this process and for another machine."""

import hashlib
import json
import threading
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from bentpipe import _core
from bentpipe.errors import BentpipeError, RunError, ScenarioError, one_line
from bentpipe.numbers.declared import structure, tables
from bentpipe.runs.statistics import replication_seed
from bentpipe.runs.threads import Halted, Stopped

if TYPE_CHECKING:
    import pyarrow as pa

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
    """The rows of finished runs, and what they took; `engine` and `version` are of who ran them."""

    rows: "pa.Table"
    runs: int
    failed: int
    spent_s: float
    engine: str
    version: str


def simulate(base: Base, jobs: Sequence[Job], stop: threading.Event | None = None) -> Done:
    """Run the jobs, and give their rows; those of the jobs that were finished when somebody set `stop`.

    A run that fails has a row with its error.
    """
    began = time.monotonic()
    gathered = _Gathered()
    progress = _watching(stop) if stop is not None else None
    for point, settings, replications in jobs:
        scenario: _core.Scenario | None = None
        unusable = ""
        try:
            scenario = _changed(base, settings)
        except ScenarioError as wrong:
            unusable = str(wrong)
        for replication in replications:
            if stop is not None and stop.is_set():
                return gathered.done(began)
            seed = replication_seed(base.seed if scenario is None else scenario.seed, replication)
            digest, run, error = None, None, unusable
            if scenario is not None:
                digest = _digest(base, scenario.toml(seed))
                try:
                    run = json.loads(scenario.simulate(seed=seed, progress=progress).json())
                except (Stopped, Halted):
                    return gathered.done(began)
                except RunError as wrong:
                    error = str(wrong)
                except (Exception, SystemExit) as wrong:
                    if not base.own:
                        raise
                    error = _raised(wrong)
            random = scenario is None or scenario.is_random()
            gathered.add(point, replication, seed, digest, run, error, random)
    return gathered.done(began)


def failed(base: Base, point: int, replication: int, error: str) -> Done:
    """Give the row of a run that nobody could finish, for this reason."""
    gathered = _Gathered()
    gathered.add(point, replication, replication_seed(base.seed, replication), None, None, error)
    return gathered.done(time.monotonic())


def who() -> tuple[str, str]:
    """Give engine and version of the bentpipe that this process has."""
    return _core.engine_version(), _core.version()


def _changed(base: Base, settings: Sequence[tuple[str, str]]) -> _core.Scenario:
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
    told = one_line(f"{type(error).__name__}: {error}", 400).removesuffix(":")
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename != __file__]
    if not frames:
        return told
    return f"{told} ({PurePath(frames[-1].filename).name}:{frames[-1].lineno}, {frames[-1].name})"


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
        self._failed = 0

    def add(
        self,
        point: int,
        replication: int,
        seed: int,
        digest: str | None,
        run: dict[str, Any] | None,
        error: str,
        random: bool = True,
    ) -> None:
        row: dict[str, Any] = {
            "point": point,
            "replication": replication,
            "seed": seed,
            "scenario_sha256": digest,
            "error": error or None,
        }
        if run is not None:
            broken = [f"{flow['name']} failed: {flow['error']}" for flow in run["flows"] if flow.get("error")]
            row["error"] = "; ".join(broken) or None
            # What the scenario or the machine gives is not in the dataset.
            for numbers, of in ((structure("EngineResult"), run["engine"]), (structure(), run)):
                row |= {key: of[key] for key, one in numbers.items() if one.kind != "text" and not one.runs}
            row["random"] = random
            for kind in KINDS:
                rows = run[f"{kind}s"]
                self._rows[kind] += rows
                self._of[kind] += [len(self._runs)] * len(rows)
        self._failed += row["error"] is not None
        self._runs.append(row)

    def done(self, began: float) -> Done:
        import pyarrow as pa

        heads = _table(self._runs) if self._runs else pa.table({})
        tables = [_of_kind("run", heads)] if self._runs else []
        for kind, rows in self._rows.items():
            if rows:
                of = pa.array(self._of[kind], pa.int32())
                about = heads.select(["point", "replication", "seed", "scenario_sha256"]).take(of)
                measured = _table(rows)
                if "flow" in measured.column_names:
                    measured = measured.rename_columns(
                        ["name" if name == "flow" else name for name in measured.column_names]
                    )
                for name in measured.column_names:
                    about = about.append_column(name, measured[name])
                tables.append(_of_kind(kind, about))
        table = pa.concat_tables(tables, promote_options="default") if tables else pa.table({})
        engine, version = who()
        return Done(table, len(self._runs), self._failed, time.monotonic() - began, engine, version)


def _of_kind(kind: str, table: "pa.Table") -> "pa.Table":
    import pyarrow as pa

    return table.append_column("kind", pa.array([kind] * len(table), pa.string()))


def _table(rows: Sequence[dict[str, Any]]) -> "pa.Table":
    """Make a table of rows that all have the keys of one of them."""
    import pyarrow as pa

    names = max(rows, key=len)
    return pa.table({name: pa.array([row.get(name) for row in rows]) for name in names})


def check(base: Base, settings: Sequence[tuple[str, str]]) -> BentpipeError | None:
    """Say what is wrong with the scenario of these settings, if anything is."""
    try:
        _changed(base, settings)
    except ScenarioError as error:
        return error
    return None
