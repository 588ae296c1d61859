"""No test holds the others for ever, and its children end by signals however the tests were begun."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT, scope_of

HANGING = """\
import os
import signal
import subprocess
import sys

def test_a_child_has_default_signals():
    told = "import signal as s; print(*(s.getsignal(n) != s.SIG_IGN for n in (1, 2, 15)))"
    child = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True)
    assert child.stdout == "True True True\\n"
    assert os.kill(os.getpid(), signal.SIGHUP) is None

def test_that_waits_for_ever(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "pipe").read_text()
"""


@pytest.mark.parametrize("workers", [[], ["-n", "1"]], ids=["alone", "worker"])
def test_a_test_that_hangs_fails_and_a_child_of_nohup_has_default_signals(
    tmp_path: Path, workers: list[str]
) -> None:
    (tmp_path / "test_hanging.py").write_text(HANGING)
    environment = {name: told for name, told in os.environ.items() if not name.startswith("PYTEST_")}
    environment |= {"BENTPIPE_TEST_LIMIT_S": "2", "PYTHONPATH": str(ROOT / "tests")}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "limits",
        "-p",
        "no:cacheprovider",
        *workers,
        "test_hanging.py",
    ]
    result = subprocess.run(
        ["sh", "-c", 'trap "" HUP INT; exec "$@"', "sh", *command],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert "1 failed, 1 passed" in result.stdout, result.stdout
    assert "test_that_waits_for_ever took more than 2 s" in result.stdout


def test_each_part_of_make_test_has_a_limit_in_ci() -> None:
    environment = {**os.environ, "CI": "true", "MAKEFLAGS": ""}
    told = subprocess.run(
        ["make", "-n", "test"], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    for part in ("cargo test", "pytest -n", "scripts/wasm --test", "--check-instructions"):
        (line,) = (line for line in told.stdout.splitlines() if part in line)
        assert re.search(rf"timeout \d+m .*{part}", line), line


def test_tests_that_share_runs_or_the_machine_are_in_one_worker() -> None:
    several = "tests/papers/test_every_paper.py::test_"
    assert (
        scope_of("tests/papers/test_afc.py::test_a[sack]") == scope_of(f"{several}a[afc-figure-3]") == "afc"
    )
    assert scope_of(f"{several}pictures[sack/figure-1]") == "sack"
    assert scope_of(f"{several}no_sentence_explains_two_papers") == "tests/papers/test_every_paper.py"
    assert scope_of("tests/live/test_a.py::test_b") == scope_of("tests/virtual/test_c.py::test_d")
    assert scope_of("tests/sweep/test_a.py::test_b") == "tests/sweep/test_a.py"
