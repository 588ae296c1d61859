"""What `make site` refuses."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).resolve().parents[2] / "scripts/site_check.py"
GOOD = "<!doctype html><title>a</title><link rel=icon href='data:,'>"


def checked(folder: Path, **pages: str) -> tuple[int, str]:
    for name, body in pages.items():
        (folder / f"{name}.html").write_text(GOOD + body)
    found = subprocess.run(
        [sys.executable, PROGRAM, folder], capture_output=True, text=True, check=False, timeout=300
    )
    assert found.stderr == ""
    return found.returncode, found.stdout


def test_pages_whose_links_lead_somewhere_pass(tmp_path: Path) -> None:
    a = '<h1 id="top">a</h1><a href="b.html#there">b</a><a href="#top">up</a><a href="https://example.org">out</a>'
    assert checked(tmp_path, a=a, b='<p id="there">b</p>') == (0, "")


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ('<a href="gone.html">x</a>', "a.html: dead link: gone.html is not there"),
        ('<a href="#gone">x</a>', "a.html: dead link: a.html has no #gone"),
        ('<img alt="" src="gone.png">', "a.html: dead link: gone.png is not there"),
        ('<a href="../x.html">x</a>', "x.html is not of this site"),
        ('<table style="width: 600px"><tr><td>x</table>', "a.html at 390 px: wider than its window: 6"),
        ("<script>nothing()</script>", "a.html at 1280 px: script: nothing is not defined"),
        ('<script src="http://127.0.0.1:9/x.js"></script>', "asks for http://127.0.0.1:9/x.js"),
    ],
)
def test_a_fault_is_told_with_its_page(tmp_path: Path, body: str, told: str) -> None:
    status, out = checked(tmp_path, a=body)
    assert status == 1
    assert told in out


def test_a_search_has_to_find(tmp_path: Path) -> None:
    assert "finds nothing" in checked(tmp_path, search="<ul id='search-results'></ul>")[1]
    found = "<div id='search-results'><ul><li><a href='search.html'>cwnd</a></ul></div>"
    assert checked(tmp_path, search=found) == (0, "")
