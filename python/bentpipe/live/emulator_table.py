"""An emulator's tables for people: while it runs, and at its end."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import click
from rich.console import Console, Group
from rich.live import Live
from rich.markup import escape
from rich.table import Table

from bentpipe.live.emulate import Paced
from bentpipe.show.layout import MAXIMUM_ROWS, mention_rest, new_table, print_whole
from bentpipe.show.table import network_tables
from bentpipe.show.units import count, counted, percent, quantity, seconds

_TERMINAL_EVERY_S = 0.5
_LOG_EVERY_S = 10.0
_KEEPS_UP = 0.001
"""A larger share of the time behind is told."""


@contextmanager
def shown() -> Iterator[Callable[[Mapping[str, Any]], None]]:
    """Show snapshots on stderr: a table in its place on a terminal, now and then a line elsewhere."""
    console = Console(stderr=True)
    rates = _Rates()
    pace = Paced(_TERMINAL_EVERY_S if console.is_terminal else _LOG_EVERY_S)
    with (
        Live(console=console, auto_refresh=False, transient=True)
        if console.is_terminal
        else nullcontext() as live
    ):

        def show(snapshot: Mapping[str, Any]) -> None:
            if not pace.is_due():
                return
            links = rates.links(snapshot)
            if live is None:
                click.echo(_line(snapshot["report"], links), err=True)
                sys.stderr.flush()
            else:
                table = _live_table(links, len(snapshot["report"]["links"]))
                live.update(Group(_heading(snapshot["report"]), table), refresh=True)

        yield show


class _Rates:
    """What the links carried since the snapshot before."""

    def __init__(self) -> None:
        self._before: tuple[float, list[int]] = (0.0, [])
        self._bps: list[float] = []

    def links(self, snapshot: Mapping[str, Any]) -> list[tuple[Mapping[str, Any], Mapping[str, Any], float]]:
        """Give the links of a newer one, each as it is now and with its rate; of many the busiest."""
        report = snapshot["report"]
        counts = [link["delivered_bytes"] for link in report["links"]]
        then_s, then = self._before
        span_s = report["duration_s"] - then_s
        if span_s > 0:
            # Satellites get links as paths need them.
            earlier = then + [0] * (len(counts) - len(then))
            self._bps = [8 * (now - old) / span_s for now, old in zip(counts, earlier, strict=True)]
        self._before = (report["duration_s"], counts)
        found = list(zip(report["links"], snapshot["now"], self._bps or [0.0] * len(counts), strict=True))
        if len(found) > MAXIMUM_ROWS:
            found.sort(key=lambda link: -link[2])
        return found[:MAXIMUM_ROWS]


def print_emulated(report: Mapping[str, Any], to: Console) -> None:
    """Print what an emulator's network did, and how the emulator itself kept up."""
    title = f"{report['title']}, {seconds(report['duration_s'])} over Linux {report['kernel_release']}"
    to.print(f"[bold]{escape(title)}[/bold]", highlight=False, soft_wrap=True)
    if report["not_relayed"]:
        names = escape(", ".join(report["not_relayed"][:MAXIMUM_ROWS]))
        to.print(f"[bold]Not relayed, so end to end:[/bold] {names}", highlight=False, soft_wrap=True)
    hosts = new_table("host", "address", "sent", "", "received", "")
    for host in report["hosts"][:MAXIMUM_ROWS]:
        sent, received = (
            (counted(host[f"{way}_packets"], "packet"), quantity(host[f"{way}_bytes"], "B"))
            for way in ("sent", "received")
        )
        hosts.add_row(host["name"], _place(host), *sent, *received)
    mention_rest(hosts, len(report["hosts"]))
    print_whole(hosts, to)
    for table in network_tables(report, report["links"]):
        print_whole(table, to)
    own = report["emulator"]
    table = new_table("emulator", "bytes", "late, p50", "p99", "p99.9", "most", "behind", "lost by devices")
    late = own["lateness"] or {}
    times = (seconds(late.get(key)) for key in ("p50_s", "p99_s", "p999_s", "max_s"))
    carried = (counted(own["packets"], "packet"), quantity(own["bytes"], "B"))
    table.add_row(*carried, *times, percent(own["overload"]), counted(own["device_lost_packets"], "packet"))
    print_whole(table, to)
    if own["unroutable_packets"]:
        lost = counted(own["unroutable_packets"], "packet")
        to.print(f"{lost} for an address that is no host's, or that no link leads to", highlight=False)
    for warning in warnings(own):
        to.print(f"[bold]{warning}[/bold]", highlight=False, soft_wrap=True)


def warnings(own: Mapping[str, Any]) -> Iterator[str]:
    """Say in lines where an emulator's numbers are not those of its scenario."""
    if own["overload"] > _KEEPS_UP or own["device_lost_packets"]:
        yield (
            f"It could not keep up for {percent(own['overload'])} of the time, and its devices lost "
            f"{counted(own['device_lost_packets'], 'packet')}: the numbers are not those of the scenario."
        )
    if not own["realtime"]:
        yield "It ran without SCHED_FIFO: other programs made it late."


def _place(host: Mapping[str, Any]) -> str:
    return str(host["address"] or host["interface"])


def _heading(report: Mapping[str, Any]) -> str:
    own = report["emulator"]
    parts = [
        f"[bold]{escape(report['title'])}[/bold]",
        seconds(report["duration_s"]),
        ", ".join(escape(f"{host['name']} {_place(host)}") for host in report["hosts"][:4]),
        _late(own),
    ]
    if own["overload"] > _KEEPS_UP or own["device_lost_packets"]:
        parts.append(f"[bold red]does not keep up: {percent(own['overload'])} of the time[/bold red]")
    return ", ".join(parts)


def _live_table(links: Sequence[Any], count_of_all: int) -> Table:
    table = new_table("link", "carries", "of", "busy", "waiting", "dropped", "corrupted")
    for link, now, bps in links:
        rate = now["rate_bps"]
        table.add_row(
            link["name"],
            quantity(bps, "bit/s"),
            quantity(rate, "bit/s"),
            percent(min(1.0, bps / rate)) if rate else "–",
            counted(now["queue_packets"], "packet"),
            count(link["dropped_packets"]),
            count(link["corrupted_packets"]),
        )
    mention_rest(table, count_of_all)
    return table


def _line(report: Mapping[str, Any], links: Sequence[Any]) -> str:
    carried = ", ".join(f"{link['name']} {quantity(bps, 'bit/s')}" for link, _, bps in links)
    lost = sum(link["dropped_packets"] + link["corrupted_packets"] for link in report["links"])
    own = report["emulator"]
    behind = f", behind {percent(own['overload'])} of the time" if own["overload"] > _KEEPS_UP else ""
    return (
        f"live emulate: {seconds(report['duration_s'])}, {carried or 'nothing carried'}, "
        f"{counted(lost, 'packet')} lost, {_late(own)}{behind}"
    )


def _late(own: Mapping[str, Any]) -> str:
    late = own["lateness"]
    return f"late by {seconds(late['p99_s'])} at p99" if late else "no packet yet"
