"""Every command of docs/how-to/server.md, in a network namespace of its own."""

import re
import subprocess
from importlib.resources import files

import pytest
from machine import needs_the_machine

from bentpipe.live.install import available, status
from conftest import PROGRAM, ROOT

pytestmark = needs_the_machine

PAGE = ROOT / "docs/how-to/server.md"


def commands() -> list[str]:
    blocks = re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


def test_every_command_of_the_page_works_and_leaves_nothing() -> None:
    if not (files("bentpipe") / "bpf" / "afc.bpf.o").is_file():
        pytest.skip("needs clang-19 and libelf-dev at build time")
    assert status() == [], "a control of ours is in use on this machine"
    helpers = [
        "ip link set lo up",
        f'bentpipe() {{ {PROGRAM} "$@"; }}',
        'sudo() { "$@"; }',
        # The page's server is there before its client.
        'iperf3() { command iperf3 "$@" && sleep 0.3; }',
    ]
    lines = [line for command in commands() for line in (f"echo '== {command}'", f"{command} || exit 1")]
    result = subprocess.run(
        ["unshare", "-n", "sh", "-c", "\n".join(helpers + lines)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    said = dict(re.findall(r"^== (.*)\n((?:(?!== ).*\n)*)", result.stdout, re.MULTILINE))
    assert result.returncode == 0, f"{result.stdout}\n{result.stderr}"
    assert len(said) == len(commands())
    assert said["sudo bentpipe live install adalr afc"] == "adalr installed\nafc installed\n"
    measured = next(text for command, text in said.items() if "interop" in command)
    assert measured.count("equal") == 10
    told = said["sudo bentpipe live status"]
    assert re.search(r"^adalr: installed [\d-]+ [\d:]+, the default, 0 connections$", told, re.MULTILINE)
    assert "afc" in said["sysctl net.ipv4.tcp_available_congestion_control"]
    assert said["sudo bentpipe live remove"] == "adalr removed\nafc removed\n"
    assert not {"adalr", "afc"} & set(available())
