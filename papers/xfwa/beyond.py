"""Beyond the document: what buffers, wrong estimates, and flows that do not take part make of XFWA."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from bentpipe.results import Run
from bentpipe.show.style import picture
from bentpipe_papers.common import curve, flows, over, plain, seeded
from bentpipe_papers.reproduction.grid import Cell, Grid
from bentpipe_papers.reproduction.reproduce import Context, Settings

from .link_types import TYPES
from .runs import (
    ARRIVED,
    BOTH,
    COLOURS,
    GROUPS,
    LABELS,
    PERSISTENT,
    SCHEMES,
    SEEDS,
    STAGED,
    TTL,
    buffers,
    busy,
    drop_rate,
    fairness,
    scheme,
    wait_ms,
    xfwa,
)
from .staged import staged_settings
from .web import web_settings

Measure = Callable[[Run], float]


def goodput(run: Run, prefix: str) -> float:
    """Give the mean goodput of the flows of that name, in Mbit/s."""
    found = [plain(flow["goodput_bps"]) / 1e6 for flow in flows(run, prefix)]
    return sum(found) / len(found)


QUEUE: Mapping[str, Measure] = {
    "link busy (%)": busy,
    "wait in the queue (ms)": wait_ms,
    "dropped (%)": drop_rate,
}


def table(
    context: Context,
    scenario: str,
    title: str,
    keys: Sequence[str],
    cases: Mapping[tuple[str, ...], Sequence[Settings]],
    measures: Mapping[str, Measure],
) -> Grid:
    """Tabulate the mean and interval of each measure over the runs of each case."""
    rows: list[tuple[Cell, ...]] = [
        (*case, *(over(map(measure, runs)) for measure in measures.values()))
        for case, runs in seeded(context, scenario, cases).items()
    ]
    return Grid(f"{title}. Mean and 95 % interval of {SEEDS} runs of 20 s", (*keys, *measures), tuple(rows))


def _staged(changes: Settings) -> list[Settings]:
    return [{**changes, **staged_settings(seed)} for seed in range(1, SEEDS + 1)]


def _long(changes: Settings) -> list[Settings]:
    return [{**web_settings(0, seed), **changes} for seed in range(1, SEEDS + 1)]


# The buffer, which equation 1 hands out.

BUFFERS_MS = (20, 40, 60, 80, 160, 320)


def _buffer_cases() -> dict[tuple[str, ...], list[Settings]]:
    return {
        (f"{milliseconds}", LABELS[name]): _staged(
            {**scheme(name, STAGED), **buffers(STAGED, 1.5, milliseconds / 1e3)}
        )
        for milliseconds in BUFFERS_MS
        for name in BOTH
    }


def queue(context: Context) -> Grid:
    """Tabulate the standing queue by the buffer, with flows that come and go."""
    return table(
        context,
        STAGED,
        "Flows that come and go at 1.5 Mbit/s, by the time in which the link sends a full buffer",
        ("buffer (ms)", "scheme"),
        _buffer_cases(),
        {**QUEUE, "Jain's index": lambda run: fairness(run, "connection")},
    )


def draw_queue(context: Context, path: Path) -> None:
    """Draw wait and utilization over the buffer."""
    runs = seeded(context, STAGED, _buffer_cases())
    with picture(path, (10, 4)) as figure:
        panels = figure.subplots(1, 2)
        for axes, label in zip(panels, ("wait in the queue (ms)", "link busy (%)"), strict=True):
            for name in BOTH:
                values = [
                    over(map(QUEUE[label], runs[f"{milliseconds}", LABELS[name]]))
                    for milliseconds in BUFFERS_MS
                ]
                curve(axes, BUFFERS_MS, values, color=COLOURS[name], label=LABELS[name])
            axes.set_xlabel("buffer (ms at the rate of the link)")
            axes.set_ylabel(label)
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)


# The estimates of the round trip.

_ESTIMATES = {
    "by TTLs": TTL,
    "by TTLs, the other reading": ARRIVED,
    **{f"by TTLs, times {factor:g}": f"{TTL}, rtt_factor = {factor}" for factor in (0.5, 2)},
    "times 0.5, delta 2 RTT_avg": f"{TTL}, rtt_factor = 0.5, delta_factor = 2",
    "from the handshake": 'rtt = "handshake"',
    "280 ms for every flow": 'rtt = "told", told = "280 ms"',
}


def estimates(context: Context) -> Grid:
    """Tabulate what wrong estimates do, with four different round trips."""
    seeds = range(1, SEEDS + 1)
    cases: dict[tuple[str, ...], list[Settings]] = {}
    cases["standard TCP",] = [TYPES["T2"].begun(seed) for seed in seeds]
    for words, options in _ESTIMATES.items():
        cases[words,] = [{**TYPES["T2"].begun(seed), **xfwa(GROUPS, options)} for seed in seeds]
    return table(
        context,
        GROUPS,
        "Four groups of 13 flows at 10 Mbit/s, by where XFWA has the round trips from",
        ("round trips",),
        cases,
        {
            "Jain's index": fairness,
            "group 1 (Mbit/s each)": lambda run: goodput(run, "group1"),
            "group 4 (Mbit/s each)": lambda run: goodput(run, "group4"),
            **QUEUE,
        },
    )


# Flows that do not take part.

_UDP = '{{ from = "source9", to = "sink9", app = "cbr", rate = "{rate:g} Mbit/s", packet = "972 B" }}'


def unresponsive(context: Context) -> Grid:
    """Tabulate five TCP flows beside datagrams that take no notice."""
    cases: dict[tuple[str, ...], list[Settings]] = {}
    for rate in (0.0, 2.5, 5.0, 7.5):
        stream: Settings = {"flows.stream": _UDP.format(rate=rate * 0.972)} if rate > 0 else {}
        for name in SCHEMES:
            changes = {"flows.long.count": 5, **scheme(name, PERSISTENT), **stream}
            cases[f"{rate:g}", LABELS[name]] = _long(changes)
    return table(
        context,
        PERSISTENT,
        "Five TCP flows beside datagrams at a constant rate through 10 Mbit/s",
        ("datagrams (Mbit/s)", "scheme"),
        cases,
        {
            "TCP (Mbit/s together)": lambda run: 5 * goodput(run, "long"),
            "datagrams lost (%)": _lost,
            "Jain's index of TCP": lambda run: fairness(run, "long"),
            **QUEUE,
        },
    )


def _lost(run: Run) -> float:
    streams = flows(run, "stream")
    sent = sum(plain(flow["datagrams_sent"]) for flow in streams)
    return 100 * sum(plain(flow["datagrams_lost"]) for flow in streams) / sent if sent > 0 else 0.0


_SMALL = (
    '{ from = "source{i}", to = "sink{i}", count = 5, variant = "newreno", '
    'receiver_tcp = { receive_window = "4 segments" } }'
)
_REDISTRIBUTING = {
    "standard TCP": None,
    "XFWA": TTL,
    "XFWA, redistributing": f"{TTL}, redistribute = true",
}


def limited(context: Context) -> Grid:
    """Tabulate five flows that can use their share beside five that cannot."""
    cases: dict[tuple[str, ...], list[Settings]] = {}
    for words, options in _REDISTRIBUTING.items():
        gateway = xfwa(PERSISTENT, options) if options else {}
        cases[(words,)] = _long({"flows.long.count": 5, "flows.small": _SMALL, **gateway})
    return table(
        context,
        PERSISTENT,
        "Five flows beside five whose receivers offer 4 packets, through 10 Mbit/s with a buffer of 60 ms",
        ("scheme",),
        cases,
        {
            "the five (Mbit/s together)": lambda run: 5 * goodput(run, "long"),
            "limited ones (Mbit/s together)": lambda run: 5 * goodput(run, "small"),
            "Jain's index of the five": lambda run: fairness(run, "long"),
            **QUEUE,
        },
    )


_TENTH: Mapping[str, tuple[str, Settings]] = {
    "NewReno": ("newreno", {}),
    "ADaLR": ("adalr-newreno", {}),
    "ADaLR, rho held at 15": ("adalr-newreno", {"tcp.adalr.scaling": "false"}),
    "ADaLR, rho held at 15, accumulating": (
        "adalr-newreno",
        {"tcp.adalr.scaling": "false", "tcp.adalr.rwnd_reading": "accumulating"},
    ),
}


def liar(context: Context) -> Grid:
    """Tabulate one flow whose sender oversteps the window that it is given."""
    cases: dict[tuple[str, ...], list[Settings]] = {}
    for words, (variant, options) in _TENTH.items():
        flow = f'{{ from = "source9", to = "sink9", variant = "{variant}" }}'
        for name in SCHEMES:
            changes = {"flows.long.count": 9, "flows.tenth": flow, **scheme(name, PERSISTENT), **options}
            cases[words, LABELS[name]] = _long(changes)
    return table(
        context,
        PERSISTENT,
        "Nine flows of NewReno, and a tenth like them or one that sends beyond the window offered to it",
        ("tenth flow", "scheme"),
        cases,
        {
            "the tenth (Mbit/s)": lambda run: goodput(run, "tenth"),
            "the others (Mbit/s each)": lambda run: goodput(run, "long"),
            **QUEUE,
        },
    )
