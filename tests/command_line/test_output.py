"""Results are whole or not there."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bentpipe.errors import BentpipeError
from bentpipe.files.output import Staging, write_text
from bentpipe.files.parts import sweep
from conftest import ENDLESS, PROGRAM, Bentpipe, files_in

TOO_SMALL = 8 * 1024
ENDING = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.mark.parametrize("name", ENDING, ids=lambda kind: kind.name)
def test_an_interrupted_run_leaves_nothing(tmp_path: Path, name: signal.Signals) -> None:
    (tmp_path / "endless.toml").write_text(ENDLESS)
    command = [str(PROGRAM), "run", "endless.toml", "--pcap", "deep/packets.pcapng", "--out", "out"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        # The run is under way when its capture has a size.
        while process.poll() is None and not any(path.stat().st_size for path in tmp_path.glob("deep/.*/.*")):
            time.sleep(0.01)
        process.send_signal(name)
        message = process.stderr.read()
    assert message == "bentpipe: interrupted; nothing was written\n"
    assert process.returncode == 128 + name
    assert files_in(tmp_path) == ["endless.toml"]


@pytest.mark.parametrize("name", ENDING, ids=lambda kind: kind.name)
def test_an_interrupted_import_is_one_line(bentpipe: Bentpipe, tmp_path: Path, name: signal.Signals) -> None:
    (tmp_path / "click.py").write_text(f"import os\nos.kill(os.getpid(), {int(name)})\nraise ImportError\n")
    shown = bentpipe("list", env={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert (shown.returncode, shown.stdout, shown.stderr) == (128 + name, "", "bentpipe: interrupted\n")


@pytest.fixture(params=["limit", "tmpfs"])
def full_folder(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Path, dict[str, object]]]:
    """A folder for 8 KiB: by a limit on file sizes, and as a full disk where root may mount one."""
    import resource

    folder = tmp_path / "full"
    folder.mkdir()
    if request.param == "limit":
        limit = (TOO_SMALL, TOO_SMALL)
        yield folder, {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit)}
        return
    mount = ["mount", "-t", "tmpfs", "-o", f"size={TOO_SMALL}", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("only root may mount a small disk")
    yield folder, {}
    subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize(
    "options",
    [["--pcap", "{}/deep/packets.pcapng"], ["--out", "{}/out"], ["--out", "{}/out", "--plot"]],
    ids=" ".join,
)
def test_a_full_disk_is_one_line_and_leaves_nothing(
    bentpipe: Bentpipe, lossy: Path, full_folder: tuple[Path, dict[str, object]], options: list[str]
) -> None:
    folder, limits = full_folder
    result = bentpipe("run", lossy, *(option.format(folder) for option in options), "--json", **limits)
    assert result.returncode == 1
    assert result.stderr.startswith("bentpipe: cannot write ")
    assert result.stderr.count("\n") == 1
    assert str(folder) in result.stderr
    assert ".bentpipe-" not in result.stderr
    assert files_in(folder) == []


def test_a_full_standard_output_is_one_line(bentpipe: Bentpipe, lossy: Path) -> None:
    with Path("/dev/full").open("w") as full:
        result = bentpipe("run", lossy, "--json", stdout=full)
    assert result.returncode == 1
    assert result.stderr == "bentpipe: cannot write standard output: No space left on device\n"


def test_a_device_is_not_replaced_by_a_capture(bentpipe: Bentpipe, lossy: Path) -> None:
    result = bentpipe("run", lossy, "--pcap", "/dev/null")
    assert result.returncode == 1
    assert "/dev/null" in result.stderr
    assert Path("/dev/null").is_char_device()


def test_a_failed_write_keeps_the_result_that_was_there(
    bentpipe: Bentpipe, lossy: Path, tmp_path: Path
) -> None:
    assert bentpipe("run", lossy, "--out", "out").returncode == 0
    before = (tmp_path / "out" / "result.json").read_bytes()
    (tmp_path / "out" / "series.parquet").unlink()
    (tmp_path / "out" / "series.parquet").mkdir()
    result = bentpipe("run", lossy, "--out", "out", "--seed", "8")
    assert result.returncode == 1
    assert (tmp_path / "out" / "result.json").read_bytes() == before
    assert files_in(tmp_path / "out") == ["result.json", "series.parquet"]


def test_a_result_through_a_link_replaces_what_the_link_names(
    bentpipe: Bentpipe, lossy: Path, tmp_path: Path
) -> None:
    (tmp_path / "real.pcapng").write_bytes(b"old")
    (tmp_path / "link.pcapng").symlink_to("real.pcapng")
    assert bentpipe("run", lossy, "--pcap", "link.pcapng").returncode == 0
    assert (tmp_path / "link.pcapng").is_symlink()
    assert (tmp_path / "real.pcapng").read_bytes()[:4] == b"\x0a\x0d\x0d\x0a"


def test_writers_that_make_the_same_folder_at_once_do_not_meet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "deep" / "er"
    make = Path.mkdir

    def make_after_another(path: Path) -> None:
        make(path)
        make(path)

    monkeypatch.setattr(Path, "mkdir", make_after_another)
    write_text(folder / "file.txt", "whole")
    assert (folder / "file.txt").read_text() == "whole"


def test_a_result_replaces_the_one_before_and_leaves_what_is_not_its_own(
    bentpipe: Bentpipe, lossy: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    assert bentpipe("run", lossy, "--out", "out", "--plot").returncode == 0
    first = out.stat().st_ino
    assert bentpipe("run", lossy, "--out", "out").returncode == 0
    assert files_in(out) == ["result.json", "series.parquet"]
    # In one step: it is another folder.
    assert out.stat().st_ino != first
    (out / "notes.txt").write_text("mine")
    (out / "plot.png").write_bytes(b"old")
    second, result = out.stat().st_ino, (out / "result.json").read_bytes()
    assert bentpipe("run", lossy, "--out", ".", "--seed", "9", cwd=out).returncode == 0
    assert files_in(out) == ["notes.txt", "result.json", "series.parquet"]
    assert (out / "notes.txt").read_text() == "mine"
    assert out.stat().st_ino == second
    assert (out / "result.json").read_bytes() != result
    assert {path.name for path in tmp_path.iterdir()} <= {"cache", "lossy.toml", "out"}


def test_files_that_cannot_be_replaced_together_stay_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    old = {"notes.txt": "mine", "result.json": "old", "plot.png": "old"}
    for name, text in old.items():
        (out / name).write_text(text)
    rename = Path.rename

    def fail_at_series(path: Path, target: Path) -> Path:
        if (path.parent.name, path.name) == (".new", "series.parquet"):
            raise PermissionError(13, "Permission denied", str(path))
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", fail_at_series)

    def write() -> None:
        with Staging() as staging:
            new = staging.result_folder(out)
            for name in ("result.json", "series.parquet", "plot.png"):
                (new / name).write_text("new")

    with pytest.raises(BentpipeError, match=re.escape(f"{out}/series.parquet: Permission denied")):
        write()
    assert {path.name: path.read_text() for path in out.iterdir()} == old


@pytest.mark.parametrize("own_file", [False, True], ids=["a result alone", "with a file of somebody's"])
def test_runs_into_one_folder_at_once_leave_the_result_of_one(tmp_path: Path, own_file: bool) -> None:
    out = tmp_path / "out"
    out.mkdir()
    if own_file:
        (out / "notes.txt").write_text("mine")

    def write(text: str) -> None:
        for _ in range(20):
            with Staging() as staging:
                new = staging.result_folder(out)
                (new / "result.json").write_text(text)
                (new / "series.parquet").write_text(text)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, "abcd"))
    contents = {path.name: path.read_text() for path in out.iterdir()}
    assert contents.pop("notes.txt", "mine") == "mine"
    assert sorted(contents) == ["result.json", "series.parquet"]
    assert len(set(contents.values())) == 1


def test_what_a_killed_run_left_is_swept_and_what_a_living_one_writes_is_not(
    bentpipe: Bentpipe, lossy: Path, tmp_path: Path
) -> None:
    (tmp_path / "endless.toml").write_text(ENDLESS)
    (tmp_path / ".bentpipe-mine.part").mkdir()
    command = [str(PROGRAM), "run", "endless.toml", "--pcap", "packets.pcapng", "--out", "out"]

    def parts() -> set[Path]:
        return set(tmp_path.glob(".bentpipe-????????.part"))

    def start() -> subprocess.Popen[bytes]:
        before = parts()
        process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL)
        while not any(path.stat().st_size for part in parts() - before for path in part.glob(".packets*")):
            assert process.poll() is None
            time.sleep(0.01)
        return process

    killed = start()
    killed.kill()
    killed.wait()
    (dead,) = parts()
    with start() as alive:
        (living,) = parts()
        assert living != dead
        assert bentpipe("run", lossy, "--pcap", "other.pcapng").returncode == 0
        assert parts() == {living}
        alive.send_signal(signal.SIGHUP)
    assert alive.returncode == 129
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        ".bentpipe-mine.part",
        "endless.toml",
        "lossy.toml",
        "other.pcapng",
    ]


def test_a_result_that_a_kill_left_half_replaced_comes_back(tmp_path: Path) -> None:
    part = tmp_path / ".bentpipe-00000000.part"
    for name in (".new/result.json", ".old/result.json", ".old/series.parquet", ".old/.complete"):
        (part / name).parent.mkdir(parents=True, exist_ok=True)
        (part / name).write_text("old")
    (tmp_path / "series.parquet").write_text("new")
    (tmp_path / "plot.png").write_text("new")
    sweep(tmp_path)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "result.json": "old",
        "series.parquet": "old",
    }
