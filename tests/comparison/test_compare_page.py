"""The page on comparisons: what it shows works."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

from conftest import ROOT, Bentpipe

PAGE = (ROOT / "docs" / "how-to" / "compare.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_its_commands_and_its_program_run(bentpipe: Bentpipe, tmp_path: Path) -> None:
    (scenario,) = blocks("toml")
    (tmp_path / "mine.toml").write_text(scenario)
    commands = [line.removeprefix("$ ") for block in blocks("console") for line in block.splitlines()]
    assert len(commands) == 8
    for command in commands:
        program, *arguments = shlex.split(command)
        result = bentpipe(*arguments)
        assert (program, result.returncode) == ("bentpipe", 0), result.stderr
        # How far a long one is may stand there.
        assert "bentpipe: " not in result.stderr
        assert "bbr3" in result.stdout or "newreno,cubic " in command
        if command.endswith("bbr3 --explain"):
            assert result.stdout.endswith(blocks("text")[0])
    assert (tmp_path / "limits.svg").is_file()
    assert (tmp_path / "variants.html").is_file()
    program = "\n".join(blocks("python"))
    printed = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        cwd=tmp_path, check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    assert printed.startswith("5 MB over GEO with errors: bbr3 carries ")
    assert "\n5 MB over GEO with errors: doubling carries " in printed
