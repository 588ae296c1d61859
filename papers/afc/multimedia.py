"""Figures 11 and 12, and section 5 on them: the transfer beside another transmitter's multimedia."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from bentpipe.results import Estimate, Run
from bentpipe_papers.common import link, over, plain
from bentpipe_papers.reproduction.grid import Grid
from bentpipe_papers.reproduction.reproduce import Context, Row, Settings

from .runs import (
    BERS,
    FEW,
    FEWER_LOST,
    FILE_BYTES,
    SCHEMES,
    UDP_LOSS,
    flow,
    paired,
    random_losses,
    rate,
    throughput,
    throughputs,
)
from .shared import CHANNELS, CLEAR, bars_of_cases, beside, channel

BESIDE_MULTIMEDIA = "shared-multimedia.toml"


TRANSPORT = 188 / 184
"""Bytes of an MPEG transport stream over the audio and video in it."""

HEADERS = 28
"""Bytes of IP and UDP in front of each datagram."""


class Media(NamedTuple):
    """One of the two multimedia tests."""

    rate_kbps: int
    video_kbps: int
    words: str

    def settings(self) -> dict[str, str | float]:
        """Give its settings."""
        return {**rate(self.rate_kbps), **_video(self.video_kbps)}


MULTIMEDIA = {
    "figure-11": Media(1024, 512, "1 Mbit/s and 512 kbit/s video"),
    "figure-12": Media(2048, 128, "2 Mbit/s and 128 kbit/s video"),
}


def beside_media(context: Context, figure: str) -> dict[tuple[str, str], list[Run]]:
    """Run the transfer beside multimedia over the three channels."""
    media = MULTIMEDIA[figure].settings()
    return beside(
        context, {name: {**media, **_channel(context, name)} for name in CHANNELS}, BESIDE_MULTIMEDIA
    )


def _channel(context: Context, name: str) -> Settings:
    if name == CLEAR or not context.reads(FEWER_LOST):
        return channel(context, name)
    return random_losses(UDP_LOSS * float(name) / 1e-5)


def shares(context: Context, figure: str) -> dict[tuple[str, str], Estimate]:
    """Give throughput as a share, in %, of the larger of the two schemes' without errors."""
    runs = beside_media(context, figure)
    most = max(plain(throughputs(runs[CLEAR, name])) for name in SCHEMES)
    return {key: over(100 * throughput(run) / most for run in some) for key, some in runs.items()}


def figures(context: Context) -> list[Row]:
    """Give the rows of figure 11 or 12."""
    cells = shares(context, context.item)
    metric = "share of the error-free throughput"
    clear = max((cells[CLEAR, name] for name in SCHEMES), key=plain)
    rows = [
        context.claim(
            "both lose at BER 1e-5",
            metric,
            {CLEAR: clear, **{name: cells["1e-5", name] for name in SCHEMES}},
        ),
        *(context.claim(f"BER {ber}", metric, {name: cells[ber, name] for name in SCHEMES}) for ber in BERS),
    ]
    return [*rows, *_weakness(context)] if context.item == "figure-12" else rows


def _weakness(context: Context) -> list[Row]:
    """Hold figure 12 against figure 11, by three readings of what is more apparent."""
    runs = {figure.replace("-", " "): beside_media(context, figure) for figure in MULTIMEDIA}
    cells = {figure.replace("-", " "): shares(context, figure) for figure in MULTIMEDIA}
    behind = {
        figure: over(
            ours - theirs
            for ours, theirs in zip(some["1e-5", "afc"]["values"], some["1e-5", "tcp"]["values"], strict=True)
        )
        for figure, some in cells.items()
    }
    readings = {
        "share that TCP leaves unused at BER 1e-5": {
            figure: _unused(some["1e-5", "tcp"]) for figure, some in cells.items()
        },
        "throughput of AFC over TCP's at BER 1e-5": {
            figure: paired(some["1e-5", "afc"], some["1e-5", "tcp"]) for figure, some in runs.items()
        },
        "points that TCP is behind AFC at BER 1e-5": behind,
    }
    for (metric, values), form in zip(readings.items(), ("{:.0f}", "{:.2f}", "{:.0f}"), strict=True):
        context.fact(metric.split()[0], " and ".join(form.format(plain(value)) for value in values.values()))
    return [context.claim("weakness of TCP", metric, values) for metric, values in readings.items()]


RATIOS = (0.0, 0.066, 0.1, 0.2, 0.66, 1.0, 2.0, 3.0)
"""Segments lost at random, in %, that the conclusions' degradations are looked for at."""


def by_loss_ratio(context: Context, figure: str) -> dict[float, dict[str, Estimate]]:
    """Give what each scheme loses of the throughput without errors, in %, by the share of segments lost."""
    settings = MULTIMEDIA[figure].settings()
    runs = beside(
        context,
        {f"{percent:g}": {**settings, **random_losses(percent / 100)} for percent in RATIOS},
        BESIDE_MULTIMEDIA,
        FEW,
    )
    most = max(plain(throughputs(runs["0", name])) for name in SCHEMES)
    return {
        percent: {
            name: _unused(over(100 * throughput(run) / most for run in runs[f"{percent:g}", name]))
            for name in SCHEMES
        }
        for percent in RATIOS
    }


def measure(context: Context) -> Grid:
    """Give the degradation by the share of segments lost."""
    rows = by_loss_ratio(context, context.item)
    return Grid(
        f"Throughput lost by errors beside UDP, {MULTIMEDIA[context.item].words}",
        ("segments lost (%)", "TCP (%)", "TCP-AFC (%)"),
        tuple((f"{percent:g}", *(row[name] for name in SCHEMES)) for percent, row in rows.items()),
    )


def nearest_ratio(context: Context, figure: str, lost: float) -> tuple[float, dict[str, Estimate]]:
    """Find the share of segments lost, in %, at which TCP comes nearest to losing so much."""
    rows = by_loss_ratio(context, figure)
    percent = min(rows, key=lambda percent: abs(plain(rows[percent]["tcp"]) - lost))
    return percent, rows[percent]


def degradation(context: Context, figure: str) -> dict[str, Estimate]:
    """Give what each scheme loses at 1e-5 of the throughput without errors, in %."""
    cells = shares(context, figure)
    return {name: _unused(cells["1e-5", name]) for name in SCHEMES}


def _unused(share: Estimate) -> Estimate:
    unused = over(100 - part for part in share["values"])
    return {**unused, "mean": round(unused["mean"], 9)}


def _video(kbps: float) -> dict[str, str | float]:
    """Give the setting of the video's rate, in its transport stream."""
    return {"flows.multimedia.video": f"{1e3 * kbps * TRANSPORT:.0f} bit/s"}


def media_rates(context: Context) -> dict[str, float]:
    """Give audio as it was sent and the videos as asked for, in kbit/s, without transport stream."""
    run = context.run(BESIDE_MULTIMEDIA, _video(0.1))
    audio = plain(flow(run, "multimedia")["throughput_bps"]) / TRANSPORT / 1e3 - 0.1
    high, low = (
        float(str(media.settings()["flows.multimedia.video"]).removesuffix(" bit/s")) / TRANSPORT / 1e3
        for media in MULTIMEDIA.values()
    )
    return {"audio": audio, "video, high": high, "video, low": low}


def congestion_by_video(context: Context) -> dict[str, Estimate]:
    """Give the packets that the modem drops at 1 Mbit/s without errors, for each MB of TCP, by video rate."""
    slow = MULTIMEDIA["figure-11"].rate_kbps
    cases = {
        f"{media.video_kbps} kbit/s": {**media.settings(), **rate(slow)} for media in MULTIMEDIA.values()
    }
    runs = beside(context, cases, BESIDE_MULTIMEDIA)
    megabytes = FILE_BYTES / 1e6
    return {
        case: over(plain(link(run)["dropped_packets"]) / megabytes for run in runs[case, "tcp"])
        for case in cases
    }


def udp_throughput(context: Context, figure: str, rate_kbps: int | None = None) -> Estimate:
    """Give what of the multimedia came through the link without errors, with its headers, in kB/s."""
    media = MULTIMEDIA[figure]
    settings = {**media.settings(), **rate(rate_kbps or media.rate_kbps)}
    runs = beside(context, {CLEAR: settings}, BESIDE_MULTIMEDIA)[CLEAR, "tcp"]
    return over(_arrived(flow(run, "multimedia")) / 1e3 for run in runs)


def _arrived(stream: Mapping[str, Any]) -> float:
    """Give the bytes/s, with headers, of the datagrams that arrived."""
    datagrams = plain(stream["datagrams_sent"]) - plain(stream["datagrams_lost"])
    return plain(stream["goodput_bps"]) / 8 + HEADERS * datagrams / plain(stream["duration_s"])


def draw(context: Context, path: Path) -> None:
    """Draw figure 11 or 12: throughput as a share of that without errors; 12 beside 11."""
    drawn = ("figure-11",) if context.item == "figure-11" else tuple(MULTIMEDIA)
    label = "share of the error-free throughput (%)"
    bars_of_cases(path, {MULTIMEDIA[figure].words: (label, shares(context, figure)) for figure in drawn})
