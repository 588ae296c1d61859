"""Numbers of the text: counted losses, times, throughputs, and the percentages of the conclusions."""

from bentpipe.papers.common import over, plain, width
from bentpipe.reproduction import Context, Row

from . import notes
from .multimedia import MULTIMEDIA, degradation, nearest_ratio, shares, udp_throughput
from .runs import SCHEMES, counted_errors, ratio, throughputs, transfers
from .stages import VOLUMES_MB, gain, mean_throughput, mean_time, over_channel, with_counted_losses

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
    random = over_channel(context, counted_errors(context, "1e-5"))
    end = VOLUMES_MB[-1]
    at_once = with_counted_losses(context, extra={"tcp.delayed_ack": "false"})
    rows = []
    for name in SCHEMES:
        losses = [one.losses(end * 1e6) for one in random[name]]
        note = (
            notes.faster_receiver(*(plain(mean_throughput(some[name], end)) for some in (counted, at_once)))
            if name == "tcp"
            else ""
        )
        rows += [
            context.number(name, "losses in 20 MB", over(losses), notes.stage_losses(losses)),
            context.number(name, "time of 20 MB", mean_time(counted[name]), note),
            context.number(
                name,
                "aggregate throughput",
                over(one.throughput(end * 1e6) / 1e3 for one in counted[name]),
                note,
            ),
        ]
    return rows


def _improvement(context: Context) -> list[Row]:
    printed = {(row.item, row.case, row.metric): row.published for row in context.paper.published}
    times = {name: float(printed["text-numbers", name, "time of 20 MB"]) for name in SCHEMES}
    table = {name: float(printed["table-2", f"{name}, 20 MB", "throughput"]) for name in SCHEMES}
    ours = gain(with_counted_losses(context))
    metric = "improvement"
    return [
        context.number(
            "AFC over TCP, from the printed times",
            metric,
            100 * (times["tcp"] / times["afc"] - 1),
            notes.IMPROVEMENT,
        ),
        context.number(
            "AFC over TCP, from table 2 at 20 MB as printed",
            metric,
            100 * (table["afc"] / table["tcp"] - 1),
            notes.IMPROVEMENT,
        ),
        context.number(
            "AFC over TCP, 20 MB with the counted losses",
            metric,
            {"mean": 100 * (ours["mean"] - 1), "ci95": 100 * width(ours), "n": ours["n"]},
            notes.IMPROVEMENT_OURS,
        ),
    ]


def _beside_udp(context: Context) -> list[Row]:
    rows = []
    for figure, media in MULTIMEDIA.items():
        metric = "loss of throughput by errors beside UDP"
        lost = degradation(context, figure)
        cells = shares(context, figure)
        published = float(context.published(f"tcp, {media.words}", metric).published)
        note = notes.degradation(*nearest_ratio(context, figure, published))
        rows += [
            *(context.number(f"{name}, {media.words}", metric, lost[name], note) for name in SCHEMES),
            context.number(
                f"AFC doubles, {media.words}",
                "throughput of AFC over TCP's, BER 1e-5 beside UDP",
                ratio(cells["1e-5", "afc"], cells["1e-5", "tcp"]),
                note,
            ),
        ]
    return rows


def _without_satellite(context: Context) -> list[Row]:
    """Hold AFC over the satellite against TCP over a path of `TERRESTRIAL` delay that loses nothing."""
    clear = transfers(context, {"": {}, "short": {"links.satellite.delay": TERRESTRIAL}})
    errors = transfers(context, {"": counted_errors(context, "1e-6")})
    short = throughputs(clear["short", "tcp"])
    return [
        context.claim(
            f"beside a path without satellite, {name}",
            "throughput of 20 MB",
            {"afc over the satellite": throughputs(runs["", "afc"]), "tcp without it": short},
            notes.WITHOUT_SATELLITE,
        )
        for name, runs in (("no errors", clear), ("BER 1e-6", errors))
    ]


def _udp(context: Context) -> list[Row]:
    rates = {figure: udp_throughput(context, figure) for figure in MULTIMEDIA}
    swapped = udp_throughput(context, "figure-11", rate_kbps=2048)
    return [
        context.number("512 kbit/s video", "UDP throughput", rates["figure-11"], notes.UDP),
        context.number("128 kbit/s video", "UDP throughput", rates["figure-12"], notes.UDP),
        context.claim(
            "UDP throughput over the link's rate",
            "share of the rate change",
            {"1 Mbit/s": rates["figure-11"], "2 Mbit/s": swapped},
            unit="kB/s",
        ),
    ]
