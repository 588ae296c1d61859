"""Numbers as people read them: rounded, with a unit, with their interval."""

from bentpipe.results import Number, half_width, mean

_PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"))


def quantity(number: Number, unit: str, *, smallest: float = 1.0) -> str:
    """Write a number with a decimal prefix and its interval if it has any: ``1.234 ± 0.01 Mbit/s``.

    `smallest` is the smallest prefix allowed: 1 for what is never a fraction (bytes), 1e-9 for times.
    """
    value = mean(number)
    if value is None:
        return "–"
    scale, prefix = next(
        ((scale, prefix) for scale, prefix in _PREFIXES if scale >= smallest and abs(value) >= scale),
        (1.0, ""),
    )
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


def _scaled(value: float, width: float | None, scale: float) -> str:
    text = _digits(value / scale)
    return text if not width else f"{text} ± {_digits(width / scale, digits=2)}"


def _digits(value: float, digits: int = 4) -> str:
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    if abs(value) >= 10 ** (digits - 1):
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"
