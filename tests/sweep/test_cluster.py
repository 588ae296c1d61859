"""Sweeps on a Dask cluster of real processes, whatever happens to its workers."""

import json
import os
import signal
import socketserver
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest

import bentpipe as bp
from bentpipe.sweeps import api, driver
from bentpipe.sweeps.cluster import Cluster
from bentpipe.sweeps.design import Design
from bentpipe.sweeps.work import Done, Job, simulate
from conftest import PROGRAM, Bentpipe, files_in

pytestmark = pytest.mark.usefixtures("lossy")

LOSS = "links.satellite.loss.probability"
LONG = ["sweep", "lossy.toml", "--vary", f"{LOSS}=0.00001..0.01:log:20", "--runs", "20"]
LONG += ["--set", "flows.download.bytes=200 MB"]
SHORT = ["sweep", "lossy.toml", "--vary", f"{LOSS}=0.01,0.02"]


@dataclass(frozen=True)
class Running:
    address: str
    pids: list[int]


@contextmanager
def cluster(what: str) -> Iterator[Running]:
    command = [sys.executable, str(Path(__file__).with_name("cluster.py")), what]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield Running(**json.loads(process.stdout.readline()))
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(timeout=60)


@contextmanager
def sweeping(folder: Path, *arguments: str, parts: int = 1) -> Iterator[subprocess.Popen[str]]:
    """Begin a sweep into the folder ``found``, and come when rows are on disk, in so many parts."""
    command = [str(PROGRAM), *arguments, "--out", "found"]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        while len(list((folder / "found" / "parts").glob("[0-9]*"))) < parts:
            assert process.poll() is None
            time.sleep(0.02)
        yield process


def test_a_killed_worker_loses_nothing_and_nothing_is_counted_twice(
    bentpipe: Bentpipe, tmp_path: Path
) -> None:
    # The first part has the first run; the second comes when the time until then has passed again.
    with cluster("2") as running, sweeping(tmp_path, *LONG, "--on", running.address, parts=2) as process:
        os.kill(running.pids[0], signal.SIGKILL)
        before = bp.Sweep.open(tmp_path / "found").count()
        _, message = process.communicate(timeout=100)
    assert (process.returncode, message.splitlines()[-1]) == (0, "Wrote found/rows.parquet")
    assert 0 < before < 400
    table = pq.read_table(tmp_path / "found" / "rows.parquet", filters=[("kind", "=", "run")])
    runs = list(zip(table["point"].to_pylist(), table["replication"].to_pylist(), strict=True))
    assert runs == [(point, k) for point in range(20) for k in range(20)]
    assert table["error"].null_count == 400
    assert bentpipe(*LONG, "--out", "here").returncode == 0
    rows = [(tmp_path / name / "rows.parquet").read_bytes() for name in ("found", "here")]
    assert rows[0] == rows[1]


def test_what_a_cluster_began_this_machine_can_end(bentpipe: Bentpipe, tmp_path: Path) -> None:
    with cluster("1") as running, sweeping(tmp_path, *LONG, "--on", running.address) as process:
        process.send_signal(signal.SIGINT)
        _, message = process.communicate(timeout=60)
    kept = bp.Sweep.open(tmp_path / "found").count()
    assert (process.returncode, message.splitlines()[-1]) == (
        130,
        f"bentpipe: interrupted; {kept} of 400 runs are kept in found, "
        "and the same command goes on from there",
    )
    assert 0 < kept < 400
    resumed = bentpipe(*LONG, "--out", "found")
    assert (resumed.returncode, resumed.stderr.splitlines()[0]) == (
        0,
        f"bentpipe: {kept} of 400 runs are there from before",
    )
    assert bp.Sweep.open(tmp_path / "found").count() == 400


def test_a_cluster_that_goes_away_is_one_line_and_what_is_done_stays(tmp_path: Path) -> None:
    with cluster("1") as running, sweeping(tmp_path, *LONG, "--on", running.address) as process:
        scheduler = int(Path(f"/proc/{running.pids[0]}/stat").read_text().rpartition(")")[2].split()[1])
        os.kill(scheduler, signal.SIGKILL)
        _, message = process.communicate(timeout=100)
    kept = bp.Sweep.open(tmp_path / "found").count()
    assert process.returncode == 1
    assert 0 < kept < 400
    assert f"{kept} of 400 runs are kept in found, and the same command goes on" in message.splitlines()[-1]


def test_a_scheduler_that_has_gone_tells_of_no_workers() -> None:
    gone = object.__new__(Cluster)
    gone._client = SimpleNamespace(scheduler_info=lambda **_: {})
    assert gone.at_once() == 1


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("tcp://127.0.0.1:1", "--on tcp://127.0.0.1:1: expected a Dask scheduler"),
        (
            "nowhere://1",
            "--on: expected the address of a Dask scheduler, as tcp://10.0.0.1:8786, found 'nowhere://1'",
        ),
        ("", "--on: expected the address of a Dask scheduler"),
    ],
)
def test_a_cluster_that_is_not_there_is_one_line_and_nothing_is_written(
    bentpipe: Bentpipe, tmp_path: Path, address: str, told: str
) -> None:
    result = bentpipe(*SHORT, "--on", address, "--out", "found")
    assert (result.returncode, result.stderr.count("\n")) == (2, 1)
    assert told in result.stderr
    assert files_in(tmp_path) == ["lossy.toml"]


def test_something_else_at_the_address_is_one_line(bentpipe: Bentpipe, tmp_path: Path) -> None:
    class Web(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(64)
            self.request.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Web) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"tcp://127.0.0.1:{server.server_address[1]}"
        result = bentpipe(*SHORT, "--on", address, "--out", "found")
        server.shutdown()
    assert (result.returncode, result.stderr.count("\n")) == (2, 1), result.stderr
    assert f"--on {address}: expected a Dask scheduler, found none (" in result.stderr
    assert files_in(tmp_path) == ["lossy.toml"]


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ("0", "expected a worker within 10 s, found none"),
        ("without", "on every worker, found none on "),
        ("other", "on every worker, found 0.0.1 with "),
    ],
)
def test_workers_that_cannot_run_it_are_one_line_and_nothing_is_written(
    bentpipe: Bentpipe, tmp_path: Path, what: str, told: str
) -> None:
    with cluster(what) as running:
        result = bentpipe(*SHORT, "--on", running.address, "--out", "found")
    assert (result.returncode, result.stderr.count("\n")) == (2, 1)
    assert result.stderr.startswith(f"bentpipe: --on {running.address}: expected ")
    assert told in result.stderr
    assert files_in(tmp_path) == ["lossy.toml"]


def test_without_the_library_it_is_one_line(tmp_path: Path) -> None:
    without = (
        "import sys; sys.modules['distributed'] = None; from bentpipe.cli import main; main(sys.argv[1:])"
    )
    result = subprocess.run(
        [sys.executable, "-c", without, *SHORT, "--on", "tcp://127.0.0.1:1", "--out", "found"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (result.returncode, result.stderr) == (
        2,
        "bentpipe: --on: expected the package distributed, found none: pip install 'bentpipe[dask]'\n",
    )


class Fragile(driver.Threads):
    """Workers that die of one point, and of whatever is in a batch with it."""

    def __init__(self, design: Design, threads: int | None) -> None:
        super().__init__(design, threads)
        self.batches: list[int] = []
        self._base = design.base

    def at_once(self) -> int:
        return 1

    def submit(self, jobs: Sequence[Job]) -> Future[Done]:
        self.batches.append(len(jobs))
        future: Future[Done] = Future()
        if any(point == 2 for point, _, _ in jobs):
            future.set_exception(ConnectionError("killed"))
        else:
            future.set_result(simulate(self._base, jobs))
        return future

    def lost(self, error: BaseException) -> str | None:
        return "every worker that ran it died" if isinstance(error, ConnectionError) else None


def test_a_run_that_ends_its_workers_is_a_row_and_the_others_of_its_batch_are_run(
    lossy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Fragile] = []

    def fragile(design: Design, threads: int | None) -> Fragile:
        made.append(Fragile(design, threads))
        return made[0]

    monkeypatch.setattr(api, "Threads", fragile)
    found = bp.sweep(lossy, {LOSS: "0.01..0.02:40"}, out=tmp_path / "found", progress=False)
    assert found.failed() == [(2, 0, "every worker that ran it died")]
    assert found.count() == 40
    assert max(made[0].batches) > 1
