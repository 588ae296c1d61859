"""Section 5.5: six flows through one bottleneck, of different or of equal round trips."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bentpipe.papers.common import plain
from bentpipe.reproduction import Context, Row
from bentpipe.style import GREY, ORANGE, picture

from . import notes
from .runs import COLOURS, LABELS, higher, shorter

RTTS_MS = (25, 50, 100, 300, 400, 500)
OURS, THEIRS = "adalr-newreno", "newreno"
BOTTLENECK_BPS = 10e6


@dataclass(frozen=True)
class Shares:
    """Average throughput of each flow in bytes/s: over its own active time, and while all are active."""

    own: tuple[float, ...]
    common: tuple[float, ...]


def jain(values: Sequence[float]) -> float:
    """Give Jain's index of fairness, equation 3."""
    return math.fsum(values) ** 2 / (len(values) * math.fsum(value**2 for value in values))


def shares(context: Context, variants: Sequence[str], *, equal_ms: float | None = None) -> Shares:
    """Run the six flows, with equal round trips if given."""
    settings = {f"flows.flow{index}.variant": variant for index, variant in enumerate(variants)}
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
    rows = [
        context.number(f"{variant}, {rtt} ms", "average throughput", own, notes.table_9(common))
        for variant, share in runs.items()
        for rtt, own, common in zip(RTTS_MS, share.own, share.common, strict=True)
    ]
    ours, theirs = runs[OURS].own, runs[THEIRS].own
    metric = "throughput of all six over the link's rate, at most"
    return [
        *rows,
        context.number(
            "500 ms flow gains", "higher throughput", higher(ours[-1], theirs[-1]), notes.common_gain(runs)
        ),
        context.number(
            "25 ms flow loses", "lower throughput", shorter(ours[0], theirs[0]), notes.common_gain(runs)
        ),
        *(
            context.number(
                f"sum, {variant}",
                metric,
                8 * sum(share.common) / BOTTLENECK_BPS,
                notes.sums(8 * sum(share.own) / 1e6),
            )
            for variant, share in runs.items()
        ),
    ]


def table_10(context: Context) -> list[Row]:
    """Give the rows of table 10."""
    runs = different(context)
    rows = []
    for variant, share in runs.items():
        printed = [
            float(row.published)
            for row in context.paper.published
            if row.item == "table-9" and row.case.startswith(f"{variant}, ")
        ]
        note = notes.common_jain(jain(share.common))
        rows += [
            context.number(variant, "fairness", jain(share.own), note),
            context.number(variant, "fairness, slides", jain(share.own), note),
            context.number(variant, "Jain's index of the printed throughputs", jain(printed)),
        ]
    return [
        *rows,
        context.claim(
            "adalr-newreno is fairer",
            "fairness",
            {variant: jain(share.own) for variant, share in runs.items()},
        ),
    ]


_MIX = (OURS,) * 3 + (THEIRS,) * 3


def table_11(context: Context) -> list[Row]:
    """Give the rows of table 11: three flows of each kind, all of 25 ms."""
    share = shares(context, _MIX, equal_ms=25)
    cases = [f"{variant} {index}" for variant in (OURS, THEIRS) for index in (1, 2, 3)]
    return [
        context.number(case, "average throughput", own, notes.TABLE_11)
        for case, own in zip(cases, share.own, strict=True)
    ]


def table_12(context: Context) -> list[Row]:
    """Give the rows of table 12."""
    share = shares(context, _MIX, equal_ms=25)
    printed = [float(row.published) for row in context.paper.published if row.item == "table-11"]
    case = "adalr-newreno and newreno"
    return [
        context.number(case, "friendliness", jain(share.own), notes.common_jain(jain(share.common))),
        context.number(case, "Jain's index of the printed throughputs", jain(printed)),
    ]


def slides(context: Context) -> list[Row]:
    """Give the row of the slides' friendliness mix."""
    share = shares(context, (THEIRS,) * 3 + (OURS,) * 3)
    case = "adalr-newreno 300, 400, 500 ms and newreno 25, 50, 100 ms"
    note = notes.slides_mix(jain(share.common))
    return [context.number(case, "friendliness", jain(share.own), note)]


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
