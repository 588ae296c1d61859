"""The reference of scenarios, the schema behind it, and the page of the library."""

import json
import re
import tomllib
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

import bentpipe as bp
import reference_pages
import scenario_reference
from bentpipe import _core
from conftest import ROOT, Bentpipe

SCHEMA: dict[str, Any] = json.loads(_core.schema())
FILES = sorted(ROOT.glob("scenarios/**/*.toml")) + sorted(ROOT.glob("docs/**/*.toml"))


def keys(schema: Any) -> set[str]:
    """Give every key of every table that a schema knows."""
    if isinstance(schema, list):
        return set().union(*map(keys, schema))
    if not isinstance(schema, dict):
        return set()
    named = {name for name, value in schema.get("properties", {}).items() if "const" not in value}
    return named.union(*map(keys, schema.values()))


def test_the_reference_has_every_key_and_leads_to_every_table() -> None:
    page = scenario_reference.page()
    known = keys(SCHEMA)
    assert {"rate", "delay", "variant", "probability", "beta"} <= known
    assert sorted(key for key in known if f"`{key}`" not in page) == []
    anchors = {
        line.strip("# ").lower().replace(" ", "-") for line in page.splitlines() if line.startswith("## ")
    }
    assert set(re.findall(r"\(#([^)]+)\)", page)) <= anchors
    assert "| **`probability`** | number from 0 to 1 |" in page


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.stem)
def test_an_editor_takes_every_scenario_that_we_ship(file: Any) -> None:
    scenario = tomllib.loads(file.read_text(encoding="utf-8"))
    # What a preset is when nothing extends it; only presets have it.
    scenario.pop("alone", None)
    jsonschema.validate(scenario, SCHEMA)


def test_an_editor_marks_what_the_command_refuses() -> None:
    for wrong in (
        'durration = "1 s"',
        'duration = "1 parsec"',
        "[tcp]\nmss = true",
        '[flows.a]\napp = "ftq"',
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(tomllib.loads(wrong), SCHEMA)


def test_the_command_prints_the_schema(bentpipe: Bentpipe) -> None:
    told = bentpipe("schema")
    assert (told.returncode, told.stderr) == (0, "")
    assert json.loads(told.stdout) == SCHEMA


def test_every_page_of_the_reference_has_its_rows() -> None:
    pages = reference_pages.pages()
    assert sorted(re.findall(r":: bentpipe\.(\w+)", pages["library.md"])) == sorted(bp.__all__)
    assert "| `goodput_bps` | bit/s |" in pages["result-reference.md"]
    assert "| `geo` |" in pages["names.md"]
    assert "## bentpipe live emulate" in pages["commands.md"]
    assert '| "200 ms" (linux, linux-2.4, ns2), "1 s" (opnet, rfc) |' in pages["scenario-reference.md"]


def test_every_page_is_in_the_contents() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    listed = set("\n".join(re.findall(r"```{toctree}\n(.*?)```", index, re.DOTALL)).split())
    docs = ROOT / "docs"
    written = {*docs.glob("**/*.md"), *(docs / "generated" / name for name in reference_pages.pages())}
    pages = {str(path.relative_to(docs).with_suffix("")) for path in written} - {"index"}
    # A page of its own lists the schemes.
    assert sorted(page for page in pages - listed if not page.startswith("generated/schemes/")) == []
