"""Writes `bentpipe.result_types`: the types of a run's result, from the schema of the Rust side."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from textwrap import wrap
from typing import Any

from bentpipe import _core

FILE = Path(__file__).parents[1] / "result_types.py"

_HEAD = '''"""The types of a run's result, written by `make types` from the schema of the Rust side."""

from typing import Literal, NotRequired, TypedDict

from bentpipe.numbers.number import Number
'''

_ONE_IN_ALL = ("seed", "page", "transaction", "points", "packets", "bytes", "ended_s")
"""Numbers that replications do not make an estimate of."""

_WIDTH = 106


def generate() -> str:
    """Give the text of the file."""
    schema = json.loads(_core.result_schema())
    types = schema["$defs"]
    parts = [_HEAD, *(_class(name, types[name]) for name in _in_order(types)), _class("RunResult", schema)]
    tables = {
        key: dict(_fields(types[part["items"]["$ref"].rpartition("/")[2]]))
        for key, part in _fields(schema)
        if part.get("type") == "array"
    }
    parts.append(_columns(tables))
    return "\n\n".join(parts)


def _in_order(types: dict[str, Any]) -> Iterator[str]:
    """Give the names of the objects, those first that others refer to."""
    done: list[str] = []
    waiting = [name for name, told in types.items() if told.get("type") == "object"]
    while waiting:
        for name in list(waiting):
            if not any(f'"#/$defs/{other}"' in json.dumps(types[name]) for other in waiting if other != name):
                done.append(name)
                waiting.remove(name)
    yield from done


def _class(name: str, told: dict[str, Any]) -> str:
    lines = [f"class {_named(name)}(TypedDict):", *_doc(told["description"])]
    for key, field in _fields(told):
        kind = _type(key, field)
        kind = kind if key in told.get("required", []) else f"NotRequired[{kind.removesuffix(' | None')}]"
        lines += ["", f"    {key}: {kind}", *_doc(field.get("description", ""))]
    return "\n".join(lines) + "\n"


def _fields(told: dict[str, Any]) -> list[tuple[str, Any]]:
    """Give the fields of an object in the order in which the Rust side has them; the schema sorts them."""
    fields = told["properties"]
    return [(key, fields[key]) for key in dict.fromkeys([*told.get("required", []), *fields])]


def _type(key: str, field: dict[str, Any]) -> str:
    if "$ref" in field:
        return _named(field["$ref"].rpartition("/")[2])
    if "anyOf" in field:
        return " | ".join(_type(key, part) for part in field["anyOf"])
    kinds = field["type"] if isinstance(field["type"], list) else [field["type"]]
    if "array" in kinds:
        return f"list[{_type(key, field['items'])}]"
    if {"integer", "number"} & set(kinds) and key not in _ONE_IN_ALL:
        return "Number"
    names = {"string": "str", "integer": "int", "number": "float", "null": "None"}
    return " | ".join(names[kind] for kind in kinds)


def _named(name: str) -> str:
    if name == "Ended":
        return 'Literal["limit", "disk"]'
    return "Measured" if name == "RunResult" else name.removesuffix("Result")


def _doc(text: str) -> list[str]:
    """Give a docstring in the lines of the file."""
    plain = " ".join(re.sub(r"\bnull\b", "`None`", text).replace("`", "``").split())
    if len(plain) <= _WIDTH - 10:
        return [f'    """{plain}"""'] if plain else []
    first, _, rest = plain.partition(": ") if ": " in plain[: _WIDTH - 12] else plain.partition("; ")
    if not rest or len(first) > _WIDTH - 12:
        return ['    """', *(f"    {line}" for line in wrap(plain, _WIDTH - 4)), '    """']
    rest = rest[0].upper() + rest[1:]
    body = [f"    {line}" for line in wrap(rest.rstrip(".") + ".", _WIDTH - 4)]
    return [f'    """{first.rstrip(".")}.', "", *body, '    """']


def _columns(tables: dict[str, Any]) -> str:
    lines = ['COLUMNS: dict[str, dict[str, Literal["text", "integer", "number"]]] = {']
    for table, fields in tables.items():
        lines.append(f'    "{table}": {{')
        for key, field in fields.items():
            kinds = field["type"] if isinstance(field["type"], list) else [field["type"]]
            kind = {"string": "text", "integer": "integer", "number": "number"}[kinds[0]]
            lines.append(f'        "{key}": "{kind}",')
        lines.append("    },")
    about = '"""The tables of a result: their columns, and what these hold in a single run."""'
    return "\n".join([*lines, "}", about]) + "\n"


if __name__ == "__main__":
    FILE.write_text(generate(), encoding="utf-8")
