"""Table 2 and figures 6 to 8: a transfer of each scheme at 2 Mbit/s and 1e-5, its losses counted."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from bentpipe.show.style import GREY, picture
from bentpipe_papers.common import curve, over, plain
from bentpipe_papers.reproduction.reproduce import Context, Row

from .runs import COLOURS, FILE_BYTES, LABELS, SCHEMES, span, surest
from .stages import (
    STATED,
    VOLUMES_MB,
    Reading,
    Transfer,
    gain,
    kilo,
    mean_throughput,
    mean_time,
    with_counted_losses,
)

Transfers = Mapping[str, list[Transfer]]

OTHER_READINGS: Mapping[str, Reading] = {
    "bursts": Reading(burst=3),
    "early": Reading(where=(0.0, 0.2)),
    "late": Reading(where=(0.8, 1.0)),
    "sent": Reading(first="sent"),
    "credited": Reading(extra={"tcp.afc.growth_while_delayed": "credited"}),
}
"""What else the text leaves room for: losses three in a row, or early or late in each stage; the first sent
(not found) at the stated time; and a window that a delayed reduction does not hold back."""

WORDS = {
    "bursts": "in bursts of 3",
    "early": "early in each stage",
    "late": "late in each stage",
    "sent": "first loss sent then",
    "credited": "growing while delayed",
}
STYLES = (":", "--", "-.", (0, (1, 4)), (0, (6, 3)))


def table_2(context: Context) -> list[Row]:
    """Give the rows of table 2."""
    counted = with_counted_losses(context)
    tried = OTHER_READINGS if context.explains else {}
    others = {key: with_counted_losses(context, reading) for key, reading in tried.items()}
    rows = []
    for name in SCHEMES:
        for volume in VOLUMES_MB:
            case = f"{name}, {volume:g} MB"
            singles = [transfer.throughput(volume * 1e6) / 1e3 for transfer in counted[name]]
            context.fact(f"single {case}".replace(".", " "), span(singles))
            for key, some in others.items():
                value = plain(mean_throughput(some[name], volume)) / 1e3
                context.fact(f"{key} {case}".replace(".", " "), f"{value:.0f}")
            rows += [
                context.number(case, "throughput", mean_throughput(counted[name], volume)),
                context.number(case, "losses", over(one.losses(volume * 1e6) for one in counted[name])),
            ]
    gains = {volume: gain(counted, volume) for volume in VOLUMES_MB}
    first = {name: mean_throughput(counted[name], VOLUMES_MB[0]) for name in SCHEMES}
    context.fact("ahead", f"{100 * (plain(gains[VOLUMES_MB[0]]) - 1):.0f} %")
    for key, some in others.items():
        context.fact(f"ahead {key}", f"{100 * (plain(gain(some, VOLUMES_MB[0])) - 1):.0f} %")
    return [
        *rows,
        context.claim("0.5 MB", "throughput", first),
        context.claim(
            "each stage from 1 MB on",
            "least throughput of AFC over TCP's",
            {"ratio": surest(gains[volume] for volume in VOLUMES_MB[1:]), "one": 1.0},
        ),
        context.claim(
            "the difference grows",
            "throughput of AFC over TCP's",
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
        context.claim("persistent rise", "progress in the slowest 10 s of the transfer", slowest),
        context.claim("AFC avoids flow control", "cuts of the window for each loss", cuts),
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
    pairs = zip(counted["afc"], counted["tcp"], strict=True)
    progress = np.array([ours.acked_at(times) / theirs.acked_at(times) for ours, theirs in pairs])
    return [
        context.claim(
            "throughout the transfer",
            "least throughput of AFC over TCP's, by time from 10 s on",
            {"ratio": surest(over(column.tolist()) for column in progress.T), "one": 1.0},
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
    kept = {name: over(one.first_cut_s - float(one.resent_s[0]) for one in counted[name]) for name in SCHEMES}
    after = {name: over(one.throughput(1e6) / 1e3 for one in counted[name]) for name in SCHEMES}
    return [
        context.claim(
            "until the first loss",
            "bytes acknowledged when the first of both is lost",
            {name: over(values) for name, values in before.items()},
        ),
        *(
            context.number(name, "time of the first loss", over(one.resent_s[0] for one in counted[name]))
            for name in ("afc", "tcp")
        ),
        context.claim("after it", "throughput of the first 1 MB", after),
        context.claim("slow start", "time from the first loss found to the first cut", kept),
    ]


def draw_table_2(context: Context, path: Path) -> None:
    """Draw throughput over volume: published, with the counted losses, and in other readings of them."""
    counted = with_counted_losses(context)
    with picture(path, (8, 5)) as figure:
        axes = figure.subplots()
        for key, style in zip(OTHER_READINGS, STYLES, strict=True):
            some = with_counted_losses(context, OTHER_READINGS[key])
            for name in SCHEMES:
                means = [plain(mean_throughput(some[name], volume)) / 1e3 for volume in VOLUMES_MB]
                label = f"{LABELS[name]}, {WORDS[key]}"
                axes.plot(VOLUMES_MB, means, ls=style, lw=0.9, alpha=0.8, color=COLOURS[name], label=label)
        for name in SCHEMES:
            values = [kilo(mean_throughput(counted[name], volume)) for volume in VOLUMES_MB]
            words = f"{LABELS[name]}, {STATED.transfers} transfers"
            curve(axes, VOLUMES_MB, values, color=COLOURS[name], label=words)
            published = [
                float(context.published(f"{name}, {volume:g} MB", "throughput").published) / 1e3
                for volume in VOLUMES_MB
            ]
            axes.plot(
                VOLUMES_MB, published, "x", ms=8, color=COLOURS[name], label=f"{LABELS[name]}, published"
            )
        axes.set_xlabel("volume transferred (MB)")
        axes.set_ylabel("volume over time (kB/s)")
        axes.set_ylim(bottom=0)
        axes.legend(fontsize=7, ncols=2)


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
                    resent = one.resent_s[one.resent_s <= times[-1]]
                    there = one.acked_at(resent)
                    axes.plot(
                        resent,
                        there / 1e6 if what == "sequence" else there / resent / 1e3,
                        "|",
                        color=GREY,
                        label="retransmissions" if name == "afc" else None,
                    )
        axes.set_xlabel("time since the SYN (s)")
        axes.set_ylabel("bytes acknowledged (MB)" if what == "sequence" else "volume over time (kB/s)")
        axes.set_ylim(bottom=0)
        axes.set_xlim(left=0)
        axes.legend()
