"""Beyond the paper: other channels of the same error rate, and bursts of the same losses."""

from collections.abc import Mapping
from pathlib import Path
from textwrap import fill

from bentpipe.results import Estimate
from bentpipe.show.style import GREY, picture
from bentpipe_papers.common import curve, over, plain
from bentpipe_papers.reproduction.grid import Cell, Grid
from bentpipe_papers.reproduction.reproduce import Context

from .runs import COLOURS, LABELS, SCHEMES, bars, bursty_errors, counted_errors, independent_errors
from .stages import (
    VOLUMES_MB,
    Reading,
    Transfer,
    gain,
    kilo,
    mean_throughput,
    over_channel,
    with_counted_losses,
)

BURSTS = (1, 2, 3, 5, 8)
"""Segments lost in a row, with the counted losses."""

MEAN_BURST = 3
"""Mean burst of the Gilbert-Elliott channel in packets: 18 ms at 2 Mbit/s."""


def runs_over_channels(context: Context) -> dict[str, dict[str, list[Transfer]]]:
    """Run the transfer over each channel."""
    return {
        "as counted, by stage": with_counted_losses(context),
        "each with the other's count": with_counted_losses(
            context, Reading(counted={"tcp": "afc", "afc": "tcp"})
        ),
        "0.66 % of segments": over_channel(context, counted_errors(context, "1e-5")),
        f"0.66 %, bursts of {MEAN_BURST}": over_channel(context, bursty_errors(context, MEAN_BURST)),
        "bit errors, 1e-6": over_channel(context, independent_errors("1e-6")),
        "bit errors, 1e-5": over_channel(context, independent_errors("1e-5")),
    }


def _at_end(transfers: Mapping[str, list[Transfer]]) -> dict[str, Estimate]:
    return {name: mean_throughput(transfers[name], VOLUMES_MB[-1]) for name in SCHEMES}


def measure(context: Context) -> Grid:
    """Give losses, throughputs and gain of each channel."""
    rows: list[tuple[Cell, ...]] = []
    for channel, transfers in runs_over_channels(context).items():
        ends = _at_end(transfers)
        rows.append(
            (
                channel,
                *(over(len(one.lost_s) for one in transfers[name]) for name in SCHEMES),
                *(kilo(ends[name]) for name in SCHEMES),
                gain(transfers),
                gain(transfers, 5.0),
            )
        )
    return Grid(
        "20 MB at 2 Mbit/s by channel",
        (
            "channel",
            "losses, TCP",
            "losses, TCP-AFC",
            "TCP (kB/s)",
            "TCP-AFC (kB/s)",
            "AFC over TCP",
            "AFC over TCP at 5 MB",
        ),
        tuple(rows),
    )


def measure_bursts(context: Context) -> Grid:
    """Give throughputs and gain by burst length, with the counted losses."""
    rows: list[tuple[Cell, ...]] = []
    for length in BURSTS:
        transfers = with_counted_losses(context, Reading(burst=length))
        ends = _at_end(transfers)
        rows.append((f"{length}", *(kilo(ends[name]) for name in SCHEMES), gain(transfers)))
    return Grid(
        "20 MB at 2 Mbit/s, losses as counted, by burst length",
        ("segments lost in a row", "TCP (kB/s)", "TCP-AFC (kB/s)", "AFC over TCP"),
        tuple(rows),
    )


def _published(context: Context) -> dict[tuple[str, str], float]:
    return {
        (row.case, row.metric): float(row.published)
        for row in context.paper.published
        if row.item == "table-2" and row.kind == "printed"
    }


def draw(context: Context, path: Path) -> None:
    """Draw throughput by channel, and the gain by stage."""
    runs, published = runs_over_channels(context), _published(context)
    with picture(path, (12, 4.4)) as figure:
        level, stage = figure.subplots(1, 2, width_ratios=(1.5, 1))
        for name in SCHEMES:
            ends = [kilo(_at_end(transfers)[name]) for transfers in runs.values()]
            bars(level, name, ends, "{:.0f}")
            printed = published[f"{name}, 20 MB", "throughput"] / 1e3
            level.axhline(printed, color=COLOURS[name], lw=0.9, ls="--")
        level.set_xticks(range(len(runs)), [fill(name, 14) for name in runs], fontsize=7)
        level.set_ylabel("throughput of 20 MB (kB/s); dashed: published")
        level.grid(visible=False, axis="x")
        level.legend(loc="upper right")
        for name, transfers in runs.items():
            gains = [plain(gain(transfers, volume)) for volume in VOLUMES_MB]
            stage.plot(VOLUMES_MB, gains, "o-", ms=3, label=name)
        theirs = [
            published[f"afc, {volume:g} MB", "throughput"] / published[f"tcp, {volume:g} MB", "throughput"]
            for volume in VOLUMES_MB
        ]
        stage.plot(VOLUMES_MB, theirs, "x--", color=GREY, label="published")
        stage.set_xlabel("volume transferred (MB)")
        stage.set_ylabel("throughput of AFC over TCP's")
        stage.set_ylim(bottom=0)
        stage.legend(fontsize=6)


def draw_bursts(context: Context, path: Path) -> None:
    """Draw the throughputs over the burst length."""
    published = _published(context)
    runs = {length: with_counted_losses(context, Reading(burst=length)) for length in BURSTS}
    with picture(path, (6.5, 4)) as figure:
        axes = figure.subplots()
        for name in SCHEMES:
            ends = [kilo(_at_end(transfers)[name]) for transfers in runs.values()]
            curve(axes, BURSTS, ends, color=COLOURS[name], label=LABELS[name])
            printed = published[f"{name}, 20 MB", "throughput"] / 1e3
            axes.axhline(printed, color=COLOURS[name], lw=0.9, ls="--")
        axes.set_xlabel("segments lost in a row (losses as counted)")
        axes.set_ylabel("throughput of 20 MB (kB/s); dashed: published")
        axes.set_ylim(bottom=0)
        axes.legend()
