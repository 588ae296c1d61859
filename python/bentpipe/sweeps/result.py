"""The rows of a sweep, to read: as a table of every run, and as means over the replications of each point."""

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property, reduce
from html import escape
from itertools import chain
from operator import and_
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from bentpipe import checks
from bentpipe.errors import InputError
from bentpipe.numbers.declared import quantiles, structure, tables
from bentpipe.numbers.intervals import judged, kind_of, pooled_quantile
from bentpipe.numbers.number import Estimate, Interval
from bentpipe.results import Number
from bentpipe.sweeps.design import Design
from bentpipe.sweeps.store import dataset, files, read
from bentpipe.sweeps.work import KINDS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

METRICS = ("goodput_bps", "retransmitted_segments", "timeouts", "rtt_mean_s")
"""What is shown of each point unless something else is asked for."""

_WAITS = ("page", "transaction")
"""Kinds of rows that say how long a user waited."""

_ABOUT_ROWS = ("point", "replication", "kind", "name", "page", "transaction", "seed", "at_s")


@dataclass(frozen=True)
class Group:
    """What rows have in common, and their mean of each metric: `values` of what they were grouped by."""

    values: tuple[Any, ...]
    numbers: tuple[Number, ...]


@dataclass(frozen=True)
class Sweep:
    """A sweep in its folder: finished, or as far as it came.

    pandas, Polars and DuckDB take it as it is: ``polars.DataFrame(sweep)``.
    """

    folder: Path

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> "Sweep":
        """Take the sweep that is in `folder`.

        Raises
        ------
        InputError
            There is none.
        """
        sweep = cls(checks.path("folder", folder))
        _ = sweep.design
        return sweep

    @cached_property
    def design(self) -> Design:
        """What is swept."""
        return Design.read(self.folder)

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the scenario that are varied."""
        return tuple(axis.key for axis in self.design.points.axes)

    def table(self, columns: Sequence[str] | None = None) -> pa.Table:
        """Give its rows, or these columns of them.

        A row of the kind ``run`` is a run; those of the kinds ``flow``, ``link``, ``gateway``, ``handover``,
        ``relay`` and ``page`` are what it measured. Labels are dictionary-encoded; the metadata of a
        column has its ``unit``.

        Raises
        ------
        InputError
            There is no row yet.
        """
        table = read(self._dataset(), columns=None if columns is None else list(columns))
        for place, field in enumerate(table.schema):
            if pa.types.is_string(field.type) and field.name != "scenario_sha256":
                encoded = table.column(place).dictionary_encode()
                table = table.set_column(place, field.name, encoded)
        several = (tables()[f"{kind}s"] for kind in KINDS)
        units = {key: one.unit for columns in (*several, structure()) for key, one in columns.items()}
        fields = [field.with_metadata({"unit": units.get(field.name, "")}) for field in table.schema]
        schema = pa.schema(fields).with_metadata(table.schema.metadata)
        return pa.Table.from_arrays(table.columns, schema=schema).unify_dictionaries()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table().__arrow_c_stream__(requested_schema)  # type: ignore[no-untyped-call]

    def report(
        self,
        path: str | os.PathLike[str],
        metrics: Sequence[str] = (),
        where: Mapping[str, str] | None = None,
        command: str = "",
    ) -> None:
        """Write it as an HTML page that needs nothing beside it, with curves of what is asked for.

        `metrics` are measured numbers, `METRICS` by default; `where` chooses rows by the values of keys or
        ``name``; `command` says in the page what made it.

        Raises
        ------
        InputError
            A name is none of the sweep's, or no run is there yet.
        BentpipeError
            The file cannot be written; what was there stays.
        """
        from bentpipe.sweeps.report import page_of

        page_of(self, metrics, where, command).write(Path(path))

    def failed(self) -> list[tuple[int, int, str]]:
        """Give point, replication and error of each run that failed."""
        rows = self._rows(["point", "replication", "error"], present="error", kinds=["run"]).to_pylist()
        return sorted((row["point"], row["replication"], row["error"]) for row in rows)

    def count(self) -> int:
        """Give how many runs are there, failed ones too."""
        return len(self._rows(["point"], kinds=["run"]))

    def metrics(self) -> list[str]:
        """Give the columns of measured numbers."""
        settings = {name for _, columns in self.design.columns for name in columns}
        return [
            field.name
            for field in self._dataset().schema
            if field.name not in settings
            and field.name not in _ABOUT_ROWS
            and (pa.types.is_floating(field.type) or pa.types.is_integer(field.type))
        ]

    def names(self, metric: str) -> list[str]:
        """Give the flows, links or whatever else has this number; none for what is of a run as a whole."""
        return self._distinct("name", metric)

    def groups(
        self,
        by: Sequence[str],
        metrics: Sequence[str],
        where: Mapping[str, str] | None = None,
        points: int | None = None,
        interval: Interval = "student-t",
    ) -> Iterator[Group]:
        """Give the mean of each metric, with its interval, over the replications, for each value of `by`.

        Rows of a run with the same values of `by`, as its pages, are averaged first, and then those of the
        points that have them: replication k has the same seed at each, so that only replications are
        independent. ``group`` stands for all copies of a flow, and for the name of what is alone. `interval`
        says how: ``"student-t"``, or ``"bootstrap"``. Groups come in the order of the points. What has none
        of the metrics, and points from number `points` on, are left out.

        Raises
        ------
        InputError
            A name is none of the columns'.
        """
        self.require(metrics, self.metrics(), "a measured number")
        columns = ["point", "replication", "kind", *by, *map(_column, metrics)]
        columns += ["name"] if "group" in by else []
        kinds = {
            metric: _WAITS if metric in quantiles() else tuple(filter(None, [self._kinds(metric)]))
            for metric in metrics
        }
        every = [kind for some in kinds.values() for kind in some]
        rows = self._rows(columns, where or {}, kinds=every, points=points)
        order = np.lexsort((rows["replication"].to_numpy(), rows["point"].to_numpy()))
        of_rows = {name: rows[name].to_pylist() for name in rows.column_names}
        if "group" in by:
            labels = self._labels()
            of_rows["group"] = [labels.get(str(name), name) for name in of_rows["name"]]
        certain = self.certain()
        together: dict[tuple[Any, ...], list[int]] = {}
        for place in order.tolist():
            together.setdefault(tuple(of_rows[name][place] for name in by), []).append(place)
        for key, places in together.items():
            found = []
            for metric in metrics:
                mine = [place for place in places if of_rows["kind"][place] in kinds[metric]]
                whole = {of_rows["point"][place] for place in mine} <= certain
                found.append(_number_of(of_rows, mine, metric, interval, certain=whole))
            if any(number is not None for number in found):
                yield Group(key, tuple(found))

    def _repr_html_(self) -> str:
        from bentpipe.show.html import html_of
        from bentpipe.sweeps.show import sweep_table

        runs, points = self.design.runs, len(self.design.points)
        head = f"{self.design.title}: {points:,} points, {runs:,} runs each, in {self.folder}"
        return f"<p><b>{escape(head)}</b></p>{html_of([sweep_table(self)])}"

    def plot(
        self,
        x: str,
        y: str,
        by: Sequence[str] = (),
        where: Mapping[str, str] | None = None,
        axes: "Axes | None" = None,
    ) -> "Axes":
        """Draw the mean of `y` with its 95 % interval over the values of `x`, as ``bentpipe plot`` does.

        Parameters
        ----------
        x
            A key that was varied.
        y
            A measured number, as ``"goodput_bps"``.
        by
            A line for each combination of the values of these: keys that were varied, or ``name``.
        where
            Only rows with these values, as ``{"name": "download"}``.
        axes
            Of matplotlib, to draw in; by default those of a new figure of pyplot.

        Raises
        ------
        InputError
            A name is none of the sweep's, or points that differ otherwise would be mixed.
        """
        from bentpipe.show.style import house_style_of_pyplot
        from bentpipe.sweeps.picture import draw

        with house_style_of_pyplot() as pyplot:
            if axes is None:
                axes = pyplot.figure(figsize=(6.4, 4.0), layout="constrained").add_subplot()
            return draw(self, axes, x, y, by, where)

    def require(self, names: Sequence[str], known: Sequence[str], what: str) -> None:
        """See that each of `names` is one of those `known`.

        Raises InputError: one is not; the message lists them, the nearest first.
        """
        from difflib import get_close_matches

        for name in names:
            if name not in known:
                near = get_close_matches(name, known, n=3, cutoff=0.4)
                listed = ", ".join([*near, *(other for other in known if other not in near)][:12])
                raise InputError(f"{self.folder}: expected {what} ({listed}), found {name!r}")

    def _dataset(self) -> ds.Dataset:
        if not files(self.folder):
            raise InputError(f"{self.folder}: expected rows of a sweep, found none yet")
        return dataset(self.folder, self.design)

    def _kinds(self, metric: str) -> str | None:
        """Give the kind of rows whose number it is: of a flow before that of its pages."""
        found = self._distinct("kind", metric)
        return next((kind for kind in ("run", *KINDS) if kind in found), None)

    def _labels(self) -> dict[str, str]:
        """Give the group of each flow that is a copy."""
        if "group" not in self._dataset().schema.names:
            return {}
        pairs = self._rows(["name", "group"], present="group").group_by(["name", "group"]).aggregate([])
        return {str(pair["name"]): str(pair["group"]) for pair in pairs.to_pylist()}

    def certain(self) -> set[int]:
        """Give the points at which nothing is random."""
        if "random" not in self._dataset().schema.names:
            return set()
        rows = self._rows(["point", "random"], kinds=["run"]).to_pylist()
        return {row["point"] for row in rows if row["random"] is False}

    def _rows(
        self,
        columns: Sequence[str],
        where: Mapping[str, str] = {},
        *,
        kinds: Sequence[str] = (),
        present: str | None = None,
        points: int | None = None,
    ) -> pa.Table:
        wanted: list[Any] = [pc.field("kind").isin(list(dict.fromkeys(kinds)))] if kinds else []
        if points is not None:
            wanted.append(pc.field("point") < points)
        if present is not None:
            wanted.append(pc.field(present).is_valid())
        wanted += [self._equals(key, text) for key, text in where.items()]
        every = reduce(and_, wanted) if wanted else None
        return read(self._dataset(), columns=list(dict.fromkeys(columns)), filter=every)

    def _distinct(self, column: str, present: str) -> list[Any]:
        """Give the values of a column in the rows that have a number or text in another."""
        return self._rows([column], present=present)[column].drop_null().unique().to_pylist()

    def _equals(self, key: str, text: str) -> Any:
        """Give what chooses the rows in which the column `key` has this value; a name may be a pattern."""
        self.require([key], ["name", *self.keys], "a key that was varied, or name")
        for axis in self.design.points.axes:
            if axis.key == key:
                values = list(dict.fromkeys(axis.values))
                if text not in values:
                    listed = ", ".join(values[:12])
                    raise InputError(f"--where {key}: expected one of its values ({listed}), found {text!r}")
                plain = axis.numbers()
                return pc.field(key) == (float(text) if plain is not None and not plain[1] else text)
        names = self._all_names
        fitting = [name for name in names if name == text or fnmatchcase(name, text)]
        if not fitting:
            listed = ", ".join(names[:12])
            raise InputError(f"--where name: expected a name or a pattern of some ({listed}), found {text!r}")
        return pc.field(key).isin(fitting)

    @cached_property
    def _all_names(self) -> list[str]:
        return self._distinct("name", "name")


def value_text(value: Any) -> str:
    """Write a value that was set, or a name."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _number_of(
    rows: Mapping[str, list[Any]], places: Sequence[int], metric: str, interval: Interval, *, certain: bool
) -> Number:
    """Give the estimate over replications of what these rows have, which are in the order of points."""
    column = rows[_column(metric)]
    # By replication and point.
    values: dict[int, dict[int, list[float]]] = {}
    for place in places:
        if (value := column[place]) is not None:
            of_points = values.setdefault(rows["replication"][place], {})
            of_points.setdefault(rows["point"][place], []).append(value)
    if not values:
        return None
    of_runs = [run for runs in values.values() for run in runs.values()]
    points = len({point for runs in values.values() for point in runs})
    # Of a sweep that is not finished: a replication that lacks a point has another mean.
    complete = [runs for runs in values.values() if len(runs) == points]
    replications = [list(runs.values()) for runs in complete or values.values()]
    found: Estimate
    if metric in quantiles():
        together = [list(chain(*runs)) for runs in replications]
        found = pooled_quantile(together, quantiles()[metric], certain=certain)
    else:
        means = [math.fsum(math.fsum(run) / len(run) for run in runs) / len(runs) for runs in replications]
        alone = points == 1 and all(len(run) == 1 for run in of_runs)
        found = judged(means, kind_of(metric) if alone else "measured", interval, certain=certain)
    known = sum(map(len, of_runs))
    return found if known == len(places) else {**found, "present": known / len(places)}


def _column(metric: str) -> str:
    """Give where a number is read from: a percentile of all runs together from what their users waited."""
    return "response_s" if metric in quantiles() else metric
