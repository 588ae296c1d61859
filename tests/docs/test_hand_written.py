"""Pages that people wrote: how much they are, how each begins, and that no row explains a key."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from bentpipe import _core
from bentpipe.guide.keys import every_key
from conftest import ROOT

ALL = sorted((ROOT / "docs").glob("**/*.md"))
PAGES = [path for path in ALL if "generated" not in path.parts]
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def written(page: Path) -> str:
    """Give the text of a page without what programs wrote between marks."""
    text = page.read_text(encoding="utf-8")
    return re.sub(r"<!-- [^>]*: begin -->.*?<!-- [^>]*: end -->", "", text, flags=re.DOTALL)


SCHEMES = {name for kind in ("recoveries", "controls", "starts") for name, _ in _core.schemes(kind)}
KEYS = {one.path[-1] for one in every_key()} - SCHEMES
HEADINGS = {"key", "keys", "option", "options", "setting", "parameter"}


def key_rows(text: str) -> Iterator[str]:
    """Give the rows of tables of keys, and the items of lists, that begin with a key of a scenario."""
    of_keys = False
    for line in text.splitlines():
        first = line.strip("| ").split("|")[0].strip()
        if not line.startswith("|"):
            of_keys = False
        elif first in HEADINGS:
            of_keys = True
        found = re.match(r"(?:\| *|[-*] +)\**`([\w.-]+)`", line)
        if found and found[1].rpartition(".")[2] in KEYS and (of_keys or line[0] in "-*"):
            yield line


def test_there_are_few_pages_and_few_words() -> None:
    assert len(PAGES) <= 40
    # What frames the tables of programs was written, too.
    framed = [page for page in ALL if page not in PAGES and ": begin -->" in page.read_text(encoding="utf-8")]
    assert sum(len(written(page).split()) for page in [*PAGES, *framed]) <= 70_000
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120


@each_page
def test_a_page_begins_with_what_its_reader_can_do_after_it(page: Path) -> None:
    if page.name == "index.md":
        return
    prose = re.sub(r"\A---\n.*?\n---\n", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    heading, first, *_ = [part for part in prose.split("\n\n") if part.strip()]
    assert heading.strip().startswith("# ")
    assert first.lstrip().startswith("After this page you")


@each_page
def test_no_row_of_a_page_explains_a_key(page: Path) -> None:
    assert list(key_rows(written(page))) == []


def test_a_row_that_explains_a_key_is_found() -> None:
    table = "| key | default |\n| --- | --- |\n| `rto.min` | 1 s |\n| `cwnd` | none |\n\n- `mss`: the size\n"
    assert list(key_rows(table)) == ["| `rto.min` | 1 s |", "- `mss`: the size"]
    assert list(key_rows("| variant | Mbit/s |\n| --- | --- |\n| `sack` | 2 |\n")) == []
