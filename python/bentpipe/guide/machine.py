"""What the optional parts of bentpipe need, and whether this machine has it."""

import importlib.util
import os
import shutil
import sys
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from bentpipe import _core


class Part(NamedTuple):
    """Something optional: what it is for, whether it is here, and the line that installs it."""

    name: str
    use: str
    here: Callable[[], bool]
    install: str


def _virtual_kernel() -> bool:
    from bentpipe.live.virtual import kernel

    return kernel.why_none() is None


def _packages(*names: str) -> str:
    return f"sudo apt-get install {' '.join(names)}"


def _program(name: str, use: str, package: str) -> Part:
    return Part(name, use, lambda: shutil.which(name) is not None, _packages(package))


def _extra(name: str, use: str, module: str) -> Part:
    install = f"pip install 'bentpipe[{name.lower()}]'"
    return Part(name, use, lambda: importlib.util.find_spec(module) is not None, install)


PARTS = (
    _extra("papers", "reproduce", "bentpipe_papers"),
    _extra("Dask", "sweep --on", "distributed"),
    Part("root", "live", lambda: sys.platform == "linux" and os.geteuid() == 0, "sudo bentpipe live …"),
    Part("TUN device", "live interop", Path("/dev/net/tun").exists, "sudo modprobe tun"),
    _program("ip", "live", "iproute2"),
    _program("iperf3", "live, with programs of others", "iperf3"),
    Part(
        "virtual kernel",
        "live --virtual",
        _virtual_kernel,
        "make virtual-kernel (in the source folder)",
    ),
    Part(
        "BTF of the kernel",
        "live install, live gateway",
        Path("/sys/kernel/btf/vmlinux").exists,
        "a kernel with CONFIG_DEBUG_INFO_BTF, as Debian's: sudo apt-get install linux-image-amd64",
    ),
    Part(
        "BPF loader",
        "live install, live gateway",
        lambda: _core.HAS_BPF_LOADER,
        f"{_packages('libelf-dev', 'zlib1g-dev', 'pkg-config')} && make setup",
    ),
    Part(
        "BPF programs",
        "live install, live gateway",
        lambda: (files("bentpipe") / "bpf" / "afc.bpf.o").is_file(),
        "make bpf (in the source folder, with clang-19)",
    ),
    _program("clang-19", "make bpf", "clang-19"),
    _program("tshark", "make test, captures", "tshark"),
    _program("ns", "make bench, make test (ns-2)", "ns2"),
    _program("valgrind", "make bench, make test", "valgrind"),
    _program("chromium", "make test, pages in a browser", "chromium"),
    _program("node", "make playground", "nodejs npm"),
)
