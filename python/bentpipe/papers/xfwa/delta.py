"""Beyond the document: what its claims come to with delta as it states it, and as it is inferred here."""

from collections.abc import Callable
from pathlib import Path

from bentpipe.grid import Cell, Grid
from bentpipe.reproduction import Context
from bentpipe.style import picture
from bentpipe.verdicts import describe, judge_claim

from . import coming_and_going, groups, web
from .runs import STAGED, Measured, scheme
from .staged import staged

_ITEMS: dict[str, Callable[[Context, str], list[Measured]]] = {
    "figure-2": coming_and_going.progress,
    "figure-3": coming_and_going.bottleneck,
    "figure-4": groups.progress,
    "figure-5": groups.packets,
    "figure-6": web.link_use,
}


def compared(context: Context, item: str) -> list[tuple[Cell, ...]]:
    """Hold what an item measures of XFWA against its claims with both choices of delta."""
    published = {(row.case, row.metric): row for row in context.paper.published if row.item == item}
    ours, stated = (_ITEMS[item](context, name) for name in ("xfwa", "stated"))
    rows: list[tuple[Cell, ...]] = []
    for (case, metric, inferred), (_, _, literal) in zip(ours, stated, strict=True):
        about = published[case, metric]
        both = [
            f"{describe(values, about.unit)}: {judge_claim(about.published, values)}"
            for values in (literal, inferred)
        ]
        if inferred != literal:
            rows.append((item, case, metric, about.published, *both))
    return rows


def measure(context: Context) -> Grid:
    """Tabulate every claim that speaks of XFWA with both choices of delta."""
    return Grid(
        "The claims that speak of XFWA, with delta as stated and as inferred",
        ("item", "case", "metric", "claim", "delta RTT_avg, as stated", "delta 2 RTT_avg, inferred"),
        tuple(row for item in _ITEMS for row in compared(context, item)),
    )


def draw(context: Context, path: Path) -> None:
    """Draw figure 2 with both choices."""
    with picture(path, (11, 4.8)) as figure:
        runs = {name: staged(context, scheme(name, STAGED)) for name in ("stated", "xfwa")}
        coming_and_going.draw_progress(figure, runs)
