"""Time series of a run: what a flow or link did, moment by moment."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bentpipe._core import RunResult
from bentpipe.errors import InputError

_COLUMNS = ("subject", "kind", "unit", "time_s", "value")


@dataclass(frozen=True)
class Trace:
    """One curve: `kind` of `subject` (a flow or a direction of a link), `value` in `unit` at `time_s`."""

    subject: str
    kind: str
    unit: str
    time_s: NDArray[np.float64]
    value: NDArray[np.float64]

    def between(self, start_s: float, end_s: float) -> "Trace":
        """Keep the points from `start_s` to `end_s`, and the one before them."""
        first, last = np.searchsorted(self.time_s, [start_s, end_s])
        kept = slice(max(int(first) - 1, 0), int(last) + 1)
        return replace(self, time_s=self.time_s[kept], value=self.value[kept])


@dataclass(frozen=True)
class Traces:
    """All curves of one run."""

    curves: tuple[Trace, ...]

    @classmethod
    def of(cls, result: RunResult) -> "Traces":
        """Take them over from the simulator."""
        return cls(
            tuple(
                Trace(subject, kind, unit, np.frombuffer(times), np.frombuffer(values))
                for subject, kind, unit, times, values in result.series()
            )
        )

    def __iter__(self) -> Iterator[Trace]:
        return iter(self.curves)

    def get(self, subject: str, kind: str) -> Trace:
        """Give one curve; an empty one if the run has none of that name."""
        for trace in self.curves:
            if (trace.subject, trace.kind) == (subject, kind):
                return trace
        return Trace(subject, kind, "", np.empty(0), np.empty(0))

    def between(self, start_s: float, end_s: float) -> "Traces":
        """Keep the points from `start_s` to `end_s` of each curve, and the one before them."""
        return Traces(tuple(trace.between(start_s, end_s) for trace in self.curves))

    def write(self, path: Path) -> None:
        """Write a Parquet file with a row a point: subject, kind, unit, time_s, value."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        def labels(name: str) -> "pa.Array[pa.StringScalar]":
            lengths = [len(trace.time_s) for trace in self.curves]
            return pa.array(
                np.repeat([str(getattr(trace, name)) for trace in self.curves], lengths), pa.string()
            )

        columns = {name: labels(name) for name in ("subject", "kind", "unit")}
        for name in ("time_s", "value"):
            columns[name] = pa.array(
                np.concatenate([np.empty(0), *(getattr(trace, name) for trace in self.curves)])
            )
        pq.write_table(pa.table(columns), path, compression="zstd")

    @classmethod
    def read(cls, path: Path) -> "Traces":
        """Read what `write` wrote.

        Raises
        ------
        InputError
            It is not such a file.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            table = pq.read_table(path, columns=list(_COLUMNS))
        except (OSError, pa.ArrowException, KeyError) as error:
            raise InputError(
                f"{path}: not the time series of a run ({str(error).splitlines()[0]})"
            ) from error
        *labels, times, values = (table[name].to_numpy() for name in _COLUMNS)
        changes = [np.flatnonzero(label[1:] != label[:-1]) + 1 for label in labels]
        bounds = np.unique(np.concatenate([[0], *changes, [len(times)]]).astype(int))
        return cls(
            tuple(
                Trace(
                    labels[0][start], labels[1][start], labels[2][start], times[start:end], values[start:end]
                )
                for start, end in pairwise(bounds)
            )
        )
