"""Pictures of rows: what a paper prints in numbers beside ours, of one item and of all."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from bentpipe.results import half_width
from bentpipe.show.style import BLUE, GREEN, GREY, ORANGE, PURPLE, RED, SKY, picture
from bentpipe_papers.reproduction.rows import Row
from bentpipe_papers.reproduction.verdicts import Verdict

COLOURS: dict[Verdict, str] = {
    "input": GREY,
    "match": GREEN,
    "match (also without)": SKY,
    "shape": ORANGE,
    "contradiction": PURPLE,
    "differs": RED,
}


def numbers(rows: Iterable[Row]) -> list[Row]:
    """Leave the rows that hold a number against a printed one."""
    return [row for row in rows if isinstance(row.published, float) and isinstance(row.computed, float)]


def positive(rows: Iterable[Row]) -> list[Row]:
    """Leave those of which both numbers are above 0, so that they have a ratio."""
    return [row for row in numbers(rows) if float(row.published) > 0 and float(row.computed or 0) > 0]


def draw_scatter(rows: Sequence[Row], path: Path) -> None:
    """Draw computed over published, both in the published unit, by verdict."""
    with picture(path, (6, 5)) as figure:
        axes = figure.subplots()
        ends = [float(value) for row in rows for value in (row.published, row.computed or 0)]
        low, high = min(ends) / 1.5, max(ends) * 1.5
        axes.plot([low, high], [low, high], color=GREY, lw=0.8, label="equal")
        for verdict, colour in COLOURS.items():
            some = [row for row in rows if row.verdict == verdict]
            if some:
                axes.plot(
                    [float(row.published) for row in some],
                    [float(row.computed or 0) for row in some],
                    "o",
                    ms=5,
                    alpha=0.8,
                    color=colour,
                    label=f"{verdict}, {len(some)}",
                )
        axes.set(xscale="log", yscale="log", xlim=(low, high), ylim=(low, high))
        axes.set_xlabel("published, each in its own unit")
        axes.set_ylabel("computed")
        axes.legend(loc="upper left")


def draw_beside(rows: Sequence[Row], path: Path) -> None:
    """Draw the published and the computed numbers on one axis for each metric, a line a case."""
    by_metric: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        by_metric.setdefault((row.metric, row.unit), []).append(row)
    heights = [len(some) + 2 for some in by_metric.values()]
    with picture(path, (7, 0.26 * sum(heights) + 0.6)) as figure:
        panels = figure.subplots(len(heights), 1, squeeze=False, height_ratios=heights)[:, 0]
        for axes, ((metric, unit), some) in zip(panels, by_metric.items(), strict=True):
            places = range(len(some))
            axes.plot(
                [float(row.published) for row in some],
                places,
                "D",
                ms=6,
                mfc="none",
                color=GREY,
                label="published",
            )
            axes.errorbar(
                [float(row.computed or 0) for row in some],
                places,
                xerr=[half_width(row.number) or 0.0 for row in some],
                fmt="o",
                ms=4,
                capsize=2,
                color=BLUE,
                label="computed",
            )
            axes.set_yticks(places, [row.case for row in some])
            axes.set_ylim(len(some) - 0.5, -0.5)
            axes.set_title(f"{metric} ({unit})" if unit else metric)
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=2)
