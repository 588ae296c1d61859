"""What flows got, lost and waited for, as tables: a row for each flow, or for all copies of one."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from rich.markup import escape
from rich.table import Table

from bentpipe.results import Flow, Number, Page, Transaction, Video, mean
from bentpipe.show.flows import Bundle, bundles, chosen
from bentpipe.show.layout import MAXIMUM_ROWS, more, new_table
from bentpipe.show.units import count, counted, percent, quantity, seconds, spread

_SUM = "\nsum"
_SPREAD = "\nmean (least–most)"
_MAXIMUM_VARIANTS = 3

_Key: TypeAlias = Literal[
    "bytes_delivered",
    "duration_s",
    "goodput_bps",
    "throughput_bps",
    "retransmitted_segments",
    "timeouts",
    "rtt_mean_s",
    "datagrams_sent",
    "datagrams_lost",
    "loss_cause_random",
    "loss_cause_random_cut",
    "loss_cause_congestion",
    "loss_cause_congestion_kept",
    "loss_cause_cuts",
    "loss_cause_needless_cuts",
    "response_p50_s",
    "response_p95_s",
    "response_p99_s",
]

QUANTILES: dict[str, _Key] = {"p50": "response_p50_s", "p95": "response_p95_s", "p99": "response_p99_s"}
"""Of response times, by what a table calls them."""


_LOSSES: tuple[_Key, ...] = (
    "loss_cause_random",
    "loss_cause_random_cut",
    "loss_cause_congestion",
    "loss_cause_congestion_kept",
    "loss_cause_cuts",
    "loss_cause_needless_cuts",
)


@dataclass(frozen=True)
class Rows:
    """The rows of a table of flows, and those that it has no room for."""

    shown: tuple[Bundle, ...]
    rest: tuple[Flow, ...]

    @classmethod
    def of(cls, flows: Sequence[Flow], patterns: Sequence[str] = ()) -> "Rows":
        """Give the flows that fit `patterns` by themselves, then all; if too many those that carried most.

        Raises
        ------
        InputError
            No flow fits a pattern.
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
        kept = [(row.name, tuple(filter(of, row.flows))) for row in self.shown]
        rows = (Bundle(flows[0]["name"] if len(flows) == 1 else name, flows) for name, flows in kept if flows)
        return Rows(tuple(rows), tuple(filter(of, self.rest)))

    @property
    def grouped(self) -> bool:
        """Whether a row is of several flows."""
        return any(not row.alone for row in self.shown)

    def header(self, name: str, how: str) -> str:
        """Say under the name of a column how several flows become one number, if they do."""
        return name + how if self.grouped else name

    def add_rest(self, table: Table, *cells: str) -> None:
        """Add the row of what is not shown, if anything, with these first cells."""
        if self.rest:
            table.add_row(more(len(self.rest)), *cells)


def flow_table(rows: Rows) -> Table:
    """Make the table of what each flow got; one that goes on at the end is open, one that broke failed."""
    table = new_table(
        "flow",
        "variant",
        rows.header("delivered", _SUM),
        *(rows.header(name, _SPREAD) for name in ("time", "goodput", "throughput")),
        *(rows.header(name, _SUM) for name in ("resent segments", "timeouts")),
        rows.header("RTT", _SPREAD),
    )
    for row in rows.shown:
        variants = list(dict.fromkeys(flow["variant"] for flow in row.flows))
        shown = ", ".join(variants) if len(variants) <= _MAXIMUM_VARIANTS else f"{len(variants)} variants"
        resent = (
            _sum(row, "retransmitted_segments"),
            _sum(row, "timeouts"),
        )
        table.add_row(
            _name(row),
            shown,
            quantity(_sum(row, "bytes_delivered"), "B"),
            _spread(row, "duration_s", seconds, "s") + _ends(row.flows),
            _spread(row, "goodput_bps", _rate, "bit/s"),
            _spread(row, "throughput_bps", _rate, "bit/s"),
            *(("–", "–") if all(map(over_udp, row.flows)) else map(count, resent)),
            _spread(row, "rtt_mean_s", seconds, "s"),
        )
    carried = quantity(_sum(Bundle("", rows.rest), "bytes_delivered"), "B") if rows.rest else ""
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
    table = new_table(
        "flow",
        rows.header("datagrams sent", _SUM),
        rows.header("lost", _SUM),
        rows.header("share lost", "\n"),
    )
    for row in rows.shown:
        sent, lost = (
            _sum(row, "datagrams_sent"),
            _sum(row, "datagrams_lost"),
        )
        table.add_row(_name(row), count(sent), count(lost), _share(lost, sent))
    rows.add_rest(table)
    return table


def loss_cause_table(rows: Rows) -> Table:
    """Make the table of which losses cost each flow a reduction of its window, by their cause."""
    table = new_table(
        "losses by cause",
        rows.header("random", _SUM),
        "reduced after",
        rows.header("congestion", _SUM),
        "not reduced after",
        rows.header("needless reductions", _SUM),
    )
    for row in rows.shown:
        random, cut, congestion, kept, cuts, needless = (_sum(row, key) for key in _LOSSES)
        table.add_row(
            _name(row),
            counted(random, "segment"),
            _share(cut, random),
            counted(congestion, "segment"),
            _share(kept, congestion),
            f"{count(needless)} of {count(cuts)}",
        )
    rows.add_rest(table)
    return table


def waiting_table(rows: Rows, what: str, waited_for: Sequence[Page] | Sequence[Transaction]) -> Table:
    """Make the table of how long the users of each flow waited for pages, or for transactions: `what`."""
    asked: dict[str, list[Page | Transaction]] = {}
    for one in waited_for:
        asked.setdefault(one["flow"], []).append(one)
    rows = rows.part(lambda flow: flow["name"] in asked)
    first = rows.header(f"response, first {what.removesuffix('s')}", "\nmean")
    quantiles = (rows.header(name, _SPREAD) for name in QUANTILES)
    table = new_table("flow", rows.header(what, _SUM), first, "mean", "least", "most", *quantiles)
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
            *(_spread(row, key, seconds, "s") for key in QUANTILES.values()),
        )
    rows.add_rest(table)
    return table


def video_table(rows: Rows, videos: Sequence[Video]) -> Table:
    """Make the table of how the users of each flow saw its film."""
    films = {film["name"]: film for film in videos}
    rows = rows.part(lambda flow: flow["name"] in films)
    table = new_table(
        "film",
        rows.header("segments", _SUM),
        *(rows.header(name, "\nmean") for name in ("startup", "bit rate")),
        *(rows.header(name, _SUM) for name in ("switches", "stalls", "stalled")),
    )
    for row in rows.shown:
        shown = [films[flow["name"]] for flow in row.flows]
        table.add_row(
            _name(row),
            count(_one(sum, [film["segments"] for film in shown])),
            seconds(_one(_mean, [film["startup_s"] for film in shown])),
            quantity(_one(_mean, [film["bit_rate_mean_bps"] for film in shown]), "bit/s"),
            count(_one(sum, [film["bit_rate_switches"] for film in shown])),
            count(_one(sum, [film["stalls"] for film in shown])),
            seconds(_one(sum, [film["stalled_s"] for film in shown])),
        )
    rows.add_rest(table)
    return table


def _one(fold: Callable[[list[float]], float | None], numbers: Sequence[Number]) -> Number:
    """Fold the numbers that there are; a single one keeps its interval."""
    if len(numbers) == 1:
        return numbers[0]
    values = [value for number in numbers if (value := mean(number)) is not None]
    return fold(values) if values else None


def over_udp(flow: Flow) -> bool:
    """Say whether a flow is one of datagrams."""
    return flow["variant"] == "udp"


def lost_segments(flow: Flow) -> bool:
    """Say whether a flow lost segments whose cause is known; one without TCP has no such columns."""
    return any(mean(lost) for lost in (flow.get("loss_cause_random"), flow.get("loss_cause_congestion")))


def _name(row: Bundle) -> str:
    return row.name if row.alone else f"{row.name} ({len(row.flows):,} flows)"


def _sum(row: Bundle, key: _Key) -> Number:
    """Add up a number of all flows of a row; that of a single flow keeps its interval."""
    if row.alone:
        return row.flows[0][key]
    values = row.values(lambda flow: flow[key])
    return math.fsum(values) if values else None


def _spread(row: Bundle, key: _Key, write: Callable[[Number], str], unit: str) -> str:
    return write(row.flows[0][key]) if row.alone else spread(row.values(lambda flow: flow[key]), unit)


def _rate(number: Number) -> str:
    return quantity(number, "bit/s")


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
