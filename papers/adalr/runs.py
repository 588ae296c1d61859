"""The runs that the items share: the download, ideal, congested, with errors, and with both."""

import tomllib
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bentpipe.results import Number, Run
from bentpipe.runs.traces import Traces
from bentpipe.show.style import BLUE, GREEN, ORANGE, PURPLE
from bentpipe_papers.common import flows, link, plain
from bentpipe_papers.reproduction.readings import Reading
from bentpipe_papers.reproduction.reproduce import Context, Settings

VARIANTS = ("adalr-sack", "adalr-newreno", "sack", "newreno")
STANDARD = {"adalr-sack": "sack", "adalr-newreno": "newreno"}
"""Each scheme and the one that it extends."""

LABELS = {
    "adalr-sack": "TCP-ADaLR SACK",
    "adalr-newreno": "TCP-ADaLR NewReno",
    "sack": "TCP SACK",
    "newreno": "TCP NewReno",
}
COLOURS = dict(zip(VARIANTS, (BLUE, GREEN, ORANGE, PURPLE), strict=True))

DELAYED_ACK = {"enabled": "true", "disabled": "false"}
"""The two columns of the tables: two segments and 0.2 s, or each segment at once."""

Key = TypeVar("Key", bound=Hashable)

Case = tuple[str, str]
"""A variant, and delayed ACK ``enabled`` or ``disabled``."""

CASES: tuple[Case, ...] = tuple(product(VARIANTS, DELAYED_ACK))

BERS = ("1e-8", "1e-7", "1e-6", "1e-5")
"""Bit error rates of figures 7 to 16: section 5 names 1e-5 to 1e-8."""

SEEDS = 20
"""Replications of each run with errors."""

CONGESTED_SEEDS = 12
"""The same beside cross traffic, whose runs take longer."""

CONGESTED = "congestion.toml"
"""The download beside a stream."""

SATELLITE_BPS = 2.048e6
"""Rate of the satellite's downlink."""

PACKET_S = 1500 * 8 / (0.8 * SATELLITE_BPS)
"""Time in s that the downlink takes to send a packet of 1,500 bytes."""


def settings_of(case: Case, flow: str = "download") -> dict[str, str]:
    """Give the settings of one column of one row of the tables."""
    variant, delayed = case
    return {f"flows.{flow}.variant": variant, "tcp.delayed_ack": DELAYED_ACK[delayed]}


def _without(settings: Settings) -> Settings:
    """Put the TCP that is extended in ADaLR's place."""
    plain = {**STANDARD, "adalr": "standard"}
    return {key: plain.get(str(value), value) for key, value in settings.items()}


WITHOUT = Reading.of_settings("without", "the TCP that is extended in ADaLR's place", _without)


_OWN_CONNECTION: Settings = {
    "flows.page.count": 33,
    "flows.page.pages": 1,
    "flows.page.start_step": "30 s",
}


def _each_with(changes: Settings, files: tuple[str, ...]) -> Callable[[str, Settings], tuple[str, Settings]]:
    """Give the change that adds settings to the runs of some scenario files."""

    def change(scenario: str, settings: Settings) -> tuple[str, Settings]:
        return scenario, {**changes, **settings} if scenario in files else settings

    return change


def _of_adalr(changes: Settings, settings: Settings) -> Settings:
    """Add settings to the runs of ADaLR alone, so that the others are those that were finished."""
    ours = any(str(value).startswith("adalr") for value in settings.values())
    return {**settings, **changes} if ours else settings


_PAGES = ("pages.toml", "pages-congestion.toml")
_PAGE_ITEMS = ("table-5", "table-6b", "figure-7", "figure-12")
_CONGESTED_ITEMS = ("table-7", "figure-4", "figure-5", "figure-6")

OWN_CONNECTION = Reading(
    "page-connection",
    "Connections of a page: one for all pages was inferred; here each page has a new one, and its time "
    "counts from the end of the handshake",
    _each_with(_OWN_CONNECTION, _PAGES),
    _PAGE_ITEMS,
)
SHARE_OF_CAPACITY = Reading(
    "share-of-capacity",
    "Utilization of figure 3: the busy time of the busiest 10 s was inferred; here it is the packets' share "
    "of 2.048 Mbit/s in the busiest second",
    items=("figure-3",),
)
WITHOUT_THE_LEAST = Reading(
    "errors-from-1e-7",
    "List of BERs: 1e-8, 1e-7, 1e-6 and 1e-5 were inferred from the range of section 5; here 1e-8 is not "
    "among them",
    items=("figure-7", "figure-8", "figure-9", "figure-10", "figure-11", "figure-1[2-6]"),
)

READINGS = (
    OWN_CONNECTION,
    Reading(
        "four-connections",
        "Connections of a page: one with pipelining was inferred; here a page comes over four, without it",
        _each_with({"flows.page.connections": 4, "flows.page.pipelining": "false"}, _PAGES),
        _PAGE_ITEMS,
    ),
    SHARE_OF_CAPACITY,
    WITHOUT_THE_LEAST,
    *(
        Reading.of_settings(
            f"linear-{windows}",
            'Length of "immediately after fast recovery": one window of data was inferred; here cwnd grows '
            f"linearly for {windows}",
            partial(_of_adalr, {"tcp.adalr.linear_after_recovery": windows}),
            ("figure-7", "figure-8", "figure-9", "figure-10", "figure-11", "figure-1[2-6]"),
        )
        for windows in ("0", "2")
    ),
    *(
        Reading(
            f"stream-{mbps}",
            f"Cross traffic: a stream of 1.26 Mbit/s was inferred; here it has {mbps} Mbit/s",
            _each_with({"flows.stream.rate": f"{mbps} Mbit/s"}, (CONGESTED,)),
            _CONGESTED_ITEMS,
        )
        for mbps in (1.24, 1.28)
    ),
    *(
        Reading(
            f"access-{delay}-ms",
            f"Delay of the senders' links in figure 17: none was inferred; here it is {delay} ms",
            _each_with({"links.access.delay": f"{delay} ms"}, ("fairness.toml",)),
            ("table-9", "table-1[0-2]", "slides-friendliness"),
        )
        for delay in (2, 4)
    ),
)


def listed(context: Context, bers: Sequence[str]) -> tuple[str, ...]:
    """Leave the bit error rates that the figures are taken to have."""
    return tuple(ber for ber in bers if ber != BERS[0] or not context.reads(WITHOUT_THE_LEAST))


def bit_errors(ber: str) -> dict[str, str]:
    """Give the settings of a downlink whose bits are wrong independently of each other."""
    return {"links.satellite.loss.model": "ber", "links.satellite.loss.ber": ber}


def ideal(context: Context, cases: Sequence[Case] = CASES) -> dict[Case, Run]:
    """Run the download without losses."""
    runs = context.runs("download.toml", [settings_of(case) for case in cases])
    return dict(zip(cases, runs, strict=True))


def congested(context: Context, cases: Sequence[Case] = CASES, mbps: float | None = None) -> dict[Case, Run]:
    """Run the download beside the stream, of its own rate or of so many Mbit/s; nothing in it is random."""
    stream = {} if mbps is None else {"flows.stream.rate": f"{mbps:g} Mbit/s"}
    runs = context.runs(CONGESTED, [{**settings_of(case), **stream} for case in cases])
    return dict(zip(cases, runs, strict=True))


def cross_flows(flows: int) -> dict[str, str | float]:
    """Give the settings of so many cross flows: beyond three each has its own round trip too."""
    links: dict[str, str | float] = {
        f"links.access{index}": f'{{ from = "remote{index}", to = "gateway", rate = "10 Mbit/s", '
        f'delay = "{30 + 10 * index} ms" }}'
        for index in range(3, flows)
    }
    return {**links, "flows.cross.count": flows}


def with_errors(
    context: Context, *, congestion: bool = False, cases: Sequence[Case] = CASES
) -> dict[tuple[Case, str], list[Run]]:
    """Run the download with bit errors on the downlink, at each of `BERS`, from the same seeds."""
    keys = list(product(cases, BERS))
    settings: list[Settings] = [{**settings_of(case), **bit_errors(ber)} for case, ber in keys]
    scenario, seeds = (CONGESTED, CONGESTED_SEEDS) if congestion else ("download.toml", SEEDS)
    return dict(zip(keys, context.replicate(scenario, settings, runs=seeds), strict=True))


def finished(runs: Mapping[Key, Sequence[Run]]) -> dict[Key, list[Run]]:
    """Leave out the seeds from which some download was given up at the retransmission limit."""
    count = min(map(len, runs.values()))
    kept = [k for k in range(count) if all(download(some[k])["error"] is None for some in runs.values())]
    return {key: [some[k] for k in kept] for key, some in runs.items()}


def utilization(run: Run) -> Number:
    """Give the share of time in which the satellite's downlink is busy sending, 0 to 1."""
    busy: Number = link(run)["utilization"]
    return busy


def busy_percent(traces: Traces, edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give the share of time, in %, in which the satellite's downlink is busy, between `edges` in s.

    Its queue has a point for each packet that waits and one for each that begins to be sent: the latter
    lowers the queue, or finds it empty.
    """
    queue = traces.get("satellite", "queue")
    step = np.diff(queue.value, prepend=0.0)
    begins = queue.time_s[(step < 0) | ((step == 0) & (queue.value == 0))]
    return 100 * PACKET_S * np.diff(np.searchsorted(begins, edges)) / np.diff(edges)


def download_s(run: Run) -> Number:
    """Give the download response time in s."""
    seconds: Number = download(run)["duration_s"]
    return seconds


def rate_kbps(run: Run, what: str) -> float:
    """Give ``goodput`` or ``throughput`` of the download in kbit/s."""
    return plain(download(run)[f"{what}_bps"]) / 1e3


def download(run: Run) -> Mapping[str, Any]:
    """Give the flow that the figures are about."""
    return flows(run, "download")[0]


def shorter(ours: float, theirs: float) -> float:
    """Say by how many per cent a time is shorter than another."""
    return 100 * (1 - ours / theirs)


def higher(ours: float, theirs: float) -> float:
    """Say by how many per cent something is higher than another."""
    return 100 * (ours / theirs - 1)


def scenario_table(context: Context, name: str) -> dict[str, Any]:
    """Read one of the paper's scenario files as it is written."""
    return tomllib.loads((context.paper.folder / name).read_text(encoding="utf-8"))
