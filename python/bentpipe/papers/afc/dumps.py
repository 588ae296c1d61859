"""Table 2 and figures 6 to 8: a transfer of each scheme at 2 Mbit/s and 1e-5, its losses counted."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from bentpipe.papers.common import curve, over, plain
from bentpipe.reproduction import Context, Row
from bentpipe.style import GREY, picture

from . import notes
from .runs import COLOURS, FILE_BYTES, LABELS, SCHEMES, SEEDS, counted_errors
from .stages import (
    VOLUMES_MB,
    Transfer,
    gain,
    kilo,
    mean_throughput,
    mean_time,
    over_channel,
    with_counted_losses,
)

Transfers = Mapping[str, list[Transfer]]


def table_2(context: Context) -> list[Row]:
    """Give the rows of table 2: throughput with the counted losses, losses from a channel of their mean."""
    counted = with_counted_losses(context)
    at_once = with_counted_losses(context, extra={"tcp.delayed_ack": "false"})
    bursts = with_counted_losses(context, burst=3)
    random = over_channel(context, counted_errors(context, "1e-5"))
    rows = []
    for name in SCHEMES:
        for volume in VOLUMES_MB:
            case = f"{name}, {volume:g} MB"
            values = [transfer.throughput(volume * 1e6) for transfer in counted[name]]
            others = (plain(mean_throughput(some[name], volume)) for some in (at_once, bursts))
            note = notes.stage(values, *others)
            rows.append(context.number(case, "throughput", mean_throughput(counted[name], volume), note))
    for name in SCHEMES:
        for volume in VOLUMES_MB:
            losses = [transfer.losses(volume * 1e6) for transfer in random[name]]
            rows.append(
                context.number(f"{name}, {volume:g} MB", "losses", over(losses), notes.stage_losses(losses))
            )
    gains = {volume: gain(counted, volume) for volume in VOLUMES_MB}
    least = min((gains[volume] for volume in VOLUMES_MB[1:]), key=plain)
    first = {name: mean_throughput(counted[name], VOLUMES_MB[0]) for name in SCHEMES}
    metric = "throughput of AFC over TCP's"
    return [
        *rows,
        context.claim("0.5 MB", "throughput", first, notes.FIRST_STAGE),
        context.claim(
            "each stage from 1 MB on",
            "least throughput of AFC over TCP's",
            {"ratio": least, "one": 1.0},
        ),
        context.claim(
            "the difference grows",
            metric,
            {f"{volume:g} MB": gains[volume] for volume in (VOLUMES_MB[-1], VOLUMES_MB[0])},
        ),
    ]


def figure_6(context: Context) -> list[Row]:
    """Give the rows of figure 6: sequence numbers over time."""
    counted = with_counted_losses(context)
    rows = []
    for seconds in (100, 200):
        reached = {
            name: over(float(one.acked_at([seconds])[0]) / 1e6 for one in counted[name]) for name in SCHEMES
        }
        rows.append(context.claim("sequence number", f"bytes acknowledged after {seconds} s", reached))
    slowest = {name: over(_slowest(one) / 1e3 for one in counted[name]) for name in SCHEMES}
    cuts = {name: over(one.cuts / len(one.lost_s) for one in counted[name]) for name in SCHEMES}
    return [
        *rows,
        context.claim(
            "persistent rise", "progress in the slowest 10 s of the transfer", slowest, notes.SLOWEST
        ),
        context.claim("AFC avoids flow control", "cuts of the window for each loss", cuts, notes.CUTS),
    ]


def _slowest(one: Transfer) -> float:
    """Give the least progress in any 10 s, once the transfer has begun in earnest."""
    begins = np.arange(10.0, one.time_of(FILE_BYTES) - 10.0, 1.0)
    return float(np.min(one.acked_at(begins + 10.0) - one.acked_at(begins)))


def figure_7(context: Context) -> list[Row]:
    """Give the rows of figure 7: throughput over time."""
    counted = with_counted_losses(context)
    end = min(one.time_of(FILE_BYTES) for ones in counted.values() for one in ones)
    times = np.arange(10.0, end, 5.0)
    progress = {name: np.mean([one.acked_at(times) for one in counted[name]], axis=0) for name in SCHEMES}
    least = float(np.min(progress["afc"] / progress["tcp"]))
    return [
        context.claim(
            "throughout the transfer",
            "least throughput of AFC over TCP's, by time from 10 s on",
            {"ratio": least, "one": 1.0},
            notes.THROUGHOUT,
        ),
        context.claim(
            "end of the transfer", "time of 20 MB", {name: mean_time(counted[name]) for name in SCHEMES}
        ),
    ]


def figure_8(context: Context) -> list[Row]:
    """Give the rows of figure 8: the first 1 MB, and the first loss."""
    counted = with_counted_losses(context)
    before: dict[str, list[float]] = {name: [] for name in SCHEMES}
    for pair in zip(*counted.values(), strict=True):
        moment = min(float(one.lost_s[0]) for one in pair)
        for name, one in zip(counted, pair, strict=True):
            before[name].append(float(one.acked_at([moment])[0]) / 1e3)
    rows = [
        context.claim(
            "until the first loss",
            "bytes acknowledged when the first of both is lost",
            {name: over(values) for name, values in before.items()},
        )
    ]
    for name in ("afc", "tcp"):
        first = [float(one.lost_s[0]) for one in counted[name]]
        rows.append(context.number(name, "time of the first loss", over(first), notes.first_loss(first)))
    after = {name: over(one.throughput(1e6) / 1e3 for one in counted[name]) for name in SCHEMES}
    others = with_counted_losses(context, {"tcp": "afc", "afc": "tcp"})
    swapped = {name: over(one.first_cut_s for one in others[name]) for name in SCHEMES}
    first_cut = {name: over(one.first_cut_s for one in counted[name]) for name in SCHEMES}
    return [
        *rows,
        context.claim("after it", "throughput of the first 1 MB", after),
        context.claim("slow start", "time of the first cut", first_cut, notes.first_cut(swapped)),
    ]


def draw_table_2(context: Context, path: Path) -> None:
    """Draw throughput over volume, published and with the counted losses."""
    counted = with_counted_losses(context)
    with picture(path, (7.5, 4.2)) as figure:
        axes = figure.subplots()
        for name in SCHEMES:
            means = [kilo(mean_throughput(counted[name], volume)) for volume in VOLUMES_MB]
            words = f"{LABELS[name]}, {SEEDS} transfers"
            curve(axes, VOLUMES_MB, means, color=COLOURS[name], label=words)
            published = [
                float(context.published(f"{name}, {volume:g} MB", "throughput").published) / 1e3
                for volume in VOLUMES_MB
            ]
            axes.plot(
                VOLUMES_MB, published, "x--", lw=0.9, color=COLOURS[name], label=f"{LABELS[name]}, published"
            )
        axes.set_xlabel("volume transferred (MB)")
        axes.set_ylabel("volume over time (kB/s)")
        axes.set_ylim(bottom=0)
        axes.legend()


def draw_over_time(context: Context, path: Path, *, what: str) -> None:
    """Draw figure 6 (``sequence``), 7 (``throughput``) or 8 (``start``): all transfers, one stronger."""
    counted = with_counted_losses(context)
    with picture(path, (7.5, 4.2)) as figure:
        axes = figure.subplots()
        for name in SCHEMES:
            for number, one in enumerate(counted[name]):
                times = np.linspace(0.5, one.time_of(1e6 if what == "start" else FILE_BYTES), 400)
                reached = one.acked_at(times)
                strong = number == 0
                axes.plot(
                    times,
                    reached / 1e6 if what == "sequence" else reached / times / 1e3,
                    lw=1.8 if strong else 0.5,
                    alpha=1.0 if strong else 0.35,
                    color=COLOURS[name],
                    label=LABELS[name] if strong else None,
                )
                if strong:
                    lost = one.lost_s[one.lost_s <= times[-1]]
                    there = one.acked_at(lost)
                    axes.plot(
                        lost,
                        there / 1e6 if what == "sequence" else there / lost / 1e3,
                        "|",
                        color=GREY,
                        label="losses" if name == "afc" else None,
                    )
        axes.set_xlabel("time since the SYN (s)")
        axes.set_ylabel("bytes acknowledged (MB)" if what == "sequence" else "volume over time (kB/s)")
        axes.set_ylim(bottom=0)
        axes.set_xlim(left=0)
        axes.legend()
