"""What sections I to III say in words of standard TCP, of other schemes, and of XFWA."""

from collections.abc import Mapping, Sequence

import numpy as np

from bentpipe.results import Estimate, Number, Run
from bentpipe.runs.statistics import jain
from bentpipe_papers.common import flows, link, over, plain, seeded
from bentpipe_papers.reproduction.grid import Cell, Grid
from bentpipe_papers.reproduction.reproduce import Context, Row, Settings

from .equation import BUFFER_KB, EIGHT, LONG, ROOM_S, sums, windows
from .groups import means
from .link_types import TYPES
from .over_time import flight
from .runs import (
    BOTTLENECK,
    BUFFER_S,
    GROUPS,
    HOP_S,
    PACKET,
    PAYLOAD,
    PERSISTENT,
    SEEDS,
    STAGED,
    TTL,
    Measured,
    buffers,
    busy,
    claims,
    moments,
    on_links,
    only_on,
    rate,
    scheme,
    segments,
    span,
    wait_ms,
    xfwa,
)
from .schemes import on_network
from .staged import LATE_S, RATE_BPS, Staged, staged
from .web import FEW

FLOWS = TYPES["T1"].flows
ROUND_TRIP_S = 8 * HOP_S
ONE_WAY_MS = 1e3 * ROUND_TRIP_S / 2


def _alike(seed: int) -> Settings:
    """Give the settings of a run of long flows with one round trip for all, as many as figure 4 has."""
    mbps = TYPES["T1"].mbps
    begun = {**moments(["long"], seed), "flows.long.start_step": f"{0.003 + 0.0007 * seed:g} s"}
    return {**rate(PERSISTENT, mbps), **begun, "flows.long.count": FLOWS}


_MANY = 40
"""Runs of flows that come and go, where two seconds are compared."""


def section_1(context: Context) -> list[Row]:
    """Give the rows of section I: what standard TCP does when round trips differ, and flows come and go."""
    seeds = range(1, SEEDS + 1)
    one = context.runs(PERSISTENT, [_alike(seed) for seed in seeds])
    four = context.runs(GROUPS, [TYPES["T1"].begun(seed) for seed in seeds])
    index = {
        words: over(jain([segments(flow) for flow in flows(run, prefix)]) for run in runs)
        for words, runs, prefix in (("one round trip", one, "long"), ("four round trips", four, "group"))
    }
    tcp = staged(context, scheme("tcp", STAGED), seeds=_MANY)

    def queue(begin_s: float) -> Estimate:
        return over(
            float(one.bottleneck.queue(np.arange(begin_s, begin_s + 2.0, 0.005)).mean()) for one in tcp
        )

    def used(begin_s: float) -> Estimate:
        times = np.array([begin_s, begin_s + 2.0])
        return over(float(one.bottleneck.utilization(times)[0]) * RATE_BPS / 1e6 for one in tcp)

    return claims(
        context,
        [
            ("round trips that differ", "Jain's index of standard TCP", index),
            (
                "more flows",
                "queue of standard TCP in 2 s",
                {"before": queue(LATE_S - 2.0), "after": queue(LATE_S)},
            ),
            (
                "fewer flows",
                "throughput of standard TCP in 2 s",
                {"before": used(2 * LATE_S - 2.0), "after": used(2 * LATE_S)},
            ),
        ],
    )


_QUEUES = ("red", "rem", "red-ecn")
_WINDOWS = ("ewa", "wintrac")


def _groups(name: str, changes: Settings | None = None, seeds: int = TYPES["T2"].seeds) -> list[Settings]:
    about = TYPES["T2"]
    return [
        {**about.begun(seed), **on_network(name, GROUPS, 75), **(changes or {})}
        for seed in range(1, seeds + 1)
    ]


def section_2(context: Context) -> list[Row]:
    """Give the rows of section II: queues that are managed actively, and windows by the free buffer."""
    runs = seeded(context, GROUPS, {name: _groups(name) for name in ("xfwa", *_QUEUES, *_WINDOWS)})
    found: list[Measured] = []
    for name in _QUEUES:
        used = {other: over(map(busy, runs[other])) for other in (name, "xfwa")}
        found.append((name, "link busy", used))
        found.append((name, "timeouts", {"timeouts": over(map(_timeouts, runs[name])), "none": 0.0}))
    found += [(name, "packets sent by a flow", means(runs[name])) for name in _WINDOWS]
    return claims(context, found)


_TARGETS = (12, 25, 37, 50, 62)
"""Queues in packets that REM is told to aim at, of 75."""


def measure_section_2(context: Context) -> Grid:
    """Tabulate REM by the queue that it aims at."""
    cases = {
        target: _groups("rem", on_links(GROUPS, "queue.target", f"{target} packets"), FEW)
        for target in _TARGETS
    }
    rows: list[tuple[Cell, ...]] = []
    used = []
    for target, runs in seeded(context, GROUPS, cases).items():
        used.append(plain(over(map(busy, runs))))
        values = (over(map(measure, runs)) for measure in (busy, wait_ms, _timeouts))
        rows.append((f"{target}", *values))
    context.fact("rem", span(used, 1))
    return Grid(
        f"REM by the queue that it aims at, four groups of 13 flows at 10 Mbit/s; mean and 95 % interval of "
        f"{FEW} runs",
        ("target (packets)", "link busy (%)", "wait in the queue (ms)", "timeouts"),
        tuple(rows),
    )


def _timeouts(run: Run) -> float:
    return sum(plain(flow["timeouts"]) for flow in run["flows"])


_BY_ARRIVAL = 'last_packet = "arrived"'
READINGS = {
    "transmitted, RTT_avg": TTL,
    **{
        f"arrived, {factor} RTT_avg": f"{TTL}, {_BY_ARRIVAL}, delta_factor = {factor}"
        for factor in (1, 1.5, 2)
    },
}
"""A flow's last packet and delta: as the document has them, and by the packets that arrive."""


def section_3(context: Context) -> list[Row]:
    """Give the rows of section III: whom the gateway counts, and what its windows follow."""
    ours = staged(context, scheme("xfwa", STAGED))
    (counted,) = _counted(context, {"": TTL}).values()
    waits = over(1e3 * plain(link(one.subject.run, BOTTLENECK)["queueing_delay_mean_s"]) for one in ours)
    delays: dict[str, Number] = {"with its queue": _plus(waits, ONE_WAY_MS), "propagation": ONE_WAY_MS}
    return [
        context.number("delta", "delta over RTT_avg", 1.0),
        *claims(
            context,
            [
                (
                    "table of active flows",
                    "flows that the gateway counts",
                    {"counted": counted, "sending": float(FLOWS)},
                ),
                ("queueing delays", "one-way delay", delays),
                _adapts(ours),
                *_follows(context),
                _only_lowered(context),
                _hosts(context),
            ],
        ),
    ]


def _plus(values: Estimate, more: float) -> Estimate:
    return over(value + more for value in values["values"])


def _counted(
    context: Context, readings: Mapping[str, str], buffer_s: float = BUFFER_S
) -> dict[str, Estimate]:
    """Give the flows of `_alike` that the gateway counts, from the mean of the windows that it writes."""
    mbps = TYPES["T1"].mbps
    room = buffers(PERSISTENT, mbps, buffer_s)
    cases = {
        words: [
            {**_alike(seed), **room, **only_on(BOTTLENECK, PERSISTENT, options)}
            for seed in range(1, SEEDS + 1)
        ]
        for words, options in readings.items()
    }
    capacity = mbps * 1e6 / 8 * (ROUND_TRIP_S + buffer_s) * PAYLOAD / PACKET
    return {
        words: over(
            sum(capacity / plain(gateway["window_mean_bytes"]) for gateway in run["gateways"]) for run in runs
        )
        for words, runs in seeded(context, PERSISTENT, cases).items()
    }


def measure_section_3(context: Context) -> Grid:
    """Tabulate whom the gateway counts, by the reading and by the buffer."""
    rows: list[tuple[Cell, ...]] = []
    for words, buffer_s in (("three hops", BUFFER_S), ("round trip", ROUND_TRIP_S)):
        counted = _counted(context, READINGS, buffer_s)
        context.fact(f"arrived, {words}", f"{plain(counted['arrived, 1 RTT_avg']):.1f}")
        rows += [(f"{1e3 * buffer_s:.0f}", reading, value) for reading, value in counted.items()]
    return Grid(
        f"Flows that the gateway counts of {FLOWS}; mean and 95 % interval of {SEEDS} runs",
        ("buffer (ms)", "last packet, delta", "flows counted"),
        tuple(rows),
    )


def _adapts(runs: Sequence[Staged]) -> Measured:
    counts = {0.0: "4 flows", 10.0: "6 flows", 5.0: "8 flows"}
    found = {
        words: over(flight(one.subject, "connection1", begin + 2.0, begin + 5.0) for one in runs)
        for begin, words in counts.items()
    }
    return "number of flows", "window of a flow", found


def _follows(context: Context) -> list[Measured]:
    """Measure the sum of the windows with other buffers, at another rate, and with one gateway of two."""
    half, everywhere = EIGHT.mbps / 2, xfwa(GROUPS)
    slow = {"links.isl2.rate": f"{half:g} Mbit/s", "links.isl2.queue": f"{500 * BUFFER_KB:.0f} B"}
    first, second = (only_on(name, GROUPS) for name in ("isl1", "isl2"))
    found = {
        words: sums(windows(context, settings))
        for words, settings in {
            "as it is": everywhere,
            "twice the buffer": {**everywhere, **buffers(GROUPS, EIGHT.mbps, 2 * ROOM_S)},
            "half the rate": {**everywhere, **rate(GROUPS, half, ROOM_S)},
            "both": {**slow, **everywhere},
            "tighter alone": {**slow, **second},
            "other alone": first,
        }.items()
    }
    compared = {
        "buffer size": {"280 ms": "twice the buffer", "140 ms": "as it is"},
        "bandwidth-delay product": {
            f"{EIGHT.mbps:g} Mbit/s": "as it is",
            f"{half:g} Mbit/s": "half the rate",
        },
        "two gateways": {words: words for words in ("both", "tighter alone", "other alone")},
    }
    return [
        (case, "sum of the windows of all flows", {name: found[words] for name, words in names.items()})
        for case, names in compared.items()
    ]


def _only_lowered(context: Context) -> Measured:
    small = {"flows.group1.receiver_tcp": '{ receive_window = "4 segments" }'}
    values = {
        words: over(one["group10"] for one in windows(context, {**small, **gateway}))
        for words, gateway in (("with XFWA", xfwa(GROUPS)), ("without", {}))
    }
    return "only lowered", "window of a flow whose receiver offers 4 packets", values


def _hosts(context: Context) -> Measured:
    settings = [{**EIGHT.begun(seed), **LONG, **xfwa(GROUPS)} for seed in range(1, EIGHT.seeds + 1)]
    rates = over(EIGHT.mbps * busy(run) / 100 for run in context.runs(GROUPS, settings))
    values: dict[str, Number] = {"xfwa": rates, "capacity": EIGHT.mbps}
    return "what the gateway asks of hosts", "throughput with hosts as they are", values
