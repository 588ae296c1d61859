"""Takes the points of time series from the simulator as they come: to a file, or into memory."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from bentpipe import _core
from bentpipe.errors import BentpipeError
from bentpipe.subjects import Subjects
from bentpipe.traces import Trace, Traces

if TYPE_CHECKING:
    import pyarrow as pa

ROWS_AT_A_TIME = 1 << 19
"""Points in memory before they are written, a row group of the file."""

_BYTES_OF_A_POINT = 8
"""What a point may take in the file before the first ones have shown it."""

Points = tuple[NDArray[np.uint32], NDArray[np.float64], NDArray[np.float64]]
"""Numbers of curves, times in s, and values, of equal length."""


def identity_of(path: Path) -> str | None:
    """Give the identity of the run whose series this file holds, if it says one."""
    import pyarrow.parquet as pq

    found = (pq.read_schema(path).metadata or {}).get(b"bentpipe_identity")
    return None if found is None else found.decode()


class MemoryRecorder:
    """Keeps the points in memory, for `traces`."""

    def __init__(self, subjects: Subjects) -> None:
        self.subjects = subjects
        self._points: list[Points] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __call__(self, curves: bytes, times_s: bytes, values: bytes) -> bool:
        """Keep points; there is always room."""
        self._points.append(_unpack(curves, times_s, values))
        return True

    def traces(self) -> Traces:
        """Give the curves that have a point."""
        curves, times_s, values = _by_curve(self._points)
        subject, kind = _decode(curves, self.subjects)
        names, kinds = self.subjects.names(), list(self.subjects.kinds().items())

        def trace(first: int, last: int) -> Trace:
            name, (what, unit) = names[subject[first]], kinds[kind[first]]
            return Trace(name, what, unit, times_s[first:last], values[first:last])

        return Traces(tuple(trace(*bounds) for bounds in _bounds(curves)), self.subjects)


class FileRecorder:
    """Writes the points to a Parquet file, a row a point: subject, kind, unit, time_s, value.

    A row group is ordered by curve, and each curve's rows by time. The file's metadata hold the `Subjects`
    and the `identity` of the run.

    Raises
    ------
    BentpipeError
        There is too little room on the disk to begin.
    OSError
        The file cannot be written.
    """

    def __init__(self, path: Path, subjects: Subjects, identity: str) -> None:
        require_room(path)
        self._path = path
        self._identity = identity
        self.subjects = subjects
        self._points: list[Points] = []
        self._rows = 0
        self._written_bytes = ROWS_AT_A_TIME * _BYTES_OF_A_POINT
        self._file: IO[bytes] = path.open("wb")
        self._writer: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self._write()
                about = {"bentpipe": self.subjects.to_json(), "bentpipe_identity": self._identity}
                self._writer.add_key_value_metadata(about)
                self._writer.close()
        except OSError as failed:
            raise self._failure(failed) from failed
        finally:
            if self._writer is not None:
                # It would try once more when it is collected, and say so on stderr.
                self._writer.is_open = False
            self._file.close()

    def __call__(self, curves: bytes, times_s: bytes, values: bytes) -> bool:
        """Write points, or keep them until there are enough; say whether the disk has room for more."""
        self._points.append(_unpack(curves, times_s, values))
        self._rows += len(self._points[-1][0])
        if self._rows < ROWS_AT_A_TIME:
            return True
        before = self._file.tell()
        try:
            self._write()
            self._file.flush()
        except OSError as error:
            raise self._failure(error) from error
        self._written_bytes = self._file.tell() - before
        return _core.has_room(str(self._path), self._written_bytes)

    def _write(self) -> None:
        import pyarrow.parquet as pq

        table = _table(self._points, self.subjects)
        self._points, self._rows = [], 0
        if self._writer is None:
            self._writer = pq.ParquetWriter(
                self._file,
                table.schema,
                compression="zstd",
                # Read back as plain strings.
                store_schema=False,
            )
        self._writer.write_table(table)

    def _failure(self, error: OSError) -> OSError:
        return OSError(error.errno, error.strerror or str(error), str(self._path))


def require_room(path: Path) -> None:
    """Raise `BentpipeError` when the disk of a file to be written is nearly full; its folder is there."""
    if not _core.has_room(str(path.parent), 0):
        raise BentpipeError(
            f"cannot write {path}: its disk is nearly full; "
            "recordings leave 64 MiB of a disk free, or a hundredth of it if that is less"
        )


def _unpack(curves: bytes, times_s: bytes, values: bytes) -> Points:
    return np.frombuffer(curves, np.uint32), np.frombuffer(times_s), np.frombuffer(values)


def _by_curve(points: list[Points]) -> Points:
    """Put points of one curve together; they stay in their order."""
    if not points:
        return np.empty(0, np.uint32), np.empty(0), np.empty(0)
    curves = np.concatenate([curves for curves, _, _ in points])
    order = np.argsort(curves, kind="stable")
    times_s = np.concatenate([times_s for _, times_s, _ in points])[order]
    values = np.concatenate([values for _, _, values in points])[order]
    return curves[order], times_s, values


def _decode(curves: NDArray[np.uint32], subjects: Subjects) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Give the number of the subject and of the kind of each curve."""
    flow_kinds, link_kinds = len(subjects.flow_kinds), len(subjects.link_kinds)
    first = len(subjects.flows) * flow_kinds
    of_flow = curves < first
    behind = curves - np.uint32(first)
    subject = np.where(of_flow, curves // flow_kinds, len(subjects.flows) + behind // link_kinds)
    kind = np.where(of_flow, curves % flow_kinds, flow_kinds + behind % link_kinds)
    return subject.astype(np.uint32), kind.astype(np.uint32)


def _bounds(curves: NDArray[Any]) -> Iterator[tuple[int, int]]:
    """Give where each curve begins and ends."""
    changes = np.flatnonzero(curves[1:] != curves[:-1]) + 1
    ends = [0, *changes.tolist(), len(curves)] if len(curves) else [0]
    return pairwise(ends)


def _table(points: list[Points], subjects: Subjects) -> "pa.Table":
    import pyarrow as pa

    curves, times_s, values = _by_curve(points)
    subject, kind = _decode(curves, subjects)
    names, kinds = subjects.names(), subjects.kinds()
    used, place = np.unique(subject, return_inverse=True)

    def labels(codes: NDArray[np.integer], texts: Sequence[str]) -> "pa.DictionaryArray[Any, Any]":
        return pa.DictionaryArray.from_arrays(codes.astype(np.int32), pa.array(texts, pa.string()))

    columns: dict[str, pa.Array[Any]] = {
        "subject": labels(place, [names[number] for number in used]),
        "kind": labels(kind, list(kinds)),
        "unit": labels(kind, list(kinds.values())),
    }
    return pa.table({**columns, "time_s": pa.array(times_s), "value": pa.array(values)})
