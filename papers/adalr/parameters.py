"""Tables 2 to 4 and the numbers of sections 3 to 5: what the scenarios use, and arithmetic."""

import math
from collections.abc import Mapping
from itertools import product
from typing import Any

from bentpipe_papers.common import link, over, plain
from bentpipe_papers.reproduction.reproduce import Context, Row, Settings

from .runs import DELAYED_ACK, SEEDS, bit_errors, download_s, scenario_table, settings_of

EFFICIENCY = 0.8
"""Share of the satellite link's rate that carries packets, inferred (see the preset)."""

PACKET_BITS = 8 * 1500
SYN_BITS = 8 * 48


def numbers(context: Context) -> list[Row]:
    """Give the rows of the numbers in the text."""
    full_rate: Settings = {
        **settings_of(("sack", "disabled")),
        "links.terrestrial.delay": "0 ms",
        "links.satellite.efficiency": 1,
    }
    e1 = context.trace("download.toml", full_rate, title="E1")
    first_s = float(e1.traces.get("download", "rtt").value[0])
    # The first sample is the SYN's: 20 bytes of IP, 28 of TCP with its options, answered by as many.
    sending_s = SYN_BITS * (2 / 10e6 + 1 / 2.048e6 + 1 / 256e3)
    trip_ms = 1e3 * (first_s - sending_s)
    short = {"links.satellite.delay": "12.5 ms"}
    ours, theirs = (
        plain(download_s(context.run("download.toml", {**settings_of((variant, "enabled")), **short})))
        for variant in ("adalr-sack", "sack")
    )
    settings = [{**settings_of(("sack", delayed)), **bit_errors("1e-6")} for delayed in DELAYED_ACK]
    by_ack = {
        delayed: over(download_s(run) for run in runs)
        for delayed, runs in zip(
            DELAYED_ACK, context.replicate("download.toml", settings, runs=SEEDS), strict=True
        )
    }
    worst: Settings = {**settings_of(("sack", "enabled")), **bit_errors("1e-5")}
    (replications,) = context.replicate("download.toml", [worst], runs=SEEDS)
    links = [link(run) for run in replications]
    lost, passed = (
        sum(plain(one[f"{what}_packets"]) for one in links) for what in ("corrupted", "delivered")
    )
    expected = 1 - (1 - 1e-5) ** PACKET_BITS
    accepted = (1 - (1 - 1e-10) ** PACKET_BITS) * PACKET_BITS
    hop, interval = "satellite hop", "sqrt(rho)/4 from rho 15 to 60"
    return [
        context.number(
            "E1 link, RTT 500 ms, window 64 KB",
            "goodput",
            plain(e1.run["flows"][0]["goodput_bps"]) / 1e3,
        ),
        context.number(hop, "one-way delay", trip_ms / 2),
        context.number(hop, "round trip", trip_ms),
        context.number("rho at 250 ms", "rho", 0.25 * 60),
        context.number("rho at 1 s", "rho", 1.0 * 60),
        context.number(
            "satellite hop of 25 ms, rho of 15 at most",
            "download time of adalr-sack over sack",
            ours / theirs,
        ),
        context.number(interval, "smallest step", math.sqrt(15) / 4),
        context.number(interval, "largest step", math.sqrt(60) / 4),
        context.number("sub-phases", "ssthresh over largest initial window", 64 / 16),
        context.number("packet", "bits", 8.0 * (1460 + 40)),
        context.number(
            "error-correction threshold",
            "bit errors accepted in a packet",
            float(math.floor(accepted)),
        ),
        context.claim("sack, delayed ACK and errors", "download response time at BER 1e-6", by_ack),
        context.number(
            "PER", "1 - (1 - BER)^n at BER 1e-5, measured over expected", lost / (lost + passed) / expected
        ),
        context.number("a loss in a full window", "ssthresh over flight size", _after_a_loss(context)),
    ]


def _after_a_loss(context: Context) -> float:
    """Give ssthresh after a single loss, as a share of the flight size at which it was found."""
    one_drop: Settings = {
        **settings_of(("sack", "enabled")),
        "links.satellite.loss": '{ model = "drop", packets = [1000], at_least = "100 B" }',
    }
    traces = context.trace("download.toml", one_drop, title="one loss").traces
    ssthresh, flight = traces.get("download", "ssthresh"), traces.get("download", "flight")
    found = next(
        index for index, value in enumerate(ssthresh.value) if index and value != ssthresh.value[index - 1]
    )
    before = [
        value for at, value in zip(flight.time_s, flight.value, strict=True) if at < ssthresh.time_s[found]
    ]
    return float(ssthresh.value[found]) / float(before[-1])


def table_3(context: Context) -> list[Row]:
    """Give the rows of table 3, as the scenario has them."""
    scenario = scenario_table(context, "download.toml")
    duration_s = _first(scenario["duration"])
    return [
        context.number("file inter-request time", "value", duration_s),
        context.number("file size", "value", _first(scenario["flows"]["download"]["bytes"])),
        context.number("simulated time", "value", duration_s / 3600),
    ]


def table_4(context: Context) -> list[Row]:
    """Give the rows of table 4: as the scenario has them, gains and rates as the run shows them."""
    scenario = scenario_table(context, "download.toml")
    tcp = scenario["tcp"]
    rto, delayed = tcp["rto"], tcp["delayed_ack"]
    gain, deviation_gain, factor = _estimator(context)
    run = context.run("download.toml", settings_of(("sack", "enabled")))
    values = {
        "sender maximum segment size": _first(tcp["mss"]),
        "slow start initial count": _first(tcp["initial_window"]),
        "advertised window": _first(tcp["receive_window"]),
        "timer granularity": _first(rto["granularity"]) / 1e3,
        "maximum ACK delay, enabled": _first(delayed["timeout"]) / 1e3,
        "maximum ACK segments, enabled": float(delayed["segments"]),
        "maximum ACK delay, disabled": 0.0,
        "maximum ACK segments, disabled": _segments_an_ack(context),
        "duplicate ACK threshold": float(tcp["duplicate_threshold"]),
        "initial RTO": _first(rto["initial"]),
        "minimum RTO": _first(rto["min"]),
        "maximum RTO": _first(rto["max"]),
        "retransmission threshold": float(tcp["max_retransmissions"]),
        "RTT gain": gain,
        "RTT deviation coefficient": factor,
        "deviation gain": deviation_gain,
        "persistent timeout": 1.0,
    }
    duration_s = plain(run["duration_s"])
    return [
        *(context.number(case, "value", value) for case, value in values.items()),
        context.number("satellite downlink", "rate", _rate(link(run), duration_s) / EFFICIENCY / 1e3),
        context.number(
            "satellite uplink", "rate", _rate(link(run, "satellite/reverse"), duration_s) / EFFICIENCY / 1e3
        ),
        context.number("server to gateway", "rate", _rate(link(run, "terrestrial"), duration_s) / 1e6),
    ]


def _first(text: str) -> float:
    """Read the number of a value with its unit."""
    return float(text.split()[0])


def _rate(line: Mapping[str, Any], duration_s: float) -> float:
    """Give the bits that a direction of a link sends in a second of being busy."""
    return 8 * plain(line["delivered_bytes"]) / (plain(line["utilization"]) * duration_s)


def _segments_an_ack(context: Context) -> float:
    run = context.run("download.toml", settings_of(("sack", "disabled")))
    ahead, back = (
        plain(link(run, name)["delivered_packets"]) for name in ("terrestrial", "terrestrial/reverse")
    )
    return ahead / back


def _estimator(context: Context) -> tuple[float, float, float]:
    """Find gain, deviation gain and factor of the timer, by its first two values (RFC 6298)."""
    traces = context.trace("download.toml", settings_of(("sack", "enabled")), title="timer").traces
    samples, timers = traces.get("download", "rtt").value, traces.get("download", "rto").value
    one, two = float(samples[0]), float(samples[1])
    factor = 2 * (float(timers[1]) / one - 1)

    def miss(gains: tuple[float, ...]) -> float:
        alpha, beta = gains
        smooth = one + alpha * (two - one)
        deviation = (1 - beta) * one / 2 + beta * abs(two - one)
        return abs(smooth + factor * deviation - float(timers[2]))

    alpha, beta = min(product((1 / 16, 1 / 8, 1 / 4, 1 / 2), repeat=2), key=miss)
    return alpha, beta, factor
