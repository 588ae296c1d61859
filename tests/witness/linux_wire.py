"""A transfer against the kernel in which our end and the kernel's behave alike wherever both can."""

import json
from collections.abc import Mapping
from typing import Any

from bentpipe import _core
from bentpipe.live.interop import PROGRAM

INITIAL_WINDOW = 10


def transfer(
    mss: int,
    settings: Mapping[str, Any],
    *,
    route: Mapping[str, str],
    sysctl: Mapping[str, str],
    pcap: str | None = None,
) -> dict[str, Any]:
    """Make it, and give its row; `settings` are those of the Rust side beyond what every transfer has.

    Raises
    ------
    LiveMissing
        The machine or the user lacks something.
    LiveFailed
        The connection broke.
    """
    told = {
        **settings,
        "mss": mss,
        "kernel_mss": mss,
        "initial_window": INITIAL_WINDOW,
        "acknowledge_each": True,
        "quickack": True,
        "route": {"initcwnd": str(INITIAL_WINDOW), **route},
        "sysctl": {
            "tcp_congestion_control": "reno",
            "tcp_no_metrics_save": "1",
            "tcp_timestamps": "0",
            **sysctl,
        },
    }
    row: dict[str, Any] = json.loads(_core.interop(json.dumps(told), list(PROGRAM), pcap=pcap))
    if not row["sha256_equal"] or row["checksum_errors"]:
        raise AssertionError(f"bytes differ: {told}")
    return row
