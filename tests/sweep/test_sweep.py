"""Sweeps through the command line: the dataset, what fails, what was interrupted, what cannot be used."""

import json
import os
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import bentpipe as bp
from bentpipe import _core
from bentpipe.sweeps import driver, store, work
from bentpipe.sweeps.store import files
from conftest import PROGRAM, Bentpipe, files_in

pytestmark = pytest.mark.usefixtures("lossy")

LOSS = "links.satellite.loss.probability"
VARIANT = "flows.download.variant"
SHORT = ["sweep", "lossy.toml", "--vary", f"{VARIANT}=reno,sack", "--vary", f"{LOSS}=0.001..0.1:log:3"]
SHORT += ["--set", "flows.download.bytes=100 kB", "--runs", "3"]

LONG = ["sweep", "lossy.toml", "--vary", f"{LOSS}=0.00001..0.01:log:20", "--runs", "25"]
LONG += ["--set", "flows.download.bytes=100 MB"]


def rows(folder: Path, kind: str) -> list[dict[str, Any]]:
    return [row for row in pq.read_table(folder / "rows.parquet").to_pylist() if row["kind"] == kind]


def test_a_sweep_is_a_row_of_each_run_in_order(bentpipe: Bentpipe, tmp_path: Path) -> None:
    result = bentpipe(*SHORT, "--out", "found")
    assert (result.returncode, result.stderr.splitlines()[-1]) == (0, "Wrote found/rows.parquet")
    assert files_in(tmp_path / "found") == ["rows.parquet", "scenario.toml", "sweep.json"]
    runs = rows(tmp_path / "found", "run")
    points = [(variant, loss) for variant in ("reno", "sack") for loss in (0.001, 0.01, 0.1)]
    assert [(row["point"], row["replication"], row[VARIANT], row[LOSS]) for row in runs] == [
        (point, k, *points[point]) for point in range(6) for k in range(3)
    ]
    # Every point meets the same seeds.
    assert len({(row["replication"], row["seed"]) for row in runs}) == 3
    assert {row["engine"] for row in runs} == {_core.engine_version()}
    assert {(row["scenario"], row["bentpipe"], row["error"]) for row in runs} == {
        ("lossy", bp.__version__, None)
    }


def test_a_row_has_what_the_run_by_itself_gives(bentpipe: Bentpipe, tmp_path: Path) -> None:
    assert bentpipe(*SHORT, "--out", "found").returncode == 0
    found = tmp_path / "found"
    row = rows(found, "run")[13]
    run = json.loads(
        bentpipe(
            "run", found / "scenario.toml", "--set", f"{VARIANT}={row[VARIANT]}",
            "--set", f"{LOSS}={row[LOSS]}", "--seed", str(row["seed"]), "--json",
        ).stdout
    )  # fmt: skip
    assert row["scenario_sha256"] == run["scenario_sha256"]
    assert row["events"] == run["engine"]["events"]
    for kind in ("flow", "link"):
        of_run = [
            other
            for other in rows(found, kind)
            if (other["point"], other["replication"]) == (row["point"], row["replication"])
        ]
        expected = run[f"{kind}s"]
        assert [{key: other[key] for key in expected[0]} for other in of_run] == expected


def test_what_fails_is_a_row_with_its_error_and_the_status_is_1(bentpipe: Bentpipe, tmp_path: Path) -> None:
    # A window below a segment: bad in one of the four combinations.
    result = bentpipe(
        "sweep", "lossy.toml", "--vary", "tcp.mss=500 B,1460 B",
        "--vary", "tcp.receive_window=1000 B,10000 B", "--runs", "2",
        "--set", "flows.download.bytes=10 kB", "--out", "found",
    )  # fmt: skip
    assert result.returncode == 1
    assert result.stderr.splitlines()[-1] == "bentpipe: 2 of 8 runs failed"
    assert "receive_window" in result.stdout
    runs = rows(tmp_path / "found", "run")
    assert [row["error"] is None for row in runs] == [True, True, True, True, False, False, True, True]
    assert all("receive_window" in row["error"] for row in runs if row["error"])
    assert len(rows(tmp_path / "found", "flow")) == 6
    again = json.loads(bentpipe("show", "found", "--json").stdout)
    assert [(row["point"], row["replication"]) for row in again["failed"]] == [(2, 0), (2, 1)]


def test_a_flow_that_breaks_is_an_error_of_its_run(bentpipe: Bentpipe, tmp_path: Path) -> None:
    result = bentpipe(
        "sweep", "lossy.toml", "--vary", f"{LOSS}=0,1", "--set", "tcp.max_retransmissions=1", "--out", "found"
    )
    assert result.returncode == 1
    alive, broken = rows(tmp_path / "found", "run")
    assert alive["error"] is None
    assert broken["error"].startswith("download failed: ")


def begin(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [str(PROGRAM), *arguments]
    return subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)


def finished_runs(folder: Path) -> int:
    return sum(
        pq.read_table(path, columns=["point"], filters=[("kind", "=", "run")]).num_rows
        for path in files(folder)
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_interrupted_and_resumed_it_is_the_same_to_the_last_byte(
    bentpipe: Bentpipe, tmp_path: Path, number: signal.Signals
) -> None:
    sweeping = begin(tmp_path, *LONG, "--out", "found")
    parts = tmp_path / "found" / "parts"
    while not any(parts.glob("[0-9]*")):
        assert sweeping.poll() is None
        time.sleep(0.02)
    sweeping.send_signal(number)
    _, message = sweeping.communicate(timeout=60)
    kept = finished_runs(tmp_path / "found")
    assert 0 < kept < 500
    if number is signal.SIGINT:
        assert sweeping.returncode == 130
        assert f"bentpipe: interrupted; {kept} of 500 runs are kept in found, " in message
    assert f"{kept} of 500 runs are there" in bentpipe("show", "found").stdout
    resumed = bentpipe(*LONG, "--out", "found")
    assert resumed.returncode == 0
    assert f"bentpipe: {kept} of 500 runs are there from before\n" in resumed.stderr
    assert bentpipe(*LONG, "--out", "whole").returncode == 0
    names = ["rows.parquet", "scenario.toml", "sweep.json"]
    assert files_in(tmp_path / "found") == names
    for name in names:
        assert (tmp_path / "found" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_what_is_finished_is_not_run_again_and_more_replications_go_on(
    bentpipe: Bentpipe, tmp_path: Path
) -> None:
    assert bentpipe(*SHORT, "--out", "found").returncode == 0
    before = (tmp_path / "found" / "rows.parquet").stat()
    again = bentpipe(*SHORT, "--out", "found")
    assert again.stderr.startswith("bentpipe: 18 of 18 runs are there from before\n")
    after = (tmp_path / "found" / "rows.parquet").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    more = bentpipe(*SHORT, "--runs", "4", "--out", "found")
    assert more.stderr.startswith("bentpipe: 18 of 24 runs are there from before\n")
    assert bentpipe(*SHORT, "--runs", "4", "--out", "whole").returncode == 0
    rows_of = [(tmp_path / name / "rows.parquet").read_bytes() for name in ("found", "whole")]
    assert rows_of[0] == rows_of[1]


def test_a_part_that_is_in_the_whole_already_is_counted_once(
    lossy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = tmp_path / "found"
    vary = {VARIANT: ["reno", "sack"]}
    unlink = Path.unlink

    def killed(path: Path, missing_ok: bool = False) -> None:
        if path.parent.name == "parts":
            raise RuntimeError("killed")
        unlink(path, missing_ok)

    # Between the last two steps: the whole is there, and the parts are too.
    monkeypatch.setattr(Path, "unlink", killed)
    with pytest.raises(RuntimeError, match="killed"):
        bp.sweep(lossy, vary, runs=2, out=found, progress=False)
    monkeypatch.undo()
    assert {"00000001.parquet", "rows.parquet"} <= set(files_in(found))
    assert bp.Sweep.open(found).count() == 4
    assert bp.sweep(lossy, vary, runs=2, out=found, progress=False).count() == 4
    assert files_in(found) == ["rows.parquet", "scenario.toml", "sweep.json"]


def test_runs_of_another_engine_are_run_again(
    lossy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = tmp_path / "found"
    vary = {VARIANT: ["reno", "sack"]}
    told: list[driver.Counts] = []
    for module in (store, work):
        monkeypatch.setattr(module, "who", lambda: ("0123456789abcdef", "0.0.1"))
    bp.sweep(lossy, vary, out=found, progress=False)
    monkeypatch.undo()
    bp.sweep(lossy, vary, out=found, progress=False, on_counts=told.append)
    assert (told[0].before, told[0].other_engine) == (0, 2)
    assert {row["engine"] for row in rows(found, "run")} == {_core.engine_version()}


def test_a_sweep_that_somebody_stops_keeps_what_is_done(lossy: Path, tmp_path: Path) -> None:
    stop = threading.Event()
    stop.set()
    with pytest.raises(bp.Interrupted, match=r"of 500 runs are kept in .*found"):
        bp.sweep(lossy, {LOSS: "0.001..0.01:500"}, out=tmp_path / "found", progress=False, stop=stop)


def test_two_sweeps_do_not_write_to_one_folder(bentpipe: Bentpipe, tmp_path: Path) -> None:
    sweeping = begin(tmp_path, *LONG, "--runs", "1000", "--out", "found")
    while not (tmp_path / "found" / "sweep.json").exists():
        assert sweeping.poll() is None
        time.sleep(0.02)
    second = bentpipe(*LONG, "--runs", "1000", "--out", "found")
    sweeping.kill()
    sweeping.communicate()
    assert (second.returncode, second.stderr) == (
        2,
        "bentpipe: --out found: expected a folder that no other sweep writes to\n",
    )


BAD = {
    "no such key": (["--vary", "links.satellite.speed=1,2"], ["links.satellite.speed", "speed"]),
    "no such value": (["--vary", f"{VARIANT}=sack,fast"], [VARIANT, "fast", "newreno"]),
    "no value": (["--vary", f"{VARIANT}="], [VARIANT, "empty value"]),
    "empty range": (["--vary", f"{LOSS}=0.1..0.1:5"], [LOSS, "0.1..0.1:5"]),
    "range out of bounds": (["--vary", f"{LOSS}=0.5..1.5:3"], [LOSS, "1.5"]),
    "twice": (["--vary", f"{LOSS}=0.1,0.2", "--vary", f"{LOSS}=0.3,0.4"], [LOSS, "found it twice"]),
    "the seed": (["--vary", "seed=1,2"], ["seed", "--runs"]),
    "no equals sign": (["--vary", "nothing"], ["nothing", "key=value"]),
    "nothing varied": ([], ["--vary"]),
    "too many": (
        ["--vary", f"{LOSS}=0..1:100000", "--vary", "tcp.rto.min=0.1 s..1 s:100000"],
        ["at most 100,000,000 runs", "10,000,000,000 points"],
    ),
    "no runs": (["--vary", f"{LOSS}=0.1,0.2", "--runs", "0"], ["--runs", "found '0'"]),
    "threads of a cluster": (
        ["--vary", f"{LOSS}=0.1,0.2", "--threads", "2", "--on", "tcp://127.0.0.1:1"],
        ["--threads"],
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_used_is_one_line_and_nothing_is_written(
    bentpipe: Bentpipe, tmp_path: Path, name: str
) -> None:
    arguments, mentioned = BAD[name]
    result = bentpipe("sweep", "lossy.toml", *arguments, "--out", "found", "--json")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("bentpipe: ")
    assert result.stderr.count("\n") == 1
    for word in mentioned:
        assert word in result.stderr
    assert files_in(tmp_path) == ["lossy.toml"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--set", "flows.download.bytes=200 kB"], "found one of another scenario"),
        (["--seed", "8"], "found one of another scenario, 'lossy', or of other settings or another seed"),
        (["--vary", "tcp.mss=500 B,1000 B"], "found one with"),
        (["--runs", "2"], "--runs 2: expected at least the 3 that found has"),
    ],
)
def test_a_folder_of_another_sweep_stays_as_it_is(
    bentpipe: Bentpipe, tmp_path: Path, arguments: list[str], told: str
) -> None:
    assert bentpipe(*SHORT, "--out", "found").returncode == 0
    before = {path.name: path.read_bytes() for path in (tmp_path / "found").iterdir()}
    result = bentpipe(*SHORT, *arguments, "--out", "found")
    assert (result.returncode, result.stdout) == (2, "")
    assert told in result.stderr
    assert {path.name: path.read_bytes() for path in (tmp_path / "found").iterdir()} == before


def test_a_folder_of_something_else_is_refused(bentpipe: Bentpipe, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("not to be lost")
    result = bentpipe(*SHORT, "--out", "mine")
    assert result.returncode == 2
    assert "--out mine: expected a new folder or that of this sweep, found other files" in result.stderr
    assert files_in(tmp_path / "mine") == ["thesis.txt"]


def test_a_folder_that_was_changed_is_refused(bentpipe: Bentpipe, tmp_path: Path) -> None:
    assert bentpipe(*SHORT, "--out", "found").returncode == 0
    scenario = tmp_path / "found" / "scenario.toml"
    scenario.write_text(scenario.read_text().replace("100 kB", "100 MB"))
    result = bentpipe("show", "found")
    assert result.returncode == 2
    assert "found a changed sweep.json or scenario.toml" in result.stderr


@pytest.mark.parametrize(("content", "word"), [(None, "No such file"), ("[]", "something else")])
def test_show_of_what_is_no_sweep_is_one_line(
    bentpipe: Bentpipe, tmp_path: Path, content: str | None, word: str
) -> None:
    (tmp_path / "other").mkdir()
    if content is not None:
        (tmp_path / "other" / "sweep.json").write_text(content)
        (tmp_path / "other" / "scenario.toml").write_text("")
    result = bentpipe("show", "other")
    assert (result.returncode, result.stderr.count("\n")) == (2, 1)
    assert word in result.stderr


def test_a_full_disk_is_one_line_and_what_was_written_stays(tmp_path: Path) -> None:
    small = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000)); import signal; "
    small += "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); from bentpipe.cli import main; "
    small += "import sys; main(sys.argv[1:])"
    result = subprocess.run(
        [str(PROGRAM.with_name("python")), "-c", small, *SHORT, "--out", "found"],
        cwd=tmp_path, capture_output=True, text=True, check=False, env=os.environ,
    )  # fmt: skip
    message = result.stderr.splitlines()[-1]
    assert (result.returncode, message) == (1, "bentpipe: cannot write found: File too large")
    assert finished_runs(tmp_path / "found") == 0
