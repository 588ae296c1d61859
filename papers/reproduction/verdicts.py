"""Holds what a paper printed against what was computed.

A number is a ``match`` within 5 %, or inside the computed interval where that is narrower than a fifth of
the published value and the signs agree; ``shape`` if the sign agrees and beside each other number of its item
and metric it is larger or smaller as printed (numbers printed within 5 % of each other must only not be
the other way round); else it ``differs``. An index (of fairness) is judged by its distance from 1, a share of
90 % and more by its distance from 100, or either by its printed digits. A row that would match without the
scheme too is a ``match (also without)``, and one that differs because the paper contradicts itself is a
``contradiction``. A paper's input (an echo of a parameter, arithmetic on printed
numbers, what is true by construction) has to hold to the printed digits.

A claim is written in ``published.csv`` in these words, several parts separated by ``;``, over named values:

=================== ========================================================================================
``a > b``           a is larger
``a >> b``          a is larger by more than 5 %
``a ~ b``           they are within 5 % of each other, shares of 90 % and more within half a point
``a > b ~ c > *``   a chain; ``*`` stands for each of the others
``rises``           the values never fall from one to the next, and the last is larger than the first
``falls``           the other way round
``peak a``          a is the largest
=================== ========================================================================================

An order holds only outside the 95 % interval of the difference, which is paired by seed where both values
kept their replications; values without an interval have to differ by 0.1 %. ``~`` needs a difference that is
known to a fifth of the values.

A claim is a ``match`` if each part holds, ``shape`` if no part is contradicted but one holds only weakly
(larger by less than 5 % where ``>>`` was claimed, within 10 % where ``~`` was, rising on the whole but not
throughout, as large as the peak), else it ``differs``.
"""

import enum
import math
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Literal, get_args

from bentpipe.numbers.intervals import paired
from bentpipe.results import Number, half_width, mean

Verdict = Literal["input", "match", "match (also without)", "shape", "contradiction", "differs"]

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
"""All of them; the first is outside the counts."""

TOLERANCE = 0.05
"""Two numbers this close count as the same."""

NARROW = 0.2
"""An interval decides only where it is narrower than this share of the value that it is held against."""

SHARE = "%"
"""The unit of what is judged by its distance from 100, of `_HIGH` and more."""

_HIGH = 90.0
_POINTS = 0.5 / TOLERANCE
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
    if abs(value - published) <= TOLERANCE * abs(published):
        return "match"
    width = half_width(computed) or 0.0
    # An interval so narrow lies on the published value's side of 0.
    inside = abs(value - published) <= width and 2 * width <= NARROW * abs(published)
    return "match" if inside else "differs"


def is_high_share(value: float, unit: str) -> bool:
    """Say whether it is a share so near to 100 % that 5 % of it would be anything."""
    return unit == SHARE and _HIGH <= value <= 100


def judge_distance(published: str, computed: Number, best: float = 1) -> Verdict:
    """Say whether two indices or shares agree in their distance from the best, or in the printed digits."""
    value = mean(computed)
    if value is not None and abs(value - float(published)) <= _half_a_digit(published):
        return "match"
    return judge_number(best - float(published), distance_from(best, computed))


def judge_input(published: str, computed: Number) -> bool:
    """Say whether a number is the printed one, to half a unit of its last digit and at most 5 %."""
    value, printed = mean(computed), float(published)
    rounding = min(_half_a_digit(published), TOLERANCE * abs(printed))
    # A value half a unit away may be printed either way, however the difference is rounded here.
    return value is not None and abs(value - printed) <= rounding + 1e-9 * abs(printed)


def distance_from(best: float, index: Number) -> Number:
    """Turn an index or a share into its distance from the best, with the same interval."""
    if not isinstance(index, dict):
        return None if index is None else best - index
    distance = {**index, "mean": best - index["mean"]}
    if "values" in index:
        distance["values"] = tuple(best - value for value in index["values"])
    return distance  # type: ignore[return-value]


def same_place(published: Sequence[float], computed: Sequence[Number], place: int) -> bool:
    """Say whether one of several numbers has its published sign and its place beside each of the others."""
    value = mean(computed[place])
    if len(published) < 2 or value is None or value * published[place] < 0:
        return False
    return all(
        _same_order(published[place], printed, computed[place], other)
        for index, (printed, other) in enumerate(zip(published, computed, strict=True))
        if index != place
    )


def judge_claim(claim: str, values: Mapping[str, Number], unit: str = "") -> Verdict:
    """Say whether `values`, in the order in which the claim speaks of them, are as claimed.

    Raises
    ------
    ValueError
        The claim is not in the words above, or names a value that is not there.
    """
    match min(_part(part.strip(), values, unit) for part in claim.split(";")):
        case _Held.FULLY:
            return "match"
        case _Held.WEAKLY:
            return "shape"
        case _:
            return "differs"


def describe(values: Mapping[str, Number], unit: str) -> str:
    """Write the values in their order, which is what stands as "computed" beside a claim."""
    three, four = ([_digits(number, digits) for number in values.values()] for digits in (3, 4))
    # A fourth digit only where it is what tells two values apart.
    texts = three if len(set(three)) == len(set(four)) else four
    parts = (f"{name} {text}" for name, text in zip(values, texts, strict=True))
    return ", ".join(parts) + (f" {unit}" if unit else "")


def _digits(number: Number, digits: int) -> str:
    value = mean(number)
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 10**digits else f"{value:.{digits}g}"


def _part(part: str, values: Mapping[str, Number], unit: str) -> _Held:
    numbers = list(values.values())
    if any(mean(number) is None or math.isnan(mean(number) or 0.0) for number in numbers):
        return _Held.NOT
    if part == "rises":
        return _rises(numbers)
    if part == "falls":
        return _rises(numbers[::-1])
    if part.startswith("peak "):
        return _peak(part.removeprefix("peak ").strip(), values)
    words = _CHAIN.split(part)
    if len(words) < 3:
        raise ValueError(f"claim {part!r}: expected a > b, a >> b, a ~ b, rises, falls, or peak a")
    names = set(words[::2])
    others = [name for name in values if name not in names]
    held = [
        _compare(_value(values, left), words[index], _value(values, right), unit)
        for index in range(1, len(words), 2)
        for left in (others if words[index - 1] == "*" else [words[index - 1]])
        for right in (others if words[index + 1] == "*" else [words[index + 1]])
    ]
    return min(held)


def _compare(left: Number, operator: str, right: Number, unit: str) -> _Held:
    size = _size(left, right)
    if operator == "~" and all(is_high_share(mean(one) or 0.0, unit) for one in (left, right)):
        size = _POINTS
    difference, noise = _difference(left, right)
    if operator == "~":
        apart = abs(difference)
        if apart > 2 * TOLERANCE * size or 2 * noise > max(NARROW * size, 2 * _ROUNDING * size):
            return _Held.NOT
        return _Held.FULLY if apart <= TOLERANCE * size else _Held.WEAKLY
    if difference <= noise:
        return _Held.NOT
    return _Held.WEAKLY if operator == ">>" and difference <= TOLERANCE * size else _Held.FULLY


def _rises(numbers: Sequence[Number]) -> _Held:
    difference, noise = _difference(numbers[-1], numbers[0])
    if difference <= noise:
        return _Held.NOT
    steps = (_difference(later, earlier) for earlier, later in pairwise(numbers))
    return _Held.FULLY if all(step >= -within for step, within in steps) else _Held.WEAKLY


def _peak(name: str, values: Mapping[str, Number]) -> _Held:
    peak = _value(values, name)
    steps = [_difference(peak, number) for other, number in values.items() if other != name]
    if all(step > noise for step, noise in steps):
        return _Held.FULLY
    # As large as another only where both are known: an interval that covers everything is no peak.
    beside = all(step > noise or abs(step) <= _ROUNDING * _size(peak, peak) for step, noise in steps)
    return _Held.WEAKLY if beside else _Held.NOT


def _value(values: Mapping[str, Number], name: str) -> Number:
    if name not in values:
        raise ValueError(f"the claim names {name!r}, which is not among {', '.join(values)}")
    return values[name]


def _difference(a: Number, b: Number) -> tuple[float, float]:
    """Give how much larger `a` is, and up to where that may be chance or rounding."""
    difference = (mean(a) or 0.0) - (mean(b) or 0.0)
    rounding = _ROUNDING * _size(a, b)
    ours = a.get("values", ()) if isinstance(a, dict) else ()
    theirs = b.get("values", ()) if isinstance(b, dict) else ()
    if len(ours) == len(theirs) > 1:
        return difference, max(rounding, paired(ours, theirs)["ci95"] or 0.0)
    return difference, max(rounding, (half_width(a) or 0.0) + (half_width(b) or 0.0))


def _same_order(printed: float, beside: float, computed: Number, other: Number) -> bool:
    """Say whether of two numbers that one is larger which is printed so; less may tell of near ones."""
    difference, noise = _difference(computed, other)
    if printed == beside:
        return True
    larger = difference if printed > beside else -difference
    near = abs(printed - beside) <= TOLERANCE * max(abs(printed), abs(beside))
    return larger >= -noise if near else larger > noise


def _size(a: Number, b: Number) -> float:
    return max(abs(mean(a) or 0.0), abs(mean(b) or 0.0))


def _half_a_digit(printed: str) -> float:
    exponent = Decimal(printed).as_tuple().exponent
    return 0.5 * 10.0**exponent if isinstance(exponent, int) else 0.0
