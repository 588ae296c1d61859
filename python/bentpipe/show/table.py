"""Results as tables for people."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from bentpipe.catalogue import Entry
from bentpipe.results import FlowPath, Gateway, Handover, Link, Number, Recording, Relay, Run, mean
from bentpipe.show.flow_tables import (
    Rows,
    datagram_table,
    flow_table,
    loss_cause_table,
    lost_segments,
    over_udp,
    video_table,
    waiting_table,
)
from bentpipe.show.layout import MAXIMUM_ROWS, mention_rest, more, new_table, print_whole
from bentpipe.show.narrowest import busy
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

    Raises
    ------
    InputError
        No flow fits a pattern.
    """
    runs = run.get("runs")
    replicated = f", {counted(runs, 'replication')}, {_of_replications(run, runs)}" if runs else ""
    warm_up = mean(run.get("warm_up_s")) or 0.0
    measured = f", measured from {seconds(warm_up)} on" if warm_up > 0 else ""
    about = f"(seed {run['seed']}{replicated}{measured})"
    to.print(f"[bold]{escape(run['scenario'])}[/bold]  {about}", highlight=False)
    rows = Rows.of(run["flows"], flows)
    tables = [flow_table(rows)]
    if any(map(over_udp, run["flows"])):
        tables.append(datagram_table(rows.part(over_udp)))
    if any(map(lost_segments, run["flows"])):
        tables.append(loss_cause_table(rows.part(lost_segments)))
    if run["pages"]:
        tables.append(waiting_table(rows, "pages", run["pages"]))
    if run.get("videos"):
        tables.append(video_table(rows, run["videos"]))
    if run.get("transactions"):
        tables.append(waiting_table(rows, "transactions", run["transactions"]))
    tables += network_tables(run, run["links"])
    if run.get("paths"):
        tables.append(path_table(run["paths"]))
    if run["relays"]:
        tables.append(relay_table(run["relays"]))
    for table in tables:
        print_whole(table, to)
    if doubted(run["flows"], run["links"]):
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


def _of_replications(run: Run, runs: int) -> str:
    return about_intervals(runs) if run.get("random", True) else NOTHING_RANDOM


def _cut_short(recording: Recording) -> Iterator[str]:
    """Say which recordings ended before the run did."""
    series, capture = recording.get("series"), recording.get("capture")
    if series and series["reason"]:
        points = f"{count(series['points'])} points"
        yield _ended("Time series", points, series["ended_s"], series["reason"], "--series-limit")
    if capture and capture["reason"]:
        packets = f"{count(capture['packets'])} packets, {quantity(capture['bytes'], 'B')}"
        yield _ended("The capture", packets, capture["ended_s"], capture["reason"], "--pcap-limit")


def _ended(what: str, held: str, at_s: float | None, reason: str, option: str) -> str:
    why = "the disk is nearly full" if reason == "disk" else f"that is the limit ({option})"
    verb = "end" if what == "Time series" else "ends"
    return f"{what} {verb} at {seconds(at_s)} with {held}: {why}."


_WAITS: tuple[Literal["queueing_delay_p50_s", "queueing_delay_p95_s", "queueing_delay_p99_s"], ...] = (
    "queueing_delay_p50_s",
    "queueing_delay_p95_s",
    "queueing_delay_p99_s",
)


def link_table(links: Sequence[Link]) -> Table:
    """Make the table of what each direction of a link carried."""
    marks = any(mean(link["marked_packets"]) for link in links)
    queue = ["queue, mean", "queue, most", "queueing delay"]
    quantiles = any(link.get("queueing_delay_p50_s") is not None for link in links)
    if quantiles:
        queue += ["p50", "p95", "p99"]
    marked = ("marked",) if marks else ()
    repairs = any("recovered_packets" in link for link in links)
    repaired = ("recovered", "repair frames", "order wait, most") if repairs else ()
    changes = any("rate_mean_bps" in link for link in links)
    still = any(mean(link.get("standstill")) for link in links)
    supply = [*(["could carry"] if changes else []), *(["stood still"] if still else [])]
    columns = ("busy", *supply, "delivered", "dropped", *marked, "corrupted", *repaired, *queue)
    table = new_table("link", *columns)
    if len(links) > MAXIMUM_ROWS:
        links = sorted(links, key=lambda link: -(mean(link["utilization"]) or 0.0))
    for link in links[:MAXIMUM_ROWS]:
        table.add_row(
            link["name"],
            percent(busy(link) if mean(link.get("standstill")) else link["utilization"]),
            *_supply(link)[: len(supply)],
            counted(link["delivered_packets"], "packet"),
            counted(link["dropped_packets"], "packet"),
            *([counted(link["marked_packets"], "packet")] if marks else []),
            counted(link["corrupted_packets"], "packet"),
            *(_repaired(link) if repairs else []),
            counted(link["queue_mean_packets"], "packet"),
            counted(link["queue_max_packets"], "packet"),
            seconds(link["queueing_delay_mean_s"]),
            *([seconds(link[key]) for key in _WAITS] if quantiles else []),
        )
    if rest := links[MAXIMUM_ROWS:]:
        table.add_row(
            more(len(rest)),
            *("" for _ in ("busy", *supply)),
            _packets(link["delivered_packets"] for link in rest),
            _packets(link["dropped_packets"] for link in rest),
            *([_packets(link["marked_packets"] for link in rest)] if marks else []),
            _packets(link["corrupted_packets"] for link in rest),
        )
    return table


def _supply(link: Link) -> list[str]:
    """Give what a link that changes could have carried; one that does not has none of it."""
    if "rate_mean_bps" not in link:
        return ["–", "–"]
    return [quantity(link["rate_mean_bps"], "bit/s"), percent(link["standstill"])]


def _repaired(link: Link) -> list[str]:
    """Give what a link with ARQ or FEC did; a link without either has none of it."""
    if "recovered_packets" not in link:
        return ["–", "–", "–"]
    sent_again, parity = link["retransmitted_frames"], link["parity_frames"]
    frames = sent_again if mean(sent_again) else parity
    return [
        counted(link["recovered_packets"], "packet"),
        counted(frames, "frame"),
        seconds(link["order_wait_max_s"]),
    ]


def _packets(numbers: Iterable[Number]) -> str:
    return counted(math.fsum(mean(number) or 0.0 for number in numbers), "packet")


_AGENTS = ("snoop", "spoof")
"""Schemes that keep, swallow and send packets; the others lower windows."""


def agent_table(agents: list[Gateway]) -> Table:
    """Make the table of what each agent kept, sent and swallowed."""
    counts = ("segments", "resent locally", "ACKs made", "ACKs swallowed", "kept, most", "ahead, most")
    table = new_table("agent before", "scheme", *counts)
    for agent in agents[:MAXIMUM_ROWS]:
        table.add_row(
            agent["name"],
            agent["scheme"],
            count(agent["segments_forward"]),
            count(agent["local_retransmissions"]),
            count(agent["acks_made"]),
            count(agent["acks_swallowed"]),
            quantity(agent["cached_max_bytes"], "B"),
            quantity(agent["acknowledged_ahead_max_bytes"], "B"),
        )
    mention_rest(table, len(agents))
    return table


def gateway_table(gateways: list[Gateway]) -> Table:
    """Make the table of what each gateway made of the windows that passed it."""
    table = new_table(
        "gateway before", "scheme", "segments", "acknowledgments", "lowered", "mean window", "flows, most"
    )
    for gateway in gateways[:MAXIMUM_ROWS]:
        lowered = mean(gateway["windows_lowered"])
        table.add_row(
            gateway["name"],
            gateway["scheme"],
            count(gateway["segments_forward"]),
            count(gateway["segments_backward"]),
            count(gateway["windows_lowered"]),
            f"{count(gateway['window_mean_bytes'])} B" if lowered else "–",
            count(gateway["flows_max"]),
        )
    mention_rest(table, len(gateways))
    return table


def handover_table(handovers: list[Handover]) -> Table:
    """Make the table of what each handover moved and lost."""
    table = new_table("handover", "at", "flows", "lost")
    for handover in handovers[:MAXIMUM_ROWS]:
        lost = counted(handover["lost_packets"], "packet")
        table.add_row(handover["name"], seconds(handover["at_s"]), count(handover["flows"]), lost)
    mention_rest(table, len(handovers))
    return table


def path_table(paths: list[FlowPath]) -> Table:
    """Make the table of what the paths of flows over satellites were like."""
    table = new_table(
        "path of", "changes", "without", "links", "round trip, least", "median", "most", "left", "no path"
    )
    for path in paths[:MAXIMUM_ROWS]:
        fewest, most = mean(path["hops_min"]), mean(path["hops_max"])
        table.add_row(
            path["flow"],
            count(path["handovers"]),
            seconds(path["no_path_s"]),
            "–" if fewest is None or most is None else f"{fewest:.0f} to {most:.0f}",
            *(seconds(path[key]) for key in ("rtt_min_s", "rtt_median_s", "rtt_max_s")),
            counted(path["left_packets"], "packet"),
            counted(path["no_path_packets"], "packet"),
        )
    mention_rest(table, len(paths))
    return table


def relay_table(relays: list[Relay]) -> Table:
    """Make the table of what the relays held between two connections."""
    cut = any(mean(relay["lost_bytes"]) for relay in relays)
    sizes = ("buffer", "buffer, mean", "buffer, most", "undelivered", *(("lost",) if cut else ()))
    table = new_table("relay", "at", "upstream", *sizes)
    for relay in relays[:MAXIMUM_ROWS]:
        held = (relay["buffer_bytes"], relay["buffer_mean_bytes"], relay["buffer_max_bytes"])
        told = (relay["undelivered_bytes"], relay["lost_bytes"]) if cut else (relay["undelivered_bytes"],)
        row = (quantity(size, "B") for size in (*held, *told))
        table.add_row(relay["name"], relay["node"], relay["upstream"], *row)
    mention_rest(table, len(relays))
    return table


def network_tables(run: Mapping[str, Any], links: Sequence[Link]) -> list[Table]:
    """Make the tables of these links, and of the gateways and handovers of a run if it has any."""
    tables = [link_table(links)]
    agents = [gateway for gateway in run["gateways"] if gateway["scheme"] in _AGENTS]
    windows = [gateway for gateway in run["gateways"] if gateway["scheme"] not in _AGENTS]
    if windows:
        tables.append(gateway_table(windows))
    if agents:
        tables.append(agent_table(agents))
    if run["handovers"]:
        tables.append(handover_table(run["handovers"]))
    return tables


def print_catalogue(entries: Sequence[Entry], to: Console) -> None:
    """Print names with what they are."""
    if not entries:
        to.print("none yet", style="dim")
        return
    table = new_table("name")
    table.add_column("what it is")
    for entry in entries:
        table.add_row(entry.name, entry.summary)
    to.print(table)
