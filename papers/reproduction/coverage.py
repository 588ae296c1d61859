"""Where each statement of a paper is answered: ``python -m bentpipe_papers.reproduction.coverage [--check]``.

Writes ``papers/NAME/coverage.csv`` with the columns

====== ==============================================================================================
where  the place in the document
what   what stands there
row    the row of ``bentpipe reproduce`` that answers it, ``item: case, metric``
reason where there is no row: the test, file or key that carries it, or why it is not measured
====== ==============================================================================================

from three files beside it: ``published.csv``; ``elsewhere.csv`` (``where``, ``what``, ``reason``: each
statement without a row); and the table ``[outline]`` of ``paper.toml``, which has every place of the
document, in its order, with the number of statements, cells, figures or lines counted there. Each ``where``
begins with such a place. A place with fewer lines than were counted is an error, and so is a reason that
names a file or a test (``tests/…/test_x.py::test_y``, ``crates/…/x.rs::name``) that is not there, or a test
without the statement in a comment above it.
"""

import argparse
import csv
import io
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from pathlib import Path

from bentpipe.files.output import write_text
from bentpipe_papers.reproduction import papers
from bentpipe_papers.reproduction.papers import Paper, table

_NAMED = re.compile(r"\b((?:bench|bpf|crates|docs|papers|python|scenarios|tests)/[\w./-]*\w)(?:::(\w+))?")


@dataclass(frozen=True)
class Line:
    """One statement of a paper, and the row or the reason that answers it."""

    where: str
    what: str
    row: str
    reason: str


def lines(paper: Paper) -> list[Line]:
    """Give the coverage of a paper, in the order of its outline.

    Raises
    ------
    OSError, ValueError
        A file is missing or broken, or a line stands at no place of the outline.
    """
    places = list(outline(paper))
    found = [
        Line(where, f"{row.case}: {row.metric}", f"{row.item}: {row.case}, {row.metric}", "")
        for row in paper.published
        for where in row.where.split("; ")
    ]
    found += [
        Line(row["where"], row["what"], "", row["reason"])
        for row in table(paper.folder / "elsewhere.csv", ("where", "what", "reason"))
    ]
    return sorted(found, key=lambda line: places.index(_place(line.where, places)))


def faults(paper: Paper, root: Path) -> list[str]:
    """Say what is missing: places not covered, lines without row or reason, files that are not there."""
    places = outline(paper)
    covered = lines(paper)
    counted = Counter(_place(line.where, places) for line in covered)
    missing = [
        f"{place}: {counted[place]} of {wanted} covered"
        for place, wanted in places.items()
        if counted[place] < wanted
    ]
    empty = [
        f"{line.where}: {line.what!r} has neither row nor reason"
        for line in covered
        if not (line.row or line.reason)
    ]
    return missing + empty + [fault for line in covered for fault in _not_there(line, root)]


def outline(paper: Paper) -> Mapping[str, int]:
    """Read the places of a paper and how much each has to say."""
    about = tomllib.loads((paper.folder / "paper.toml").read_text(encoding="utf-8"))
    places = about.get("outline")
    if not isinstance(places, dict) or not all(isinstance(count, int) for count in places.values()):
        raise ValueError(f"{paper.name}/paper.toml: expected a table [outline] of places with numbers")
    return places


def text(paper: Paper) -> str:
    """Write the coverage of a paper as it stands in ``coverage.csv``."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(("where", "what", "row", "reason"))
    writer.writerows(astuple(line) for line in lines(paper))
    return file.getvalue()


def _place(where: str, places: Mapping[str, int] | list[str]) -> str:
    # "section 5" is not the place of what stands in section 5.3 or in section 51.
    found = [place for place in places if re.match(re.escape(place) + r"(?!\w|\.\d)", where)]
    if not found:
        raise ValueError(f"{where!r} begins with no place of the outline")
    return max(found, key=len)


def _not_there(line: Line, root: Path) -> list[str]:
    found = []
    for name, inside in _NAMED.findall(line.reason):
        path = root / name
        if not path.exists():
            found.append(f"{line.where}: there is no {name}")
            continue
        text = path.read_text("utf-8") if inside else ""
        if inside and not re.search(rf"\b(?:def|fn|class|mod|struct)\s+{inside}\b", text):
            found.append(f"{line.where}: {name} has no {inside}")
        elif inside and not _is_quoted(line.what, inside, text):
            found.append(f"{line.where}: {name}::{inside} does not quote {line.what!r} above it")
    return found


def _is_quoted(what: str, test: str, text: str) -> bool:
    """Say whether a test has the statement in the lines above it; what is no test need not."""
    before = re.split(rf"^[ \t]*(?:pub )?(?:def|fn)\s+{test}\b", text, maxsplit=1, flags=re.MULTILINE)[0]
    above = before.rpartition("\n\n")[2]
    return ("#[test]" not in above and not test.startswith("test_")) or what in above


def main() -> int:
    """Write the lists, or with ``--check`` only compare; 1 if something is missing."""
    parser = argparse.ArgumentParser(
        prog="python -m bentpipe_papers.reproduction.coverage", description="What covers each paper."
    )
    parser.add_argument("--check", action="store_true", help="write nothing")
    check = parser.parse_args().check
    status = 0
    for paper in papers.all_papers():
        found = faults(paper, papers.folder().parent)
        path = paper.folder / "coverage.csv"
        if check and (not path.is_file() or path.read_text("utf-8") != text(paper)):
            found.append("coverage.csv is not what make coverage writes")
        elif not check:
            write_text(path, text(paper))
        for fault in found:
            print(f"{paper.name}: {fault}", file=sys.stderr)
        rows = Counter(bool(line.row) for line in lines(paper))
        print(f"{paper.name}: {rows[True]} statements have a row, {rows[False]} a reason")
        status |= bool(found)
    return status


if __name__ == "__main__":
    sys.exit(main())
