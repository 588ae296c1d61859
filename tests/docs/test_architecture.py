"""What docs/architecture.md names exists: rooms, arrows between crates, tests, and each name in code."""

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

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


def rooms(page: str) -> Iterator[Path]:
    """Each file or folder that a line of the tree begins with; further indented is more of a line."""
    tree = re.search(r"## Rooms\n.*?```\n(.*?)```", page, re.DOTALL)
    assert tree
    parent = ROOT
    for line in tree[1].splitlines():
        if line.startswith("   "):
            continue
        names = re.split(r"\s{2,}", line.strip())[0].split(", ")
        if line.startswith("  "):
            yield from (parent / name for name in names)
        else:
            parent = ROOT / names[0]
            yield parent


def is_there(room: Path) -> bool:
    """Tell whether a room is a folder or a file, beside or in `src`."""
    beside = (
        room,
        *(top / "src" / room.relative_to(top) for top in room.parents if top.parent.name == "crates"),
    )
    return any(path.with_name(path.name + end).exists() for path in beside for end in ("", ".rs", ".py"))


def test_each_room_of_the_tree_is_there_and_each_crate_is_in_it() -> None:
    named = list(rooms(PAGE))
    assert [str(room.relative_to(ROOT)) for room in named if not is_there(room)] == []
    assert {path.parent for path in ROOT.glob("crates/*/Cargo.toml")} <= set(named)
    assert not is_there(ROOT / "crates" / "tcp" / "nowhere")


def test_each_arrow_is_in_the_manifest_and_each_of_the_manifest_on_the_page() -> None:
    told: dict[str, set[str]] = {}
    for row in (row for table in tables(PAGE) for row in table if "crate" in row):
        for crate in re.findall(r"`(\w+)`", row["crate"]):
            # What stands behind a semicolon is what it does not know, and why.
            told[crate] = set(re.findall(r"`(\w+)`", row["knows"].partition(";")[0]))
            if "and what that knows" in row["knows"]:
                told[crate] |= {deeper for other in told[crate] for deeper in told[other]}
    for manifest in ROOT.glob("crates/*/Cargo.toml"):
        found = tomllib.loads(manifest.read_text(encoding="utf-8"))
        tables_of = [found, *found.get("target", {}).values()]
        uses = {name for table in tables_of for name in table.get("dependencies", {})}
        ours = {name.removeprefix("bentpipe-") for name in uses if name.startswith("bentpipe-")}
        assert told[manifest.parent.name] == ours, manifest


@cache
def words() -> dict[Path, frozenset[str]]:
    """The words of each source."""
    found = [path for room in ("crates", "python") for path in (ROOT / room).rglob("*.*")]
    found += [*ROOT.glob("*.toml"), ROOT / "Makefile"]
    read = (path for path in found if path.suffix in (".rs", ".py", ".toml", "") and path.is_file())
    return {path: frozenset(re.findall(r"\w+", path.read_text(encoding="utf-8"))) for path in read}


def nowhere(code: str) -> list[str]:
    """What of some code is in no source: a path, a target of make, a type with its member, a word."""
    if "/" in code:
        path = code.partition("::")[0]
        return [] if (ROOT / path).exists() or path.startswith("target/") else [code]
    if code.startswith("make "):
        return [] if re.search(rf"^{code[5:]}:", (ROOT / "Makefile").read_text(), re.MULTILINE) else [code]
    if code in {"scenario.toml", "--set", "lint-imports"}:
        return []
    missing = []
    for name in re.findall(r"[A-Za-z_][\w:]*", code):
        # One file has a type and its member, whoever declares it.
        wanted = {part for part in name.split("::") if part}
        if not any(wanted <= found for found in words().values()):
            missing.append(name)
    return missing


def test_each_name_in_code_is_in_the_sources() -> None:
    prose = re.sub(r"```.*?```", "", PAGE, flags=re.DOTALL)
    assert [name for code in re.findall(r"`([^`]+)`", prose) for name in nowhere(code)] == []


@pytest.mark.parametrize(
    "code",
    ["Control::on_nothing", "crates/no.rs", "make nothing", "Nonsensical", "Gateway::write_headers_twice"],
)
def test_a_name_in_code_that_is_nowhere_is_told(code: str) -> None:
    assert nowhere(code) == [code]


def test_the_page_is_short() -> None:
    assert len(PAGE.splitlines()) <= 200
