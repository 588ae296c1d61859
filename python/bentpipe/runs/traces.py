"""Time series of a run: what a flow or link did, moment by moment."""

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from itertools import pairwise
from operator import and_
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bentpipe import _core
from bentpipe.errors import InputError
from bentpipe.runs.subjects import Subjects

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

LABELS = ("subject", "kind", "unit")
"""The columns of time series that are texts, and dictionary-encoded."""

_COLUMNS = (*LABELS, "time_s", "value")

_SHOWN = 40
"""Curves that a notebook shows; the rest is counted."""


@dataclass(frozen=True)
class Trace:
    """One curve: `kind` of `subject` (a flow or a direction of a link), `value` in `unit` at `time_s`.

    Without a point, nothing of this kind happened, or, when `recorded` is false, nobody asked to record it.
    """

    subject: str
    kind: str
    unit: str
    time_s: "NDArray[np.float64]"
    value: "NDArray[np.float64]"
    recorded: bool = True

    def between(self, start_s: float, end_s: float) -> "Trace":
        """Keep the points from `start_s` to `end_s`, and the one before them."""
        first, last = self.time_s.searchsorted([start_s, end_s])
        inside = slice(max(int(first) - 1, 0), int(last) + 1)
        return replace(self, time_s=self.time_s[inside], value=self.value[inside])


@dataclass(frozen=True)
class Phase:
    """A phase that a flow's control or slow start was in, by its name, from `start_s` to `end_s`."""

    name: str
    start_s: float
    end_s: float


@dataclass(frozen=True, repr=False)
class Traces:
    """The curves of one run that have a point; which others it could have had, `subjects` knows.

    pandas, Polars and DuckDB take them as a table, by the Arrow PyCapsule interface, as in
    ``polars.DataFrame(result.series)``: ``subject``, ``kind``, ``unit`` (dictionary-encoded), ``time_s`` and
    ``value``. The points of a run in memory are not copied.
    """

    curves: tuple[Trace, ...]
    subjects: Subjects = field(default_factory=Subjects)
    _batch: "pa.RecordBatch | None" = field(default=None, repr=False, compare=False)

    @cached_property
    def _by_name(self) -> dict[tuple[str, str], Trace]:
        return {(trace.subject, trace.kind): trace for trace in self.curves}

    def __iter__(self) -> Iterator[Trace]:
        return iter(self.curves)

    def get(self, subject: str, kind: str) -> Trace:
        """Give one curve, without a point where nothing of the kind happened, or where it was not recorded.

        Raises
        ------
        InputError
            The run has no such flow or link, or it has no curve of that kind.
        """
        if (found := self._by_name.get((subject, kind))) is not None:
            return found
        import numpy as np

        unit, recorded = self.subjects.curve(subject, kind)
        return Trace(subject, kind, unit, np.empty(0), np.empty(0), recorded)

    def phases(self, flow: str) -> list[Phase]:
        """Give the phases that a flow's control or slow start went through; none where it has no phases.

        Raises
        ------
        InputError
            The run has no such flow.
        """
        trace, names = self.get(flow, "phase"), self.subjects.phases
        found: list[Phase] = []
        # A curve without phases has values that are no numbers, and in the end its newest value once more.
        for number, (start, end) in zip(trace.value.tolist(), pairwise(trace.time_s.tolist()), strict=False):
            if not math.isfinite(number):
                continue
            found.append(Phase(names[int(number)], start, end))
        return found

    def between(self, start_s: float, end_s: float) -> "Traces":
        """Keep the points from `start_s` to `end_s` of each curve, and the one before them."""
        cut = tuple(trace.between(start_s, end_s) for trace in self.curves)
        return replace(self, curves=cut, _batch=None)

    def to_arrow(self) -> "pa.Table":
        """Give all points as a table of pyarrow, those of a curve together."""
        import numpy as np
        import pyarrow as pa

        if self._batch is not None:
            return pa.Table.from_batches([self._batch])
        lengths = np.array([len(trace.time_s) for trace in self.curves], np.int64)
        of_curve = np.repeat(np.arange(len(self.curves)), lengths)
        columns: dict[str, pa.Array[Any]] = {}
        for label in LABELS:
            texts = pa.array([getattr(trace, label) for trace in self.curves], pa.string())
            columns[label] = texts.dictionary_encode().take(of_curve)
        for name in ("time_s", "value"):
            parts = [getattr(trace, name) for trace in self.curves]
            columns[name] = pa.array(np.concatenate([np.empty(0), *parts]))
        return pa.table(columns)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)  # type: ignore[no-untyped-call]

    def __repr__(self) -> str:
        points = sum(len(trace.time_s) for trace in self.curves)
        kinds = ", ".join(dict.fromkeys(trace.kind for trace in self.curves)) or "none"
        return f"<Traces: {len(self.curves):,} curves, {points:,} points: {kinds}>"

    def _repr_html_(self) -> str:
        import numpy as np

        from bentpipe.show.html import html_table
        from bentpipe.show.units import count, seconds

        def cells(trace: Trace) -> list[str]:
            known = trace.value[np.isfinite(trace.value)]
            ends = (
                [f"{count(float(end))} {trace.unit}" for end in (known.min(), known.max())]
                if len(known)
                else ["–"] * 2
            )
            times = [seconds(float(trace.time_s[place])) for place in (0, -1)]
            return [trace.subject, trace.kind, f"{len(trace.time_s):,}", *times, *ends]

        rows = map(cells, self.curves[:_SHOWN])
        more = f"<p>and {len(self.curves) - _SHOWN:,} more curves</p>" if len(self.curves) > _SHOWN else ""
        return html_table(("of", "curve", "points", "from", "to", "least", "most"), rows) + more

    @classmethod
    def of(cls, points: _core.Points, subjects: Subjects) -> "Traces":
        """Take the points of a run as the simulator gives them, without a copy."""
        import pyarrow as pa

        batch = pa.record_batch(points)
        times_s, values = (batch.column(name).to_numpy() for name in ("time_s", "value"))
        curves = (
            Trace(subject, kind, unit, times_s[first:last], values[first:last])
            for subject, kind, unit, first, last in points.curves()
        )
        return cls(tuple(curves), subjects, batch)

    @classmethod
    def read(
        cls, path: Path, *, subjects: Collection[str] | None = None, kinds: Collection[str] | None = None
    ) -> "Traces":
        """Read what ``bentpipe run --out`` wrote: everything, or the curves of some subjects or kinds.

        Raises
        ------
        InputError
            It is not such a file.
        """
        import pyarrow as pa
        import pyarrow.compute as pc
        import pyarrow.parquet as pq

        chosen = [
            pc.field(name).isin(list(wanted))
            for name, wanted in (("subject", subjects), ("kind", kinds))
            if wanted is not None
        ]
        try:
            about = Subjects.from_json(pq.read_schema(path).metadata[b"bentpipe"])
            table = pq.read_table(
                path,
                columns=list(_COLUMNS),
                filters=reduce(and_, chosen) if chosen else None,
                read_dictionary=list(LABELS),
            )
        except (OSError, pa.ArrowException, KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"{path}: not the time series of a run ({str(error).splitlines()[0]})"
            ) from error
        return cls(tuple(_curves(table, about.names())), about)


def _curves(table: "pa.Table", order: Sequence[str]) -> Iterator[Trace]:
    """Put the rows of each curve together; they stay in their order. Subjects come in this `order`."""
    import numpy as np

    labels: Any = [table.unify_dictionaries()[name].combine_chunks() for name in LABELS]
    codes = [column.indices.to_numpy().astype(np.int64) for column in labels]
    texts: list[list[str]] = [column.dictionary.to_pylist() for column in labels]
    ranks = {name: rank for rank, name in enumerate(order)}
    rank = np.array([ranks.get(name, len(ranks)) for name in texts[0]], np.int64)
    curve = (rank[codes[0]] * (len(texts[0]) + 1) + codes[0]) * (len(texts[1]) + 1) + codes[1]
    rows = np.argsort(curve, kind="stable")
    curve = curve[rows]
    times_s, values = (table[name].to_numpy()[rows] for name in ("time_s", "value"))
    changes = np.flatnonzero(curve[1:] != curve[:-1]) + 1
    for first, last in pairwise([0, *changes.tolist(), len(rows)] if len(rows) else ()):
        subject, kind, unit = (text[code[rows[first]]] for code, text in zip(codes, texts, strict=True))
        yield Trace(subject, kind, unit, times_s[first:last], values[first:last])
