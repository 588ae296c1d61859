"""Sees that a result that was read from a file has what a picture is made of."""

import math
from collections.abc import Callable
from typing import Any, cast

from bentpipe.results import Run

_Check = Callable[[Any, str], None]


def checked(value: Any) -> Run:
    """Give `value` back as a run, if all that a picture needs is there and of its kind.

    Raises
    ------
    ValueError
        It is not; the message names the place and what was expected.
    """
    _object({"scenario": _text, "seed": _number, "duration_s": _length, **_ROWS})(value, "")
    return cast(Run, value)


def _object(keys: dict[str, _Check]) -> _Check:
    def check(value: Any, where: str) -> None:
        if not isinstance(value, dict):
            raise _wrong(where, "an object", value)
        for key, inner in keys.items():
            place = f"{where}.{key}" if where else key
            if key not in value:
                raise ValueError(f"{place}: expected a value, found none")
            inner(value[key], place)

    return check


def _rows(keys: dict[str, _Check]) -> _Check:
    row = _object(keys)

    def check(value: Any, where: str) -> None:
        if not isinstance(value, list):
            raise _wrong(where, "a list", value)
        for number, each in enumerate(value):
            row(each, f"{where}[{number}]")

    return check


def _flows(value: Any, where: str) -> None:
    _rows({"name": _text, "variant": _text, "bytes_delivered": _number})(value, where)
    if not value:
        raise ValueError(f"{where}: expected at least one flow, found none")
    for number, flow in enumerate(value):
        if flow.get("group") is not None:
            _text(flow["group"], f"{where}[{number}].group")


def _text(value: Any, where: str) -> None:
    if not isinstance(value, str):
        raise _wrong(where, "a text", value)


def _number(value: Any, where: str) -> None:
    if isinstance(value, dict) and "mean" in value:
        value = value["mean"]
    if isinstance(value, bool) or not isinstance(value, int | float) or not _finite(value):
        raise _wrong(where, "a number", value)
    if value < 0:
        raise _wrong(where, "a number that is not negative", value)


def _length(value: Any, where: str) -> None:
    _number(value, where)
    if (value["mean"] if isinstance(value, dict) else value) == 0:
        raise _wrong(where, "a time above zero", 0)


def _finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _wrong(where: str, expected: str, found: Any) -> ValueError:
    kinds = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    shown = kinds.get(type(found)) or (f"{found:g}" if _finite(found) else "one that is not finite")
    return ValueError(f"{where or 'the file'}: expected {expected}, found {shown}")


_ROWS: dict[str, _Check] = {
    "flows": _flows,
    "links": _rows({"name": _text, "queue_max_packets": _number}),
    "handovers": _rows({"name": _text, "at_s": _number}),
}
