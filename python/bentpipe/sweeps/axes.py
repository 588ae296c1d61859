"""What a sweep varies: keys of a scenario, each with its values, and the points that they make together."""

import math
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bentpipe.errors import InputError

MOST_RUNS = 100_000_000
"""The most runs of a sweep: points times replications."""

_UNITS: tuple[Mapping[str, float], ...] = (
    {"bit/s": 1.0, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9, "Tbit/s": 1e12},
    {"b/s": 1.0, "kb/s": 1e3, "Mb/s": 1e6, "Gb/s": 1e9, "Tb/s": 1e12},
    {"bps": 1.0, "kbps": 1e3, "Mbps": 1e6, "Gbps": 1e9, "Tbps": 1e12},
    {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30},
    {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0},
)
_QUANTITY = re.compile(r"([+-]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([^\d\s].*)?")
_RANGE = re.compile(r"(?P<low>.*?[^.])\.\.(?P<high>[^.:][^:]*)(?::(?P<scale>log|lin))?(?::(?P<count>[^:]*))?")
_PART = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([^."']+))\s*""")
_SHAPES = "V1,V2,… or LO..HI:N or LO..HI:log:N"


@dataclass(frozen=True)
class Axis:
    """A key of a scenario, and the values that it takes, as texts behind the ``=`` of ``--set``.

    `given` is what was asked for: the text of a range, or the values.
    """

    key: str
    values: tuple[str, ...]
    given: str | tuple[str, ...]

    def numbers(self) -> tuple[list[float], str] | None:
        """Give the values as numbers of one unit, and that unit; ``None`` if they are none."""
        quantities = [_quantity(value) for value in self.values]
        found = [quantity for quantity in quantities if quantity is not None]
        if len(found) < len(quantities):
            return None
        unit = found[0][1]
        factors = [_factor(other, unit) for _, other in found]
        if None in factors:
            return None
        return [number * (factor or 1.0) for (number, _), factor in zip(found, factors, strict=True)], unit


@dataclass(frozen=True)
class Points:
    """The points of a sweep: every combination of the axes' values, the last axis fastest, or a sample.

    A sample has as many values on each axis as points, and point k has the k-th of each.
    """

    axes: tuple[Axis, ...]
    sample: int | None = None

    def __len__(self) -> int:
        return self.sample or math.prod(len(axis.values) for axis in self.axes)

    def places(self, point: int) -> list[int]:
        """Give, for each axis, which of its values this point has."""
        if self.sample is not None:
            return [point] * len(self.axes)
        found = []
        for axis in reversed(self.axes):
            point, place = divmod(point, len(axis.values))
            found.append(place)
        return found[::-1]

    def settings(self, point: int) -> list[tuple[str, str]]:
        """Give what this point changes of the scenario."""
        places = zip(self.axes, self.places(point), strict=True)
        return [(axis.key, axis.values[place]) for axis, place in places]


def points_of(vary: Sequence[tuple[str, Any]], sample: int | None, seed: int) -> Points:
    """Read what is varied: pairs of a key and of texts as behind the ``=`` of ``--vary``, or of values.

    With `sample`, that many points are drawn, by `seed`, so that each axis is covered evenly: a Latin
    hypercube. A list is drawn from as often, to one, as any other of its values.

    Raises InputError: it cannot be used; the message names the key.
    """
    if not vary:
        raise InputError(
            "--vary: expected a key and values, as tcp.receive_window='64 KiB,1 MiB', found none"
        )
    axes: list[Axis] = []
    for key, values in vary:
        if any(axis.key == key for axis in axes):
            raise InputError(f"--vary {key}: expected each key once, found it twice")
        for axis in axes:
            if _covers(axis.key, key):
                raise InputError(
                    f"--vary {key}: expected keys that set different things, found {axis.key} too, "
                    "of which one covers the other"
                )
        axes.append(_axis(key, values, None if sample is None else (sample, f"{seed} {key}")))
    return Points(tuple(axes), sample)


def _covers(one: str, other: str) -> bool:
    """Say whether two keys set the same value, or one a table that the other is in; ``*`` is any name."""
    parts = [["".join(part) for part in _PART.findall(key)] for key in (one, other)]
    return all(x == y or "*" in (x, y) for x, y in zip(*parts, strict=False))


def _axis(key: str, given: Any, draw: tuple[int, str] | None) -> Axis:
    if isinstance(given, str):
        items = [item.strip() for item in _split(given)]
        if len(items) == 1 and (found := _RANGE.fullmatch(items[0])) and _quantity(found["low"].strip()):
            return Axis(key, _between(key, items[0], found, draw), items[0])
    else:
        items = [_written(key, value) for value in given]
    if not items or "" in items:
        raise InputError(
            f"--vary {key}: expected {_SHAPES}, found {'an empty value' if items else 'no value'}"
        )
    twice = next((item for place, item in enumerate(items) if item in items[:place]), None)
    if twice is not None:
        raise InputError(f"--vary {key}: expected each value once, found {twice!r} twice")
    values = tuple(items)
    if draw is not None:
        values = tuple(items[int(share * len(items))] for share in _shares(*draw))
    return Axis(key, values, tuple(items))


def _written(key: str, value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float) or hasattr(value, "__index__"):
        return str(value)
    raise InputError(f"vary: {key}: expected texts, numbers, True or False, found {type(value).__name__}")


def _split(text: str) -> list[str]:
    """Take a list apart at the commas that stand in no brackets and no quotation marks."""
    items, depth, quote = [""], 0, ""
    for sign in text:
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
        else:
            depth += (sign in "[{(") - (sign in ")}]")
        if sign == "," and depth == 0 and not quote:
            items.append("")
        else:
            items[-1] += sign
    return items


def _between(key: str, text: str, found: re.Match[str], draw: tuple[int, str] | None) -> tuple[str, ...]:
    def wrong(expected: str) -> InputError:
        return InputError(f"--vary {key}: expected {expected}, found {text!r}")

    low, high = _quantity(found["low"].strip()), _quantity(found["high"].strip())
    if low is None or high is None:
        raise wrong("two numbers around .., such as 1 Mbit/s..100 Mbit/s:log:5")
    unit = high[1]
    factor = _factor(low[1], unit) if low[1] else 1.0
    if factor is None:
        raise wrong("both ends in units of one kind")
    first, last = low[0] * factor, high[0]
    logarithmic = found["scale"] == "log"
    if not first < last:
        raise wrong("a range whose first end is below its last")
    if logarithmic and first <= 0:
        raise wrong("a range above zero, which a logarithm has")
    if draw is not None:
        if found["count"] is not None:
            raise wrong("LO..HI or LO..HI:log, as --sample says how many values are drawn")
        shares = _shares(*draw)
    else:
        count = found["count"]
        if count is None or not re.fullmatch(r"\d{1,9}", count) or int(count) < 2:
            raise wrong("the number of values behind the range, two or more, as LO..HI:7")
        if int(count) > MOST_RUNS:
            raise wrong(f"at most {MOST_RUNS:,} values")
        shares = [place / (int(count) - 1) for place in range(int(count))]

    def value(share: float) -> str:
        number = first * (last / first) ** share if logarithmic else first + (last - first) * share
        return f"{_short(number)} {unit}".strip()

    values = [value(share) for share in shares]
    if draw is None and len(set(values)) < len(values):
        raise wrong("a range that has so many values of six digits")
    return tuple(values)


def _short(number: float) -> str:
    rounded = float(f"{number:.6g}")
    return str(int(rounded)) if rounded.is_integer() and abs(rounded) < 1e15 else repr(rounded)


def _shares(count: int, seed: str) -> list[float]:
    """Draw one number from each of `count` equal parts of 0 to 1, in an order drawn too."""
    stream = random.Random(f"bentpipe sample {seed}")  # noqa: S311 - it is to be the same everywhere
    # In the documentation of Python these, and not shuffle(), give the same numbers in each version.
    order = sorted(range(count), key=lambda _: stream.random())
    return [(place + stream.random()) / count for place in order]


def _quantity(text: str) -> tuple[float, str] | None:
    found = _QUANTITY.fullmatch(text)
    return (float(found[1].replace("_", "")), (found[2] or "").strip()) if found else None


def _factor(unit: str, wanted: str) -> float | None:
    """Give how many of `wanted` one `unit` is; ``None`` if they are not of one kind."""
    if unit == wanted:
        return 1.0
    for units in _UNITS:
        if unit in units and wanted in units:
            return units[unit] / units[wanted]
    return None
