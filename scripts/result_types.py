"""Writes the stubs of the package: its names, and the types of a run's result as the engine declares them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bentpipe
from bentpipe.numbers.declared import fields, schema

PACKAGE = Path(__file__).parents[1] / "python" / "bentpipe"

_HEAD = '''"""The types of a run's result, by `make types`."""

from functools import cached_property
from typing import Literal, NotRequired, TypeAlias, TypedDict

from bentpipe.numbers.number import Number
from bentpipe.runs.result import Table
'''


def stubs() -> dict[Path, str]:
    """Give the texts of the stubs."""
    return {PACKAGE / "__init__.pyi": _names(), PACKAGE / "result_types.pyi": _types()}


def _names() -> str:
    lines = [
        f"from bentpipe.{module} import {name} as {name}"
        for module, names in bentpipe._HOMES.items()
        for name in names
    ]
    head = '"""The names of the package, by `make types`."""\n'
    return "\n".join(
        [head, *lines, "\n_HOMES: dict[str, tuple[str, ...]]\n__all__: list[str]\n__version__: str\n"]
    )


def _types() -> str:
    there = schema()["$defs"]
    parts = [_HEAD, *(_class(name, there[name]) for name in _in_order(there)), _class("RunResult", schema())]
    return "\n".join([*parts, *_tables()])


def _tables() -> Iterator[str]:
    """Give the names of the tables, and the attributes that each result has of them."""
    tables = {key: field for key, field in fields(schema()) if field.get("type") == "array"}
    names = "".join(f"    {json.dumps(key)},\n" for key in tables)
    yield f"What: TypeAlias = Literal[\n{names}]\n"
    yield 'class Tables:\n    """The tables of a result."""\n'
    for key, field in tables.items():
        yield f"    @cached_property\n    def {key}(self) -> Table[{_type(field['items'])}]:"
        yield f'        """{_about(field)}"""\n'


def _in_order(types: dict[str, Any]) -> Iterator[str]:
    """Give the names of the objects, those first that others refer to."""
    done: list[str] = []
    waiting = [name for name, one in types.items() if one.get("type") == "object"]
    while waiting:
        for name in list(waiting):
            if not any(f'"#/$defs/{other}"' in json.dumps(types[name]) for other in waiting if other != name):
                done.append(name)
                waiting.remove(name)
    yield from done


def _about(of: dict[str, Any]) -> str:
    return str(of["description"]).partition(": ")[0].partition(";")[0].removesuffix(".") + "."


def _class(name: str, structure: dict[str, Any]) -> str:
    lines = [f"class {_named(name)}(TypedDict):", f'    """{_about(structure)}"""', ""]
    for key, field in fields(structure):
        kind = _type(field)
        kind = (
            kind if key in structure.get("required", []) else f"NotRequired[{kind.removesuffix(' | None')}]"
        )
        lines.append(f"    {key}: {kind}")
    return "\n".join(lines) + "\n"


def _type(field: dict[str, Any]) -> str:
    if "$ref" in field:
        return _named(field["$ref"].rpartition("/")[2])
    if "anyOf" in field:
        return " | ".join(map(_type, field["anyOf"]))
    kinds = field["type"] if isinstance(field["type"], list) else [field["type"]]
    if "array" in kinds:
        return f"list[{_type(field['items'])}]"
    if "number" in field and ["runs", "one"] not in field["number"]:
        return "Number"
    names = {"string": "str", "integer": "int", "number": "float", "null": "None"}
    return " | ".join(names[kind] for kind in kinds)


def _named(name: str) -> str:
    if name == "Ended":
        return 'Literal["limit", "disk"]'
    return "Measured" if name == "RunResult" else name.removesuffix("Result")


if __name__ == "__main__":
    for path, text in stubs().items():
        path.write_text(text, encoding="utf-8")
