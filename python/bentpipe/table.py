"""Results as tables for people."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from bentpipe.catalogue import Entry
from bentpipe.grid import Grid
from bentpipe.reproduction import Reproduced, verdict_counts
from bentpipe.results import Flow, Gateway, Handover, Link, Number, Page, Recording, Run, mean
from bentpipe.units import count, percent, quantity, seconds

MAXIMUM_ROWS = 20
"""Flows or links shown; the rest is in the JSON."""

_WIDTH_OF_A_FILE = 160
_UNLIMITED = 10_000
_COLOURS = {"match": "green", "shape": "yellow", "differs": "red"}


def console() -> Console:
    """Give the console on standard output, wide enough that a table that goes to a file is not cut."""
    plain = Console()
    return plain if plain.is_terminal else Console(width=_WIDTH_OF_A_FILE)


def print_run(run: Run, to: Console) -> None:
    """Print the flows, what their losses cost, their pages, links, gateways and handovers, and the cost."""
    runs = run.get("runs")
    replicated = f", {runs} replications, 95 % intervals" if runs else ""
    to.print(f"[bold]{escape(run['scenario'])}[/bold]  (seed {run['seed']}{replicated})", highlight=False)
    tables = [flow_table(run["flows"])]
    if streams := [flow for flow in run["flows"] if _over_udp(flow)]:
        tables.append(datagram_table(streams))
    if lossy := [flow for flow in run["flows"] if _lost(flow)]:
        tables.append(loss_cause_table(lossy))
    if run["pages"]:
        tables.append(page_table(run["pages"]))
    tables.append(link_table(run["links"]))
    if run["gateways"]:
        tables.append(gateway_table(run["gateways"]))
    if run["handovers"]:
        tables.append(handover_table(run["handovers"]))
    for table in tables:
        _print_whole(table, to)
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


def flow_table(flows: list[Flow]) -> Table:
    """Make the table of what each flow got; one that goes on at the end is open, one that broke failed."""
    table = _table(
        "flow", "variant", "delivered", "time", "goodput", "throughput", "resent segments", "timeouts", "RTT"
    )
    for flow in flows[:MAXIMUM_ROWS]:
        resent = (flow["retransmitted_segments"], flow["timeouts"])
        table.add_row(
            flow["name"],
            flow["variant"],
            quantity(flow["bytes_delivered"], "B"),
            seconds(flow["duration_s"]) + _end(flow),
            quantity(flow["goodput_bps"], "bit/s"),
            quantity(flow["throughput_bps"], "bit/s"),
            *(("–", "–") if _over_udp(flow) else map(count, resent)),
            seconds(flow["rtt_mean_s"]),
        )
    _mention_rest(table, len(flows))
    broken = [f"{flow['name']}: {flow['error']}" for flow in flows if flow.get("error")]
    if broken:
        more = [f"… and {len(broken) - MAXIMUM_ROWS} more (see --json)"] if len(broken) > MAXIMUM_ROWS else []
        table.caption = escape("\n".join(broken[:MAXIMUM_ROWS] + more))
        table.caption_justify = "left"
    return table


def _end(flow: Flow) -> str:
    if mean(flow["finish_s"]) is not None:
        return ""
    return ", failed" if flow.get("error") else ", open"


def datagram_table(flows: list[Flow]) -> Table:
    """Make the table of what became of the datagrams of each flow over UDP."""
    table = _table("flow", "datagrams sent", "lost", "share lost")
    for flow in flows[:MAXIMUM_ROWS]:
        sent, lost = mean(flow["datagrams_sent"]), mean(flow["datagrams_lost"])
        table.add_row(
            flow["name"],
            count(flow["datagrams_sent"]),
            count(flow["datagrams_lost"]),
            percent(lost / sent) if sent and lost is not None else "–",
        )
    _mention_rest(table, len(flows))
    return table


def loss_cause_table(flows: list[Flow]) -> Table:
    """Make the table of which losses cost each flow a reduction of its window, by their cause."""
    table = _table(
        "losses by cause", "random", "reduced after", "congestion", "not reduced after", "needless reductions"
    )
    for flow in flows[:MAXIMUM_ROWS]:
        table.add_row(
            flow["name"],
            f"{count(flow['loss_cause_random'])} segments",
            _share(flow["loss_cause_random_cut"], flow["loss_cause_random"]),
            f"{count(flow['loss_cause_congestion'])} segments",
            _share(flow["loss_cause_congestion_kept"], flow["loss_cause_congestion"]),
            f"{count(flow['loss_cause_needless_cuts'])} of {count(flow['loss_cause_cuts'])}",
        )
    _mention_rest(table, len(flows))
    return table


def _lost(flow: Flow) -> bool:
    # A flow without TCP has no such columns.
    return any(mean(lost) for lost in (flow.get("loss_cause_random"), flow.get("loss_cause_congestion")))


def _share(part: Number, whole: Number) -> str:
    """Write a share in per cent: of all replications together, and so without an interval."""
    of, all_of = mean(part), mean(whole)
    return percent(of / all_of) if of is not None and all_of else "–"


def page_table(pages: list[Page]) -> Table:
    """Make the table of how long the user of each flow waited for pages."""
    flows: dict[str, list[Page]] = {}
    for page in pages:
        flows.setdefault(page["flow"], []).append(page)
    table = _table("flow", "pages", "response, first page", "mean", "least", "most")
    for name, asked in list(flows.items())[:MAXIMUM_ROWS]:
        responses = [value for page in asked if (value := mean(page["response_s"])) is not None]
        if responses:
            centre = math.fsum(responses) / len(responses)
            spread = [seconds(value) for value in (centre, min(responses), max(responses))]
        else:
            spread = ["–"] * 3
        table.add_row(name, f"{len(responses)} of {len(asked)}", seconds(asked[0]["response_s"]), *spread)
    _mention_rest(table, len(flows))
    return table


def link_table(links: list[Link]) -> Table:
    """Make the table of what each direction of a link carried."""
    marks = any(mean(link["marked_packets"]) for link in links)
    queue = ("queue, mean", "queue, most", "queueing delay")
    marked = ("marked",) if marks else ()
    table = _table("link", "busy", "delivered", "dropped", *marked, "corrupted", *queue)
    for link in links[:MAXIMUM_ROWS]:
        table.add_row(
            link["name"],
            percent(link["utilization"]),
            f"{count(link['delivered_packets'])} packets",
            f"{count(link['dropped_packets'])} packets",
            *([f"{count(link['marked_packets'])} packets"] if marks else []),
            f"{count(link['corrupted_packets'])} packets",
            f"{count(link['queue_mean_packets'])} packets",
            f"{count(link['queue_max_packets'])} packets",
            seconds(link["queueing_delay_mean_s"]),
        )
    _mention_rest(table, len(links))
    return table


def gateway_table(gateways: list[Gateway]) -> Table:
    """Make the table of what each gateway made of the windows that passed it."""
    table = _table(
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
    _mention_rest(table, len(gateways))
    return table


def handover_table(handovers: list[Handover]) -> Table:
    """Make the table of what each handover moved and lost."""
    table = _table("handover", "at", "flows", "lost")
    for handover in handovers[:MAXIMUM_ROWS]:
        lost = f"{count(handover['lost_packets'])} packets"
        table.add_row(handover["name"], seconds(handover["at_s"]), count(handover["flows"]), lost)
    _mention_rest(table, len(handovers))
    return table


def _over_udp(flow: Flow) -> bool:
    return flow["variant"] == "udp"


def _print_whole(table: Table, to: Console) -> None:
    # On a narrow terminal a long row goes on in the next line; a name or a number that is cut says nothing.
    table.width = to.measure(table, options=to.options.update(max_width=_UNLIMITED)).maximum
    to.print(table, crop=False)


def _table(first: str, *rest: str) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(first, no_wrap=True)
    for name in rest:
        table.add_column(name, justify="left" if name == "variant" else "right", no_wrap=True)
    return table


def print_interop(result: Mapping[str, Any], to: Console) -> None:
    """Print the transfers between our TCP, or a second kernel's, and the kernel's."""
    title = f"against the TCP of Linux {escape(result['kernel_release'])}"
    to.print(f"[bold]{title}[/bold]", highlight=False)
    table = _table(
        "recovery",
        "control",
        "direction",
        "loss",
        "delay",
        "bytes",
        "time",
        "goodput",
        "resent, own end",
        "kernel's",
    )
    for name in ("timeouts", "wrong checksums", "hashes"):
        table.add_column(name, justify="right")
    for row in result["rows"]:
        which = (row["recovery"], row["control"], row["direction"])
        loss = row["loss"] if isinstance(row["loss"], str) else percent(row["loss"])
        if "error" in row:
            table.add_row(*which, loss, *("–",) * 8, "broke")
            continue
        table.add_row(
            *which,
            loss,
            seconds(row["delay_s"]),
            quantity(row["bytes"], "B"),
            seconds(row["duration_s"]),
            quantity(row["goodput_bps"], "bit/s"),
            count(row["retransmitted_segments"]),
            count(row["kernel_retransmitted_segments"]),
            f"{count(row['timeouts'])} + {count(row['kernel_timeouts'])}",
            f"{count(row['checksum_errors'])} + {count(row['kernel_checksum_errors'])}",
            "equal" if row["sha256_equal"] else "differ",
        )
    _print_whole(table, to)


def _mention_rest(table: Table, rows: int) -> None:
    if rows > MAXIMUM_ROWS:
        table.add_row(f"… and {rows - MAXIMUM_ROWS} more (see --json)")


def print_catalogue(entries: Sequence[Entry], to: Console) -> None:
    """Print names with what they are."""
    if not entries:
        to.print("none yet", style="dim")
        return
    table = _table("name")
    table.add_column("what it is")
    for entry in entries:
        table.add_row(entry.name, entry.summary)
    to.print(table)


def grid_table(grid: Grid) -> Table:
    """Make the table of an item's own measurements."""
    table = Table(*grid.columns, box=None, header_style="bold", pad_edge=False, title=grid.title)
    for row in grid.text():
        table.add_row(*map(escape, row))
    return table


def print_reproduction(results: Sequence[Reproduced], to: Console) -> None:
    """Print each item's rows, published beside computed, why some disagree, and how many agree."""
    for result in results:
        if not result.rows and result.grid is None:
            continue
        to.print(
            f"\n[bold]{result.paper.name}/{result.item.name}[/bold]  {result.item.title}", highlight=False
        )
        if result.grid is not None:
            to.print(grid_table(result.grid))
        if not result.rows:
            continue
        table = Table(
            "case", "metric", "published", "computed", box=None, header_style="bold", pad_edge=False
        )
        table.add_column("deviation", justify="right")
        table.add_column("verdict")
        for row in result.rows:
            colour = _COLOURS[row.verdict]
            cells = (row.case, row.metric, row.published_text(), row.computed_text(), row.deviation_text())
            table.add_row(*(escape(cell) for cell in cells), f"[{colour}]{row.verdict}[/{colour}]")
        to.print(table)
        for row in result.rows:
            if row.note and row.verdict != "match":
                to.print(
                    f"  {escape(row.case)}, {escape(row.metric)}: {escape(row.note)}",
                    style="dim",
                    highlight=False,
                )
    counts = verdict_counts(results)
    to.print("\n" + ", ".join(f"{count} {verdict}" for verdict, count in counts.items()), highlight=False)
