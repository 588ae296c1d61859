"""What flows got, lost and waited for, as tables: a row for each flow, or for all copies of one."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from rich.markup import escape
from rich.table import Table

from bentpipe.numbers.declared import Declared, quantiles, tables
from bentpipe.result_types import Flow, Page, Transaction
from bentpipe.results import Number, mean
from bentpipe.show.columns import columns, written
from bentpipe.show.flows import Bundle, bundles, chosen
from bentpipe.show.layout import MAXIMUM_ROWS, more, new_table
from bentpipe.show.units import percent, seconds, spread

_TOLD = {"sum": "\nsum", "spread": "\nmean (least–most)", "mean": "\nmean"}
_MAXIMUM_VARIANTS = 3


@dataclass(frozen=True)
class Rows:
    """The rows of a table of flows, and those that it has no room for."""

    shown: tuple[Bundle, ...]
    rest: tuple[Flow, ...]

    @classmethod
    def of(cls, flows: Sequence[Flow], patterns: Sequence[str] = ()) -> "Rows":
        """Give the flows that fit `patterns` by themselves, then all; if too many those that carried most.

        Raises InputError: no flow fits a pattern.
        """
        first = [Bundle(flow["name"], (flow,)) for flow in chosen(flows, patterns)]
        named = {bundle.name for bundle in first}
        others = [bundle for bundle in bundles(flows) if not (bundle.alone and bundle.name in named)]
        if len(others) > MAXIMUM_ROWS:
            others.sort(key=lambda bundle: -bundle.carried)
        rest = tuple(flow for bundle in others[MAXIMUM_ROWS:] for flow in bundle.flows)
        return cls((*first, *others[:MAXIMUM_ROWS]), rest)

    def part(self, of: Callable[[Flow], bool]) -> "Rows":
        """Keep the flows for which `of` is true."""
        chosen = [(row.name, tuple(filter(of, row.flows))) for row in self.shown]
        rows = (
            Bundle(flows[0]["name"] if len(flows) == 1 else name, flows) for name, flows in chosen if flows
        )
        return Rows(tuple(rows), tuple(filter(of, self.rest)))

    @property
    def grouped(self) -> bool:
        """Whether a row is of several flows."""
        return any(not row.alone for row in self.shown)

    def header(self, name: str, how: str) -> str:
        """Say under the name of a column how several flows become one number, if they do."""
        return name + _TOLD.get(how, how) if self.grouped else name

    def headings(self, of: Sequence[Declared]) -> list[str]:
        """Give the headings of these columns."""
        return [self.header(one.heading, one.flows) for one in of]

    def add_rest(self, table: Table, *cells: str) -> None:
        """Add the row of what is not shown, if anything, with these first cells."""
        if self.rest:
            table.add_row(more(len(self.rest)), *cells)


def flow_table(rows: Rows) -> Table:
    """Make the table of what each flow got; one that goes on at the end is open, one that broke failed."""
    delivered, time = columns("flows", "bytes_delivered", "duration_s")
    rates = columns("flows", "goodput_bps", "throughput_bps")
    repairs = columns("flows", "retransmitted_segments", "timeouts")
    rtt = columns("flows", "rtt_mean_s")
    table = new_table("flow", "variant", *rows.headings([delivered, time, *rates, *repairs, *rtt]))
    for row in rows.shown:
        variants = list(dict.fromkeys(flow["variant"] for flow in row.flows))
        shown = ", ".join(variants) if len(variants) <= _MAXIMUM_VARIANTS else f"{len(variants)} variants"
        table.add_row(
            _name(row),
            shown,
            folded(row.flows, delivered),
            folded(row.flows, time) + _ends(row.flows),
            *(folded(row.flows, one) for one in rates),
            *("–" if all(map(over_udp, row.flows)) else folded(row.flows, one) for one in repairs),
            *(folded(row.flows, one) for one in rtt),
        )
    carried = folded(rows.rest, delivered) if rows.rest else ""
    rows.add_rest(table, "", carried)
    every = [flow for row in rows.shown for flow in row.flows] + list(rows.rest)
    broken = list(dict.fromkeys(f"{flow['name']}: {flow['error']}" for flow in every if flow.get("error")))
    if broken:
        left = [more(len(broken) - MAXIMUM_ROWS)] if len(broken) > MAXIMUM_ROWS else []
        table.caption = escape("\n".join(broken[:MAXIMUM_ROWS] + left))
        table.caption_justify = "left"
    return table


def datagram_table(rows: Rows) -> Table:
    """Make the table of what became of the datagrams of each flow over UDP."""
    of = columns("flows", "datagrams_sent", "datagrams_lost")
    table = new_table("flow", *rows.headings(of), rows.header("share lost", "\n"))
    for row in rows.shown:
        sent, lost = (_sum(row.flows, one.key) for one in of)
        table.add_row(_name(row), *(folded(row.flows, one) for one in of), _share(lost, sent))
    rows.add_rest(table)
    return table


def loss_cause_table(rows: Rows) -> Table:
    """Make the table of which losses cost each flow a reduction of its window, by their cause."""
    of = [one for key, one in tables()["flows"].items() if key.startswith("loss_cause_")]
    random, cut, congestion, unanswered, cuts, needless, _ = of
    table = new_table(
        "losses by cause",
        *rows.headings([random]),
        "reduced after",
        *rows.headings([congestion]),
        "not reduced after",
        *rows.headings([needless]),
    )
    for row in rows.shown:
        sums = {one: _sum(row.flows, one.key) for one in of}
        table.add_row(
            _name(row),
            written(sums[random], random),
            _share(sums[cut], sums[random]),
            written(sums[congestion], congestion),
            _share(sums[unanswered], sums[congestion]),
            f"{written(sums[needless], needless)} of {written(sums[cuts], cuts)}",
        )
    rows.add_rest(table)
    return table


def waiting_table(rows: Rows, what: str, waited_for: Sequence[Page] | Sequence[Transaction]) -> Table:
    """Make the table of how long the users of each flow waited for pages, or for transactions: `what`."""
    asked: dict[str, list[Page | Transaction]] = {}
    for one in waited_for:
        asked.setdefault(one["flow"], []).append(one)
    rows = rows.part(lambda flow: flow["name"] in asked)
    first = rows.header(f"response, first {what.removesuffix('s')}", "mean")
    of = columns("flows", *quantiles())
    shares = (rows.header(one.runs, one.flows) for one in of)
    table = new_table("flow", rows.header(what, "sum"), first, "mean", "least", "most", *shares)
    for row in rows.shown:
        wanted = [one for flow in row.flows for one in asked[flow["name"]]]
        responses = [value for one in wanted if (value := mean(one["response_s"])) is not None]
        firsts = row.values(lambda flow: asked[flow["name"]][0]["response_s"])
        opening = asked[row.flows[0]["name"]][0]["response_s"] if row.alone else _mean(firsts)
        centre = _mean(responses)
        ends = (min(responses), max(responses)) if responses else (None, None)
        table.add_row(
            _name(row),
            f"{len(responses)} of {len(wanted)}",
            *(seconds(value) for value in (opening, centre, *ends)),
            *(folded(row.flows, one) for one in of),
        )
    rows.add_rest(table)
    return table


def user_tables(rows: Rows, run: Mapping[str, Any]) -> list[Table]:
    """Make the tables with a row a flow of what its user saw: each whose numbers several flows share."""
    tables_of_flows = (what for what, of in tables().items() if any(one.flows for one in of.values()))
    return [
        _user_table(rows, what, run[what]) for what in tables_of_flows if what != "flows" and run.get(what)
    ]


def _user_table(rows: Rows, what: str, measured: Sequence[Mapping[str, Any]]) -> Table:
    seen = {one["name"]: one for one in measured}
    rows = rows.part(lambda flow: flow["name"] in seen)
    of = [one for one in tables()[what].values() if one.heading]
    table = new_table(what.removesuffix("s"), *rows.headings(of))
    for row in rows.shown:
        shown = [seen[flow["name"]] for flow in row.flows]
        table.add_row(_name(row), *(folded(shown, one) for one in of))
    rows.add_rest(table)
    return table


def folded(rows: Sequence[Mapping[str, Any]], about: Declared) -> str:
    """Write a number of several flows, of those that have it; that of a single one keeps its interval."""
    if len(rows) == 1:
        return written(rows[0][about.key], about)
    if about.flows == "spread":
        return spread(_values(rows, about.key), about.unit)
    return written(_mean(_values(rows, about.key)) if about.flows == "mean" else _sum(rows, about.key), about)


def over_udp(flow: Flow) -> bool:
    """Say whether a flow is one of datagrams."""
    return flow["variant"] == "udp"


def lost_segments(flow: Flow) -> bool:
    """Say whether a flow lost segments whose cause is known; one without TCP has no such columns."""
    return any(mean(lost) for lost in (flow.get("loss_cause_random"), flow.get("loss_cause_congestion")))


def _name(row: Bundle) -> str:
    return row.name if row.alone else f"{row.name} ({len(row.flows):,} flows)"


def _values(rows: Sequence[Mapping[str, Any]], key: str) -> list[float]:
    return [value for row in rows if (value := mean(row[key])) is not None]


def _sum(rows: Sequence[Mapping[str, Any]], key: str) -> Number:
    """Add up a number of all flows of a row; that of a single flow keeps its interval."""
    if len(rows) == 1:
        return cast(Number, rows[0][key])
    values = _values(rows, key)
    return math.fsum(values) if values else None


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _ends(flows: Sequence[Flow]) -> str:
    if len(flows) == 1 and isinstance(finish := flows[0]["finish_s"], dict) and "present" in finish:
        return f", {100 * (1 - finish['present']):.2g} % open"
    without = [flow for flow in flows if mean(flow["finish_s"]) is None]
    failed = sum(bool(flow.get("error")) for flow in without)
    counts = ((len(without) - failed, "open"), (failed, "failed"))
    return "".join(
        f", {word}" if len(flows) == 1 else f", {number:,} {word}" for number, word in counts if number
    )


def _share(part: Number, whole: Number) -> str:
    """Write a share in per cent: of all replications together, and so without an interval."""
    of, all_of = mean(part), mean(whole)
    return percent(of / all_of) if of is not None and all_of else "–"
