"""Time series and captures go to disk as they come: chosen, bounded, and said to be cut short."""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from bentpipe.errors import InputError
from bentpipe.runs.runner import run
from bentpipe.runs.traces import Traces
from bentpipe.scenario import Scenario
from conftest import ENDLESS, PROGRAM, SCENARIOS, Bentpipe, files_in

FAST = """\
[links.satellite]
rate = "10 Mbit/s"
[links.terrestrial]
rate = "20 Mbit/s"
[tcp]
receive_window = "4 MB"
"""


@pytest.fixture
def long(tmp_path: Path) -> Path:
    """A download at 10 Mbit/s, of 4600 points and 100 kB of packets a second."""
    path = tmp_path / "long.toml"
    path.write_text(ENDLESS + FAST)
    return path


def points(folder: Path) -> Counter[tuple[str, str]]:
    """Count the rows of each curve."""
    table = pq.read_table(folder / "series.parquet", columns=["subject", "kind"]).to_pylist()
    return Counter((row["subject"], row["kind"]) for row in table)


def test_memory_does_not_grow_with_the_length_of_a_run(long: Path, tmp_path: Path) -> None:
    # A child's own peak: what `resource` tells of this process counts every other child too.
    program = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=2); "
    program += "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"

    def peak(duration_s: int, out: str) -> int:
        command = [str(PROGRAM), "run", str(long), "--set", f"duration={duration_s} s", "--out", out]
        ran = subprocess.run(
            [sys.executable, "-c", program, *command],
            cwd=tmp_path,
            capture_output=True,
            check=True,
            text=True,
        )
        return int(ran.stdout) * 1024

    grown = peak(500, "long") - peak(200, "short")
    rows = [
        pq.ParquetFile(tmp_path / name / "series.parquet").metadata.num_rows for name in ("long", "short")
    ]
    more = rows[0] - rows[1]
    assert more > 1_000_000
    # A point in memory takes 20 bytes alone.
    assert grown < 20 * more


def test_series_are_chosen_by_flow_and_kind(bentpipe: Bentpipe, tmp_path: Path) -> None:
    run = ("run", SCENARIOS / "pages.toml", "--set", "flows.pages.connections=2", "--set", "duration=10 s")
    assert bentpipe(*run, "--out", "all").returncode == 0
    every = points(tmp_path / "all")
    chosen = ("--series", "pages:cwnd,acked", "--series", "satellite", "--series", "*/2:rtt")
    assert bentpipe(*run, "--out", "some", *chosen).returncode == 0
    some = points(tmp_path / "some")
    names = {("pages/1", "cwnd"), ("pages/2", "cwnd"), ("pages/1", "acked"), ("pages/2", "acked")}
    assert set(some) == names | {("pages/2", "rtt"), ("satellite", "queue")}
    assert some == {curve: every[curve] for curve in some}
    traces = Traces.read(tmp_path / "some" / "series.parquet")
    assert traces.get("pages/1", "cwnd").recorded
    assert not traces.get("pages/1", "rtt").recorded
    assert (
        len(Traces.read(tmp_path / "all" / "series.parquet", subjects=["pages/1"], kinds=["rtt"]).curves) == 1
    )
    # What is left out needs no room in a picture either.
    assert bentpipe("plot", "some").returncode == 0


@pytest.mark.parametrize(
    ("series", "named"),
    [
        ("nobody*", ["'nobody*'", "download", "satellite/reverse"]),
        (":speed", ["'speed'", "cwnd", "queue"]),
        ("satellite:cwnd", ["'cwnd'", "queue"]),
        ("download:queue", ["'queue'", "cwnd"]),
        ("download:", ["expected"]),
        ("", ["expected"]),
    ],
)
def test_a_choice_of_nothing_names_what_there_is(
    bentpipe: Bentpipe, lossy: Path, tmp_path: Path, series: str, named: list[str]
) -> None:
    result = bentpipe("run", lossy, "--out", "out", "--series", series)
    assert (result.returncode, result.stderr.count("\n")) == (2, 1)
    assert result.stderr.startswith("bentpipe: --series ")
    assert all(name in result.stderr for name in named)
    assert files_in(tmp_path) == ["lossy.toml"]


@pytest.mark.parametrize(
    "options",
    [
        ["--series", ":queue"],
        ["--series-limit", "5"],
        ["--pcap-limit", "1 MB"],
        ["--snap", "40"],
        ["--out", "o", "--series-limit", "0"],
        ["--out", "o", "--series-limit", "1.5"],
        ["--out", "o", "--series-limit", "many"],
        ["--pcap", "p", "--pcap-limit", "1"],
        ["--pcap", "p", "--snap", "0"],
    ],
    ids=" ".join,
)
def test_options_of_recordings_that_say_nothing_are_refused(
    bentpipe: Bentpipe, lossy: Path, tmp_path: Path, options: list[str]
) -> None:
    result = bentpipe("run", lossy, *options)
    assert (result.returncode, result.stderr.count("\n")) == (2, 1)
    assert options[-2] in result.stderr
    assert files_in(tmp_path) == ["lossy.toml"]


def test_a_limit_ends_the_recording_and_not_the_run(bentpipe: Bentpipe, lossy: Path, tmp_path: Path) -> None:
    whole = json.loads(bentpipe("run", lossy, "--out", "whole", "--pcap", "whole.pcapng", "--json").stdout)
    assert whole["recording"]["series"]["ended_s"] is whole["recording"]["capture"]["reason"] is None
    size = (tmp_path / "whole.pcapng").stat().st_size
    assert whole["recording"]["capture"]["bytes"] == size
    limits = ("--series-limit", "1e3", "--pcap-limit", "20 kB")
    limited = ("run", lossy, "--out", "cut", "--pcap", "cut.pcapng", *limits)
    cut = json.loads(bentpipe(*limited, "--json").stdout)
    assert cut["flows"] == whole["flows"]
    series, capture = cut["recording"]["series"], cut["recording"]["capture"]
    assert series["points"] == sum(points(tmp_path / "cut").values()) == 1000
    assert series["reason"] == capture["reason"] == "limit"
    assert 0 < series["ended_s"] < cut["duration_s"]
    assert 0 < capture["ended_s"] < cut["duration_s"]
    packets = (tmp_path / "cut.pcapng").read_bytes()
    assert 19_800 < len(packets) == capture["bytes"] <= 20_000
    assert (tmp_path / "whole.pcapng").read_bytes().startswith(packets)
    # The curves that are there are those of the whole run, up to then.
    for trace in Traces.read(tmp_path / "cut" / "series.parquet"):
        same = Traces.read(tmp_path / "whole" / "series.parquet").get(trace.subject, trace.kind)
        assert np.array_equal(trace.time_s, same.time_s[: len(trace.time_s)])
        assert np.array_equal(trace.value, same.value[: len(trace.value)])
    drawn = bentpipe("plot", "cut")
    assert drawn.stderr.startswith("bentpipe: lossy: time series were recorded up to ")
    table = bentpipe(*limited).stdout
    assert "Time series end at" in table
    assert "1,000 points: that is the limit (--series-limit)." in table
    assert "The capture ends at" in table
    combined = json.loads(bentpipe(*limited, "--runs", "3", "--json").stdout)
    assert combined["recording"] == cut["recording"]


def test_a_capture_keeps_so_many_bytes_of_each_packet(
    bentpipe: Bentpipe, lossy: Path, tmp_path: Path
) -> None:
    for name, options in (("all", []), ("20", ["--snap", "20"])):
        assert bentpipe("run", lossy, "--pcap", name, *options).returncode == 0
    first = (tmp_path / "20").read_bytes()
    # Every block of a packet has room for 20 bytes and its own 32.
    enhanced, length = (6).to_bytes(4, "little"), (32 + 20).to_bytes(4, "little")
    assert first.count(enhanced + length) > 500
    assert len(first) < (tmp_path / "all").stat().st_size * 0.8


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 20 MiB, where root may mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=20m", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("only root may mount a small disk")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_recording_ends_before_the_disk_is_full(bentpipe: Bentpipe, long: Path, small_disk: Path) -> None:
    # 40 MB of packets.
    run = ("run", long, "--set", "duration=500 s", "--json", "--pcap", small_disk / "p.pcapng")
    result = bentpipe(*run)
    assert (result.returncode, result.stderr) == (0, "")
    capture = json.loads(result.stdout)["recording"]["capture"]
    assert capture["reason"] == "disk"
    assert 0 < capture["ended_s"] < 500
    disk = os.statvfs(small_disk)
    assert 0 < disk.f_bavail * disk.f_frsize < disk.f_blocks * disk.f_frsize / 100
    # There is no room to begin another.
    for option in (("--pcap", small_disk / "q.pcapng"), ("--out", small_disk / "out")):
        full = bentpipe("run", long, *option)
        assert (full.returncode, full.stderr.count("\n")) == (1, 1)
        assert "its disk is nearly full" in full.stderr
        assert str(option[1]) in full.stderr
    assert files_in(small_disk) == ["p.pcapng"]


def test_a_curve_that_a_run_does_not_have_is_an_error(lossy: Path) -> None:
    traces = run(Scenario.load(lossy), series=["download:cwnd", ":queue"]).series
    assert len(traces.get("download", "cwnd").time_s) > 10
    rtt = traces.get("download", "rtt")
    assert (len(rtt.time_s), rtt.unit, rtt.recorded) == (0, "s", False)
    with pytest.raises(InputError, match="no flow or direction of a link 'nope': there are download, "):
        traces.get("nope", "cwnd")
    with pytest.raises(InputError, match="no curve 'cwnd' of satellite: there are queue"):
        traces.get("satellite", "cwnd")
    with pytest.raises(InputError, match="no curve 'speed' of download: there are cwnd, "):
        traces.get("download", "speed")
    whole = run(Scenario.load(lossy), series=True).series
    assert whole.get("download", "dropped").recorded
    assert len(whole.get("download", "dropped").time_s) == 0
