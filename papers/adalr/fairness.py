"""Section 5.5: six flows through one bottleneck, of different or of equal round trips."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bentpipe.runs.statistics import jain
from bentpipe.show.style import GREY, ORANGE, picture
from bentpipe_papers.common import plain
from bentpipe_papers.reproduction.reproduce import Context, Row

from .runs import COLOURS, DELAYED_ACK, LABELS, higher, shorter

RTTS_MS = (25, 50, 100, 300, 400, 500)
OURS, THEIRS = "adalr-newreno", "newreno"
BOTTLENECK_BPS = 10e6


@dataclass(frozen=True)
class Shares:
    """Average throughput of each flow in bytes/s: over its own active time, and while all are active."""

    own: tuple[float, ...]
    common: tuple[float, ...]


def shares(
    context: Context, variants: Sequence[str], *, equal_ms: float | None = None, delayed: str = "enabled"
) -> Shares:
    """Run the six flows, with equal round trips if given."""
    settings = {f"flows.flow{index}.variant": variant for index, variant in enumerate(variants)}
    settings["tcp.delayed_ack"] = DELAYED_ACK[delayed]
    if equal_ms is not None:
        settings.update({f"links.far{index}.delay": f"{equal_ms / 2:g} ms" for index in range(6)})
    subject = context.trace("fairness.toml", settings, title="fairness")
    flows = subject.run["flows"]
    end = min(plain(flow["finish_s"]) for flow in flows)
    own = tuple(plain(flow["goodput_bps"]) / 8 for flow in flows)
    acked = (subject.traces.get(flow["name"], "acked") for flow in flows)
    common = tuple(
        float(trace.value[np.searchsorted(trace.time_s, end, side="right") - 1]) / end for trace in acked
    )
    return Shares(own, common)


def different(context: Context) -> Mapping[str, Shares]:
    """Run the fairness scenarios: six flows of one variant, of six round trips."""
    return {variant: shares(context, (variant,) * 6) for variant in (OURS, THEIRS)}


def table_9(context: Context) -> list[Row]:
    """Give the rows of table 9."""
    runs = different(context)
    for variant, share in runs.items():
        rates = [value / 1e3 for value in share.common]
        context.fact(f"common_{variant.replace('-', '_')}", f"{rates[-1]:.0f} to {rates[0]:.0f} kB/s")
    ours, theirs = runs[OURS].own, runs[THEIRS].own
    return [
        *(
            context.number(f"{variant}, {rtt} ms", "average throughput", own)
            for variant, share in runs.items()
            for rtt, own in zip(RTTS_MS, share.own, strict=True)
        ),
        context.number("500 ms flow gains", "higher throughput", higher(ours[-1], theirs[-1])),
        context.number("25 ms flow loses", "lower throughput", shorter(ours[0], theirs[0])),
        *(_sum(context, variant) for variant in runs),
    ]


def _printed(context: Context, item: str, prefix: str) -> list[float]:
    """Give the printed throughputs of a table's column, in bytes/s."""
    return [
        float(row.published)
        for row in context.paper.published
        if row.item == item and row.case.startswith(prefix) and row.metric == "average throughput"
    ]


def _sum(context: Context, column: str) -> Row:
    """Hold a column of printed throughputs against the rate of the bottleneck."""
    mbps = 8 * math.fsum(_printed(context, context.item, f"{column}, " if column else "")) / 1e6
    case = f"sum of the printed column{', ' if column else ''}{column}"
    return context.claim(case, "throughput of all six", {"link": BOTTLENECK_BPS / 1e6, "all six": mbps})


def table_10(context: Context) -> list[Row]:
    """Give the rows of table 10."""
    runs = different(context)
    rows = []
    for variant, share in runs.items():
        context.fact(f"common_{variant.replace('-', '_')}", f"{jain(share.common):.4f}")
        index = jain(share.own)
        rows += [
            context.number(variant, "fairness", index),
            context.number(variant, "fairness, slides", index),
            context.number(
                variant,
                "Jain's index of the printed throughputs",
                jain(_printed(context, "table-9", f"{variant}, ")),
            ),
        ]
    indices = {variant: jain(share.own) for variant, share in runs.items()}
    return [*rows, context.claim("adalr-newreno is fairer", "fairness", indices)]


_MIX = (OURS,) * 3 + (THEIRS,) * 3


def table_11(context: Context) -> list[Row]:
    """Give the rows of table 11: three flows of each kind, all of 25 ms."""
    share = shares(context, _MIX, equal_ms=25)
    context.fact("sum", f"{8 * math.fsum(share.common) / 1e6:.1f} Mbit/s")
    cases = [f"{variant} {index}" for variant in (OURS, THEIRS) for index in (1, 2, 3)]
    rows = [
        context.number(case, "average throughput", own) for case, own in zip(cases, share.own, strict=True)
    ]
    return [*rows, _sum(context, "")]


def table_12(context: Context) -> list[Row]:
    """Give the rows of table 12."""
    share = shares(context, _MIX, equal_ms=25)
    context.fact("common", f"{jain(share.common):.4f}")
    case = "adalr-newreno and newreno"
    printed = jain(_printed(context, "table-11", ""))
    return [
        context.number(case, "friendliness", jain(share.own)),
        context.number(case, "Jain's index of the printed throughputs", printed),
    ]


def slides(context: Context) -> list[Row]:
    """Give the row of the slides' friendliness mix."""
    mix = (THEIRS,) * 3 + (OURS,) * 3
    share, other = (shares(context, mix, delayed=delayed) for delayed in DELAYED_ACK)
    tried = [jain(values) for one in (share, other) for values in (one.own, one.common)]
    context.fact("tried", f"{min(tried):.3f} to {max(tried):.3f}")
    case = "adalr-newreno 300, 400, 500 ms and newreno 25, 50, 100 ms"
    return [context.number(case, "friendliness", jain(share.own))]


def draw_table_9(context: Context, path: Path) -> None:
    """Draw the average throughputs: published, over own time, over common time."""
    runs = different(context)
    with picture(path, (11, 4)) as figure:
        panels = figure.subplots(1, 2, sharey=True)
        for axes, (variant, share) in zip(panels, runs.items(), strict=True):
            published = [
                float(context.published(f"{variant}, {rtt} ms", "average throughput").published) / 1e3
                for rtt in RTTS_MS
            ]
            for offset, values, colour, label in (
                (-0.27, published, GREY, "published"),
                (0.0, [value / 1e3 for value in share.own], COLOURS[variant], "over own active time"),
                (0.27, [value / 1e3 for value in share.common], ORANGE, "while all six are active"),
            ):
                axes.bar([index + offset for index in range(6)], values, 0.25, color=colour, label=label)
            axes.set_xticks(range(6), [str(rtt) for rtt in RTTS_MS])
            axes.set_xlabel("RTT (ms)")
            axes.set_title(
                f"{LABELS[variant]}: Jain "
                + ", ".join(f"{jain(values):.3f}" for values in (published, share.own, share.common))
            )
            axes.grid(visible=False, axis="x")
            axes.legend(loc="upper right")
        panels[0].set_ylabel("average throughput (kB/s)")
