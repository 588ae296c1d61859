"""The documents reproduced, with every other reading: the first part of docs/generated/papers/*.md.

Beside each page is the scatter of computed over published, which is not for git, and in the folder that is
given are the reports.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from bentpipe.files.output import write_text
from bentpipe_papers.reproduction.finished import Cache
from bentpipe_papers.reproduction.moved import ReadOtherwise
from bentpipe_papers.reproduction.pictures import draw_scatter, positive
from bentpipe_papers.reproduction.reproduce import readings_of, reproduce, statements_of
from bentpipe_papers.reproduction.statements import Statement, counted, sentence
from statements import between_marks

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = "scripts/paper_pages.py"


def table(headings: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """Write a table in Markdown."""
    lines = [headings, ("---",) * len(headings), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |\n" for row in lines)


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
        write_text(page, between_marks(page, PROGRAM, text))
    return 0


if __name__ == "__main__":
    sys.exit(main())
