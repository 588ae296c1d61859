"""Closed streams and variables of others: one clear line, or nothing at all."""

import os
import subprocess
from pathlib import Path

import pytest

from conftest import PROGRAM, Bentpipe


def closed(folder: Path, which: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {which}', "sh", str(PROGRAM), *arguments],
        cwd=folder, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


@pytest.mark.parametrize(
    "arguments",
    [
        ("list", "variants"),
        ("run", "lossy.toml"),
        ("run", "lossy.toml", "--json"),
        ("compare", "lossy.toml", "--variants", "reno,sack", "--runs", "2"),
        ("schema",),
    ],
    ids=" ".join,
)
def test_a_closed_standard_output_is_one_line(lossy: Path, arguments: tuple[str, ...]) -> None:
    result = closed(lossy.parent, ">&-", *arguments)
    assert result.returncode == 1
    assert result.stderr == "bentpipe: cannot write standard output: Bad file descriptor\n"


def test_what_needs_no_standard_output_does_its_work_without(lossy: Path) -> None:
    assert closed(lossy.parent, ">&-", "plot", "lossy.toml", "--out", "a.png").returncode == 0
    assert (lossy.parent / "a.png").stat().st_size > 1000
    vary = ("--vary", "tcp.mss=500 B,600 B", "--out", "o")
    closed(lossy.parent, ">&-", "sweep", "lossy.toml", *vary)
    assert (lossy.parent / "o" / "rows.parquet").is_file()


def test_a_closed_standard_error_keeps_nothing_from_standard_output(lossy: Path) -> None:
    result = closed(lossy.parent, "2>&-", "run", "lossy.toml")
    assert (result.returncode, result.stderr) == (0, "")
    assert "goodput" in result.stdout
    assert closed(lossy.parent, "2>&-", "run", "none.toml").returncode == 2


@pytest.mark.parametrize("variable", ["MPLBACKEND=nosuch", "SOURCE_DATE_EPOCH=x", "SOURCE_DATE_EPOCH=-1e9"])
@pytest.mark.parametrize("name", ["a.png", "a.svg"])
def test_variables_of_matplotlib_change_nothing(
    bentpipe: Bentpipe, lossy: Path, variable: str, name: str
) -> None:
    key, _, value = variable.partition("=")
    result = bentpipe("plot", lossy, "--out", name, env={**os.environ, key: value})
    assert (result.returncode, result.stderr) == (0, f"Wrote {name}\n")


@pytest.mark.parametrize(
    "arguments",
    [("run", "lossy.toml"), ("sweep", "lossy.toml", "--vary", "tcp.mss=500 B")],
    ids=lambda arguments: arguments[0],
)
def test_a_link_to_a_folder_that_is_to_come_is_followed(
    bentpipe: Bentpipe, lossy: Path, arguments: tuple[str, ...]
) -> None:
    (lossy.parent / "link").symlink_to("there")
    result = bentpipe(*arguments, "--out", "link", cwd=lossy.parent)
    assert result.returncode == 0, result.stderr
    assert (lossy.parent / "link").is_symlink()
    assert list((lossy.parent / "there").iterdir())
