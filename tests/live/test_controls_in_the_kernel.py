"""``bentpipe live install``, ``remove`` and ``status``: BPF controls in this machine's kernel."""

import json
import struct
import subprocess
import sys
from collections.abc import Iterator
from importlib.resources import as_file, files
from pathlib import Path

import pytest
from cases import LOSS_MODELS, faults, through_every_loss_model
from machine import needs_the_machine

from bentpipe import _core
from bentpipe.live.install import CONTROLS, available, remove, status
from bentpipe.live.interop import interop
from conftest import PROGRAM, Bentpipe

pytestmark = needs_the_machine


@pytest.fixture(autouse=True)
def none_installed() -> Iterator[None]:
    if not all((files("bentpipe") / "bpf" / f"{name}.bpf.o").is_file() for name in CONTROLS):
        pytest.skip("needs clang-19 and libelf-dev at build time")
    # Whoever installed one on this machine keeps it.
    assert status() == [], "a control of ours is in use on this machine"
    yield
    remove([])


def default() -> str:
    return Path("/proc/sys/net/ipv4/tcp_congestion_control").read_text().strip()


def in_a_namespace(script: str) -> "subprocess.CompletedProcess[str]":
    """Run lines of shell in a network namespace of their own."""
    lines = f'set -e\nip link set lo up\nbentpipe() {{ {PROGRAM} "$@"; }}\n{script}'
    return subprocess.run(["unshare", "-n", "sh", "-c", lines], capture_output=True, text=True, check=False)


def test_a_control_stays_after_the_command_and_goes_with_remove(bentpipe: Bentpipe) -> None:
    before = default()
    assert "adalr installed" in bentpipe("live", "install", "adalr", "afc").stdout
    assert {"adalr", "afc"} <= set(available())
    assert default() == before
    told = json.loads(bentpipe("live", "status", "--json").stdout)["controls"]
    assert [control["name"] for control in told] == ["adalr", "afc"]
    assert not any(control["default"] or control["users"] for control in told)
    assert bentpipe("live", "remove", "adalr").stdout == "adalr removed\n"
    assert "adalr" not in available()
    assert "afc" in available()
    assert bentpipe("live", "remove").stdout == "afc removed\n"
    assert "afc" not in available()
    assert bentpipe("live", "remove").stdout == "none is installed\n"


def test_installing_twice_changes_nothing(bentpipe: Bentpipe) -> None:
    bentpipe("live", "install", "afc")
    first = status()
    again = bentpipe("live", "install", "afc")
    assert again.returncode == 0
    assert again.stdout == "afc was installed already\n"
    assert status() == first


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["install", "cubic"], "live install: expected one of adalr, afc, found 'cubic'"),
        (["install", "adalr", "nonsense"], "live install: expected one of adalr, afc, found 'nonsense'"),
        (["remove", "afc"], "live remove: afc is not installed: none is installed"),
    ],
)
def test_a_name_that_is_none_is_refused(bentpipe: Bentpipe, command: list[str], message: str) -> None:
    result = bentpipe("live", *command)
    assert result.returncode == 2
    assert result.stderr.strip() == f"bentpipe: {message}"
    assert not set(CONTROLS) & set(available())


@pytest.mark.parametrize(
    ("lacking", "message"),
    [
        (["setpriv", "--bounding-set=-all", "--inh-caps=-all"], "a BPF program needs root"),
        (["setpriv", "--reuid=65534", "--clear-groups"], "root"),
        (
            ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /sys/kernel/btf && exec "$@"', "sh"],
            "this kernel does not describe its structures (CONFIG_DEBUG_INFO_BTF)",
        ),
    ],
    ids=["no capabilities", "another user", "no description of the kernel"],
)
def test_what_is_missing_is_told_in_a_line(lacking: list[str], message: str) -> None:
    command = [*lacking, str(PROGRAM), "live", "install", "adalr"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert "adalr" not in available()


def test_a_kernel_without_such_controls_is_told_in_a_line(tmp_path: Path) -> None:
    # The description of a gateway's structures has none of a control's.
    description = tmp_path / "btf"
    with as_file(files("bentpipe") / "bpf" / "xfwa.bpf.o") as gateway:
        description.write_bytes(_section(gateway, b".BTF"))
    mounted = f'mount --bind {description} /sys/kernel/btf/vmlinux && exec "$@"'
    command = ["unshare", "-m", "sh", "-c", mounted, "sh", str(PROGRAM), "live", "install", "adalr"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert "live install: adalr: this kernel takes no congestion control as a BPF program" in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert "adalr" not in available()


def _section(file: Path, name: bytes) -> bytes:
    """Give a section of an ELF file of 64 bits."""
    elf = file.read_bytes()
    (table,) = struct.unpack_from("<Q", elf, 40)
    size, count, of_names = struct.unpack_from("<HHH", elf, 58)
    sections = [struct.unpack_from("<IIQQQQ", elf, table + number * size) for number in range(count)]
    names = sections[of_names][4]
    for section in sections:
        if elf[names + section[0] :].split(b"\0", 1)[0] == name:
            return elf[section[4] : section[4] + section[5]]
    raise AssertionError(name)


CONVERSATION = """
import socket, sys
server = socket.create_server(("127.0.0.1", 5001))
client = socket.socket()
client.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"afc")
client.connect(("127.0.0.1", 5001))
answering, _ = server.accept()
print("ready", flush=True)
sys.stdin.readline()
client.sendall(b"still here")
used = client.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
print(answering.recv(100).decode(), used.strip(b"\\0").decode())
try:
    socket.socket().setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"afc")
except OSError as error:
    print(error.strerror)
"""


def test_a_connection_keeps_a_control_that_is_removed(bentpipe: Bentpipe) -> None:
    bentpipe("live", "install", "afc")
    command = [
        "unshare",
        "-n",
        "sh",
        "-c",
        'ip link set lo up; exec "$@"',
        "sh",
        sys.executable,
        "-c",
        CONVERSATION,
    ]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as talk:
        assert talk.stdin is not None
        assert talk.stdout is not None
        assert talk.stdout.readline() == "ready\n"
        (control,) = json.loads(bentpipe("live", "status", "--json").stdout)["controls"]
        (user,) = control["users"]
        assert user["remote"] == "127.0.0.1:5001"
        assert f"pid={talk.pid}," in user["programs"]
        gone = bentpipe("live", "remove", "afc").stdout
        assert "afc removed; 1 connection keeps it until the end" in gone
        assert f"in the network namespace of process {talk.pid}" in gone
        said, _ = talk.communicate("\n", timeout=20)
    assert said.splitlines() == ["still here afc", "No such file or directory"]


def test_the_default_is_a_namespaces_and_comes_back() -> None:
    before = default()
    result = in_a_namespace(
        """
        sysctl -qw net.ipv4.tcp_congestion_control=reno
        bentpipe live install --default afc adalr
        cat /proc/sys/net/ipv4/tcp_congestion_control
        bentpipe live status
        bentpipe live install --default adalr
        cat /proc/sys/net/ipv4/tcp_congestion_control
        bentpipe live remove
        cat /proc/sys/net/ipv4/tcp_congestion_control
        """
    )
    assert result.stderr == ""
    lines = result.stdout.splitlines()
    assert lines[:3] == ["adalr installed", "afc installed, and is the default", "afc"]
    assert any(line.startswith("afc: installed") and ", the default, 0 connections" in line for line in lines)
    assert lines[-4:] == ["adalr", "adalr removed", "afc removed", "reno"]
    assert default() == before


def test_every_byte_arrives_through_every_loss_model(bentpipe: Bentpipe) -> None:
    models = json.loads(_core.schema())["$defs"]["LossSpec"]["oneOf"]
    assert set(LOSS_MODELS) == {model["properties"]["model"]["const"] for model in models}
    bentpipe("live", "install", *CONTROLS)
    cases = through_every_loss_model(CONTROLS, bytes="2 MB")
    rows = interop(list(cases.values()))["rows"]
    wrong = [f"{name}: {faults(row)}" for name, row in zip(cases, rows, strict=True) if faults(row)]
    assert wrong == []
    assert {row["control"] for row in rows} == set(CONTROLS)
