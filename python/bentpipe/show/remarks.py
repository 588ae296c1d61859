"""Lines on a run: its narrowest link is not the expected one, or BBR meets what it was not made for."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from bentpipe.result_types import Link
from bentpipe.results import Run, mean
from bentpipe.show.units import count, percent, quantity, seconds

_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}

BUSY = 0.5
"""A link that is busy for this share of the run may be its bottleneck."""

PROBES_S = {"bbr1": 10.0, "bbr3": 5.0}
"""How often each looks for a shorter round trip (ProbeRTT), with a small window for a round trip or more."""

FAR = 2.0
"""So many times as long as the bottleneck a link is at least, where its reader takes it for the satellite."""


class _Found(NamedTuple):
    """A direction of a link: what it measured, its delay, and whether its queue takes everything."""

    link: Link
    delay_s: float
    rate_bps: float
    endless: bool

    @property
    def name(self) -> str:
        return self.link["name"]

    @property
    def back(self) -> bool:
        return self.name.endswith("/reverse")

    def most_wait_s(self) -> float:
        """Give what the last packet of the longest queue waited, about."""
        packets, carried = mean(self.link["delivered_packets"]), mean(self.link["delivered_bytes"])
        waiting = mean(self.link["queue_max_packets"])
        return 8 * waiting * carried / packets / self.rate_bps if packets and carried and waiting else 0.0

    def grown(self) -> str:
        most = count(self.link["queue_max_packets"])
        return f"has no bound and grew to {most} packets, {seconds(self.most_wait_s())} of waiting"


def remarks(run: Run) -> Iterator[str]:
    """Give the lines."""
    text = tomllib.loads(run["scenario_toml"])
    yield from filter(None, [unexpected(run, text)])
    yield from strained(run, text)


def unexpected(run: Run, text: Mapping[str, Any]) -> str | None:
    """Say which link limits `run`, if that is not the longest one, or whose endless queue grew.

    A reader takes the longest link for the satellite, and the satellite for the bottleneck. `text` is the
    scenario's.
    """
    links = [] if "constellation" in text else list(_links(run, text.get("links", {})))
    if not links:
        return None
    longest = max(link.delay_s for link in links)
    busiest = max(links, key=lambda link: busy(link.link))
    far = longest >= FAR * busiest.delay_s
    expected = [link for link in links if far and link.delay_s == longest and link.back is busiest.back]
    share = busy(busiest.link)
    lost = mean(busiest.link["dropped_packets"]) or 0.0
    queued = lost > 0 or (mean(busiest.link["queue_mean_packets"]) or 0.0) >= 1
    grew = busiest.endless and busiest.most_wait_s() > longest
    narrowest = all(busiest.rate_bps < 0.99 * link.rate_bps for link in expected)
    if expected and narrowest and share >= BUSY and queued:
        queue = f"; its queue {busiest.grown()}" if grew else ""
        rates = quantity(busiest.rate_bps, "bit/s"), quantity(expected[0].rate_bps, "bit/s")
        limited = f"{busiest.name} ({rates[0]}, {percent(share)} busy) limits this run"
        return f"{limited}, not {expected[0].name} ({rates[1]}){queue}"
    for link in links:
        if link.endless and link.most_wait_s() > longest:
            return f'the queue before {link.name} {link.grown()}; queue = "100 packets" would bound it'
    return None


def strained(run: Run, text: Mapping[str, Any]) -> Iterator[str]:
    """Say which flows spend much of their time in ProbeRTT, and whose slow start goes unheard."""
    met: dict[str, tuple[str, float]] = {}
    for flow in run["flows"]:
        for bbr in PROBES_S.keys() & flow["variant"].split("+"):
            met.setdefault(flow["group"] or flow["name"], (bbr, mean(flow["rtt_mean_s"]) or 0.0))
    for name, (bbr, rtt_s) in met.items():
        if rtt_s >= PROBES_S[bbr] / 2:
            often, rtt = seconds(PROBES_S[bbr]), seconds(rtt_s)
            yield (
                f"{name}: {bbr} holds back every {often} to measure its path (ProbeRTT), "
                f"and a round trip takes {rtt}"
            )
        tables = (text.get("flows", {}).get(name, {}).get("tcp", {}), text.get("tcp", {}))
        start = next((table["slow_start"] for table in tables if "slow_start" in table), "standard")
        if start != "standard":
            yield f"{name}: slow_start {start!r} has no effect under {bbr}, which has a start of its own"


def busy(link: Link) -> float:
    """Give the share of the time in which the link did not stand still that it spent sending."""
    could = 1 - (mean(link.get("standstill")) or 0.0)
    return min((mean(link["utilization"]) or 0.0) / could, 1.0) if could > 0 else 0.0


def _links(run: Run, tables: Mapping[str, Any]) -> Iterator[_Found]:
    """Give the links that carried something, each with the rate at which it did."""
    measured_s = (mean(run["duration_s"]) or 0.0) - (mean(run.get("warm_up_s")) or 0.0)
    for link in run["links"]:
        table = _table(link["name"], tables)
        delay = re.fullmatch(r"([\d.eE+-]+) ?(ns|us|µs|ms|s|min|h)", str(table.get("delay")))
        busy_s = (mean(link["utilization"]) or 0.0) * measured_s
        if delay is None or busy_s <= 0:
            continue
        delivered_bps = 8 * (mean(link["delivered_bytes"]) or 0.0) / busy_s
        rate_bps = mean(link.get("rate_mean_bps")) or delivered_bps
        endless = table.get("queue", "unlimited") == "unlimited"
        yield _Found(link, float(delay[1]) * _UNITS[delay[2]], rate_bps, endless)


def _table(direction: str, tables: Mapping[str, Any]) -> Mapping[str, Any]:
    """Give what the scenario says of this direction; a copy of a link has the table of all of them."""
    name, _, reverse = direction.partition("/")
    stem = name.rstrip("0123456789")
    table = tables.get(name) or tables.get(stem) or tables.get(f"{stem}{{i}}") or {}
    return {**table, **table.get("reverse", {})} if reverse else table
