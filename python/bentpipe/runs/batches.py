"""How many runs a thread is given at a time."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from bentpipe._core import RunResult

_BATCH_S = 0.02
_MOST_OF_A_BATCH = 256


@dataclass(frozen=True)
class Batch:
    """Results of runs in a row, the error that ended them if one did, and what they took of a thread."""

    results: Sequence[RunResult]
    error: BaseException | None
    spent_s: float


def how_many(left: int, finished: int, spent_s: float, threads: int) -> tuple[int, int]:
    """Give how many runs a batch has, and how many batches may be begun that nobody has taken up.

    Short runs come several at a time, and some of them wait, so that no thread does. Of long ones none is
    begun that may not be wanted; nor before it is known what they take.
    """
    each_s = spent_s / finished if finished else math.inf
    if each_s > _BATCH_S:
        return 1, threads
    fair = math.ceil(left / (2 * threads))
    fitting = _BATCH_S / each_s if each_s else math.inf
    return max(1, int(min(fair, fitting, _MOST_OF_A_BATCH))), 2 * threads
