"""Transfers against the kernel as tables for people."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.markup import escape

from bentpipe.numbers.declared import of_transfer
from bentpipe.show.columns import cells
from bentpipe.show.layout import new_table, print_whole
from bentpipe.show.table import network_tables
from bentpipe.show.units import count, percent, quantity

_MOST_NAMES = 10


def print_interop(result: Mapping[str, Any], to: Console) -> None:
    """Print the transfers between our TCP, or a second kernel's, and the kernel's.

    Over a scenario's links, what those did is printed too.
    """
    title = f"against the TCP of Linux {escape(result['kernel_release'])}"
    to.print(f"[bold]{title}[/bold]", highlight=False)
    scenario = result["scenario"]
    if scenario is not None:
        _print_scenario(scenario, to)
    measured = [of_transfer()[key] for key in ("delay_s", "bytes", "duration_s", "goodput_bps")]
    resent = [of_transfer()[key] for key in ("retransmitted_segments", "kernel_retransmitted_segments")]
    headings = (one.heading for one in (*measured, *resent))
    table = new_table("recovery", "control", "direction", *["loss"] * (scenario is None), *headings)
    for name in ("timeouts", "wrong checksums", "hashes"):
        table.add_column(name, justify="right")
    for row in result["rows"]:
        which = [row[key] for key in ("recovery", "control", "direction")]
        if scenario is None:
            which.append(row["loss"] if isinstance(row["loss"], str) else percent(row["loss"]))
        if "error" in row:
            table.add_row(*which, *("–",) * 8, "broke")
            continue
        table.add_row(
            *which,
            *cells(row, measured),
            *(count(row[one.key]) for one in resent),
            f"{count(row['timeouts'])} + {count(row['kernel_timeouts'])}",
            f"{count(row['checksum_errors'])} + {count(row['kernel_checksum_errors'])}",
            "equal" if row["sha256_equal"] else "differ",
        )
    print_whole(table, to)
    if scenario is not None:
        whole = [row for row in result["rows"] if "error" not in row]
        for row in whole:
            _print_network(row, to, named=len(whole) > 1)


def _print_scenario(scenario: Mapping[str, Any], to: Console) -> None:
    """Say which flow is run, where it goes, and which are not."""
    ways = f"{_listed(scenario['way'])}; back over {_listed(scenario['way_back'])}"
    what = f"{scenario['flow']}: {scenario['from']} → {scenario['to']} over {ways}"
    to.print(f"[bold]{escape(scenario['title'])}[/bold], {escape(what)}", highlight=False, soft_wrap=True)
    if scenario["left_out"]:
        names = escape(_listed(scenario["left_out"]))
        to.print(f"[bold]Not run, so on no link:[/bold] {names}", highlight=False, soft_wrap=True)


def _listed(names: list[str]) -> str:
    rest = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {rest:,} more" if rest > 0 else "")


def _print_network(row: Mapping[str, Any], to: Console, *, named: bool) -> None:
    """Print what the links that packets came to did in one transfer, its gateways and its handovers."""
    if named:
        which = f"{row['recovery']} {row['control']} {row['direction']}, {quantity(row['bytes'], 'B')}"
        to.print(f"[bold]{escape(which)}[/bold]", highlight=False)
    seen = ("delivered_packets", "dropped_packets", "corrupted_packets", "utilization")
    for table in network_tables(row, [link for link in row["links"] if any(link[key] for key in seen)]):
        print_whole(table, to)
