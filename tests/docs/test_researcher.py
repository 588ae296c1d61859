"""A researcher's afternoon: the notebook from a link in a dictionary to its pictures, and five commands."""

import ast
import json
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import nbformat
import pyarrow.parquet as pq
from nbclient import NotebookClient

from conftest import ROOT, Bentpipe

NOTEBOOK = ROOT / "docs" / "tutorials" / "notebooks" / "researcher.ipynb"
CELLS = ["".join(cell["source"]) for cell in json.loads(NOTEBOOK.read_text())["cells"]]
LOSS, DELAY, CONTROL = "links.satellite.loss.probability", "links.satellite.delay", "flows.download.control"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", CELLS[-1], re.MULTILINE | re.DOTALL)


def shown(cell: Any) -> set[str]:
    """Give the kinds of what a cell shows."""
    return {kind for output in cell.outputs for kind in output.get("data", {})}


def test_the_notebook_runs_from_a_link_to_its_pictures(tmp_path: Path) -> None:
    notebook: Any = nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code), "kept without outputs"
    resources = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=120, kernel_name="python3", resources=resources).execute()
    kinds = [shown(cell) for cell in code]
    assert sum("text/html" in kind for kind in kinds) >= 4
    assert any("image/png" in kind for kind in kinds)
    table = pq.read_table(tmp_path / "sweep" / "rows.parquet")
    assert set(table[CONTROL].to_pylist()) == {"standard", "cubic", "bbr3", "halfhybla"}
    assert (tmp_path / "goodput.svg").stat().st_size > 10_000
    assert_reports(tmp_path)


def assert_reports(folder: Path) -> None:
    variants, sweep = (
        (folder / f"{name}.html").read_text(encoding="utf-8") for name in ("variants", "sweep")
    )
    assert "bbr3 is limited most by: " in variants
    assert sweep.count("<tr>") == 1 + 48
    assert "uPlot" in sweep


def test_the_same_in_the_shell_in_five_commands(bentpipe: Bentpipe, tmp_path: Path) -> None:
    (link,) = blocks("toml")
    (tmp_path / "link.toml").write_text(link)
    (control,) = (cell.partition("\n\n\n")[0] for cell in CELLS if "class HalfHybla" in cell)
    (tmp_path / "halfhybla.py").write_text(f"import bentpipe as bp\n\n\n{control}\n")
    commands = [line.removeprefix("$ ") for block in blocks("console") for line in block.splitlines()]
    assert len(commands) == 5
    told = []
    for command in commands:
        program, *arguments = shlex.split(command)
        result = bentpipe(*arguments)
        assert (program, result.returncode) == ("bentpipe", 0), result.stderr
        told.append(result.stdout)
    assert "halfhybla is limited most by: " in told[1]
    table = pq.read_table(tmp_path / "sweep" / "rows.parquet", filters=[("kind", "=", "flow")])
    assert (table.num_rows, table["error"].null_count) == (240, 240)
    about = json.loads((tmp_path / "sweep" / "sweep.json").read_text())
    assert list(about["controls"]) == ["halfhybla"]
    assert (tmp_path / "goodput.svg").stat().st_size > 10_000
    assert_reports(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "cache") == [
        "goodput.svg", "halfhybla.py", "link.toml", "sweep", "sweep.html", "variants.html",
    ]  # fmt: skip


def test_notebook_and_commands_have_the_same_link() -> None:
    (link,) = (cell for cell in CELLS if cell.startswith("link = bp.Scenario.from_dict"))
    tables = link[link.index("(") + 1 : link.rindex(")")]
    assert ast.literal_eval(tables.strip().rstrip(",")) == tomllib.loads(blocks("toml")[0])
