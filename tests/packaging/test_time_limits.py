"""No test holds the others for ever, and its children end by signals however the tests were begun."""

import os
import subprocess
import sys
from pathlib import Path

from conftest import ROOT

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


def test_a_test_that_hangs_fails_and_a_child_of_nohup_has_default_signals(tmp_path: Path) -> None:
    (tmp_path / "test_hanging.py").write_text(HANGING)
    environment = {**os.environ, "BENTPIPE_TEST_LIMIT_S": "2", "PYTHONPATH": str(ROOT / "tests")}
    pytest = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "limits",
        "-p",
        "no:cacheprovider",
        "test_hanging.py",
    ]
    result = subprocess.run(
        ["sh", "-c", 'trap "" HUP INT; exec "$@"', "sh", *pytest],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert "1 failed, 1 passed" in result.stdout, result.stdout
    assert "test_that_waits_for_ever took more than 2 s" in result.stdout
