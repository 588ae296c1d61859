"""Sees that a result that was read from a file has what a picture is made of."""

import math
from collections.abc import Mapping
from typing import Any, cast

from bentpipe.results import Run

_NEEDED: Mapping[str, Any] = {
    "scenario": "text",
    "seed": "number",
    "duration_s": "time",
    "flows": [{"name": "text", "variant": "text", "bytes_delivered": "number"}],
    "links": [{"name": "text", "queue_max_packets": "number"}],
    "handovers": [{"name": "text", "at_s": "number"}],
}
"""The keys of a result, and of the rows of its lists, with the kind of each value."""


def checked(value: Any) -> Run:
    """Give `value` back as a run, if all that a picture needs is there and of its kind.

    Raises
    ------
    ValueError
        It is not; the message names the place and what was expected.
    """
    _check(value, "", _NEEDED)
    if not value["flows"]:
        raise ValueError("flows: expected at least one flow, found none")
    for number, flow in enumerate(value["flows"]):
        if flow.get("group") is not None:
            _check(flow["group"], f"flows[{number}].group", "text")
    return cast(Run, value)


def _check(value: Any, where: str, kind: Any) -> None:
    if isinstance(kind, Mapping):
        if not isinstance(value, dict):
            raise _wrong(where, "an object", value)
        for key, inner in kind.items():
            place = f"{where}.{key}" if where else key
            if key not in value:
                raise ValueError(f"{place}: expected a value, found none")
            _check(value[key], place, inner)
    elif isinstance(kind, list):
        if not isinstance(value, list):
            raise _wrong(where, "a list", value)
        for number, row in enumerate(value):
            _check(row, f"{where}[{number}]", kind[0])
    elif kind == "text":
        if not isinstance(value, str):
            raise _wrong(where, "a text", value)
    else:
        _check_number(value, where, above_zero=kind == "time")


def _check_number(value: Any, where: str, *, above_zero: bool) -> None:
    if isinstance(value, dict) and "mean" in value:
        value = value["mean"]
    if isinstance(value, bool) or not isinstance(value, int | float) or not _finite(value):
        raise _wrong(where, "a number", value)
    if value < 0:
        raise _wrong(where, "a number that is not negative", value)
    if above_zero and value == 0:
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
