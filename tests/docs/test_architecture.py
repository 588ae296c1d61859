"""The tables of docs/architecture.md on what the interfaces carry: each line names a test that exists."""

import re
from collections.abc import Iterator

import pytest

from conftest import ROOT

PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def tables(text: str) -> Iterator[list[dict[str, str]]]:
    """Each table as rows by the names of its columns."""
    for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        header, _, *lines = block.splitlines()
        yield [dict(zip(cells(header), cells(line), strict=True)) for line in lines]


def missing(named: str) -> str | None:
    """Tell what a name like `crates/…/tests.rs::name` promises and the sources do not have."""
    path, _, name = named.partition("::")
    source = ROOT / path
    if not source.is_file():
        return f"{named}: no file {path}"
    found = re.search(rf"\b(fn|def) {re.escape(name)}\(", source.read_text(encoding="utf-8"))
    return None if name and found else f"{named}: no test of that name"


ROWS = [row for table in tables(PAGE) for row in table if "test" in row]


def test_both_tables_have_tests() -> None:
    schemes = {row["scheme"] for row in ROWS if "scheme" in row}
    elements = {row["element"] for row in ROWS if "element" in row}
    assert {"Tahoe, Reno, NewReno", "ADaLR", "HyStart++, SEARCH"} <= schemes
    assert {"handover", "relay, split PEP"} <= elements


@pytest.mark.parametrize("row", ROWS, ids=[next(iter(row.values())) for row in ROWS])
def test_the_test_that_a_line_names_is_in_the_sources(row: dict[str, str]) -> None:
    named = re.findall(r"`([^`]+)`", row["test"])
    assert named or row["test"].startswith("none"), "a line names a test, or says that it has none"
    assert [told for told in map(missing, named) if told] == []


def test_a_name_that_is_nowhere_is_told() -> None:
    here = "tests/docs/test_architecture.py"
    assert missing(f"{here}::test_a_name_that_is_nowhere_is_told") is None
    assert missing(f"{here}::test_a_name") == f"{here}::test_a_name: no test of that name"
    assert missing("crates/no.rs::name") == "crates/no.rs::name: no file crates/no.rs"
    assert missing(here) == f"{here}: no test of that name"
