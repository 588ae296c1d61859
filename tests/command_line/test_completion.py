"""What the TAB key offers, through click and through a real bash."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from bentpipe.cli import cli
from conftest import LOSSY, PROGRAM, SCENARIOS

PRESETS = sorted(f"preset:{path.stem}" for path in (SCENARIOS / "presets").glob("*.toml"))


def offered(*words: str) -> list[str]:
    *arguments, incomplete = words
    complete = ShellComplete(cli, {}, "bentpipe", "_BENTPIPE_COMPLETE")
    return [item.value for item in complete.get_completions(arguments, incomplete)]


def test_names_are_offered_where_they_may_stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text(LOSSY)
    assert sorted(offered("run", "preset:")) == PRESETS
    assert offered("run", "preset:leo-t") == ["preset:leo-t1"]
    assert offered("plot", "a", "pre") == offered("run", "pre")
    assert {"mine.toml", *PRESETS} == set(offered("run", ""))
    assert offered("run", "mine.toml", "--set", "flows.*.variant=adalr-") == [
        "flows.*.variant=adalr-sack",
        "flows.*.variant=adalr-newreno",
    ]
    assert offered("run", "mine.toml", "--set", "tcp.profile=o") == ["tcp.profile=opnet"]
    assert offered("compare", "mine.toml", "--variants", "reno,adalr-newreno,adalr-") == [
        "reno,adalr-newreno,adalr-sack"
    ]
    assert offered("list", "pre") == ["presets"]
    assert offered("reproduce", "s") == ["sack"]
    items = offered("reproduce", "sack/figure-")
    assert items
    assert all(item.startswith("sack/figure-") for item in items)


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash on this machine")
@pytest.mark.parametrize(
    ("line", "replies"),
    [
        ("bentpipe run preset:", [name.removeprefix("preset:") for name in PRESETS]),
        ("bentpipe run preset:leo-t", ["leo-t1"]),
        ("bentpipe run pre", PRESETS),
        ("bentpipe run mine.toml --set flows.*.variant=ren", ["reno"]),
        ("bentpipe list pro", ["profiles"]),
        ("bentpipe pl", ["plot"]),
    ],
)
def test_bash_replaces_what_is_behind_its_word_breaks(tmp_path: Path, line: str, replies: list[str]) -> None:
    script = r"""
        eval "$(_BENTPIPE_COMPLETE=bash_source bentpipe)"
        COMP_LINE=$1 COMP_POINT=${#1} COMP_WORDBREAKS=$' \t\n"\'><=;|&(:'
        _bentpipe_completion bentpipe
        printf '%s\n' "${COMPREPLY[@]}"
    """
    path = f"{PROGRAM.parent}{os.pathsep}{os.environ['PATH']}"
    command = ["bash", "--norc", "-c", script, "bash", line]
    result = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=True
    )
    assert (sorted(result.stdout.split()), result.stderr) == (sorted(replies), "")
