"""Holds what a paper printed against what was computed.

A number is a ``match`` within 5 % or inside the computed interval; ``shape`` if among the numbers of its item
and metric its place in the order is as published; else it ``differs``.

A claim is written in ``published.csv`` in these words, several parts separated by ``;``, over named values:

=================== ========================================================================================
``a > b``           a is larger, beyond both intervals
``a >> b``          a is larger by more than 5 %
``a ~ b``           they are within 5 % of each other
``a > b ~ c > *``   a chain; ``*`` stands for each of the others
``rises``           the values never fall from one to the next, and the last is larger than the first
``falls``           the other way round
``peak a``          a is the largest
=================== ========================================================================================

A claim is a ``match`` if each part holds, ``shape`` if no part is contradicted but one holds only
weakly (equal where larger was claimed, larger by less than 5 % where ``>>`` was, within 10 % where ``~`` was,
rising on the whole but not throughout, within 1 % of the peak), else it ``differs``.
"""

import enum
import math
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Literal

from bentpipe.results import Number, half_width, mean

Verdict = Literal["match", "shape", "differs"]

TOLERANCE = 0.05
"""Two numbers this close count as the same."""

_ROUNDING = 1e-3
_CHAIN = re.compile(r"\s*(>>|>|~)\s*")


class _Held(enum.IntEnum):
    NOT = 0
    WEAKLY = 1
    FULLY = 2


def judge_number(published: float, computed: Number) -> Verdict:
    """Say whether two numbers agree: ``match`` or ``differs``."""
    value = mean(computed)
    if value is None:
        return "differs"
    distance = abs(value - published)
    near = distance <= TOLERANCE * abs(published) or distance <= (half_width(computed) or 0.0)
    return "match" if near else "differs"


def same_order(published: Sequence[float], computed: Sequence[float], index: int) -> bool:
    """Say whether one of several numbers is above, below or beside each of the others as published."""
    if len(published) < 2:
        return False
    return all(
        _order(published[index], published[other]) == _order(computed[index], computed[other])
        for other in range(len(published))
        if other != index
    )


def judge_claim(claim: str, values: Mapping[str, Number]) -> Verdict:
    """Say whether `values`, in the order in which the claim speaks of them, are as claimed.

    Raises
    ------
    ValueError
        The claim is not in the words above, or names a value that is not there.
    """
    match min(_part(part.strip(), values) for part in claim.split(";")):
        case _Held.FULLY:
            return "match"
        case _Held.WEAKLY:
            return "shape"
        case _:
            return "differs"


def describe(values: Mapping[str, Number], unit: str) -> str:
    """Write the values in their order, which is what stands as "computed" beside a claim."""
    parts = [
        f"{name} {'–' if (value := mean(number)) is None else f'{value:.4g}'}"
        for name, number in values.items()
    ]
    return ", ".join(parts) + (f" {unit}" if unit else "")


def _part(part: str, values: Mapping[str, Number]) -> _Held:
    numbers = [_value(values, name) for name in values]
    if any(math.isnan(number) for number in numbers):
        return _Held.NOT
    if part == "rises":
        return _rises(numbers)
    if part == "falls":
        return _rises(numbers[::-1])
    if part.startswith("peak "):
        name = part.removeprefix("peak ").strip()
        if name not in values:
            raise ValueError(f"claim {part!r}: no value named {name!r}")
        peak, most = _value(values, name), max(numbers)
        return _Held.FULLY if peak >= most else _Held.WEAKLY if peak >= most * 0.99 else _Held.NOT
    words = _CHAIN.split(part)
    if len(words) < 3:
        raise ValueError(f"claim {part!r}: expected a > b, a >> b, a ~ b, rises, falls, or peak a")
    names = set(words[::2])
    others = [name for name in values if name not in names]
    held = [
        _compare(values, left, words[index], right)
        for index in range(1, len(words), 2)
        for left in (others if words[index - 1] == "*" else [words[index - 1]])
        for right in (others if words[index + 1] == "*" else [words[index + 1]])
    ]
    return min(held)


def _compare(values: Mapping[str, Number], left: str, operator: str, right: str) -> _Held:
    a, b = _value(values, left), _value(values, right)
    size = max(abs(a), abs(b))
    apart = abs(a - b)
    if operator == "~":
        return (
            _Held.FULLY
            if apart <= TOLERANCE * size
            else _Held.WEAKLY
            if apart <= 2 * TOLERANCE * size
            else _Held.NOT
        )
    noise = max(_ROUNDING * size, (half_width(values[left]) or 0.0) + (half_width(values[right]) or 0.0))
    if operator == ">>":
        return (
            _Held.FULLY
            if a - b > max(TOLERANCE * size, noise)
            else _Held.WEAKLY
            if a - b > noise
            else _Held.NOT
        )
    return _Held.FULLY if a - b > noise else _Held.WEAKLY if apart <= noise else _Held.NOT


def _rises(numbers: Sequence[float]) -> _Held:
    if numbers[-1] <= numbers[0]:
        return _Held.NOT
    steady = all(later >= earlier - _ROUNDING * abs(earlier) for earlier, later in pairwise(numbers))
    return _Held.FULLY if steady else _Held.WEAKLY


def _value(values: Mapping[str, Number], name: str) -> float:
    if name not in values:
        raise ValueError(f"the claim names {name!r}, which is not among {', '.join(values)}")
    value = mean(values[name])
    return math.nan if value is None else value


def _order(a: float, b: float) -> int:
    if abs(a - b) <= TOLERANCE * max(abs(a), abs(b)):
        return 0
    return 1 if a > b else -1
