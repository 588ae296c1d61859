"""Numbers of the text: counted losses, times, throughputs, and the percentages of the conclusions."""

from bentpipe.results import Estimate
from bentpipe_papers.common import over, plain
from bentpipe_papers.reproduction.reproduce import Context, Row

from .multimedia import (
    MULTIMEDIA,
    beside_media,
    congestion_by_video,
    degradation,
    nearest_ratio,
    udp_throughput,
)
from .runs import SCHEMES, counted_errors, paired, rate, throughputs, transfers
from .series import with_errors
from .shared import BESIDE_TCP, beside
from .stages import VOLUMES_MB, gain, mean_time, with_counted_losses

TERRESTRIAL = "10 ms"
"""Delay of a path that does not cross a satellite."""


def compute(context: Context) -> list[Row]:
    """Give the rows of the text."""
    return [
        *_dumps(context),
        *_improvement(context),
        *_beside_udp(context),
        *_without_satellite(context),
        *_udp(context),
    ]


def _dumps(context: Context) -> list[Row]:
    counted = with_counted_losses(context)
    end = VOLUMES_MB[-1] * 1e6
    rows = []
    for name in SCHEMES:
        rows += [
            context.number(name, "losses in 20 MB", over(one.losses(end) for one in counted[name])),
            context.number(name, "time of 20 MB", mean_time(counted[name])),
            context.number(
                name, "aggregate throughput", over(one.throughput(end) / 1e3 for one in counted[name])
            ),
        ]
    return rows


def _improvement(context: Context) -> list[Row]:
    """Hold the conclusion's improvement against the printed transfers, and against ours of section 4.1."""
    printed = {(row.item, row.case, row.metric): row.published for row in context.paper.published}
    table = {name: float(printed["table-2", f"{name}, 20 MB", "throughput"]) for name in SCHEMES}
    series = with_errors(context, ("1e-5",))
    errors = counted_errors(context, "1e-5")
    slower = {**rate(1024), **errors}
    alone = transfers(context, {"": slower})
    shared = {kbps: beside(context, {"": {**rate(kbps), **errors}}, BESIDE_TCP) for kbps in (2048, 1024)}
    candidates = {
        "table 2": gain(with_counted_losses(context)),
        "alone at 1": paired(alone["", "afc"], alone["", "tcp"]),
        "beside at 2": paired(shared[2048]["", "afc"], shared[2048]["", "tcp"]),
        "beside at 1": paired(shared[1024]["", "afc"], shared[1024]["", "tcp"]),
    }
    for name, ratio in candidates.items():
        context.fact(name, f"{plain(_per_cent(ratio)):.0f}")
    ours = paired(series["1e-5", "afc"], series["1e-5", "tcp"])
    metric = "improvement"
    return [
        context.number(
            "AFC over TCP, from table 2 at 20 MB as printed", metric, 100 * (table["afc"] / table["tcp"] - 1)
        ),
        context.number("AFC over TCP, transfers of figure 5", metric, _per_cent(ours)),
    ]


def _per_cent(ratio: Estimate) -> Estimate:
    return over(100 * (value - 1) for value in ratio["values"])


def _beside_udp(context: Context) -> list[Row]:
    rows = []
    for figure, media in MULTIMEDIA.items():
        metric = "loss of throughput by errors beside UDP"
        lost = degradation(context, figure)
        runs = beside_media(context, figure)
        published = float(context.published(f"tcp, {media.words}", metric).published)
        percent, nearest = nearest_ratio(context, figure, published)
        context.fact(f"ratio {media.rate_kbps}", f"{percent:g} %")
        for name in SCHEMES:
            context.fact(f"lost {name} {media.rate_kbps}", f"{plain(nearest[name]):.0f}")
        rows += [
            *(context.number(f"{name}, {media.words}", metric, lost[name]) for name in SCHEMES),
            context.number(
                f"AFC doubles, {media.words}",
                "throughput of AFC over TCP's, BER 1e-5 beside UDP",
                paired(runs["1e-5", "afc"], runs["1e-5", "tcp"]),
            ),
        ]
    return rows


def _without_satellite(context: Context) -> list[Row]:
    """Hold AFC over the satellite against TCP over a path of `TERRESTRIAL` delay that loses nothing."""
    clear = transfers(context, {"": {}, "short": {"links.satellite.delay": TERRESTRIAL}})
    errors = transfers(context, {"": counted_errors(context, "1e-6")})
    short = throughputs(clear["short", "tcp"])
    for name, runs in (("clear", clear), ("errors", errors)):
        share = plain(throughputs(runs["", "afc"])) / plain(short)
        context.fact(f"of the short path, {name}", f"{100 * share:.0f} %")
    return [
        context.claim(
            f"beside a path without satellite, {name}",
            "throughput of 20 MB",
            {"afc over the satellite": throughputs(runs["", "afc"]), "tcp without it": short},
        )
        for name, runs in (("no errors", clear), ("BER 1e-6", errors))
    ]


def _udp(context: Context) -> list[Row]:
    rates = {figure: udp_throughput(context, figure) for figure in MULTIMEDIA}
    swapped = udp_throughput(context, "figure-11", rate_kbps=2048)
    return [
        context.number("512 kbit/s video", "UDP throughput", rates["figure-11"]),
        context.number("128 kbit/s video", "UDP throughput", rates["figure-12"]),
        context.claim(
            "UDP throughput over the link's rate",
            "share of the rate change",
            {"1 Mbit/s": rates["figure-11"], "2 Mbit/s": swapped},
            unit="kB/s",
        ),
        context.claim(
            "video rate and congestion, 1 Mbit/s",
            "drops of the modem for each MB of TCP",
            congestion_by_video(context),
        ),
    ]
