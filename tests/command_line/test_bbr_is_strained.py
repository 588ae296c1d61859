"""`run` says in a line where BBR lives in ProbeRTT, and where it does not hear of a slow start."""

from pathlib import Path

from conftest import Bentpipe

LONG = """\
duration = "60 s"
[links.path]
from = "server"
to = "client"
rate = "10 Mbit/s"
delay = "{delay}"
[tcp]
receive_window = "64 MiB"
{start}
[flows.get]
from = "server"
to = "client"
variant = "{variant}"
"""


def said(bentpipe: Bentpipe, folder: Path, delay: str, variant: str, start: str = "") -> str:
    (folder / "s.toml").write_text(LONG.format(delay=delay, variant=variant, start=start))
    run = bentpipe("run", "s.toml", cwd=folder)
    assert run.returncode == 0, run.stderr
    return run.stderr


def test_bbr_over_round_trips_of_seconds_is_told_to_live_in_probe_rtt(
    bentpipe: Bentpipe, tmp_path: Path
) -> None:
    assert "get: bbr1 holds back every 10 s" in said(bentpipe, tmp_path, "3 s", "bbr1")
    assert "get: bbr3 holds back every 5 s" in said(bentpipe, tmp_path, "1.5 s", "bbr3")
    assert "ProbeRTT" not in said(bentpipe, tmp_path, "500 ms", "bbr1")
    assert "ProbeRTT" not in said(bentpipe, tmp_path, "3 s", "cubic")


def test_a_slow_start_that_bbr_does_not_hear_of_is_told(bentpipe: Bentpipe, tmp_path: Path) -> None:
    start = 'slow_start = "careful-resume"'
    assert "slow_start 'careful-resume' has no effect" in said(bentpipe, tmp_path, "300 ms", "bbr1", start)
    assert "no effect" not in said(bentpipe, tmp_path, "300 ms", "cubic", start)
    assert "no effect" not in said(bentpipe, tmp_path, "300 ms", "bbr1")
