"""Results are whole or not there."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bentpipe.output import write_text
from conftest import ENDLESS, PROGRAM, Bentpipe, files_in

TOO_SMALL = 8 * 1024


@pytest.mark.parametrize("name", [signal.SIGINT, signal.SIGTERM], ids=lambda kind: kind.name)
def test_an_interrupted_run_leaves_nothing(tmp_path: Path, name: signal.Signals) -> None:
    (tmp_path / "endless.toml").write_text(ENDLESS)
    command = [str(PROGRAM), "run", "endless.toml", "--pcap", "deep/packets.pcapng", "--out", "out"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        # The run is under way when its capture has a size.
        while process.poll() is None and not any(path.stat().st_size for path in tmp_path.glob("deep/.*")):
            time.sleep(0.01)
        process.send_signal(name)
        message = process.stderr.read()
    assert message == "bentpipe: interrupted; nothing was written\n"
    assert process.returncode == 130
    assert files_in(tmp_path) == ["endless.toml"]


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
