"""What limits a variant: shares of the time of its flows."""

import math
from collections.abc import Sequence, Set
from functools import cache

from bentpipe.numbers.declared import structure
from bentpipe.numbers.intervals import judged
from bentpipe.numbers.number import Estimate
from bentpipe.result_types import FlowLimits
from bentpipe.results import mean


@cache
def limit_names() -> dict[str, str]:
    """Give what limits a flow, with its name for people."""
    numbers = structure("FlowLimits").values()
    return {one.key.removesuffix("_s"): one.heading for one in numbers if one.kind != "text"}


def shares(measured: Sequence[FlowLimits], flows: Set[str]) -> dict[str, float]:
    """Give what share of the time of all `flows` together each limit has in a run."""
    spent = {
        name: math.fsum(mean(flow[f"{name}_s"]) or 0.0 for flow in measured if flow["flow"] in flows)  # type: ignore[literal-required]
        for name in limit_names()
    }
    whole = math.fsum(spent.values())
    return {name: seconds / whole if whole else 0.0 for name, seconds in spent.items()}


def averaged(runs: Sequence[dict[str, float]], *, certain: bool) -> dict[str, Estimate] | None:
    """Give the mean share of each limit over the runs; ``None`` without runs."""
    return (
        {name: judged([run[name] for run in runs], certain=certain) for name in limit_names()}
        if runs
        else None
    )
