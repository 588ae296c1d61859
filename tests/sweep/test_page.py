"""The page on sweeps: what it shows works."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

from conftest import ROOT, Bentpipe

PAGE = (ROOT / "docs" / "how-to" / "sweep.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_its_commands_and_its_program_run(bentpipe: Bentpipe, tmp_path: Path) -> None:
    (scenario,) = blocks("toml")
    (tmp_path / "mine.toml").write_text(scenario)
    commands = [line.removeprefix("$ ") for block in blocks("console") for line in block.splitlines()]
    assert len(commands) == 9
    for command in commands:
        program, *arguments = shlex.split(command)
        result = bentpipe(*arguments)
        assert (program, result.returncode) == ("bentpipe", 0), result.stderr
    assert (tmp_path / "loss.png").stat().st_size > 10_000
    (program,) = blocks("python")
    printed = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, check=True, capture_output=True, text=True
    ).stdout
    assert [line.split()[0] for line in printed.splitlines()] == ["newreno", "sack"]
    assert {path.name for path in tmp_path.glob("*.html")} == {"loss.html", "sack.html", "rates.html"}
