"""Kernel and simulator side by side, as a table and as a picture of cwnd, RTT and sequence against time."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape

from bentpipe.live.emulator_table import warnings
from bentpipe.live.kernel_run import Series
from bentpipe.live.testbed import Compared
from bentpipe.show.columns import cells, columns
from bentpipe.show.flow_tables import Rows, waiting_table
from bentpipe.show.layout import MAXIMUM_ROWS, mention_rest, new_table, print_whole
from bentpipe.show.style import CYCLE, picture
from bentpipe.show.table import network_tables
from bentpipe.show.units import counted, seconds

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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


def print_compared(compared: Compared, release: str, to: Console) -> None:
    """Print a variant over the kernels, and beside it what the simulator says."""
    run: Mapping[str, Any] = compared.kernel.run
    title = f"{run['scenario']}, {compared.variant}, {seconds(run['duration_s'])} over Linux {release}"
    to.print(f"[bold]{escape(title)}[/bold]", highlight=False, soft_wrap=True)
    datagrams = any(flow["datagrams_sent"] for flow in run["flows"])
    shown = columns("flows", *(key for key in _SHOWN if key != "datagrams_lost" or datagrams))
    table = new_table("flow", "TCP", *(one.heading for one in shown))
    flows = compared.simulator.run["flows"] if compared.simulator else []
    simulated: dict[str, Mapping[str, Any]] = {flow["name"]: flow for flow in flows}
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


def _apart(kernel: float | None, simulated: float | None) -> str:
    return "" if kernel is None or not simulated else _share(kernel / simulated - 1)


def _share(value: float) -> str:
    return f"{value * 100:+.1f} %"


_MOST_FLOWS = 4
_ROWS = (
    ("cwnd (kB)", (("cwnd", 1e-3),)),
    ("RTT, dotted RTO (s)", (("rtt", 1.0), ("rto", 1.0))),
    ("acknowledged (MB)", (("sequence", 1e-6),)),
)
"""Of each row: its label, and its curves with their scale; the second of a row is dotted."""


def draw(compared: Sequence[Compared], release: str, path: Path) -> None:
    """Write a picture with a column a variant: the kernels in thin lines, the simulator in pale ones."""
    size_in = (1.5 + 4.5 * len(compared), 7.5)
    with picture(path, size_in, f"Linux {release}") as figure:
        grid = figure.subplots(len(_ROWS), len(compared), sharex="col", sharey="row", squeeze=False)
        for column, one in zip(grid.T, compared, strict=True):
            column[0].set_title(one.variant)
            column[-1].set_xlabel("time (s)")
            names = list(one.kernel.series)[:_MOST_FLOWS]
            for axes, (_, curves) in zip(column, _ROWS, strict=True):
                for colour, name in zip(CYCLE, names, strict=False):
                    if one.simulator is not None:
                        pale = {"color": colour, "lw": 3.2, "alpha": 0.4}
                        _curves(axes, one.simulator.series[name], curves, f"{name}, simulated", **pale)
                    _curves(axes, one.kernel.series[name], curves, f"{name}, Linux", color=colour, lw=1.0)
                axes.set_ylim(bottom=0)
        for row, (label, _) in zip(grid, _ROWS, strict=True):
            row[0].set_ylabel(label)
        grid[-1][0].legend(loc="lower right")
        figure.align_ylabels(grid[:, 0])
        figure.suptitle(f"{compared[0].kernel.run['scenario']}: Linux {release}", fontweight="bold")


def _curves(
    axes: "Axes", series: Series, curves: Sequence[tuple[str, float]], label: str, **style: Any
) -> None:
    for number, (kind, scale) in enumerate(curves):
        times, values = series[kind]
        shown = None if number else label
        axes.plot(times, values * scale, ls=":" if number else "-", label=shown, **style)
