"""Controls in Python that hang are stopped like all else; what they raise is one line with its place."""

import signal
import subprocess
import time
from pathlib import Path

import pytest

from conftest import PROGRAM, Bentpipe

OWN = """\
import sys
import time
import bentpipe as bp


class Mine(bp.Control):
    name = "mine"

    def on_ack(self, w, ack):
        open("begun", "w").close()
        {body}
"""

HANGS = ["while True: pass", "time.sleep(600)"]
COMMANDS = [
    ["run", "lossy.toml", "--set", "flows.download.control=mine"],
    ["compare", "lossy.toml", "--variants", "sack,mine"],
    ["sweep", "lossy.toml", "--set", "flows.download.control=mine", "--vary", "tcp.mss=500 B", "--out", "o"],
]


def write(folder: Path, body: str) -> None:
    (folder / "own.py").write_text(OWN.format(body=body))


@pytest.mark.parametrize("body", HANGS)
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_hook_that_hangs_is_ended_by_a_signal(
    lossy: Path, body: str, command: list[str], number: signal.Signals, status: int
) -> None:
    write(lossy.parent, body)
    with subprocess.Popen(
        [str(PROGRAM), *command, "--own", "own.py"],
        cwd=lossy.parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        try:
            while not (lossy.parent / "begun").exists():
                assert process.poll() is None
                time.sleep(0.02)
            process.send_signal(number)
            # A second is what a person waits; the rest is for a machine that does other things.
            _, told = process.communicate(timeout=20)
        finally:
            process.kill()
    assert process.returncode == status, told
    assert told.count("\n") == 1, told
    assert told.startswith("bentpipe: interrupted")


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("raise ValueError('no\\x1b[31m\\nthing')", "own.py:11: ValueError: no\\x1b[31m thing"),
        ("w.cwnd = 'much'", "own.py:11: TypeError: "),
        ("raise LookupError('x' * 100000)", "own.py:11: LookupError: xxx"),
        ("sys.exit(7)", "own.py:11: SystemExit: 7"),
        ("w.cwnd = float('nan')", "own.py: ValueError: cwnd: expected at least a segment of "),
        ("w.cwnd = -1.0", "own.py: ValueError: cwnd: expected at least a segment of "),
        ("return 'text'", "own.py: TypeError: "),
    ],
)
@pytest.mark.parametrize("command", COMMANDS[:2], ids=lambda command: command[0])
def test_what_a_hook_raises_is_one_line(
    bentpipe: Bentpipe, lossy: Path, body: str, told: str, command: list[str]
) -> None:
    write(lossy.parent, body)
    result = bentpipe(*command, "--own", "own.py", cwd=lossy.parent)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith(f"bentpipe: {told}"), result.stderr
    assert result.stderr.count("\n") == 1
    assert len(result.stderr) < 600


def test_a_file_of_controls_that_exits_says_so(bentpipe: Bentpipe, lossy: Path) -> None:
    (lossy.parent / "own.py").write_text("import sys\nsys.exit(7)\n")
    result = bentpipe("run", "lossy.toml", "--own", "own.py", cwd=lossy.parent)
    assert (result.returncode, result.stderr) == (2, "bentpipe: --own own.py:2: SystemExit: 7\n")
