"""Lines on a run in which BBR meets a path, or a choice, that it was not made for."""

import tomllib
from collections.abc import Iterator
from typing import Any

from bentpipe.results import Run, mean
from bentpipe.show.units import seconds

PROBES_S = {"bbr1": 10.0, "bbr3": 5.0}
"""How often each looks for a shorter round trip (ProbeRTT), with a small window for a round trip or more."""


def strained(run: Run) -> Iterator[str]:
    """Say which flows spend much of their time in ProbeRTT, and whose slow start goes unheard."""
    met: dict[str, tuple[str, float]] = {}
    for flow in run["flows"]:
        for bbr in PROBES_S.keys() & flow["variant"].split("+"):
            met.setdefault(flow["group"] or flow["name"], (bbr, mean(flow["rtt_mean_s"]) or 0.0))
    # A scenario with a trace in it is long: it is read only for a flow that may have something to hear.
    text = tomllib.loads(run["scenario_toml"]) if met else {}
    for name, (bbr, rtt_s) in met.items():
        if rtt_s >= PROBES_S[bbr] / 2:
            often, rtt = seconds(PROBES_S[bbr]), seconds(rtt_s)
            yield (
                f"{name}: {bbr} holds back every {often} to measure its path (ProbeRTT), "
                f"and a round trip takes {rtt}"
            )
        if (start := _start(text, name)) not in (None, "standard"):
            yield f"{name}: slow_start {start!r} has no effect under {bbr}, which has a start of its own"


def _start(text: dict[str, Any], flow: str) -> str | None:
    tables = (text.get("flows", {}).get(flow, {}).get("tcp", {}), text.get("tcp", {}))
    return next((table["slow_start"] for table in tables if "slow_start" in table), None)
