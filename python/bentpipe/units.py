"""Numbers as people read them: rounded, with a unit, with their interval."""

import math
from collections.abc import Sequence

from bentpipe.results import Number, half_width, mean

_PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"))


def quantity(number: Number, unit: str, *, smallest: float = 1.0) -> str:
    """Write a number with a decimal prefix and its interval if it has any: ``1.234 ± 0.01 Mbit/s``.

    `smallest` is the smallest prefix allowed: 1 for what is never a fraction (bytes), 1e-9 for times.
    """
    value = mean(number)
    if value is None:
        return "–"
    scale, prefix = _prefix(value, smallest)
    return f"{_scaled(value, half_width(number), scale)} {prefix}{unit}"


def seconds(number: Number) -> str:
    """Write a time; milliseconds and less below one second, seconds above."""
    value = mean(number)
    if value is not None and value >= 1000:
        return f"{_scaled(value, half_width(number), 1.0)} s"
    return quantity(number, "s", smallest=1e-9)


def percent(number: Number) -> str:
    """Write a share of one in per cent."""
    value = mean(number)
    return "–" if value is None else f"{_scaled(value, half_width(number), 0.01)} %"


def count(number: Number) -> str:
    """Write a count, whole if it is whole."""
    value = mean(number)
    if value is None:
        return "–"
    return _scaled(value, half_width(number), 1.0)


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


def _scaled(value: float, width: float | None, scale: float) -> str:
    text = _digits(value / scale)
    return text if not width else f"{text} ± {_digits(width / scale, digits=2)}"


def _digits(value: float, digits: int = 4) -> str:
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    if abs(value) >= 10 ** (digits - 1):
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"
