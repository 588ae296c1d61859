"""Every block of Python or the shell in the pages runs, or stands below with its reason."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

import reference_pages
from conftest import ROOT

TRIED_BY = {
    "docs/how-to/compare.md": "tests/comparison/test_compare_page.py",
    "docs/how-to/library.md": "tests/docs/test_examples.py",
    "docs/how-to/own-scheme.md": "tests/docs/test_examples.py",
    "docs/how-to/server.md": "tests/live/test_server_page.py",
    "docs/reference/statistics.md": "tests/docs/test_examples.py",
    "docs/how-to/sweep.md": "tests/sweep/test_page.py",
    "docs/generated/which-tcp.md": "tests/docs/test_which_tcp.py",
    "docs/generated/every-scheme.md": "tests/docs/test_every_scheme.py",
    "docs/generated/which-orbit.md": "tests/docs/test_which_orbit.py",
}
"""Pages that a test of their own runs, which says more of what comes out."""

NOT_RUN = {
    "make ": "builds; make test is what runs this",
    "source ": "of the reader's shell",
    "eval ": "a shell's start-up file; tests/command_line/test_completion.py starts the shells",
    "_BENTPIPE_COMPLETE": "a shell's start-up file; tests/command_line/test_completion.py starts the shells",
    "scripts/debian-packages ": "installs packages",
    "scripts/guest-kernel": "downloads a kernel; make live-test does",
    ".venv/bin/python tests/guest": "boots another kernel; make live-test does",
    "cargo ": "builds for ten minutes",
    "valgrind ": "counts for minutes; make test does, by bench/run.py",
    "callgrind_annotate ": "reads what valgrind counted",
    "# bentpipe live": "root's, and minutes long; tests/live has the same options",
    "sudo bentpipe live": "root's, and minutes long; tests/live has the same options",
    "bentpipe live": "root's, and minutes long; tests/live has the same options",
    "bentpipe reproduce": "minutes long; tests/papers reproduces each paper",
    "bentpipe run mine.toml --set 'flows.*.variant=scalable'": "a control that the reader writes in Rust",
    "bentpipe plot mine.toml --set 'flows.*.variant=scalable'": "a control that the reader writes in Rust",
    "bentpipe list controls": "beside a control that the reader writes in Rust",
    "bentpipe run scenarios/geo-lossy.toml --set flows.download.variant=linux:": "a kernel",
    "bentpipe compare scenarios/geo-lossy.toml --variants cubic,linux:": "a kernel",
    "bentpipe compare scenarios/geo-lossy.toml --variants linux-": "a kernel that the reader builds",
    "mkdir -p ~/src": "beside a control that the reader writes in C",
    "cp tcp_mine.c": "beside a control that the reader writes in C",
    "echo ": "beside a control that the reader writes in C",
    "bentpipe run wire.toml": "beside a capture of a real wire",
    "dask ": "a cluster; tests/sweep/test_cluster.py starts one",
    "for ": "of captures from a real wire",
    "tshark ": "of captures from a real wire",
    "done": "of captures from a real wire",
    "diff ": "of captures from a real wire",
}
"""Beginnings of lines, and why nobody runs such a line here."""

GENERATED = [f"docs/generated/{name}" for name in reference_pages.pages()]
PAGES = ["README.md", "CONTRIBUTING.md", *(str(path.relative_to(ROOT)) for path in ROOT.glob("docs/**/*.md"))]
PAGES = sorted(page for page in PAGES if page not in GENERATED)

FENCE = re.compile(r"^```(\{code-cell\} \w+|[\w-]+)(?: [^\n]*)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A block of a page, and the file that the text above says it is."""

    language: str
    text: str
    file: str | None


def blocks(page: str) -> Iterator[Block]:
    text = (ROOT / page).read_text(encoding="utf-8")
    for found in FENCE.finditer(text):
        above = text[: found.start()].rstrip().rpartition("\n\n")[2]
        named = re.findall(r"`([\w-]+\.(?:toml|py|csv))`", above) if above.endswith(":") else []
        language = "cell" if found[1].startswith("{code-cell}") else found[1]
        yield Block(language, found[2], named[-1] if named else None)


def commands(block: Block) -> list[str]:
    """Give the commands of a block, without what they print."""
    lines = block.text.replace("\\\n", " ").splitlines()
    if block.language == "console":
        lines = [line.removeprefix("$ ") for line in lines if line.startswith(("$ ", "# "))]
    return [
        re.sub(r"\s+# .*", "", line) if not line.startswith("# ") else line for line in lines if line.strip()
    ]


def reason(command: str) -> str | None:
    return next((why for begin, why in NOT_RUN.items() if command.lstrip().startswith(begin)), None)


def runs(page: str) -> bool:
    shown = {"cell", "python", "console", "sh"}
    return page not in TRIED_BY and any(block.language in shown for block in blocks(page))


@pytest.mark.parametrize("page", [page for page in PAGES if runs(page)])
def test_what_a_page_shows_runs(page: str, tmp_path: Path) -> None:
    (scenario,) = (block.text for block in blocks("README.md") if block.language == "toml")
    (tmp_path / "mine.toml").write_text(scenario)
    cells = []
    for block in blocks(page):
        if block.file is not None:
            (tmp_path / block.file).write_text(block.text)
        elif block.language == "cell":
            cells.append(block.text)
        elif block.language == "python":
            run([sys.executable, "-c", block.text], tmp_path)
        elif block.language in ("console", "sh"):
            for command in commands(block):
                if reason(command) is None:
                    program, *arguments = shlex.split(command.partition(" < ")[0])
                    assert program == "bentpipe", f"{page}: {command}: runs, or has its reason above"
                    prepare(page, arguments, tmp_path)
                    given = (tmp_path / command.partition(" < ")[2]).read_text() if " < " in command else None
                    run([str(Path(sys.executable).with_name(program)), *arguments], tmp_path, given)
    if cells:
        notebook: Any = nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, cells)))  # type: ignore[no-untyped-call]
        resources = {"metadata": {"path": str(tmp_path)}}
        NotebookClient(notebook, timeout=120, kernel_name="python3", resources=resources).execute()
        # The first one imports and names; each other shows what it is there for.
        assert [cell.source for cell in notebook.cells[1:] if not cell.outputs] == []


def prepare(page: str, arguments: list[str], folder: Path) -> None:
    """Make what a command speaks of as there already: the scenarios of a checkout, but for the README."""
    if "scenarios/" in " ".join(arguments) and page != "README.md" and not (folder / "scenarios").exists():
        (folder / "scenarios").symlink_to(ROOT / "scenarios")


def run(command: list[str], folder: Path, given: str | None = None) -> None:
    result = subprocess.run(
        command, cwd=folder, env={**os.environ, "MPLBACKEND": "agg"}, input=given,
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert result.returncode == 0, f"{shlex.join(command)[:300]}\n{result.stderr}"


def test_who_tries_a_page_knows_it() -> None:
    for page, test in TRIED_BY.items():
        assert Path(page).stem.replace("-", "_") in (ROOT / test).read_text().replace("-", "_"), page
        assert (ROOT / page).is_file()


def test_no_reason_is_left_over() -> None:
    shown = [command.lstrip() for page in PAGES for block in blocks(page) for command in commands(block)]
    assert [begin for begin in NOT_RUN if not any(command.startswith(begin) for command in shown)] == []


def test_a_page_with_a_command_that_nobody_runs_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "README.md").write_text((ROOT / "README.md").read_text())
    (tmp_path / "page.md").write_text("A line.\n\n```sh\nrm -rf somewhere\n```\n")
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    with pytest.raises(AssertionError, match="rm -rf somewhere: runs, or has its reason above"):
        test_what_a_page_shows_runs("page.md", tmp_path)
    (tmp_path / "page.md").write_text("A line.\n\n```python\n1 / 0\n```\n")
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        test_what_a_page_shows_runs("page.md", tmp_path)
