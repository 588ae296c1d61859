"""Traces of links: two files a link, long files, and what a result says of them."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

from conftest import Bentpipe

SCENARIO = """
duration = "2 s"
[links.l]
from = "a"
to = "b"
rate = "9 Mbit/s"
delay = "10 ms"
trace = {trace}
[flows.f]
from = "a"
to = "b"
"""

SWEEP = ("sweep", "s.toml", "--vary", "flows.f.variant=sack", "--out", "swept")

LEAST = """
import bentpipe, resource, sys
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
bentpipe.Scenario.load(sys.argv[1])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
"""What reading a scenario adds to the most memory that a process had, in KiB."""


def write(folder: Path, trace: str) -> Path:
    path = folder / "s.toml"
    path.write_text(SCENARIO.replace("{trace}", trace))
    return path


def test_delays_that_do_not_fill_the_round_of_the_rates_are_told_in_one_line(
    bentpipe: Bentpipe, tmp_path: Path
) -> None:
    (tmp_path / "rate.trace").write_text("".join(f"{time}\n" for time in range(1, 1073)))
    (tmp_path / "delay.txt").write_text("20\n" * 100)
    trace = '{ file = "rate.trace", format = "mahimahi", delays = "delay.txt" }'
    result = bentpipe("run", write(tmp_path, trace), "--json")
    assert result.returncode == 0
    assert result.stderr == (
        "bentpipe: links.l.trace: delays of 1 s beside rates of 1072 ms: both begin anew together, "
        "and the last delay holds for 72 ms more\n"
    )
    for command in (("compare", "s.toml", "--variants", "sack,cubic"), SWEEP):
        assert bentpipe(*command, cwd=tmp_path).stderr.startswith(result.stderr), command


def test_a_result_names_a_long_trace_by_its_path_and_digest(bentpipe: Bentpipe, tmp_path: Path) -> None:
    text = "".join(f"{time}\n" for time in range(1, 20_001))
    (tmp_path / "long.up").write_text(text)
    scenario = write(tmp_path, '{ file = "long.up", format = "mahimahi" }')
    result = bentpipe("run", scenario, "--out", "out", "--json")
    assert result.returncode == 0
    assert len(result.stdout) < 10_000
    whole = json.loads(result.stdout)["scenario_toml"]
    assert f'sha256 = "{hashlib.sha256(text.encode()).hexdigest()}"' in whole
    assert str(tmp_path / "long.up") in whole
    # The same run again, from another folder and without the scenario; not with another trace.
    scenario.unlink()
    (tmp_path / "elsewhere").mkdir()
    again = bentpipe("run", tmp_path / "out", "--json", cwd=tmp_path / "elsewhere")
    assert again.returncode == 0
    assert json.loads(again.stdout)["flows"] == json.loads(result.stdout)["flows"]
    (tmp_path / "long.up").write_text(text[:-6])
    refused = bentpipe("run", tmp_path / "out", "--json")
    assert (refused.returncode, refused.stdout, refused.stderr.count("\n")) == (2, "", 1)
    assert "links.l.trace: expected the trace with the SHA-256 " in refused.stderr


def test_a_trace_takes_the_memory_of_what_changes_in_it(tmp_path: Path) -> None:
    # 80 MB: a megabit a second for a fortnight, and one row that differs.
    with (tmp_path / "x.csv").open("w") as file:
        file.write("time_s,rate_bps\n")
        for row in range(4_000_000):
            file.write(f"{row * 0.3:.1f},{1000000 + (row == 3)}\n")
    scenario = write(tmp_path, '"x.csv"')
    assert (tmp_path / "x.csv").stat().st_size > 64 << 20
    command = [sys.executable, "-c", LEAST, str(scenario)]
    added = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert int(added) < 16 << 10, f"{added} KiB"
