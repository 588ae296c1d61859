"""``bentpipe live interop`` as a person calls it."""

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cases import RECOVERIES
from machine import needs_the_machine

from conftest import PROGRAM, Bentpipe, Result, tshark_fields

pytestmark = needs_the_machine

COLUMNS = (
    "recovery control direction loss delay_s bytes sha256_equal checksum_errors retransmitted_segments "
    "timeouts duration_s goodput_bps kernel_retransmitted_segments kernel_checksum_errors kernel_timeouts"
)
ENDLESS = ("live", "interop", "--bytes", "1 GB", "--rate", "1 Mbit/s")


def complaints(result: Result) -> list[str]:
    """Give what is on stderr beside the lines that tell a slow machine's user how far the run is."""
    return [line for line in result.stderr.splitlines() if not line.startswith("live interop: ")]


def test_a_matrix_has_a_row_for_each_combination(bentpipe: Bentpipe) -> None:
    chosen = ("--recovery", "reno,sack", "--direction", "send,receive", "--loss", "0", "--loss", "drop:5+6")
    result = bentpipe("live", "interop", *chosen, "--delay", "10 ms", "--bytes", "100 kB", "--json")
    assert (result.returncode, complaints(result)) == (0, [])
    report = json.loads(result.stdout)
    assert report["kernel_release"] == os.uname().release
    which = [(row["recovery"], row["direction"], row["loss"]) for row in report["rows"]]
    assert len(set(which)) == 8
    for row in report["rows"]:
        assert all(column in row for column in COLUMNS.split())
        assert row["forward"]["lost"] == (0 if row["loss"] == 0 else 2)
        assert (row["delay_s"], row["bytes"], row["sha256_equal"]) == (0.01, 100_000, True)


def test_each_recovery_goes_with_the_controls_of_its_end(bentpipe: Bentpipe) -> None:
    chosen = ("--recovery", "sack,linux", "--control", "standard,afc,reno,cubic")
    result = bentpipe("live", "interop", *chosen, "--delay", "10 ms", "--bytes", "100 kB", "--json")
    assert (result.returncode, complaints(result)) == (0, [])
    rows = json.loads(result.stdout)["rows"]
    assert [(row["recovery"], row["control"]) for row in rows] == [
        ("sack", "standard"),
        ("sack", "afc"),
        ("linux", "reno"),
        ("linux", "cubic"),
    ]
    assert [row["own_kernel_info"] is None for row in rows] == [True, True, False, False]
    assert all(row["sha256_equal"] and row["data_segments"] == 69 for row in rows)


def test_the_table_has_units(bentpipe: Bentpipe) -> None:
    result = bentpipe("live", "interop", "--delay", "10 ms", "--bytes", "100 kB", "--loss", "bursts:0.01:0.5")
    assert result.returncode == 0
    line = result.stdout.splitlines()[-1]
    for part in ("sack", "send", "bursts:0.01:0.5", "10 ms", "100 kB", "bit/s", "equal"):
        assert part in line


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_a_capture_has_the_handshake_the_data_and_both_fins(bentpipe: Bentpipe, tmp_path: Path) -> None:
    result = bentpipe("live", "interop", "--delay", "10 ms", "--bytes", "100 kB", "--pcap", "wire.pcapng")
    assert result.returncode == 0
    rows = tshark_fields(tmp_path / "wire.pcapng", "tcp.flags", "tcp.len", "ip.src")
    flags = [int(row[0], 16) for row in rows]
    syn, fin, reset = (sum(bool(flag & bit) for flag in flags) for bit in (2, 1, 4))
    assert (syn, fin, reset) == (2, 2, 0)
    assert sum(int(row[1]) for row in rows if row[2] == "10.0.0.1") == 100_000


SIMULATED = """\
duration = "60 s"
[links.path]
from = "server"
to = "client"
rate = "4 Mbit/s"
delay = "50 ms"
loss = { model = "drop", packets = [20, 21, 60], at_least = "100 B" }
[links.path.reverse]
rate = "1 Mbit/s"
[tcp]
receive_window = "1 MiB"
delayed_ack = false
[flows.transfer]
from = "server"
to = "client"
bytes = "200 kB"
variant = "sack"
"""


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_the_wire_shows_the_simulated_conversation(bentpipe: Bentpipe, tmp_path: Path) -> None:
    (tmp_path / "wire.toml").write_text(SIMULATED)
    assert bentpipe("run", "wire.toml", "--pcap", "simulated.pcapng").returncode == 0
    path = ("--rate", "4 Mbit/s", "--reverse-rate", "1 Mbit/s", "--delay", "50 ms", "--loss", "drop:20+21+60")
    ends = ("--bytes", "200 kB", "--kernel-buffer", "2 MiB", "--quickack")
    assert bentpipe("live", "interop", *path, *ends, "--pcap", "wire.pcapng").returncode == 0
    (sent, answered), (simulated, simulated_answers) = (
        conversation(tmp_path / name) for name in ("wire.pcapng", "simulated.pcapng")
    )
    assert sent == simulated
    # Linux acknowledges the FIN before its own program has closed, and then sends its FIN by itself.
    assert [row for row in simulated_answers if row not in answered] == []
    assert len(answered) <= len(simulated_answers) + 1


def conversation(capture: Path) -> tuple[list[list[str]], list[list[str]]]:
    """Give what the opener of the connection sent, and what came back; no times or window fields."""
    fields = ("ip.src", "tcp.seq", "tcp.ack", "tcp.len", "tcp.flags", "tcp.options.sack_le")
    rows = tshark_fields(capture, *fields)
    opener = [row for row in rows if row[0] == "10.0.0.1"]
    return opener, [row for row in rows if row[0] != "10.0.0.1"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (
            ("--loss", "much"),
            "--loss: expected a share such as 0.01 or 1%, bursts:0.005:0.3 or drop:3+5, found 'much'",
        ),
        (
            ("--reverse-loss", "150%"),
            "--reverse-loss: expected a share such as 0.01 or 1%, bursts:0.005:0.3 or drop:3+5, found '150%'",
        ),
        (
            ("--loss", "drop:0"),
            "--loss: expected a share such as 0.01 or 1%, bursts:0.005:0.3 or drop:3+5, found 'drop:0'",
        ),
        (
            ("--delay", "20 ms,20"),
            "Invalid value for '--delay': expected a time such as "
            '"250 ms" (units: ns, us, µs, ms, s, min, h), found "20"',
        ),
        (
            ("--reverse-rate", "fast"),
            'Invalid value for \'--reverse-rate\': expected a rate such as "2.048 Mbit/s", found "fast"',
        ),
        (
            ("--queue", "100"),
            'Invalid value for \'--queue\': expected a queue such as "100 packets", "64 KiB" or "unlimited" '
            '(units: B, kB, MB, GB, TB, KiB, MiB, GiB, TiB), found "100"',
        ),
        (
            ("--reorder", "5"),
            "Invalid value for '--reorder': expected a share such as 0.01 or 1%, found '5'",
        ),
        (
            ("--recovery", "cubic"),
            "--recovery: expected one of tahoe, reno, newreno, sack, newreno-1999, sack-1996, "
            'sack-linux-2.4, rack, linux, found "cubic"',
        ),
        (
            ("--recovery", "sack,linux", "--control", "reno"),
            "--control: expected one of standard, adalr, afc, adalr+afc, cubic, bbr1, bbr3, hybla, westwood, "
            "veno, vegas, illinois, highspeed, xcp, jersey, star, new-vegas, peach for sack too, found reno",
        ),
        (("--direction", "up"), "--direction: expected send or receive, found 'up'"),
        (("--sysctl", "tcp_sack"), "--sysctl: expected name=value such as tcp_sack=0, found 'tcp_sack'"),
        (("--sysctl", "tcp_none=1"), "--sysctl: this kernel has no net.ipv4.tcp_none in a namespace"),
        (
            ("--recovery", "all", "--pcap", "a"),
            f"--pcap is for one transfer, and these options give {len(RECOVERIES)}",
        ),
        (
            ("--closes-first", "receiver", "--answer", "1 B"),
            "--answer: a receiver that closes first cannot send anything back",
        ),
    ],
)
def test_a_wrong_option_is_one_line(
    bentpipe: Bentpipe, tmp_path: Path, options: tuple[str, ...], expected: str
) -> None:
    result = bentpipe("live", "interop", *options)
    assert (result.returncode, result.stdout, complaints(result)) == (2, "", [f"bentpipe: {expected}"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("without", "expected"),
    [
        (("setpriv", "--bounding-set=-sys_admin"), "a network namespace needs root"),
        (("setpriv", "--bounding-set=-net_admin"), "a TUN device needs root"),
        (
            ("unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /dev/net && exec "$@"', "sh"),
            "/dev/net/tun is missing",
        ),
        (("env", "PATH=/nowhere"), "the program ip is missing"),
    ],
)
def test_what_the_machine_lacks_is_one_line(without: tuple[str, ...], expected: str) -> None:
    command = [*without, str(PROGRAM), "live", "interop"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (2, "")
    (complaint,) = complaints(result)
    assert complaint.startswith(f"bentpipe: live interop: {expected}")


@contextmanager
def under_way(*options: str) -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """Start a run that does not end by itself, and give it with the numbers of its socket programs."""
    with subprocess.Popen(
        [str(PROGRAM), *ENDLESS, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process, socket_programs(process.pid, 2 if "linux" in options else 1)
        finally:
            process.kill()


def socket_programs(parent: int, expected: int) -> list[int]:
    def children() -> list[int]:
        threads = Path(f"/proc/{parent}/task").iterdir()
        found = [int(child) for thread in threads for child in contents(thread / "children").split()]
        return [child for child in found if b"bentpipe.live.program" in command_line(child)]

    until(lambda: len(children()) == expected)
    # So that the connection is open.
    time.sleep(1.0)
    return children()


def contents(file: Path) -> bytes:
    """Read a file under /proc; nothing when its process or thread has ended."""
    try:
        return file.read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def command_line(process: int) -> bytes:
    """Give a process's command line; nothing when it has ended."""
    return contents(Path(f"/proc/{process}/cmdline"))


def until(condition: Callable[[], bool]) -> None:
    for _ in range(500):
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError("it did not come to this in ten seconds")


def gone(process: int) -> bool:
    return not command_line(process)


@pytest.mark.parametrize(
    ("options", "which"),
    [
        (("--direction", "send"), 0),
        (("--direction", "receive"), 0),
        (("--recovery", "linux"), 0),
        (("--recovery", "linux"), 1),
    ],
)
def test_a_killed_program_is_a_clear_error(options: tuple[str, ...], which: int) -> None:
    with under_way(*options) as (process, programs):
        os.kill(programs[which], signal.SIGKILL)
        _, complaint = process.communicate(timeout=30)
    assert process.returncode == 1
    assert "the socket program at the kernel's end was killed by signal 9" in complaint
    assert "of 1000000000 bytes were" in complaint


@pytest.mark.parametrize("options", [(), ("--recovery", "linux")])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_run_says_so_and_takes_its_programs_with_it(
    number: signal.Signals, options: tuple[str, ...]
) -> None:
    with under_way(*options) as (process, programs):
        process.send_signal(number)
        _, complaint = process.communicate(timeout=30)
        assert process.returncode == 128 + number
        assert complaint.splitlines()[-1] == "bentpipe: interrupted; nothing was written"
        assert all(map(gone, programs))


def test_a_crash_leaves_nothing_either() -> None:
    with under_way("--recovery", "linux") as (process, programs):
        process.kill()
        process.wait()
        until(lambda: all(map(gone, programs)))
