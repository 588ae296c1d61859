"""Goodput over a GEO satellite without loss: simulated, against the kernel, and between two kernels."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from linux_wire import INITIAL_WINDOW, transfer

from bentpipe import _core

MSS_BYTES = 1460
DELAY = "250 ms"
RATE, REVERSE_RATE = "2.048 Mbit/s", "256 kbit/s"


@dataclass(frozen=True)
class Case:
    """What limits the transfer, the window that the receiver offers, and how much goes over."""

    name: str
    window_bytes: int
    total_bytes: int


CASES = (Case("link", 524_288, 1_500_000), Case("window", 65_535, 600_000))

SCENARIO = """\
title = "limited by the {name}"
seed = 1

[links.path]
from = "s"
to = "d"
rate = "{rate}"
delay = "{delay}"

[links.path.reverse]
rate = "{reverse_rate}"

[tcp]
mss = "{mss} B"
receive_window = "{window} B"
initial_window = "{initial_window} segments"
delayed_ack = {{ segments = 1, timeout = "0 s" }}

[flows.flow]
from = "s"
to = "d"
bytes = "{total} B"
variant = "sack"
"""


@dataclass(frozen=True)
class Goodput:
    """Goodput from the first SYN to the last byte, in bit/s."""

    simulated: float
    sending: float
    receiving: float
    between_kernels: float

    @property
    def measured(self) -> tuple[float, float, float]:
        """All but the simulated one."""
        return self.sending, self.receiving, self.between_kernels


def simulate(case: Case, folder: Path) -> float:
    """Give the goodput in the simulator; `folder` takes the scenario."""
    path = folder / f"{case.name}.toml"
    text = SCENARIO.format(
        name=case.name,
        rate=RATE,
        reverse_rate=REVERSE_RATE,
        delay=DELAY,
        mss=MSS_BYTES,
        window=case.window_bytes,
        initial_window=INITIAL_WINDOW,
        total=case.total_bytes,
    )
    path.write_text(text)
    return float(json.loads(_core.Scenario(str(path), []).simulate().json())["flows"][0]["goodput_bps"])


WAYS = (("sack", "send"), ("sack", "receive"), ("linux", "send"))
"""Our end to the kernel, the kernel to our end, a kernel to another."""


def on_the_wire(case: Case, recovery: str, direction: str) -> float:
    """Give the goodput over our path from our end or a second kernel to the kernel, or the other way."""
    settings = {
        "recovery": recovery,
        "control": "reno" if recovery == "linux" else "standard",
        "direction": direction,
        "bytes": f"{case.total_bytes} B",
        "forward": {"rate": RATE, "delay": DELAY},
        "backward": {"rate": REVERSE_RATE, "delay": DELAY},
        "window": f"{case.window_bytes} B",
    }
    # Buffers that do not limit: the route's window does.
    buffers = {"tcp_rmem": "4096 2097152 8388608", "tcp_wmem": "4096 4194304 8388608"}
    row = transfer(MSS_BYTES, settings, route={"window": str(case.window_bytes)}, sysctl=buffers)
    return float(row["goodput_bps"])


def measure(folder: Path) -> dict[str, Goodput]:
    """Give the goodput of every case by its name; all of those on the wire at once."""
    jobs = [(case, *way) for case in CASES for way in WAYS]
    with ThreadPoolExecutor(len(jobs)) as pool:
        made = iter(pool.map(lambda job: on_the_wire(*job), jobs))
        return {case.name: Goodput(simulate(case, folder), *(next(made) for _ in WAYS)) for case in CASES}
