"""Sections 7 and 9: packet size, round trip, and the window that fills the link."""

from pathlib import Path

from bentpipe.papers.common import plain
from bentpipe.reproduction import Context, Row
from bentpipe.style import BLUE, GREEN, GREY, picture

from . import notes
from .runs import LONG_S, PRODUCT, SATELLITE_BPS, SATELLITE_MSS, SATELLITE_PACKET, START_S

PACKET_BITS = 8 * SATELLITE_PACKET
LARGEST_WINDOW = 65_535
"""Bytes that TCP can advertise without window scaling (RFC 793)."""

CURVE = tuple(range(8, 201, 4))


def methodology(context: Context) -> list[Row]:
    """Give the rows of section 7."""
    settings = {"tcp.receive_window": "112 segments", "duration": f"{START_S + LONG_S} s"}
    run = context.run("satellite.toml", settings)
    link = next(link for link in run["links"] if link["name"] == "uplink")
    busy_s = plain(link["utilization"]) * plain(run["duration_s"])
    # All are full packets but the SYN and the ACK of its answer.
    bits = PACKET_BITS * (plain(link["delivered_packets"]) - 2)
    return [
        context.number("link", "rate", bits / busy_s / 1e6, notes.RATE),
        context.number("standard window", "window", LARGEST_WINDOW / SATELLITE_PACKET, notes.STANDARD_WINDOW),
    ]


def window(context: Context) -> list[Row]:
    """Give the rows of the window calculation in section 9."""
    alone = context.trace(
        "satellite.toml", {"tcp.receive_window": "1 segments"}, title="one packet at a time"
    )
    rtt_s = float(alone.traces.get("transfer", "rtt").value[-1])
    bits = SATELLITE_BPS * rtt_s
    return [
        context.number("satellite", "round trip", 1e3 * rtt_s, notes.ROUND_TRIP),
        context.number("satellite", "bandwidth-delay product in bits", bits, notes.PRODUCT),
        context.number("satellite", "bandwidth-delay product in packets", bits / PACKET_BITS, notes.PRODUCT),
        context.number("satellite", "window that fills the link", _filling(context), notes.FILLING),
    ]


def _filling(context: Context) -> float:
    """Find the smallest window beyond which a larger one gains nothing, where nothing is dropped."""
    windows = range(88, 105)
    settings = [
        {
            "tcp.receive_window": f"{size} segments",
            "duration": f"{START_S + LONG_S} s",
            "links.*.queue": "unlimited",
        }
        for size in windows
    ]
    goodputs = [plain(run["flows"][0]["goodput_bps"]) for run in context.runs("satellite.toml", settings)]
    return float(
        next(
            size for size, goodput in zip(windows, goodputs, strict=True) if goodput >= 0.9995 * goodputs[-1]
        )
    )


def draw(context: Context, path: Path) -> None:
    """Draw round trip and efficiency over the window where the buffer never overflows."""
    settings = [
        {
            "tcp.receive_window": f"{size} segments",
            "duration": f"{START_S + LONG_S} s",
            "links.*.queue": "unlimited",
        }
        for size in CURVE
    ]
    flows = [run["flows"][0] for run in context.runs("satellite.toml", settings)]
    with picture(path, (9.5, 3.6)) as figure:
        left, right = figure.subplots(1, 2)
        left.plot(CURVE, [1e3 * plain(flow["rtt_mean_s"]) for flow in flows], color=BLUE)
        printed = float(context.published("satellite", "round trip").published)
        left.axhline(printed, color=GREY, lw=0.9, ls="--", label=f"the document's {printed:g} ms")
        left.set_title("Mean round trip")
        left.set_ylabel("time (ms)")
        left.set_ylim(0, 600)
        left.legend(loc="lower right")
        right.plot(CURVE, [plain(flow["goodput_bps"]) / SATELLITE_BPS * 100 for flow in flows], color=GREEN)
        right.axhline(
            100 * SATELLITE_MSS / SATELLITE_PACKET,
            color=GREY,
            lw=0.9,
            ls="--",
            label="all the link carries, without headers",
        )
        right.set_title("Efficiency")
        right.set_ylabel("goodput over link rate (%)")
        right.set_ylim(0, 105)
        right.legend(loc="lower right")
        for axes in (left, right):
            axes.axvline(PRODUCT, color=GREY, lw=0.9, ls=":")
            axes.set_xlim(0, 200)
            axes.set_xlabel("advertised window (packets of 512 bytes)")
