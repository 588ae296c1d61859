"""What a command reads: pipes and standard input too, and never what it writes."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from bentpipe import InputError, Scenario, run
from conftest import LOSSY, PROGRAM, Bentpipe, files_in

ENDING = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


def until_it_waits(process: subprocess.Popen[bytes], *where: str) -> None:
    """Wait until the main thread sleeps in one of these functions of the kernel."""
    for _ in range(6000):
        assert process.poll() is None
        if Path(f"/proc/{process.pid}/wchan").read_text() in where:
            return
        time.sleep(0.01)
    raise AssertionError(f"it never came to wait in {where}")


@pytest.mark.parametrize("name", ENDING, ids=lambda kind: kind.name)
@pytest.mark.parametrize("command", ["run", "plot"])
def test_a_pipe_without_a_writer_gives_way_to_a_signal(
    tmp_path: Path, command: str, name: signal.Signals
) -> None:
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen([str(PROGRAM), command, "pipe"], cwd=tmp_path, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        until_it_waits(process, "wait_for_partner")
        process.send_signal(name)
        assert process.stderr.read() == b"bentpipe: interrupted\n"
    assert process.returncode == 128 + name
    assert files_in(tmp_path) == ["pipe"]


@pytest.mark.parametrize("name", ENDING, ids=lambda kind: kind.name)
def test_standard_input_that_gives_nothing_gives_way_to_a_signal(name: signal.Signals) -> None:
    command = [str(PROGRAM), "run", "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        until_it_waits(process, "pipe_read", "anon_pipe_read")
        process.send_signal(name)
        assert process.stderr.read() == b"bentpipe: interrupted\n"
    assert process.returncode == 128 + name


@pytest.mark.parametrize("name", ENDING, ids=lambda kind: kind.name)
def test_a_full_pipe_that_nobody_reads_gives_way_to_a_signal(tmp_path: Path, name: signal.Signals) -> None:
    (tmp_path / "many.toml").write_text(LOSSY.replace('"1 MB"', '"1 kB"\ncount = 200'))
    command = [str(PROGRAM), "run", "many.toml", "--json"]
    reader, writer = os.pipe()
    with subprocess.Popen(command, cwd=tmp_path, stdout=writer, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        until_it_waits(process, "pipe_write", "anon_pipe_write")
        process.send_signal(name)
        assert process.stderr.read() == b"bentpipe: interrupted\n"
    assert process.returncode == 128 + name
    os.close(reader)
    os.close(writer)


def test_standard_input_and_pipes_are_scenarios(bentpipe: Bentpipe, lossy: Path, tmp_path: Path) -> None:
    named = json.loads(bentpipe("run", lossy, "--json").stdout)
    piped = json.loads(bentpipe("run", "-", "--json", input=LOSSY).stdout)
    assert piped["flows"] == named["flows"]
    substitution = f"{PROGRAM} run <(cat lossy.toml) --json"
    shell = subprocess.run(["bash", "-c", substitution], cwd=tmp_path, capture_output=True, check=True)
    assert json.loads(shell.stdout)["flows"] == named["flows"]
    # What it extends lies in the current folder.
    extending = bentpipe("run", "-", "--json", input='extends = "lossy.toml"')
    assert json.loads(extending.stdout)["flows"] == named["flows"]
    assert bentpipe("plot", "-", input=LOSSY).returncode == 0


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("seed = -1\n", "standard input:1: seed: "),
        ("", "standard input: expected a scenario with [links] and [flows], found an empty file"),
        (" " * (80 << 20) + " ", "standard input: expected a scenario file of at most 80 MiB, "),
    ],
)
def test_a_bad_standard_input_is_one_line(bentpipe: Bentpipe, text: str, complaint: str) -> None:
    result = bentpipe("run", "-", input=text)
    assert (result.returncode, result.stderr.count("\n")) == (2, 1)
    assert result.stderr.startswith(f"bentpipe: {complaint}")


@pytest.fixture
def chain(tmp_path: Path) -> Path:
    """A scenario that extends another, and links of both kinds to it."""
    (tmp_path / "base.toml").write_text(LOSSY)
    (tmp_path / "top.toml").write_text('extends = "base.toml"\n')
    (tmp_path / "symlink").symlink_to("top.toml")
    (tmp_path / "hardlink").hardlink_to(tmp_path / "top.toml")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "result.json").symlink_to("../base.toml")
    return tmp_path


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (["--pcap", "top.toml"], "--pcap: expected a file that this command does not read, found top.toml"),
        (["--pcap", "base.toml"], "--pcap: expected a file that this command does not read, found base.toml"),
        (["--pcap", "symlink"], "--pcap: expected a file that this command does not read, found symlink"),
        (["--pcap", "hardlink"], "--pcap: expected a file that this command does not read, found hardlink"),
        (["--out", "out"], "--out: expected a file that this command does not read, found out/result.json"),
        (
            ["--out", "new", "--pcap", "new/series.parquet"],
            "--pcap: expected a file that nothing else is written to, found new/series.parquet",
        ),
    ],
)
def test_an_output_is_no_input_and_no_other_output(
    bentpipe: Bentpipe, chain: Path, options: list[str], found: str
) -> None:
    before = {path: path.read_bytes() for path in chain.rglob("*") if path.is_file()}
    result = bentpipe("run", "top.toml", *options)
    assert (result.returncode, result.stderr) == (2, f"bentpipe: {found}\n")
    assert {path: path.read_bytes() for path in chain.rglob("*") if path.is_file()} == before
    assert not (chain / "new").exists()


def test_standard_input_from_a_file_is_not_written(bentpipe: Bentpipe, lossy: Path) -> None:
    with lossy.open() as file:
        result = bentpipe("run", "-", "--pcap", lossy, stdin=file)
    assert result.returncode == 2
    assert lossy.read_text() == LOSSY


@pytest.mark.parametrize("output", ["s.png", "result/result.json.png", "result/series.png"])
def test_a_picture_replaces_nothing_that_was_drawn(
    bentpipe: Bentpipe, lossy: Path, tmp_path: Path, output: str
) -> None:
    (tmp_path / "s.png").write_text(LOSSY)
    assert bentpipe("run", lossy, "--out", "result").returncode == 0
    (tmp_path / "result" / "result.json.png").symlink_to("result.json")
    (tmp_path / "result" / "series.png").hardlink_to(tmp_path / "result" / "series.parquet")
    before = (tmp_path / output).read_bytes()
    result = bentpipe("plot", "s.png", "result", "-o", output)
    complaint = f"--out: expected a file that this command does not read, found {output}"
    assert (result.returncode, result.stderr) == (2, f"bentpipe: {complaint}\n")
    assert (tmp_path / output).read_bytes() == before


def test_python_does_not_replace_a_scenario_by_its_capture_either(lossy: Path) -> None:
    scenario = Scenario.load(lossy)
    with pytest.raises(InputError, match="pcap: expected a file that this command does not read"):
        run(scenario, pcap=lossy)
    assert lossy.read_text() == LOSSY
