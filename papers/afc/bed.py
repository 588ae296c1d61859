"""Section 3: the test bed of table 1, and the two networks of figures 1 and 2."""

import math
from collections.abc import Mapping

from bentpipe.results import Estimate, Run
from bentpipe_papers.common import link, over, plain
from bentpipe_papers.reproduction.reproduce import Context, Row, Settings

from .multimedia import BESIDE_MULTIMEDIA, MULTIMEDIA, media_rates
from .runs import (
    ALONE,
    BERS,
    PACKET,
    RATES_KBPS,
    SCHEMES,
    SEEDS,
    counted_errors,
    flow,
    independent_errors,
    rate,
    transfers,
)
from .shared import BESIDE_TCP, CLEAR, beside

_FREQUENCIES = [(way, place) for way in ("uplink", "downlink") for place in ("forward", "return")]


def table_1(context: Context) -> list[Row]:
    """Give the rows of table 1, of the file sizes and of the transmitter."""
    files = {size: context.run(ALONE, {"flows.transfer.bytes": f"{size} MB"}) for size in (5, 10, 20)}
    media = media_rates(context)
    return [
        *_frequencies(context),
        *(context.number(f"BER {ber}", "bit error rate", _bit_error_rate(context, ber)) for ber in BERS),
        *(
            context.number(f"{kbps} kbit/s", "data rate", _link_rate(context, kbps) / 1e3)
            for kbps in RATES_KBPS
        ),
        context.number("audio", "rate", media["audio"]),
        context.number("video, high", "rate", media["video, high"]),
        context.number("video, low", "rate", media["video, low"]),
        *(
            context.number(f"{size} MB", "file size", plain(flow(run)["bytes_delivered"]) / 1e6)
            for size, run in files.items()
        ),
        context.number("transmitter", "highest data rate", _link_rate(context, RATES_KBPS[-1]) / 1e6),
    ]


def _frequencies(context: Context) -> list[Row]:
    """Hold each frequency against what the other three make it: both ways are moved down alike."""
    published = {key: float(context.published(", ".join(key), "frequency").published) for key in _FREQUENCIES}
    rows = []
    for way, place in _FREQUENCIES:
        other_way = "downlink" if way == "uplink" else "uplink"
        other = "return" if place == "forward" else "forward"
        value = published[other_way, place] + published[way, other] - published[other_way, other]
        rows.append(context.number(f"{way}, {place}", "frequency", value))
    return rows


def _bit_error_rate(context: Context, ber: str) -> Estimate:
    """Find the bit error rate by the share of full packets that are lost."""
    settings: list[Settings] = [{**independent_errors(ber), "seed": seed} for seed in range(1, SEEDS + 1)]
    rates = []
    for run in context.runs(ALONE, settings):
        lost, passed = (plain(link(run)[f"{what}_packets"]) for what in ("corrupted", "delivered"))
        rates.append(-math.log1p(-lost / (lost + passed)) / (8 * PACKET))
    return over(rates)


def _link_rate(context: Context, kbps: float) -> float:
    """Give the bits that the satellite link sends in a second of being busy."""
    run = context.run(ALONE, rate(kbps))
    busy_s = plain(link(run)["utilization"]) * plain(run["duration_s"])
    return 8 * plain(link(run)["delivered_bytes"]) / busy_s


def dropped(run: Run) -> float:
    """Give the packets that found no room in the modem."""
    return plain(link(run)["dropped_packets"])


def figure_1(context: Context) -> list[Row]:
    """Give the rows of figure 1: a lone transfer loses nothing in the modem, with errors or without."""
    rows = []
    for name, kbps in (("2 Mbit/s", 2048), ("1 Mbit/s", 1024)):
        channels = {CLEAR: {}, **{ber: counted_errors(context, ber) for ber in BERS}}
        runs = transfers(context, {case: {**rate(kbps), **some} for case, some in channels.items()})
        values = {
            one: float(max(dropped(run) for case in channels for run in runs[case, one])) for one in SCHEMES
        }
        rows.append(context.claim(name, "packets dropped by the modem", {**values, "none": 0.0}))
    return rows


def figure_2(context: Context) -> list[Row]:
    """Give the rows of figure 2: a second source makes the modem's buffer overflow."""
    low, high = (MULTIMEDIA[figure].settings() for figure in ("figure-12", "figure-11"))
    cases: Mapping[str, tuple[str, Settings, int]] = {
        "2 Mbit/s, TCP beside TCP": (BESIDE_TCP, {}, 2048),
        "1 Mbit/s, TCP beside TCP": (BESIDE_TCP, {}, 1024),
        "2 Mbit/s, TCP beside 128 kbit/s video": (BESIDE_MULTIMEDIA, low, 2048),
        "1 Mbit/s, TCP beside 512 kbit/s video": (BESIDE_MULTIMEDIA, high, 1024),
    }
    rows = []
    for case, (scenario, settings, kbps) in cases.items():
        runs = beside(context, {case: {**settings, **rate(kbps)}}, scenario)[case, "tcp"]
        alone = dropped(context.run(ALONE, rate(kbps)))
        shared = over(map(dropped, runs))
        rows.append(context.claim(case, "packets dropped by the modem", {"shared": shared, "alone": alone}))
    return rows
