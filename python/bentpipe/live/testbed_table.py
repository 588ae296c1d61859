"""Kernel and simulator side by side, as a table for people."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape

from bentpipe.live.emulator_table import warnings
from bentpipe.show.columns import cells, columns
from bentpipe.show.flow_tables import Rows, waiting_table
from bentpipe.show.layout import MAXIMUM_ROWS, mention_rest, new_table, print_whole
from bentpipe.show.table import network_tables
from bentpipe.show.units import counted, seconds

if TYPE_CHECKING:
    from bentpipe.live.testbed import Compared

_SHOWN = (
    "bytes_delivered",
    "duration_s",
    "goodput_bps",
    "retransmitted_segments",
    "timeouts",
    "rtt_mean_s",
    "datagrams_lost",
)
"""Numbers of a flow; of those that several flows would have a spread of, the kernel's is told beside ours."""


def print_compared(compared: "Compared", release: str, to: Console) -> None:
    """Print a variant over the kernels, and beside it what the simulator says."""
    run: Mapping[str, Any] = compared.kernel.run
    title = f"{run['scenario']}, {compared.variant}, {seconds(run['duration_s'])} over Linux {release}"
    to.print(f"[bold]{escape(title)}[/bold]", highlight=False, soft_wrap=True)
    datagrams = any(flow["datagrams_sent"] for flow in run["flows"])
    shown = columns("flows", *(key for key in _SHOWN if key != "datagrams_lost" or datagrams))
    table = new_table("flow", "TCP", *(one.heading for one in shown))
    simulated = {} if compared.simulator is None else _by_name(compared.simulator.run["flows"])
    for flow in run["flows"][:MAXIMUM_ROWS]:
        table.add_row(escape(flow["name"]), "Linux", *cells(flow, shown))
        beside = simulated.get(flow["name"])
        if beside is not None:
            table.add_row("", "simulated", *cells(beside, shown))
            told = (one.key if one.flows == "spread" else None for one in shown)
            shares = (_apart(flow[key], beside[key]) if key else "" for key in told)
            table.add_row("", "Linux beside it", *shares)
    mention_rest(table, len(run["flows"]))
    print_whole(table, to)
    for side, of in (("Linux", compared.kernel), ("simulated", compared.simulator)):
        if of is not None and of.run["pages"]:
            to.print(f"{side}:", highlight=False)
            print_whole(waiting_table(Rows.of(of.run["flows"]), "pages", of.run["pages"]), to)
    for network in network_tables(run, run["links"]):
        print_whole(network, to)
    for warning in warnings(run["emulator"]):
        to.print(f"[bold]{warning}[/bold]", highlight=False, soft_wrap=True)
    deviation = compared.goodput_deviation
    if deviation is not None:
        what = counted(len(run["flows"]), "flow")
        to.print(f"Goodput of {what} beside the simulator's: {_share(deviation)}", highlight=False)


def _by_name(flows: Sequence[Any]) -> Mapping[str, Mapping[str, Any]]:
    return {flow["name"]: flow for flow in flows}


def _apart(kernel: float | None, simulated: float | None) -> str:
    return "" if kernel is None or not simulated else _share(kernel / simulated - 1)


def _share(value: float) -> str:
    return f"{value * 100:+.1f} %"
