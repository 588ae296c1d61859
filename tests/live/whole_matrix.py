"""The whole matrix against this machine's kernel, as `make live-test` runs it: most of it is waiting."""

import sys

from cases import (
    BURSTS,
    DIRECTIONS,
    LATE,
    TWICE,
    between_kernels,
    every_situation,
    every_variant,
    faults,
    packet_loss,
    through_every_loss_model,
    transfer,
)
from networks import every_network

from bentpipe.live.install import CONTROLS, install, remove
from bentpipe.live.interop import Transfer, interop

AT_A_TIME = 128

# With the slowest first, so that no few of them are left for the end.
PATHS = {
    "loss 5 %": {"forward": packet_loss(0.05)},
    "reordered": {"disorder": {"forward": LATE}},
    "bursts": {"forward": BURSTS},
    "loss 1 %": {"forward": packet_loss(0.01)},
    "duplicated": {"disorder": {"forward": TWICE}},
    "no loss": {},
}
SIZES = {"no loss": "10 MB"}
"""Of the transfers over a path; the others wait for timers, and 2 MB meet some seventy losses at 5 %."""
SIZE = "2 MB"


def whole_matrix() -> dict[str, Transfer]:
    """Every recovery with every control over every path, both ways; every situation; every network."""
    transfers: dict[str, Transfer] = {}
    for delay in ("250 ms", "20 ms"):
        way = {"rate": "20 Mbit/s", "delay": delay}
        for name, path in PATHS.items():
            settings = {**path, "forward": way | path.get("forward", {}), "backward": way}
            cases = every_variant(bytes=SIZES.get(name, SIZE), **settings)
            transfers |= {f"{variant}, {delay}, {name}": case for variant, case in cases.items()}
        cases = through_every_loss_model(CONTROLS, bytes=SIZE, way=way)
        transfers |= {f"{variant}, {delay}": case for variant, case in cases.items()}
    pause = {"pause_after": "3 MB", "pause": "10 s"}
    small = {"window": "64 KiB", "kernel_buffer": "64 KiB", "bytes": "10 MB"}
    for direction in DIRECTIONS:
        case = transfer(small, direction=direction, reading=pause)
        transfers[f"zero window for ten seconds, {direction}"] = case
    situations = every_situation(bytes=SIZE) | between_kernels(bytes=SIZE)
    return transfers | situations | every_network(bytes=SIZE)


def main() -> None:
    """Run it, print what failed, and leave with status 1 if anything did."""
    transfers = whole_matrix()
    new = install(CONTROLS)
    try:
        result = interop(list(transfers.values()), threads=AT_A_TIME, title="live-test")
    finally:
        if new:
            remove(new)
    failed = 0
    for name, row in zip(transfers, result["rows"], strict=True):
        if wrong := faults(row):
            failed += 1
            print(f"{name}: {'; '.join(wrong)}")
    print(f"{len(transfers)} transfers against Linux {result['kernel_release']}, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
