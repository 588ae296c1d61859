"""What the pages show in Python runs as it stands there."""

import re
import subprocess
import sys
from pathlib import Path

from conftest import ROOT


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def run(program: str, folder: Path) -> str:
    # In a file, where the source of a class can be read.
    (folder / "page.py").write_text(program)
    command = [sys.executable, "-W", "error", "page.py"]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_the_page_of_the_library_runs(tmp_path: Path) -> None:
    program = blocks("docs/how-to/library.md", "python")
    assert len(program) > 8
    told = run("\n".join(program), tmp_path)
    assert re.search(r"^\d+ ± \d+ kbit/s over 20 runs$", told, re.MULTILINE)


def test_the_controls_of_the_page_of_own_schemes_run_and_its_newreno_is_short(tmp_path: Path) -> None:
    program = blocks("docs/how-to/own-scheme.md", "python")
    assert len(program) == 4
    assert len(program[0].splitlines()) < 40
    run("\n".join(program), tmp_path)


def test_the_page_of_statistics_runs(tmp_path: Path) -> None:
    program = blocks("docs/reference/statistics.md", "python")
    assert program
    run("\n".join(program), tmp_path)


def test_the_example_of_the_readme_runs_on_the_scenario_of_the_readme(tmp_path: Path) -> None:
    (scenario,) = blocks("README.md", "toml")
    (program,) = blocks("README.md", "python")
    (tmp_path / "mine.toml").write_text(scenario)
    # Every variant meets the same losses: five runs tell the order as twenty do.
    assert "20)" in program
    told = run(program.replace("20)", "5)"), tmp_path).splitlines()
    assert [line.split()[0] for line in told] == ["tahoe", "reno", "newreno", "sack"]
