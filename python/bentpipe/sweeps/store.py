"""The folder of a sweep: what it is, the rows that are finished, and in the end one Parquet file.

============== =================================================================================
sweep.json     what is swept, and by what it is told from other sweeps
scenario.toml  the whole scenario that the points change
parts/         rows as they were finished, while the sweep runs and when it was interrupted
rows.parquet   all rows by point and replication, once all are there
before/        rows of another engine, until all are there anew
============== =================================================================================

Each file appears whole or not at all. A part is written once, and holds runs that no other file has. It goes
when all rows are in ``rows.parquet``; one that a killed writer left is told by its replications, which are
among those of ``rows.parquet``.
"""

import fcntl
import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from numpy.typing import NDArray

from bentpipe.errors import BentpipeError, InputError
from bentpipe.files.output import write_text
from bentpipe.sweeps.design import ABOUT, SCENARIO, Design
from bentpipe.sweeps.work import who

_Read = TypeVar("_Read")

ROWS, PARTS, BEFORE = "rows.parquet", "parts", "before"
_OWN = re.compile(r"[0-9]{8,}\.parquet|\.(rows|[0-9]{8,})\.parquet|\.bentpipe-[a-z0-9_]{8}\.part")
"""Names of what a writer makes, and of what it leaves when it is killed."""
_OF_BEFORE = re.compile(r"[0-9a-f]+-(rows|[0-9]{8,})\.parquet")
_ROWS_AT_A_TIME = 50_000
_TEXTS = ("error", "group", "name", "scenario_sha256")
_FIRST = ("point", "replication")
_THEN = ("kind", "name")
_LAST = ("error", "seed", "scenario", "scenario_sha256", "bentpipe", "engine")


def check(folder: Path, design: Design) -> None:
    """See that `folder` can take the rows of `design`.

    Raises InputError: it is the folder of another sweep, or of something else.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError(f"--out {folder}: expected a folder, found a file")
    if not (folder / ABOUT).exists():
        # A writer that was killed at its start leaves a hidden folder.
        if folder.is_dir() and any(not _OWN.fullmatch(path.name) for path in folder.iterdir()):
            raise InputError(
                f"--out {folder}: expected a new folder or that of this sweep, found other files"
            )
        return
    if not (folder / SCENARIO).exists() and Design.identity_in(folder) == design.identity:
        return
    found = Design.read(folder)
    if found.identity != design.identity:
        raise InputError(f"--out {folder}: expected a folder of this sweep, found {design.difference(found)}")
    if found.runs > design.runs:
        raise InputError(f"--runs {design.runs}: expected at least the {found.runs} that {folder} has")


def files(folder: Path) -> list[Path]:
    """Give the files that hold the rows of the sweep in `folder`, no row twice."""
    whole = folder / ROWS
    held = _about(whole, "bentpipe", lambda text: int(json.loads(text)["runs"])) if whole.exists() else 0
    parts = sorted((folder / PARTS).glob("[0-9]*.parquet"))
    newer = [path for path in parts if _about(path, "bentpipe_least_replication", int) >= held]
    return [whole, *newer] if held else newer


@contextmanager
def _rows_in(path: Path | None, found: str) -> Iterator[None]:
    """Say what was found there, for the error ``{}``, where rows cannot be read."""
    try:
        yield
    except (OSError, ValueError, KeyError, TypeError) as error:
        place = f"{path}: " if path else ""
        raise InputError(f"{place}expected rows of a sweep, found {found.format(error)}") from error


def _about(path: Path, key: str, read: Callable[[str], _Read]) -> _Read:
    """Read what a file of rows says of itself under `key`."""
    with _rows_in(path, "a file that holds something else"):
        return read((pq.read_metadata(path).metadata or {})[key.encode()].decode())


def _require_rows(path: Path) -> None:
    """See that a file of rows is one of ours, and not damaged."""
    _about(path, "bentpipe_engine", str)
    columns = ["point", "replication", "kind", "error"]
    with _rows_in(path, "a file that is damaged ({})"):
        pq.read_table(path, columns=columns, page_checksum_verification=True)


def dataset(folder: Path, design: Design) -> ds.Dataset:
    """Give all rows of the sweep in `folder`, without reading them."""
    found = files(folder)
    with _rows_in(folder, "files that hold something else"):
        schema = _ordered(pa.unify_schemas([pq.read_schema(path) for path in found]), design)
        checked = ds.ParquetFileFormat(
            default_fragment_scan_options=ds.ParquetFragmentScanOptions(page_checksum_verification=True)
        )
        return ds.dataset([str(path) for path in found], schema=schema, format=checked)


def read(rows: ds.Dataset, **what: Any) -> pa.Table:
    """Read rows of a dataset.

    Raises InputError: a file is damaged.
    """
    with _rows_in(None, "files that are damaged ({})"):
        return rows.to_table(**what)


class Store:
    """The rows of a sweep in its folder, to write; nobody else writes there meanwhile.

    Raises BentpipeError: the folder cannot be made, or somebody else writes there.
    """

    def __init__(self, folder: Path, design: Design) -> None:
        self.folder, self.design = folder, design
        self.who = who()
        """Engine and version that the rows are to be of."""
        self._last = 0
        try:
            Path(os.path.realpath(folder)).mkdir(parents=True, exist_ok=True)
            self._lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                self._begin()
            except BaseException:
                os.close(self._lock)
                raise
        except BlockingIOError as error:
            raise InputError(f"--out {folder}: expected a folder that no other sweep writes to") from error
        except OSError as error:
            raise BentpipeError(f"cannot write {folder}: {error.strerror}") from error

    def _begin(self) -> None:
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # What cannot be gone on with is refused before anything is written.
        for path in files(self.folder):
            _require_rows(path)
        write_text(self.folder / ABOUT, self.design.to_json())
        if not (self.folder / SCENARIO).exists():
            write_text(self.folder / SCENARIO, self.design.base.text)
        (self.folder / PARTS).mkdir(exist_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            (self.folder / PARTS).rmdir()
        os.close(self._lock)

    def take_over(self) -> tuple[NDArray[np.bool_], int, int]:
        """Tell which runs are there, by point and replication; how many failed; how many another engine ran.

        Files of another engine stand aside until all is there, and what a killed writer left goes.
        """
        done = np.zeros((len(self.design.points), self.design.runs), dtype=bool)
        failed = dropped = 0
        of_use = files(self.folder)
        for path in (self.folder / PARTS).iterdir():
            if path not in of_use and _OWN.fullmatch(path.name):
                path.unlink(missing_ok=True)
        for path in of_use:
            runs = pq.read_table(
                path, columns=["point", "replication", "error"], filters=[("kind", "=", "run")]
            )
            other = _about(path, "bentpipe_engine", str)
            if other != self.who[0]:
                dropped += len(runs)
                (self.folder / BEFORE).mkdir(exist_ok=True)
                path.replace(self.folder / BEFORE / f"{other}-{path.name}")
                continue
            done[runs["point"].to_numpy(), runs["replication"].to_numpy()] = True
            failed += len(runs) - runs["error"].null_count
            if path.parent.name == PARTS:
                self._last = int(path.stem)
        return done, failed, dropped

    def add(self, rows: Sequence[pa.Table]) -> None:
        """Write rows of finished runs as a part."""
        table = self._completed(pa.concat_tables(rows, promote_options="default"))
        about = {"bentpipe_least_replication": str(pc.min(table["replication"]))}
        with self._written(self.folder / PARTS / f"{self._last + 1:08}.parquet", table.schema, about) as part:
            part.write_table(table)
        self._last += 1

    def finish(self) -> None:
        """Bring all rows, by point and replication, into one file, and remove the parts.

        The same sweep by the same engine gives the same bytes, however often it was interrupted.
        """
        found = files(self.folder)
        whole = self.folder / ROWS
        if found != [whole]:
            rows = dataset(self.folder, self.design)
            total = sum(pq.read_metadata(path).num_rows for path in found)
            points = len(self.design.points)
            step = max(1, _ROWS_AT_A_TIME * points // max(1, total))
            about = {"bentpipe": self.design.to_json()}
            with self._written(whole, rows.schema, about) as file:
                for first in range(0, points, step):
                    wanted = (pc.field("point") >= first) & (pc.field("point") < first + step)
                    some = read(rows, filter=wanted, batch_readahead=1, fragment_readahead=1)
                    # The sort is stable: the rows of a run stay in their order.
                    order = pc.sort_indices(some, [("point", "ascending"), ("replication", "ascending")])
                    file.write_table(some.take(order).combine_chunks())
                    del some, order
                    pa.default_memory_pool().release_unused()
        for path in found:
            if path != whole:
                path.unlink()
        if (before := self.folder / BEFORE).is_dir():
            for path in before.iterdir():
                if _OF_BEFORE.fullmatch(path.name):
                    path.unlink()
            with suppress(OSError):
                before.rmdir()

    @contextmanager
    def _written(self, path: Path, schema: pa.Schema, about: dict[str, str]) -> Iterator[pq.ParquetWriter]:
        """Write rows to a hidden file, which is `path` when all of them are on the disk."""
        hidden = self.folder / PARTS / f".{path.name}"
        try:
            with pq.ParquetWriter(hidden, schema, compression="zstd", write_page_checksum=True) as writer:
                yield writer
                writer.add_key_value_metadata({**about, "bentpipe_engine": self.who[0]})
            with hidden.open("rb") as file:
                os.fsync(file.fileno())
            hidden.replace(path)
        except OSError as error:
            # What pyarrow raises has a text of its own around the reason.
            reason = os.strerror(error.errno) if error.errno else str(error)
            raise BentpipeError(f"cannot write {self.folder}: {reason}") from error

    def _completed(self, table: pa.Table) -> pa.Table:
        """Add what points have set, and who ran them."""
        points, each = np.unique(table["point"].to_numpy(), return_inverse=True)
        places = np.array([self.design.points.places(point) for point in points.tolist()])
        for number, (_, columns) in enumerate(self.design.columns):
            for name, values in columns.items():
                table = table.append_column(name, values.take(pa.array(places[each, number])))
        engine, version = self.who
        for name, text in (("scenario", self.design.title), ("bentpipe", version), ("engine", engine)):
            table = table.append_column(name, pa.array([text] * len(table), pa.string()))
        schema = _ordered(table.schema, self.design, keep_unknown=True)
        for name in set(schema.names) - set(table.schema.names):
            table = table.append_column(name, pa.nulls(len(table)))
        return table.select(schema.names).cast(schema)


def missing_runs(done: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """Give point and replication of the runs that are not done."""
    for point, there in enumerate(done):
        for replication in np.flatnonzero(~there).tolist():
            yield point, replication


def _ordered(schema: pa.Schema, design: Design, *, keep_unknown: bool = False) -> pa.Schema:
    """Put the columns in their order: where a row belongs, what was set, what was measured, who ran it.

    A column of which no value is known is of texts or, unless it is to stay unknown, of numbers.
    """
    settings = [name for _, columns in design.columns for name in columns]
    named = {*_FIRST, *settings, *_THEN, *_LAST}
    measured = sorted(name for name in schema.names if name not in named)
    order = [*_FIRST, *settings, *_THEN, *measured, *_LAST]

    def field(name: str) -> "pa.Field[Any]":
        found = schema.field(name) if name in schema.names else pa.field(name, pa.null())
        if not pa.types.is_null(found.type):
            return found
        return found.with_type(pa.string() if name in _TEXTS else pa.null() if keep_unknown else pa.float64())

    return pa.schema([field(name) for name in order])
