"""Results as tables for people."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from bentpipe.catalogue import Entry
from bentpipe.numbers.declared import tables
from bentpipe.result_types import FlowPath, Link, Relay
from bentpipe.results import Run, mean
from bentpipe.show.columns import cells, columns, plain_table
from bentpipe.show.flow_tables import (
    Rows,
    datagram_table,
    flow_table,
    loss_cause_table,
    lost_segments,
    over_udp,
    user_tables,
    waiting_table,
)
from bentpipe.show.layout import MAXIMUM_ROWS, mention_rest, more, new_table, print_whole
from bentpipe.show.remarks import busy
from bentpipe.show.units import (
    NOTE_OF_DOUBT,
    NOTHING_RANDOM,
    about_intervals,
    count,
    counted,
    doubted,
    percent,
    quantity,
    seconds,
)

_WIDTH_OF_A_FILE = 160


def console() -> Console:
    """Give the console on standard output, wide enough that a table that goes to a file is not cut."""
    plain = Console()
    return plain if plain.is_terminal else Console(width=_WIDTH_OF_A_FILE)


def print_run(run: Run, to: Console, flows: Sequence[str] = ()) -> None:
    """Print the flows, what losses cost them, pages, films, transactions, the network, relays, and the cost.

    The flows that fit the patterns `flows` have rows of their own, first.

    Raises InputError: no flow fits a pattern.
    """
    runs = run.get("runs")
    replicated = ""
    if runs:
        intervals = about_intervals(runs) if run.get("random", True) else NOTHING_RANDOM
        replicated = f", {counted(runs, 'replication')}, {intervals}"
    warm_up = mean(run.get("warm_up_s")) or 0.0
    measured = f", measured from {seconds(warm_up)} on" if warm_up > 0 else ""
    about = f"(seed {run['seed']}{replicated}{measured})"
    to.print(f"[bold]{escape(run['scenario'])}[/bold]  {about}", highlight=False)
    for table in run_tables(run, flows):
        print_whole(table, to)
    if runs and doubted(run["flows"], run["links"]):
        to.print(NOTE_OF_DOUBT, highlight=False, soft_wrap=True)
    for line in _cut_short(run.get("recording", {})):
        to.print(line, highlight=False)
    engine = run["engine"]
    spent = f"Simulated {seconds(run['duration_s'])} in {seconds(engine['wall_s'])}: "
    spent += f"{count(engine['events'])} events"
    wall, segments = mean(engine["wall_s"]), mean(engine["data_segments"])
    speed = f", {quantity(segments / wall, 'segments/s')}" if wall and segments else ""
    sharing = run.get("jain_flows")
    fairness = ""
    if (mean(sharing) or 0.0) > 1.0:
        fairness = f"  Jain's fairness index {count(run['jain'])} over {count(sharing)} flows."
    to.print(f"{spent}{speed}.{fairness}", highlight=False)


def run_tables(run: Run, flows: Sequence[str] = ()) -> list[Table]:
    """Make the tables of a run; the flows that fit the patterns `flows` have rows of their own, first.

    Raises InputError: no flow fits a pattern.
    """
    rows = Rows.of(run["flows"], flows)
    parts = [flow_table(rows)]
    if any(map(over_udp, run["flows"])):
        parts.append(datagram_table(rows.part(over_udp)))
    if any(map(lost_segments, run["flows"])):
        parts.append(loss_cause_table(rows.part(lost_segments)))
    if run["pages"]:
        parts.append(waiting_table(rows, "pages", run["pages"]))
    parts += user_tables(rows, run)
    if run.get("transactions"):
        parts.append(waiting_table(rows, "transactions", run["transactions"]))
    parts += network_tables(run, run["links"])
    if run.get("paths"):
        parts.append(path_table(run["paths"]))
    parts += relay_table(run["relays"])
    return parts


def _cut_short(recording: Mapping[str, Any]) -> Iterator[str]:
    """Say which recordings ended before the run did."""
    series, capture = recording.get("series"), recording.get("capture")
    for what, ended, option in (
        ("Time series end", series, "--series-limit"),
        ("The capture ends", capture, "--pcap-limit"),
    ):
        if ended and ended["reason"]:
            why = "the disk is nearly full" if ended["reason"] == "disk" else f"that is the limit ({option})"
            if "points" in ended:
                held = f"{count(ended['points'])} points"
            else:
                held = f"{count(ended['packets'])} packets, {quantity(ended['bytes'], 'B')}"
            yield f"{what} at {seconds(ended['ended_s'])} with {held}: {why}."


def link_table(links: Sequence[Link]) -> Table:
    """Make the table of what each direction of a link carried."""
    marks = any(mean(link["marked_packets"]) for link in links)
    quantiles = any(link.get("queueing_delay_p50_s") is not None for link in links)
    repairs = any("recovered_packets" in link for link in links)
    changes = any("rate_mean_bps" in link for link in links)
    still = any(mean(link.get("standstill")) for link in links)
    share = columns("links", "utilization")
    supply = columns("links", *["rate_mean_bps"] * changes, *["standstill"] * still)
    passed = columns(
        "links", "delivered_packets", "dropped_packets", *["marked_packets"] * marks, "corrupted_packets"
    )
    waits = [one for one in tables()["links"] if one.startswith("queueing_delay_p")] if quantiles else []
    queue = columns("links", "queue_mean_packets", "queue_max_packets", "queueing_delay_mean_s", *waits)
    repaired = ("recovered", "repair frames", "order wait, most") if repairs else ()
    headings = [one.heading for one in (*share, *supply, *passed)]
    table = new_table("link", *headings, *repaired, *(one.heading for one in queue))
    if len(links) > MAXIMUM_ROWS:
        links = sorted(links, key=lambda link: -(mean(link["utilization"]) or 0.0))
    for link in links[:MAXIMUM_ROWS]:
        table.add_row(
            link["name"],
            percent(busy(link)) if mean(link.get("standstill")) else cells(link, share)[0],
            *cells(link, (*supply, *passed)),
            *(_repaired(link) if repairs else []),
            *cells(link, queue),
        )
    if rest := links[MAXIMUM_ROWS:]:
        whole = {one.key: math.fsum(mean(link[one.key]) or 0.0 for link in rest) for one in passed}  # type: ignore[literal-required]
        table.add_row(more(len(rest)), *("" for _ in (*share, *supply)), *cells(whole, passed))
    return table


def _repaired(link: Link) -> list[str]:
    """Give what a link with ARQ or FEC did; a link without either has none of it."""
    frames = "retransmitted_frames" if mean(link.get("retransmitted_frames")) else "parity_frames"
    recovered, repair, wait = columns("links", "recovered_packets", frames, "order_wait_max_s")
    frames_text = counted(link[frames], repair.unit) if frames in link else "–"  # type: ignore[literal-required]
    return [*cells(link, [recovered]), frames_text, *cells(link, [wait])]


def path_table(paths: Sequence[FlowPath]) -> Table:
    """Make the table of what the paths of flows over satellites were like."""
    first, then = columns("paths", "handovers", "no_path_s"), tuple(tables()["paths"].values())[-5:]
    headings = [*(one.heading for one in first), "links", *(one.heading for one in then)]
    table = new_table("path of", *headings)
    for path in paths[:MAXIMUM_ROWS]:
        fewest, most = mean(path["hops_min"]), mean(path["hops_max"])
        links = "–" if fewest is None or most is None else f"{fewest:.0f} to {most:.0f}"
        table.add_row(path["flow"], *cells(path, first), links, *cells(path, then))
    mention_rest(table, len(paths))
    return table


_AGENTS = ("snoop", "spoof")
"""Schemes that keep, swallow and send packets; the others lower windows."""

_OF_AGENTS = (
    *("segments_forward", "local_retransmissions", "acks_made", "acks_swallowed", "cached_max_bytes"),
    "acknowledged_ahead_max_bytes",
)
_OF_WINDOWS = (
    *("segments_forward", "segments_backward", "windows_lowered", "window_mean_bytes", "flows_max"),
)


def network_tables(run: Mapping[str, Any], links: Sequence[Link]) -> list[Table]:
    """Make the tables of these links, and of the gateways and handovers of a run if it has any."""
    agents = [gateway for gateway in run["gateways"] if gateway["scheme"] in _AGENTS]
    windows = [
        gateway if mean(gateway["windows_lowered"]) else {**gateway, "window_mean_bytes": None}
        for gateway in run["gateways"]
        if gateway["scheme"] not in _AGENTS
    ]
    return [
        link_table(links),
        *plain_table("gateways", windows, "gateway before", _OF_WINDOWS, texts=["scheme"]),
        *plain_table("gateways", agents, "agent before", _OF_AGENTS, texts=["scheme"]),
        *plain_table("handovers", run["handovers"], "handover", ("at_s", "flows", "lost_packets")),
    ]


def relay_table(relays: Sequence[Relay]) -> list[Table]:
    """Make the table of what the relays held between two connections, if there are any."""
    cut = any(mean(relay["lost_bytes"]) for relay in relays)
    sizes = ("buffer_bytes", "buffer_mean_bytes", "buffer_max_bytes", "undelivered_bytes")
    rows = [{**relay, "at": relay["node"]} for relay in relays]
    return plain_table("relays", rows, "relay", (*sizes, *["lost_bytes"] * cut), texts=["at", "upstream"])


def print_catalogue(entries: Sequence[Entry], to: Console) -> None:
    """Print names with what they are."""
    table = new_table("name")
    for heading in ("control", "recovery", "slow start") if entries[0].parts else ():
        table.add_column(heading, no_wrap=True)
    table.add_column("what it is")
    for entry in entries:
        table.add_row(entry.name, *(entry.parts or [entry.summary]))
    to.print(table)
