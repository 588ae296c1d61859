"""The benchmark's scenarios, and the simulators that run them, each a process that prints one JSON line."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bentpipe.live.virtual.kernel import why_none

ROOT = Path(__file__).resolve().parent.parent
SCENARIOS = ROOT / "bench" / "scenarios"
PEERS = ROOT / "bench" / "peers"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
# A run of next to no length is set-up alone: of this many bytes, or simulated seconds.
SETUP_BYTES = 1460
SETUP_S = 1e-3
NS3_LIBRARIES = (
    "applications",
    "internet",
    "network",
    "nix-vector-routing",
    "point-to-point",
    "traffic-control",
    "core",
)


@dataclass(frozen=True)
class Scenario:
    """A benchmark: its length in its own unit, the peers that run it, and what is shorter for which of them.

    callgrind makes a program fifty times slower, so the peers are counted on a short run and a longer one,
    and the difference stands for every further segment. Building 2000 nodes takes ns-3 and ns-2 ten minutes
    that way: they are not counted there.
    """

    name: str
    unit: str
    full: float
    checked: float
    counted: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    shorter: Mapping[str, float] = field(default_factory=dict)
    peers: tuple[str, ...] = ("ns-3", "ns-2")
    # What a data segment may cost of what it costs in `geo`, at most.
    of_geo: float | None = None

    def written(self, length: float) -> str:
        """Give a length with its unit."""
        return f"{length / 1e6:g} MB" if self.unit == "bytes" else f"{length:g} {self.unit}"

    def length(self, simulator: str) -> float:
        """Give the length that is timed."""
        return self.shorter.get(simulator, self.full)

    def counted_lengths(self, simulator: str) -> tuple[float, float] | None:
        """Give the two lengths at which instructions are counted."""
        whole = (self.full / 10, self.full) if simulator == Bentpipe.name else None
        return self.counted.get(simulator, whole)

    def arguments(self, length: float) -> list[str]:
        """Give the scenario and a length as the peers take them."""
        return [self.name, f"{length:.0f}" if self.unit == "bytes" else f"{length:g}"]

    def overrides(self, length: float) -> list[str]:
        """Give the settings that make bentpipe's scenario so long."""
        if self.unit == "bytes":
            return ["--set", f"flows.download.bytes={length:.0f} B"]
        shortened = ["--set", f"duration={length:g} s"]
        # A flow that would start after the end is an error.
        if self.name.startswith("dumbbell") and length < SETUP_S * 10:
            shortened += ["--set", "flows.flow.start_step=0 s"]
        return shortened


DUMBBELL_PEERS = ("ns-3", "ns-2", "htsim")
BENCHMARKS = (
    Scenario(
        "geo",
        "bytes",
        50e6,
        50e6,
        counted={"ns-2": (5e6, 50e6), "ns-3": (2e6, 10e6)},
        peers=("ns-3", "ns-2", "linux"),
    ),
    Scenario("geo-fast", "s", 600, 60, counted={"ns-2": (30, 60), "ns-3": (6, 7)}),
    Scenario(
        "dumbbell-10",
        "s",
        10,
        1,
        counted={"ns-2": (1, 2), "ns-3": (0.45, 0.6), "htsim": (1, 2)},
        peers=DUMBBELL_PEERS,
    ),
    # The whole of it takes ns-3 minutes.
    Scenario(
        "dumbbell-1000",
        "s",
        10,
        1.5,
        counted={"htsim": (1.5, 3)},
        shorter={"ns-3": 1.5},
        peers=DUMBBELL_PEERS,
    ),
    # What a gateway that looks at every segment of 1000 flows costs.
    Scenario("dumbbell-1000-xfwa", "s", 10, 1.5, peers=()),
    # What a control, or the TCP of today's hosts, costs beside geo's.
    Scenario("geo-cubic", "bytes", 50e6, 50e6, peers=("linux",), of_geo=1.10),
    Scenario("geo-linux", "bytes", 50e6, 50e6, peers=("linux",), of_geo=1.65),
    Scenario("geo-bbr1", "bytes", 50e6, 50e6, peers=()),
    Scenario("geo-bbr3", "bytes", 50e6, 50e6, peers=()),
    # Satellites that move: a packet passes 13 links, and every 100 ms the delays of all change.
    Scenario("starlink-100", "s", 200, 2, counted={"bentpipe": (2, 6)}, peers=()),
)


@dataclass(frozen=True)
class Run:
    """One process: what it printed, and how long it took from start to end, by the wall and of one core."""

    result: dict[str, Any]
    wall_s: float
    core_s: float


class Failure(Exception):
    """A measurement that could not be made, in one line."""


class BadInput(Exception):
    """An option that cannot be used, in one line."""


def spawn(command: Sequence[str]) -> Run:
    """Run a simulator that prints one JSON line."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        began = time.monotonic()
        process = subprocess.Popen(command, stdout=out, stderr=err, cwd=ROOT)
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            process.kill()
            process.wait()
            raise
        wall = time.monotonic() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        text, messages = out.read().decode(), err.read().decode(errors="replace")
    if process.returncode != 0:
        last = (messages.strip().splitlines() or ["no message"])[-1]
        raise Failure(f"{' '.join(command)}: exit status {process.returncode}: {last}")
    lines = [line for line in text.splitlines() if line.startswith("{")]
    if not lines:
        raise Failure(f"{' '.join(command)}: no result printed")
    return Run(json.loads(lines[-1]), wall, usage.ru_utime + usage.ru_stime)


def count_instructions(command: Sequence[str]) -> tuple[int, int]:
    """Instructions of a whole process under callgrind, and the data segments that it simulated."""
    with tempfile.TemporaryDirectory() as directory:
        log = Path(directory) / "log"
        callgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", f"--log-file={log}"]
        run = spawn([*callgrind, *command])
        found = re.search(r"Collected : (\d+)", log.read_text())
    if found is None:
        raise Failure("valgrind printed no instruction count")
    return int(found.group(1)), int(run.result["data_segments"])


def compile_peer(source: Path, binary: Path, newer_than: Sequence[Path], options: Sequence[str]) -> None:
    """Compile a peer's program, unless the binary is newer than it and what it is linked with."""
    if binary.exists() and all(binary.stat().st_mtime > path.stat().st_mtime for path in newer_than):
        return
    binary.parent.mkdir(parents=True, exist_ok=True)
    unfinished = binary.with_suffix(".tmp")
    compiler = ["g++", "-O2", "-std=c++17", str(source), "-o", str(unfinished), *options]
    compiled = subprocess.run(compiler, capture_output=True, text=True)
    if compiled.returncode != 0:
        raise Failure(f"g++ could not compile {source.relative_to(ROOT)}:\n{compiled.stderr}")
    unfinished.replace(binary)


class Bentpipe:
    """Our simulator, through a binary without Python."""

    name = "bentpipe"

    def build(self) -> str | None:
        """Build it; never missing."""
        cargo = ["cargo", "build", "--quiet", "--release", "-p", "bentpipe-sim", "--example", "bench"]
        if subprocess.run(cargo, cwd=ROOT).returncode != 0:
            raise Failure("cargo could not build crates/sim/examples/bench.rs")
        return None

    def command(self, scenario: Scenario, length: float) -> list[str]:
        """Give the command line of one run."""
        binary = TARGET / "release" / "examples" / "bench"
        return [str(binary), str(SCENARIOS / f"{scenario.name}.toml"), *scenario.overrides(length)]


class Ns2:
    """ns-2 through Debian's package."""

    name = "ns-2"

    def build(self) -> str | None:
        """Why it cannot run here, if so."""
        return None if shutil.which("ns") else "ns-2 is not installed (Debian package ns2)"

    def command(self, scenario: Scenario, length: float) -> list[str]:
        """Give the command line of one run."""
        return ["ns", str(PEERS / "ns2" / "bench.tcl"), *scenario.arguments(length)]


class Ns3:
    """ns-3 through Debian's package."""

    name = "ns-3"
    binary = TARGET / "bench" / "ns3"

    def build(self) -> str | None:
        """Compile the peer, or say why it cannot run here."""
        if not shutil.which("g++"):
            return "ns-3 needs a C++ compiler (Debian package g++)"
        probe = ["g++", "-E", "-x", "c++", "-"]
        include = b'#include "ns3/core-module.h"\n'
        if subprocess.run(probe, input=include, capture_output=True).returncode != 0:
            return "ns-3 is not installed (Debian package libns3-dev)"
        source = PEERS / "ns3" / "bench.cc"
        compile_peer(source, self.binary, [source], [f"-lns3-{library}" for library in NS3_LIBRARIES])
        return None

    def command(self, scenario: Scenario, length: float) -> list[str]:
        """Give the command line of one run."""
        return [str(self.binary), *scenario.arguments(length)]


class Linux:
    """Linux's own TCP as a host of our simulator: the kernel that `make virtual-kernel` builds."""

    name = "linux"

    def build(self) -> str | None:
        """Why it cannot run here, if so."""
        return why_none()

    def command(self, scenario: Scenario, length: float) -> list[str]:
        """Give the command line of one run."""
        settings = scenario.overrides(length)[1::2]
        file = str(SCENARIOS / f"{scenario.name}.toml")
        return [sys.executable, str(PEERS / "linux" / "bench.py"), file, scenario.name, *settings]


class Htsim:
    """htsim, from a checkout of Broadcom/csg-htsim in which its library is built.

    Raises ``BadInput`` where `checkout` is none.
    """

    name = "htsim"

    def __init__(self, checkout: Path) -> None:
        self.sources = checkout.resolve() / "sim"
        self.library = self.sources / "libhtsim.a"
        if not all((self.sources / header).is_file() for header in ("eventlist.h", "tcp.h")):
            raise BadInput(
                f"--htsim {checkout}: expected a checkout of Broadcom/csg-htsim, found no sim/tcp.h in it"
            )
        if not self.library.is_file():
            raise BadInput(f"--htsim {checkout}: expected its library to be built, found no sim/libhtsim.a")
        # A binary of its own for each checkout.
        digest = hashlib.sha256(str(self.sources).encode()).hexdigest()[:12]
        self.binary = TARGET / "bench" / f"htsim-{digest}"

    def build(self) -> str | None:
        """Compile the peer, or say why it cannot run here."""
        if not shutil.which("g++"):
            return "htsim needs a C++ compiler (Debian package g++)"
        source = PEERS / "htsim" / "bench.cc"
        options = ["-w", f"-I{self.sources}", str(self.library)]
        compile_peer(source, self.binary, [source, self.library], options)
        return None

    def command(self, scenario: Scenario, length: float) -> list[str]:
        """Give the command line of one run."""
        return [str(self.binary), *scenario.arguments(length)]


Simulator = Bentpipe | Ns2 | Ns3 | Linux | Htsim
