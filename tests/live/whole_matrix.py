"""The whole matrix against this machine's kernel, as `make live-test` runs it: most of it is waiting."""

import sys

from cases import DIRECTIONS, between_kernels, every_situation, every_variant, faults, packet_loss, transfer

from bentpipe.live.interop import interop

AT_A_TIME = 96


def main() -> None:
    """Run it, print what failed, and leave with status 1 if anything did."""
    transfers = every_situation(bytes="10 MB") | between_kernels(bytes="10 MB")
    pause = {"pause_after": "3 MB", "pause": "10 s"}
    small = {"window": "64 KiB", "kernel_buffer": "64 KiB", "bytes": "10 MB"}
    for direction in DIRECTIONS:
        case = transfer(small, direction=direction, reading=pause)
        transfers[f"zero window for ten seconds, {direction}"] = case
    for delay in ("20 ms", "250 ms"):
        for loss in (0.0, 0.01, 0.05):
            way = {"rate": "20 Mbit/s", "delay": delay}
            cases = every_variant(bytes="10 MB", forward=way | packet_loss(loss), backward=way)
            transfers |= {f"{name}, {delay}, loss {loss:.0%}": case for name, case in cases.items()}
    result = interop(list(transfers.values()), threads=AT_A_TIME, title="live-test")
    failed = 0
    for name, row in zip(transfers, result["rows"], strict=True):
        if wrong := faults(row):
            failed += 1
            print(f"{name}: {'; '.join(wrong)}")
    print(f"{len(transfers)} transfers against Linux {result['kernel_release']}, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
