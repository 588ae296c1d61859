"""Numbers as people read them: rounded, with a unit, with their interval."""

import math
from collections.abc import Sequence

from bentpipe.results import Number, half_width, mean

UNITS = {"_bps": "bit/s", "_bytes": "B", "_s": "s"}
"""By what the names of numbers end in."""

_PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"))


def unit_in(name: str) -> str:
    """Give the unit that the name of a number says, if it says one."""
    return next((unit for ending, unit in UNITS.items() if name.endswith(ending)), "")


def quantity(number: Number, unit: str, *, smallest: float = 1.0) -> str:
    """Write a number with a decimal prefix and its interval if it has any: ``1.234 ± 0.01 Mbit/s``.

    `smallest` is the smallest prefix allowed: 1 for what is never a fraction (bytes), 1e-9 for times.
    """
    scale, prefix = _prefix(mean(number) or 0.0, smallest)
    return _written(number, scale, f" {prefix}{unit}")


def seconds(number: Number) -> str:
    """Write a time; milliseconds and less below one second, seconds above."""
    return (
        _written(number, 1.0, " s") if (mean(number) or 0.0) >= 1000 else quantity(number, "s", smallest=1e-9)
    )


def percent(number: Number) -> str:
    """Write a share of one in per cent."""
    return _written(number, 0.01, " %")


def count(number: Number) -> str:
    """Write a count, whole if it is whole."""
    return _written(number, 1.0, "")


def counted(number: Number, what: str) -> str:
    """Write a count of something with its name, as ``1 segment`` or ``2 segments``."""
    alone = mean(number) == 1 and not half_width(number)
    return f"{count(number)} {what}{'' if alone else 's'}"


def spread(values: Sequence[float], unit: str) -> str:
    """Write the mean of several numbers with the least and the most: ``2.5 (1–4) Mbit/s``."""
    if not values:
        return "–"
    centre, least, most = math.fsum(values) / len(values), min(values), max(values)
    if unit == "s" and centre >= 1000:
        scale, prefix = 1.0, ""
    else:
        scale, prefix = _prefix(centre, 1e-9 if unit == "s" else 1.0)
    if least == most:
        return f"{_digits(most / scale)} {prefix}{unit}"
    return f"{_digits(centre / scale)} ({_digits(least / scale)}–{_digits(most / scale)}) {prefix}{unit}"


def _prefix(value: float, smallest: float) -> tuple[float, str]:
    fitting = ((scale, prefix) for scale, prefix in _PREFIXES if scale >= smallest and abs(value) >= scale)
    return next(fitting, (1.0, ""))


def _written(number: Number, scale: float, unit: str) -> str:
    """Write a number and its interval, with a question mark where that may be too narrow.

    It says which share of the runs has the number, where not all do, and that random runs all had the same.
    """
    if (value := mean(number)) is None:
        return "–"
    text, width = _digits(value / scale), half_width(number)
    if not isinstance(number, dict):
        return text + unit
    doubt = "?" if "doubt" in number else ""
    if width and "low" in number and "high" in number:
        text += f" ({_digits(number['low'] / scale, 2)}–{_digits(number['high'] / scale, 2)}{doubt})"
    elif width:
        text += f" ± {_digits(width / scale, digits=2)}{doubt}"
    text += unit + (f" of {_digits(100 * number['present'], 2)} %" if "present" in number else "")
    return f"{text} in all runs" if number.get("doubt") == "equal" else text


def doubted(*numbers: object) -> bool:
    """Say whether an interval of these numbers, or of what tables and lists of them hold, is doubtful."""
    return _has("doubt", numbers, but="equal")


def partial(*numbers: object) -> bool:
    """Say whether one of these numbers, or of what tables and lists hold, is of a part of the runs."""
    return _has("present", numbers)


def _has(key: str, numbers: object, but: str = "") -> bool:
    if isinstance(numbers, dict):
        return numbers.get(key, but) != but or _has(key, list(numbers.values()), but)
    return isinstance(numbers, list | tuple) and any(_has(key, number, but) for number in numbers)


def about_intervals(runs: int) -> str:
    """Say what the intervals of a table are, and what so many runs may not show."""
    unseen = 100 * (1 - 0.05 ** (1 / runs))
    return f"95 % intervals; events in less than {unseen:.2g} % of runs may be missing"


NOTE_OF_A_PART = (
    "of N %: share of the runs with the number; the mean is of these, for unfinished times a lower bound"
)
"""Stands under a table that has a number of a part of the runs."""

NOTHING_RANDOM = "nothing is random: one run is enough"

NOTE_OF_DOUBT = "? perhaps too narrow: fewer than 10 runs, skewed values, or single losses (use more --runs)"
"""Stands under a table that has an interval with a question mark."""


def _digits(value: float, digits: int = 4) -> str:
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    if abs(value) >= 10 ** (digits - 1):
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"
