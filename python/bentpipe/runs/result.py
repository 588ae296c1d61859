"""What came out of a run, or of all replications together, as Python and data frames take it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from bentpipe.errors import InputError
from bentpipe.numbers.declared import schema, tables
from bentpipe.results import Number, Run, dump, parse
from bentpipe.runs.statistics import Failure, replication_seed
from bentpipe.runs.traces import Traces
from bentpipe.show.html import html_of, html_table

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from bentpipe.result_types import Tables, What
else:
    Tables, What = object, str

_Row = TypeVar("_Row", bound=Mapping[str, Any])

_SHOWN = 20
"""Rows that a notebook shows; the rest is counted."""


class Table(Sequence[_Row], Generic[_Row]):
    """Rows of a result, each by its number or name: ``flows[0]``, ``flows.download``, ``flows["web-1"]``.

    pandas, Polars and DuckDB take it for a data frame, by the Arrow PyCapsule interface:
    ``pandas.DataFrame.from_arrow(result.flows)`` or ``polars.DataFrame(result.flows)``. Names are
    dictionary-encoded. Where replications were combined, a
    number `x` has three columns: its mean `x`, the half-width of its 95 % interval `x_ci95`, and `x_n`, how
    many replications have it. The metadata of a column has its ``unit`` and its ``meaning``.
    """

    def __init__(
        self, what: What, rows: Sequence[_Row], *, combined: bool, before: Mapping[str, Sequence[int]] = {}
    ) -> None:
        self._what: What = what
        self._rows, self._combined, self._before = rows, combined, before

    @overload
    def __getitem__(self, which: int | str) -> _Row: ...
    @overload
    def __getitem__(self, which: slice) -> Sequence[_Row]: ...
    def __getitem__(self, which: int | str | slice) -> _Row | Sequence[_Row]:
        if not isinstance(which, str):
            return self._rows[which]
        for row in self._rows:
            if row.get("name") == which:
                return row
        names = ", ".join(dict.fromkeys(str(row["name"]) for row in self._rows if "name" in row))
        raise KeyError(f"no row {which!r} in {self._what}: there are {names or 'none with a name'}")

    def __getattr__(self, name: str) -> _Row:
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(str(error.args[0])) from None

    def __dir__(self) -> list[str]:
        names = (str(row.get("name")) for row in self._rows)
        return [*super().__dir__(), *(name for name in names if name.isidentifier())]

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        return f"<Table {self._what}, {len(self):,} rows: {', '.join(self.to_arrow().column_names)}>"

    def to_arrow(self) -> "pa.Table":
        """Give it as a table of pyarrow."""
        import pyarrow as pa

        columns: dict[str, pa.Array[Any]] = {
            key: pa.array(values, pa.int64()) for key, values in self._before.items()
        }
        about: dict[str, dict[str, str]] = {}
        for key, column in tables()[self._what].items():
            values = [row.get(key) for row in self._rows]
            about[key] = column.about
            if column.kind == "text":
                columns[key] = pa.array(values, pa.string()).dictionary_encode()
            elif not self._combined or column.runs == "one":
                columns[key] = pa.array(values, pa.int64() if column.kind == "integer" else pa.float64())
            else:
                for suffix, part in (("", "mean"), ("_ci95", "ci95"), ("_n", "n")):
                    parts = [None if value is None else value[part] for value in values]
                    columns[key + suffix] = pa.array(parts, pa.int64() if part == "n" else pa.float64())
                about[key + "_ci95"] = about[key]
        schema = [pa.field(key, array.type, metadata=about.get(key)) for key, array in columns.items()]
        return pa.table(list(columns.values()), schema=pa.schema(schema))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)  # type: ignore[no-untyped-call]

    def _repr_html_(self) -> str:
        from bentpipe.show.columns import cells

        shown = self._rows[:_SHOWN]
        there = [
            one for key, one in tables()[self._what].items() if any(row.get(key) is not None for row in shown)
        ]
        before = [[str(value) for value in column[:_SHOWN]] for column in self._before.values()]
        texts = [
            [str(row[one.key]) if one.kind == "text" else cells(row, [one])[0] for one in there]
            for row in shown
        ]
        rows = ([*(column[place] for column in before), *row] for place, row in enumerate(texts))
        more = f"<p>and {len(self) - _SHOWN:,} more rows</p>" if len(self) > _SHOWN else ""
        return html_table([*self._before, *(one.heading or one.key for one in there)], rows) + more


class Runs(Sequence[Run]):
    """Runs in the order of their seeds, each read from its JSON when somebody asks for it."""

    def __init__(self, texts: Sequence[Callable[[], str]]) -> None:
        self._texts = texts

    @overload
    def __getitem__(self, which: int) -> Run: ...
    @overload
    def __getitem__(self, which: slice) -> "Runs": ...
    def __getitem__(self, which: int | slice) -> "Run | Runs":
        return Runs(self._texts[which]) if isinstance(which, slice) else parse(self._texts[which]())

    def __len__(self) -> int:
        return len(self._texts)

    def __reduce__(self) -> tuple[Any, ...]:
        return Runs, ([partial(str, text()) for text in self._texts],)

    def __repr__(self) -> str:
        return f"<{len(self):,} runs>"


@dataclass(frozen=True)
class Result(Tables):
    """What came out of a run, or of all replications together.

    It has every table as an attribute: ``flows``, ``links``, ``pages`` and so on.

    Parameters
    ----------
    run
        The numbers, as ``bentpipe run --json`` prints them. Of several replications each is
        ``{"mean": …, "ci95": …, "n": …}``.
    series
        Time series of the first replication, if they were asked for.
    precise
        Whether the precision that was asked for was reached.
    failures
        The flows that broke, and why. One that is open when the run ends has not failed.
    runs
        The numbers of each replication, in the order of their seeds, where they were kept.
    """

    run: Run
    series: Traces
    precise: bool
    failures: tuple[Failure, ...] = ()
    runs: Sequence[Run] = field(default=(), repr=False)

    @property
    def seed(self) -> int:
        """The seed; of several replications that of the first."""
        return self.run["seed"]

    @property
    def duration_s(self) -> Number:
        """Simulated time at the end, in seconds."""
        return self.run["duration_s"]

    @property
    def jain(self) -> Number:
        """Jain's index over the goodputs of flows that ask for the same; ``None`` when there are none."""
        return self.run["jain"]

    def replications(self, what: What = "flows") -> Table[Any]:
        """Give the rows of every replication, with the columns ``replication`` (from 0) and ``seed``.

        Raises
        ------
        InputError
            There is no such table, or the replications were not kept.
        """
        if what not in tables():
            raise InputError(f"what: expected one of {', '.join(tables())}, found {what!r}")
        if not self.runs:
            raise InputError("replications: expected a result of bentpipe.replicate that kept them")
        rows: list[Mapping[str, Any]] = []
        numbers: list[int] = []
        for number, run in enumerate(self.runs):
            rows += run[what]
            numbers += [number] * len(run[what])
        seeds = [replication_seed(self.seed, number) for number in range(len(self.runs))]
        before = {"replication": numbers, "seed": [seeds[number] for number in numbers]}
        return Table(what, rows, combined=False, before=before)

    def plot(
        self,
        *others: "Result",
        flows: Sequence[str] = (),
        start_s: float | None = None,
        end_s: float | None = None,
    ) -> "NDArray[np.object_]":
        """Draw the time series in a figure of pyplot, with `others` beside them, as ``bentpipe plot`` does.

        Gives the axes of matplotlib: a row for each of sequence numbers, window, round-trip time and queue,
        and a column for each run, from `start_s` to `end_s`. The flows that fit the patterns `flows` are
        lines, the others bands.

        Raises
        ------
        InputError
            A result has no time series, or no flow fits a pattern.
        """
        results = (self, *others)
        if not all(result.series.curves for result in results):
            raise InputError("series: expected results of bentpipe.run(..., series=True), found one without")
        draw: Callable[..., NDArray[np.object_]] = import_module("bentpipe.plot.page").draw_in_pyplot
        return draw(results, flows=flows, start_s=start_s, end_s=end_s)

    def json(self) -> str:
        """Give the numbers as the JSON of ``bentpipe run --json``."""
        return dump(self.run)

    def __repr__(self) -> str:
        often = f", {self.run['runs']:,} replications" if "runs" in self.run else ""
        flows = "; ".join(
            f"{flow['name']} {flow['variant']} {_shown(flow['goodput_bps'])} bit/s" for flow in self.flows[:4]
        )
        more = f" and {len(self.flows) - 4} more" if len(self.flows) > 4 else ""
        return f"<Result {self.run['scenario']!r}, seed {self.seed}{often}: {flows}{more}>"

    def _repr_html_(self) -> str:
        often = f", {self.run['runs']:,} replications" if "runs" in self.run else ""
        head = f"<p><b>{escape(self.run['scenario'])}</b> (seed {self.seed}{often})</p>"
        broken = "".join(f"<p>{escape(str(failure))}</p>" for failure in self.failures)
        from bentpipe.show.table import run_tables

        return head + broken + html_of(run_tables(self.run))


def _table(what: What) -> None:
    def table(result: Result) -> Table[Any]:
        return Table(what, result.run[what], combined="runs" in result.run)

    table.__doc__ = schema()["properties"][what]["description"]
    cached = cached_property(table)
    cached.__set_name__(Result, what)
    setattr(Result, what, cached)


for _what in tables():
    _table(_what)  # type: ignore[arg-type]


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        spread = "" if value["ci95"] is None else f" ± {value['ci95']:.2g}"
        return f"{value['mean']:,.5g}{spread}"
    if value is None:
        return "–"
    return f"{value:,.5g}" if isinstance(value, float) else str(value)
