"""Sections 7 and 9: packet size, round trip, and the window that fills the link."""

from pathlib import Path

from bentpipe.results import Run
from bentpipe.show.style import BLUE, GREEN, GREY, picture
from bentpipe_papers.common import link, plain
from bentpipe_papers.reproduction.reproduce import Context, Row

from .runs import (
    ACK_PACKET,
    LONG_S,
    PRODUCT,
    SATELLITE_BPS,
    SATELLITE_MSS,
    SATELLITE_PACKET,
    START_S,
)

PACKET_BITS = 8 * SATELLITE_PACKET
LARGEST_WINDOW = 65_535
"""Bytes that TCP can advertise without window scaling (RFC 793)."""

CURVE = (1, *sorted({*range(8, 201, 4), *range(88, 105)}))
"""Windows in packets; with one the round trip has no queue in it."""


def _runs(context: Context) -> dict[int, Run]:
    """Run SACK at each window over links whose buffers never overflow."""
    settings = [
        {
            "tcp.receive_window": f"{size} segments",
            "duration": f"{START_S + LONG_S} s",
            "links.*.queue": "unlimited",
        }
        for size in CURVE
    ]
    return dict(zip(CURVE, context.runs("satellite.toml", settings), strict=True))


def methodology(context: Context) -> list[Row]:
    """Give the rows of section 7."""
    packets = 2000
    run = context.run(
        "satellite.toml", {"duration": "60 s", "flows.transfer.bytes": f"{packets * SATELLITE_MSS} B"}
    )
    uplink = link(run, "uplink")
    busy_s = plain(uplink["utilization"]) * plain(run["duration_s"])
    # The others have no payload.
    bare = plain(uplink["delivered_packets"]) - packets
    bits = 8 * (packets * SATELLITE_PACKET + bare * ACK_PACKET)
    return [
        context.number("link", "rate", bits / busy_s / 1e6),
        context.number("standard window", "window", LARGEST_WINDOW / SATELLITE_PACKET),
    ]


def window(context: Context) -> list[Row]:
    """Give the rows of the window calculation in section 9."""
    runs = _runs(context)
    goodputs = {size: plain(run["flows"][0]["goodput_bps"]) for size, run in runs.items()}
    filling = min(size for size, goodput in goodputs.items() if goodput >= 0.9995 * goodputs[max(CURVE)])
    # The round trip of the SYN is shorter than the others.
    alone = context.trace(
        "satellite.toml",
        {
            "tcp.receive_window": "1 segments",
            "duration": f"{START_S + LONG_S} s",
            "links.*.queue": "unlimited",
        },
        title="one packet at a time",
    )
    rtt_s = float(alone.traces.get("transfer", "rtt").value[-1])
    ack_s = 2 * 8 * ACK_PACKET / SATELLITE_BPS
    context.fact("ack", f"{1e3 * ack_s:.1f} ms")
    context.fact("whole", f"{1e3 * rtt_s:.1f} ms")
    printed = float(context.published("satellite", "round trip").published)
    bits = 1e-3 * printed * SATELLITE_BPS
    return [
        context.number("satellite", "round trip", 1e3 * (rtt_s - ack_s)),
        context.number("satellite", "bandwidth-delay product in bits", bits),
        context.number("satellite", "bandwidth-delay product in packets", bits / PACKET_BITS),
        context.number("satellite", "window that fills the link", float(filling)),
    ]


def draw(context: Context, path: Path) -> None:
    """Draw round trip and goodput over the window where the buffer never overflows."""
    flows = [run["flows"][0] for run in _runs(context).values()]
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
        right.set_title("Goodput")
        right.set_ylabel("goodput over link rate (%)")
        right.set_ylim(0, 105)
        right.legend(loc="lower right")
        for axes in (left, right):
            axes.axvline(PRODUCT, color=GREY, lw=0.9, ls=":")
            axes.set_xlim(0, 200)
            axes.set_xlabel("advertised window (packets of 512 bytes)")
