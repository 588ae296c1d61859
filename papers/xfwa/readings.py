"""Beyond the document: what its claims come to by the other reading of its table and its windows."""

from collections.abc import Callable
from pathlib import Path

from bentpipe.show.style import picture
from bentpipe_papers.reproduction.grid import Cell, Grid
from bentpipe_papers.reproduction.reproduce import Context
from bentpipe_papers.reproduction.verdicts import describe, judge_claim

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
    """Hold what an item measures of XFWA against its claims by both readings."""
    published = {(row.case, row.metric): row for row in context.paper.published if row.item == item}
    ours, arrived = (_ITEMS[item](context, name) for name in ("xfwa", "arrived"))
    rows: list[tuple[Cell, ...]] = []
    for (case, metric, plain), (_, _, other) in zip(ours, arrived, strict=True):
        about = published[case, metric]
        both = [
            f"{describe(values, about.unit)}: {judge_claim(about.published, values)}"
            for values in (plain, other)
        ]
        if plain != other:
            rows.append((item, case, metric, about.published, *both))
    return rows


def measure(context: Context) -> Grid:
    """Tabulate every claim that speaks of XFWA by both readings."""
    return Grid(
        "The claims that speak of XFWA, by both readings",
        (
            "item",
            "case",
            "metric",
            "claim",
            "last packet transmitted, whole packets",
            "last packet arrived, data alone",
        ),
        tuple(row for item in _ITEMS for row in compared(context, item)),
    )


def draw(context: Context, path: Path) -> None:
    """Draw figure 2 by both readings."""
    with picture(path, (11, 4.8)) as figure:
        runs = {name: staged(context, scheme(name, STAGED)) for name in ("arrived", "xfwa")}
        coming_and_going.draw_progress(figure, runs)
