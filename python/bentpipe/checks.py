"""Checks what callers in Python give: what cannot be used is one line that names it."""

import json
import math
import operator
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from bentpipe.errors import InputError

Settings: TypeAlias = Mapping[str, object] | Iterable[tuple[str, object]]
"""Changes to a scenario: ``{"flows.download.variant": "reno", "seed": 7}``, or the same as pairs.

A value is a text, as behind the ``=`` of ``--set``, or a number, true or false, a list or a mapping.
"""


_MOST_OF_A_PATH, _MOST_OF_A_NAME = 4096, 255
"""Bytes that Linux takes."""


def whole(name: str, value: Any, least: int, most: int) -> int:
    """Read a whole number, also of another library's types; ``True`` is none."""
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = None
    if number is None or not least <= number <= most:
        raise InputError(f"{name}: expected a whole number from {least:,} to {most:,}, found {value!r}")
    return number


def precision(value: Any) -> float:
    """Read a share of one, which 0 and 1 are not."""
    try:
        share = math.nan if isinstance(value, bool | str) else float(value)
    except (TypeError, ValueError):
        share = math.nan
    if not 0.0 < share < 1.0:
        raise InputError(f"precision: expected a share between 0 and 1, such as 0.02, found {value!r}")
    return share


def texts(name: str, value: Any) -> tuple[str, ...]:
    """Read several texts; a single one is none of them."""
    several = None if isinstance(value, str | bytes) or not isinstance(value, Iterable) else tuple(value)
    if several is None or not all(isinstance(text, str) for text in several):
        raise InputError(f"{name}: expected several texts, found {value!r}")
    return several


def path(name: str, value: Any) -> Path:
    """Read a path, or its text."""
    try:
        given = Path(value)
    except TypeError:
        raise InputError(f"{name}: expected a str or a Path, found {found(value)}") from None
    sizes = [len(os.fsencode(part)) for part in given.parts]
    if sum(sizes) >= _MOST_OF_A_PATH or max(sizes, default=0) > _MOST_OF_A_NAME:
        raise InputError(f"{name}: expected a path that a disk takes, found one of {sum(sizes):,} bytes")
    return given


def items(value: Any) -> list[tuple[Any, Any]]:
    """Give the items of a mapping, or pairs as they are.

    Raises TypeError, ValueError: it is neither.
    """
    if isinstance(value, str | bytes):
        raise TypeError
    return [(key, part) for key, part in (value.items() if isinstance(value, Mapping) else value)]


def pairs(settings: Any) -> list[tuple[str, str]]:
    """Read `Settings` as texts."""
    try:
        given = items(settings)
    except (TypeError, ValueError):
        raise InputError(
            f'settings: expected a mapping as {{"seed": 7}}, or pairs, found {settings!r}'
        ) from None
    return [(_name(key), _unicode(key, v) if isinstance(v, str) else toml(key, v)) for key, v in given]


def _name(key: Any) -> str:
    if not isinstance(key, str):
        raise InputError(f'settings: expected names such as "links.satellite.rate", found {key!r}')
    return _unicode(key, key)


def toml(key: str, value: Any) -> str:
    """Write what stands behind ``key =`` in a scenario, in one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # JSON leaves alone one character that TOML wants escaped.
        return json.dumps(_unicode(key, value), ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        parts = (f"{toml_key(key, name)} = {toml(f'{key}.{name}', part)}" for name, part in value.items())
        return f"{{{', '.join(parts)}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(toml(f'{key}[{place}]', part) for place, part in enumerate(value))}]"
    if hasattr(value, "__index__"):
        return str(operator.index(value))
    if isinstance(value, float) or hasattr(value, "__float__"):
        return repr(float(value))
    wanted = "a str, a number, True or False, a list or a mapping"
    raise InputError(f"settings: {key}: expected {wanted}, found {found(value)}")


def toml_key(place: str, key: Any) -> str:
    """Write a key of the table `place`, in quotes."""
    if not isinstance(key, str):
        wanted = 'names such as "links"' if not place else "names"
        raise InputError(f"settings: {place or 'keys'}: expected {wanted}, found {key!r}")
    return toml(key, key)


def _unicode(key: str, text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError(f"settings: {key!a}: expected Unicode text, found {text!a}") from None
    return text


def found(value: Any) -> str:
    """Say of what type it is."""
    return "None" if value is None else f"{type(value).__name__}"
