from pathlib import Path

from conftest import Bentpipe


def test_demo_needs_no_file_and_leaves_a_picture_beside_its_table(bentpipe: Bentpipe, tmp_path: Path) -> None:
    result = bentpipe("demo", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    rows = [line.split()[0] for line in result.stdout.splitlines() if "bit/s" in line and "GEO" not in line]
    assert rows == ["SACK", "NewReno", "Tahoe", "Reno"]
    assert "974.5 kbit/s" in result.stdout
    assert result.stderr == "Wrote demo.png\n"
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["demo.png"]


def test_demo_refuses_a_name_that_is_no_picture_before_it_begins(bentpipe: Bentpipe, tmp_path: Path) -> None:
    result = bentpipe("demo", "--out", "demo.gif", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (2, "")
    assert "demo.gif: expected a file name that ends in" in result.stderr
    assert not [path for path in tmp_path.iterdir() if path.is_file()]
