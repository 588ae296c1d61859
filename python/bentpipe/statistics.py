"""Replications: their seeds, and what their numbers say together."""

import hashlib
import math
from collections.abc import Sequence
from typing import Any, cast

from bentpipe.results import Estimate, Page, Run, mean

MINIMUM_RUNS = 10
"""Replications before `precise_enough` may say yes: fewer give intervals that mean little."""


def replication_seed(base: int, replication: int) -> int:
    """Give the seed of a replication: the base seed itself for the first, then a hash of base and number.

    It depends on nothing else, so that two variants meet the same losses in the same replication. It stays
    below 2^53, which every reader of JSON keeps exact.
    """
    if replication == 0:
        return base
    digest = hashlib.blake2b(f"bentpipe {base} {replication}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 11


def estimate(values: Sequence[float]) -> Estimate:
    """Give mean, half-width of the Student-t 95 % interval, and number of `values` (at least one).

    The half-width is ``None`` for a single value, which says nothing of its spread.
    """
    n = len(values)
    centre = math.fsum(values) / n
    if n == 1:
        return {"mean": centre, "ci95": None, "n": 1}
    variance = math.fsum((value - centre) ** 2 for value in values) / (n - 1)
    return {"mean": centre, "ci95": _student_t(n - 1) * math.sqrt(variance / n), "n": n}


def combine(runs: Sequence[Run]) -> Run:
    """Replace each number of the first run by its estimate over all `runs` of the same scenario.

    A number that is missing in some replications (the finish of a flow that did not) is estimated over the
    others, which its ``n`` shows; one that is missing in all stays ``None``. The seed stays the base seed.
    Pages are combined by flow and number, over the replications that came so far.
    """
    combined = _combine([{**run, "pages": []} for run in runs])
    combined["pages"] = _combine_pages(runs)
    combined["seed"] = runs[0]["seed"]
    head = {key: combined.pop(key) for key in ("scenario", "seed")}
    return cast(Run, {**head, "runs": len(runs), **combined})


def _combine_pages(runs: Sequence[Run]) -> list[Page]:
    groups: dict[str, dict[int, list[Page]]] = {}
    for run in runs:
        for page in run["pages"]:
            groups.setdefault(page["flow"], {}).setdefault(page["page"], []).append(page)
    return [
        {
            "flow": flow,
            "page": number,
            "start_s": _combine([page["start_s"] for page in pages]),
            "response_s": _combine([page["response_s"] for page in pages]),
        }
        for flow, numbered in groups.items()
        for number, pages in sorted(numbered.items())
    ]


def precise_enough(runs: Sequence[Run], precision: float) -> bool:
    """Say whether the interval of every flow's goodput is at most `precision` times its mean."""
    if len(runs) < MINIMUM_RUNS:
        return False
    for flow in range(len(runs[0]["flows"])):
        goodput = estimate([mean(run["flows"][flow]["goodput_bps"]) or 0.0 for run in runs])
        if (goodput["ci95"] or 0.0) > precision * goodput["mean"]:
            return False
    return True


def _student_t(degrees: int) -> float:
    # Imported here: it costs a fifth of a second, and a single run has no interval.
    from scipy.special import stdtrit

    return float(stdtrit(degrees, 0.975))


def _combine(values: Sequence[Any]) -> Any:
    first = values[0]
    if isinstance(first, dict):
        return {key: _combine([value[key] for value in values]) for key in first}
    if isinstance(first, list):
        return [_combine(group) for group in zip(*values, strict=True)]
    present = [value for value in values if value is not None]
    if not present:
        return None
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in present):
        return estimate(present)
    return "; ".join(dict.fromkeys(str(value) for value in present))
