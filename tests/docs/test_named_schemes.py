"""docs/reference/named-schemes.md: each scheme that the documents name leads to what runs and its page."""

import json
import re
from collections import Counter
from typing import Any, NamedTuple

import pytest

from bentpipe import _core
from bentpipe.catalogue import entries
from conftest import ROOT

PAGE = ROOT / "docs" / "reference" / "named-schemes.md"
DOCUMENTS = {"`adalr`", "`adalr, slides`", "`sack`", "`afc`", "`xfwa`"}
KINDS = {
    "variant": "variants",
    "control": "controls",
    "recovery": "recoveries",
    "start": "starts",
    "gateway": "gateways",
    "queue": "queues",
    "application": "applications",
}


class Row(NamedTuple):
    """A scheme that a document names."""

    document: str
    section: str
    scheme: str
    here: str
    page: str


def rows(text: str) -> list[Row]:
    lines = [line for line in text.splitlines() if line.startswith("| `")]
    return [Row(*(cell.strip() for cell in line.strip("|").split(" | "))) for line in lines]


ROWS = rows(PAGE.read_text(encoding="utf-8"))


def keys(schema: Any) -> set[str]:
    if isinstance(schema, list):
        return set().union(*map(keys, schema))
    if not isinstance(schema, dict):
        return set()
    return {*schema.get("properties", {})}.union(*map(keys, schema.values()))


def anchors(text: str) -> set[str]:
    """Give the anchors of a page's headings."""
    heads = (line.lstrip("# ") for line in text.splitlines() if line.startswith("#"))
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}


def missing(row: Row) -> list[str]:
    """Give what a row names and nobody has."""
    known = {kind: {entry.name for entry in entries(what)} for kind, what in KINDS.items()}
    named = re.findall(r"(\w+) `([^`]+)`", row.here.replace("option `", "`"))
    lost = [f"{kind} {name}" for kind, name in named if name not in known.get(kind, keys(SCHEMA))]
    links = re.findall(r"\]\(([^)#]+)(?:#([^)]+))?\)", row.page)
    for name, anchor in links:
        page = PAGE.parent / name
        if not page.exists() or (anchor and anchor not in anchors(page.read_text(encoding="utf-8"))):
            lost.append(f"{name}#{anchor}")
    return lost if named and links else [*lost, "nothing"]


SCHEMA: dict[str, Any] = json.loads(_core.schema())


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.document} {row.scheme}")
def test_a_scheme_that_a_document_names_is_there_and_has_a_page(row: Row) -> None:
    assert row.document in DOCUMENTS
    assert missing(row) == []


def test_all_documents_are_there_and_no_row_twice() -> None:
    assert {row.document for row in ROWS} == DOCUMENTS
    assert len(ROWS) > 40
    assert max(Counter((row.document, row.scheme) for row in ROWS).values()) == 1


@pytest.mark.parametrize(
    ("here", "page", "lost"),
    [
        ("variant `vegas2`", "[a](../explanation/tcp.md)", ["variant vegas2"]),
        ("key `colour`", "[a](../explanation/tcp.md)", ["key colour"]),
        ("variant `vegas`", "[a](../explanation/nowhere.md)", ["../explanation/nowhere.md#"]),
        ("variant `vegas`", "[a](../explanation/tcp.md#nowhere)", ["../explanation/tcp.md#nowhere"]),
        ("to come", "[a](../explanation/tcp.md)", ["nothing"]),
        ("variant `vegas`", "to come", ["nothing"]),
    ],
)
def test_what_is_not_there_is_found(here: str, page: str, lost: list[str]) -> None:
    assert missing(Row("`afc`", "1", "x", here, page)) == lost
