"""Takes the points of time series from the simulator as they come: to a file, or into memory."""

from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any, Self

from bentpipe import _core
from bentpipe.errors import BentpipeError
from bentpipe.runs.subjects import Subjects
from bentpipe.runs.traces import LABELS, Traces

ROWS_AT_A_TIME = 1 << 19
"""Points in memory before they are written, a row group of the file."""

_BYTES_OF_A_POINT = 8
"""What a point may take in the file before the first ones have shown it."""


def identity_of(path: Path) -> str | None:
    """Give the identity of the run whose series this file holds, if it says one."""
    import pyarrow.parquet as pq

    found = (pq.read_schema(path).metadata or {}).get(b"bentpipe_identity")
    return None if found is None else found.decode()


class MemoryRecorder:
    """Keeps the points in memory, for `traces`."""

    rows_at_a_time = 2**63 - 1

    def __init__(self, subjects: Subjects) -> None:
        self.subjects = subjects
        self._points: _core.Points | None = None

    def __call__(self, points: _core.Points) -> bool:
        """Keep all points of a run; there is always room."""
        self._points = points
        return True

    def traces(self) -> Traces:
        """Give the curves that have a point; none is copied."""
        return Traces((), self.subjects) if self._points is None else Traces.of(self._points, self.subjects)


class FileRecorder:
    """Writes the points to a Parquet file, a row a point: subject, kind, unit, time_s, value.

    A row group is ordered by curve, and each curve's rows by time. The file's metadata hold the `Subjects`
    and the `identity` of the run.

    Raises BentpipeError: there is too little room on the disk to begin.
    Raises OSError: the file cannot be written.
    """

    rows_at_a_time = ROWS_AT_A_TIME

    def __init__(self, path: Path, subjects: Subjects, identity: str) -> None:
        require_room(path)
        self._path = path
        self._identity = identity
        self.subjects = subjects
        self._written_bytes = ROWS_AT_A_TIME * _BYTES_OF_A_POINT
        self._file: IO[bytes] = path.open("wb")
        self._writer: Any = None
        # It writes some points while the simulator makes the next.
        self._thread = ThreadPoolExecutor(1)
        self._writing: Future[None] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        try:
            if error is None:
                self._written()
                about = {"bentpipe": self.subjects.to_json(), "bentpipe_identity": self._identity}
                self._writer.add_key_value_metadata(about)
                self._writer.close()
        except OSError as failed:
            raise self._failure(failed) from failed
        finally:
            self._thread.shutdown(cancel_futures=True)
            if self._writer is not None:
                # It would try once more when it is collected, and say so on stderr.
                self._writer.is_open = False
            self._file.close()

    def __call__(self, points: _core.Points) -> bool:
        """Write points while the run goes on; say whether the disk has room for more."""
        try:
            self._written()
        except OSError as error:
            raise self._failure(error) from error
        # These and the next ones.
        room = _core.has_room(str(self._path), 2 * self._written_bytes)
        self._writing = self._thread.submit(self._write, points)
        return room

    def _written(self) -> None:
        """Wait until what was handed over is in the file."""
        if self._writing is not None:
            self._writing.result()

    def _write(self, points: _core.Points) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        batch = pa.record_batch(points)
        if self._writer is None:
            self._writer = pq.ParquetWriter(
                self._file,
                batch.schema,
                # Points of a curve differ in few of their bytes: with the first bytes of all values together,
                # then the second ones, the fastest compression makes them small.
                use_dictionary=list(LABELS),  # type: ignore[arg-type]
                use_byte_stream_split=["time_s", "value"],
                compression="lz4",
                write_statistics=["time_s", "value"],
                # Read back as plain strings.
                store_schema=False,
            )
        before = self._file.tell()
        self._writer.write_batch(batch, row_group_size=max(len(points), 1))
        self._file.flush()
        self._written_bytes = self._file.tell() - before

    def _failure(self, error: OSError) -> OSError:
        return OSError(error.errno, error.strerror or str(error), str(self._path))


def require_room(path: Path) -> None:
    """Raise `BentpipeError` when the disk of a file to be written is nearly full; its folder is there."""
    if not _core.has_room(str(path.parent), 0):
        raise BentpipeError(
            f"cannot write {path}: its disk is nearly full; "
            "recordings leave 64 MiB of a disk free, or a hundredth of it if that is less"
        )
