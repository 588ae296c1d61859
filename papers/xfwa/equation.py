"""Sections III and IV: the network of figure 1, and equation 1 in runs."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from bentpipe.results import Estimate, Run
from bentpipe.show.style import BLUE, GREY, picture
from bentpipe_papers.common import flows, link, over, plain
from bentpipe_papers.reproduction.reproduce import Context, Row, Settings

from .link_types import MEAN_ROUND_TRIP_S, NUMBERS, ROUND_TRIPS_S, TYPES, WORDS, LinkType
from .over_time import flight
from .runs import (
    BOTTLENECK,
    BUFFER_S,
    GROUPS,
    PACKET,
    PAYLOAD,
    WEB,
    buffers,
    claims,
    only_on,
    rate,
    xfwa,
)
from .staged import CHANGES_S, by_scheme, full_queue

EIGHT = LinkType(10, 8, 3)
"""Where the windows are looked at: with so few flows a window has 55 packets and more."""

PIPE_KB = EIGHT.mbps * 1e3 / 8 * MEAN_ROUND_TRIP_S
ROOM_S = MEAN_ROUND_TRIP_S / 2
BUFFER_KB = EIGHT.mbps * 1e3 / 8 * ROOM_S
"""Room for every window, so that no loss stands between the window written and the one that is used."""

LONG_S = 90
"""So long, and with a gentle beginning, for every congestion window to grow beyond the one written."""

LONG: Settings = {
    "duration": f"{LONG_S} s",
    "tcp.initial_ssthresh": "40 segments",
    **buffers(GROUPS, EIGHT.mbps, ROOM_S),
}
SETTLED_S = (80.0, 89.0)


def _lone(number: int) -> Settings:
    """Silence the flows of the other groups, and all of this one but one."""
    return {
        **{
            f"{kind}{other}.count": 1
            for kind in ("links.up", "links.down", "flows.group")
            for other in NUMBERS
        },
        **{f"flows.group{other}.start": "19.999 s" for other in NUMBERS if other != number},
    }


def windows(context: Context, settings: Settings) -> list[dict[str, float]]:
    """Give the settled windows of the flows of figure 1b, in kB of packets, by runs."""
    found = []
    for seed in range(1, EIGHT.seeds + 1):
        subject = context.trace(GROUPS, {**EIGHT.begun(seed), **LONG, **settings}, title="windows")
        names = [flow["name"] for flow in flows(subject.run, "group")]
        found.append({name: flight(subject, name, *SETTLED_S) * PACKET / PAYLOAD for name in names})
    return found


def sums(found: Sequence[Mapping[str, float]]) -> Estimate:
    """Give the sum of the windows of each run."""
    return over(sum(one.values()) for one in found)


def by_group(found: Sequence[Mapping[str, float]]) -> dict[int, list[float]]:
    """Give the windows of the flows of each group."""
    return {
        number: [value for one in found for name, value in one.items() if name.startswith(f"group{number}")]
        for number in NUMBERS
    }


def equation_1(context: Context) -> list[Row]:
    """Give the rows of equation 1: the windows that flows have under way."""
    found = windows(context, xfwa(GROUPS))
    shares = {
        WORDS[number]: over(value / ROUND_TRIPS_S[number] for value in values)
        for number, values in by_group(found).items()
    }
    metric, total = "sum of the windows of all flows", sums(found)
    context.fact("more", f"{100 * (plain(total) / PIPE_KB - 1):.0f} %")
    context.fact("stated", f"{100 * BUFFER_S / MEAN_ROUND_TRIP_S:.0f} %")
    return claims(
        context,
        [
            ("proportional to the round trip", "window of a flow over its round trip", shares),
            ("equal rates, by arithmetic", "feedback over round trip", _identity()),
            ("sum of the windows", metric, {"sum": total, "Bw RTT_avg + Q_size": PIPE_KB + BUFFER_KB}),
            ("bandwidth-delay product", metric, {"sum": total, "Bw RTT_avg": PIPE_KB}),
        ],
    )


def _identity() -> dict[str, float]:
    """Give equation 1 over the round trip, for two flows of each group at the rate of T1, in kbit/s."""
    about = TYPES["T1"]
    pipe, buffer = (about.mbps * 1e6 * seconds for seconds in (MEAN_ROUND_TRIP_S, BUFFER_S))
    trips = [ROUND_TRIPS_S[number] for number in NUMBERS for _ in range(about.flows // len(NUMBERS))]
    rates = {
        WORDS[number]: ROUND_TRIPS_S[number] / sum(trips) * (pipe + buffer) / ROUND_TRIPS_S[number] / 1e3
        for number in NUMBERS
    }
    expected = (about.mbps * 1e6 / about.flows + buffer / (about.flows * MEAN_ROUND_TRIP_S)) / 1e3
    return {**rates, "Bw/N + Q/(N RTT_avg)": expected}


def figure_1(context: Context) -> list[Row]:
    """Give the rows of figure 1: what the network is, measured in it."""
    staged = by_scheme(context)
    run = staged["tcp"][0].subject.run
    isl = link(run, BOTTLENECK)
    sends = {change: _sending(run, change + 2.5) for change in CHANGES_S}
    full = over(map(full_queue, staged["tcp"]))
    pipe = plain(isl["delivered_bytes"]) / _busy_s(run, isl) * BUFFER_S
    web = context.run(WEB, {"flows.long.count": 1})
    on_off = flows(web, "web")[0]
    return [
        *(
            context.number(kind, "rate of an inter-satellite link", _isl_mbps(context, about))
            for kind, about in TYPES.items()
        ),
        context.number("up-link", "rate", _measured_mbps(run, "up0")),
        context.number("down-link", "rate", _measured_mbps(run, "down0")),
        context.number("three satellites", "round trip", 1e3 * _idle(context, 1)),
        *(context.number(WORDS[number], "round trip", 1e3 * _idle(context, number)) for number in NUMBERS),
        *(
            context.number(
                WORDS[number], "round trip that the gateway finds by TTLs", 1e3 * _found(context, number)
            )
            for number in NUMBERS
        ),
        context.number("data packet", "size", _packet(run)),
        context.number("every run", "duration", plain(run["duration_s"])),
        context.claim(
            "buffer",
            "most that waits at the bottleneck",
            {"buffer": full["mean"] * PACKET / 1e3, "pipe": pipe / 1e3},
        ),
        *(context.number(f"after {change:g} s", "flows that send", sends[change]) for change in CHANGES_S),
        context.number(
            "from 5 to 15 s",
            "long flows beside the on/off flows",
            float(len(flows(context.run(WEB), "long"))),
        ),
        context.number("on/off flows", "duration", _lasts(on_off)),
    ]


def _lasts(flow: Mapping[str, float]) -> float:
    return plain(flow["finish_s"]) - plain(flow["start_s"]) if flow["finish_s"] is not None else 0.0


def _busy_s(run: Run, one: Mapping[str, float]) -> float:
    return plain(one["utilization"]) * plain(run["duration_s"])


def _measured_mbps(run: Run, name: str) -> float:
    one = link(run, name)
    return 8 * plain(one["delivered_bytes"]) / _busy_s(run, one) / 1e6


def _isl_mbps(context: Context, about: LinkType) -> float:
    return _measured_mbps(context.run(GROUPS, about.begun(1)), BOTTLENECK)


def _packet(run: Run) -> float:
    flow = flows(run, "connection")[0]
    return plain(flow["bytes_delivered"]) / round(plain(flow["bytes_delivered"]) / PAYLOAD) + PACKET - PAYLOAD


def _sending(run: Run, moment_s: float) -> float:
    return float(
        sum(
            plain(flow["start_s"]) <= moment_s
            and (flow["finish_s"] is None or plain(flow["finish_s"]) > moment_s)
            for flow in flows(run, "connection")
        )
    )


def _idle(context: Context, number: int) -> float:
    """Give the round trip of one byte through links that are fast, in s."""
    settings = {**rate(GROUPS, 1000), **_lone(number)}
    settings |= {f"flows.group{other}.bytes": "1 B" for other in NUMBERS}
    return plain(flows(context.run(GROUPS, settings), f"group{number}")[0]["rtt_mean_s"])


def _found(context: Context, number: int) -> float:
    """Give the round trip that equation 1 was given, from the window of a flow that is alone, in s."""
    settings = {**rate(GROUPS, 5), **_lone(number), **only_on(BOTTLENECK, GROUPS)}
    (gateway,) = context.run(GROUPS, settings)["gateways"]
    return 8 * plain(gateway["window_mean_bytes"]) * PACKET / PAYLOAD / 5e6 - BUFFER_S


def draw(context: Context, path: Path) -> None:
    """Draw the windows over the round trip, measured and by equation 1."""
    found = windows(context, xfwa(GROUPS))
    trips = [1e3 * ROUND_TRIPS_S[number] for number in NUMBERS]
    each = [
        ROUND_TRIPS_S[number] / (2 * sum(ROUND_TRIPS_S.values())) * (PIPE_KB + BUFFER_KB)
        for number in NUMBERS
    ]
    with picture(path, (6.5, 4)) as figure:
        axes = figure.subplots()
        axes.plot(trips, each, color=GREY, label="equation 1")
        for trip, values in zip(trips, by_group(found).values(), strict=True):
            label = "flows" if trip == trips[0] else None
            axes.plot([trip] * len(values), values, "o", ms=4, color=BLUE, label=label)
        axes.set_xlabel("round trip without queues (ms)")
        axes.set_ylabel("under way (kB)")
        axes.set_title(f"{EIGHT.flows} flows, {EIGHT.mbps:g} Mbit/s")
        axes.set_ylim(bottom=0)
        axes.set_xlim(left=0)
        axes.legend()
