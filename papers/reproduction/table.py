"""Reproductions as tables for people."""

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from bentpipe.show.layout import print_whole
from bentpipe_papers.reproduction.grid import Grid
from bentpipe_papers.reproduction.reproduce import (
    Live,
    Reproduced,
    readings_of,
    statements_of,
    verdict_counts,
)
from bentpipe_papers.reproduction.rows import explained
from bentpipe_papers.reproduction.statements import counted, sentence
from bentpipe_papers.reproduction.verdicts import VERDICTS, Verdict

_COLOURS: dict[Verdict, str] = {
    "input": "dim",
    "match": "green",
    "match (also without)": "cyan",
    "shape": "yellow",
    "contradiction": "magenta",
    "differs": "red",
}


def grid_table(grid: Grid) -> Table:
    """Make the table of an item's own measurements."""
    table = Table(*grid.columns, box=None, header_style="bold", pad_edge=False, title=grid.title)
    for row in grid.text():
        table.add_row(*map(escape, row))
    return table


def print_reproduction(results: Sequence[Reproduced], to: Console) -> None:
    """Print each item's rows, published beside computed, why some disagree, and how many agree."""
    for result in results:
        if not result.rows and result.grid is None:
            continue
        to.print(
            f"\n[bold]{result.paper.name}/{result.item.name}[/bold]  {result.item.title}", highlight=False
        )
        if result.grid is not None:
            to.print(grid_table(result.grid))
        if not result.rows:
            continue
        table = Table(
            "case", "metric", "published", "computed", box=None, header_style="bold", pad_edge=False
        )
        table.add_column("without")
        table.add_column("deviation", justify="right")
        table.add_column("verdict")
        for row in result.rows:
            colour = _COLOURS[row.verdict]
            cells = (
                *(row.case, row.metric, row.published_text(), row.computed_text()),
                *(row.without_text(), row.deviation_text()),
            )
            table.add_row(*(escape(cell) for cell in cells), f"[{colour}]{row.verdict}[/{colour}]")
        to.print(table)
        for explanation, names in explained(result.rows).items():
            to.print(f"  {escape('; '.join(names))}: {escape(explanation)}", style="dim", highlight=False)
    for name, readings in readings_of(results).items():
        for one in readings:
            to.print(
                f"\n[bold]{name}, {one.reading.name}[/bold]  {escape(one.reading.about)}", highlight=False
            )
            to.print(f"  {one.sentence()}", highlight=False)
            for change, words in ((1, "nearer"), (-1, "farther"), (0, "only another")):
                for each in one.of(change):
                    to.print(f"  {words}: {escape(each.text())}", style="dim", highlight=False)
    to.print()
    to.print(_counts(results))
    for name, found in statements_of(results).items():
        to.print(f"{name}: {sentence(counted(found))}", highlight=False)


def print_live(results: Sequence[Live], release: str, to: Console) -> None:
    """Print each row of items that ran under a kernel's TCP: published, simulated, and the kernel's."""
    for result in results:
        item = f"{result.simulated.paper.name}/{result.simulated.item.name}"
        to.print(f"\n[bold]{item}[/bold]  {result.simulated.item.title}", highlight=False)
        table = Table(
            "case", "metric", "published", "simulated", "", box=None, header_style="bold", pad_edge=False
        )
        table.add_column(f"Linux {release.split('-')[0]}")
        table.add_column("")
        kernel = {(row.case, row.metric): row for row in result.rows}
        for row in result.simulated.rows:
            live = kernel.get((row.case, row.metric))
            if live is None:
                continue
            cells = (row.case, row.metric, row.published_text(), row.computed_text())
            verdicts = (
                f"[{_COLOURS[one.verdict]}]{one.verdict}[/{_COLOURS[one.verdict]}]" for one in (row, live)
            )
            simulated, of_kernel = verdicts
            table.add_row(*map(escape, cells), simulated, escape(live.computed_text()), of_kernel)
        print_whole(table, to)


def _counts(results: Sequence[Reproduced]) -> Table:
    table = Table("paper", box=None, header_style="bold", pad_edge=False)
    for verdict in ("rows", *VERDICTS):
        table.add_column(verdict, justify="right")
    for name, counts in verdict_counts(results).items():
        table.add_row(name, str(sum(counts.values())), *(str(counts[verdict]) for verdict in VERDICTS))
    return table
