"""The documents reproduced, with every other reading: docs/generated/papers/*.md.

Beside each page is the scatter of computed over published, which is not for git, and in the folder that is
given are the reports.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from bentpipe.files.output import write_text
from bentpipe_papers.reproduction.finished import Cache
from bentpipe_papers.reproduction.moved import ReadOtherwise
from bentpipe_papers.reproduction.papers import all_papers
from bentpipe_papers.reproduction.pictures import draw_scatter, positive
from bentpipe_papers.reproduction.reproduce import readings_of, reproduce, statements_of
from bentpipe_papers.reproduction.statements import Statement, counted, sentence

ROOT = Path(__file__).resolve().parent.parent

HEAD = """# {name}: statements and readings

After this page you know which statements of the document hold here, and what its authors could correct.
[{name}.md](../../witness/{name}.md) has the document, the inferred parameters and the results.

"""


def table(headings: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """Write a table in Markdown."""
    lines = [headings, ("---",) * len(headings), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |\n" for row in lines)


def items(name: str) -> str:
    """List what `bentpipe reproduce NAME/ITEM` takes."""
    rows = [
        (f"`{name}/{item.name}`", item.title)
        for paper in all_papers()
        if paper.name == name
        for item in paper.module().ITEMS
    ]
    return table(("item", "part of the document"), rows)


def part(name: str, found: list[Statement], readings: list[ReadOtherwise]) -> str:
    """Write what an author wants to see first."""
    failing = [
        (
            one.words,
            one.where,
            one.outcome,
            " ".join(dict.fromkeys(row.explanation() for row in one.failing)),
        )
        for one in sorted(found, key=lambda one: one.outcome, reverse=True)
        if one.failing
    ]
    others = [
        (
            one.reading.about,
            one.sentence(),
            f"`bentpipe reproduce {name} --readings`, `{one.reading.name}`",
        )
        for one in readings
    ]
    return (
        f"{sentence(counted(found))} ([what these words mean](../../how-to/reproduction.md#verdicts)).\n\n"
        f"![Each number that {name} prints, and ours]({name}.svg)\n\n"
        f"## What does not hold, or cannot be told\n\n"
        + table(("statement", "where", "outcome", "why"), failing)
        + "\n## What the authors could correct\n\n"
        + table(("what is not stated", "rows of this document", "each row"), others)
        + "\n## Items\n\n"
        + items(name)
    )


def main() -> int:
    """Write the pages of the papers named, or of all; the first argument is the folder of the reports."""
    for name in sys.argv[2:] or ("adalr", "sack", "afc", "xfwa"):
        results = reproduce(
            name,
            Cache.at(None),
            report=Path(sys.argv[1]) / name,
            command=f"bentpipe reproduce {name}",
            otherwise=True,
        )
        page = ROOT / "docs" / "generated" / "papers" / f"{name}.md"
        draw_scatter(positive(row for result in results for row in result.rows), page.with_suffix(".svg"))
        text = part(name, statements_of(results)[name], readings_of(results)[name])
        write_text(page, HEAD.format(name=name) + text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
