"""The keys of scenarios, from the schema that the engine reads them by."""

import json
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from typing import Any, NamedTuple

from bentpipe import _core

NAME = "NAME"
"""Stands in a path for what somebody named, a link or a flow."""

_Entry = Mapping[str, Any]


class Key(NamedTuple):
    """A key: its path, the other key's value that brings it (as ``model = "packet"``), the schema's entry."""

    path: tuple[str, ...]
    beside: str
    entry: _Entry
    required: bool

    def fits(self, wanted: tuple[str, ...]) -> bool:
        """Say whether the path ends so; a name fits whatever stands there."""
        ending = self.path[-len(wanted) :]
        return len(ending) == len(wanted) and all(
            own in (NAME, one) for own, one in zip(ending, wanted, strict=True)
        )


def find(key: str) -> list[Key]:
    """Give the keys of this path, or else those whose path ends so; none where there is no such key."""
    wanted = tuple(key.split("."))
    found = [one for one in every_key() if one.path[-1] in (NAME, wanted[-1]) and one.fits(wanted)]
    whole = [one for one in found if len(one.path) == len(wanted)]
    return whole or [one for one in found if one.path[-1] != NAME]


def nearest(key: str) -> list[str]:
    """Give the keys that are written most like it, at most five."""
    *before, last = key.split(".")
    close = get_close_matches(last, {one.path[-1] for one in every_key()}, 5, 0.6)
    there = ((".".join([*before, each]), each) for each in close)
    return list(dict.fromkeys(path if find(path) else each for path, each in there))


@cache
def every_key() -> list[Key]:
    """Give every key, a table before the keys in it."""
    return list(_in_table(_schema(), (), "", _schema()["$defs"]))


@cache
def _schema() -> _Entry:
    schema: _Entry = json.loads(_core.schema())
    return schema


def _in_table(entry: _Entry, path: tuple[str, ...], beside: str, definitions: _Entry) -> Iterator[Key]:
    if "$ref" in entry:
        yield from _in_table(definitions[entry["$ref"].rpartition("/")[2]], path, beside, definitions)
    for form in (*entry.get("oneOf", ()), *entry.get("anyOf", ())):
        yield from _in_table(form, path, ", ".join(_chosen(form)) or beside, definitions)
    if isinstance(entry.get("items"), Mapping):
        yield from _in_table(entry["items"], path, beside, definitions)
    if isinstance(named := entry.get("additionalProperties"), Mapping):
        yield from _in_table(named, (*path, NAME), beside, definitions)
    for key, value in entry.get("properties", {}).items():
        if "const" not in value:
            yield Key((*path, key), beside, value, key in entry.get("required", ()))
            yield from _in_table(value, (*path, key), "", definitions)


def written(value: _Entry, of_reference: Callable[[str], str]) -> str:
    """Say what may stand behind a key, with bounds; `of_reference` says it of a definition by its name."""
    if "$ref" in value:
        return of_reference(value["$ref"].rpartition("/")[2])
    if "enum" in value:
        return ", ".join(f"`{json.dumps(one)}`" for one in value["enum"])
    if forms := value.get("anyOf", value.get("oneOf")):
        return " or ".join(dict.fromkeys(written(one, of_reference) for one in forms))
    if value.get("type") == "array":
        return f"list of {written(value.get('items', {}), of_reference)}"
    if isinstance(value.get("additionalProperties"), Mapping):
        return f"by name: {written(value['additionalProperties'], of_reference)}"
    kind = value.get("type", "any")
    names = [kind] if isinstance(kind, str) else [one for one in kind if one != "null"]
    least = value.get("minimum", value.get("exclusiveMinimum"))
    most = value.get("maximum", value.get("exclusiveMaximum"))
    bounds = ""
    if least is not None and most is not None:
        bounds = f" from {least:,} to {most:,}"
    elif least is not None:
        bounds = f" of at least {least:,}" if "minimum" in value else f" above {least:,}"
    words = {"boolean": "true or false", "integer": "whole number", "string": "text"}
    return " or ".join(words.get(name, name) for name in names) + bounds


def of_profiles(value: _Entry) -> str:
    """Say what each profile has; without names where all have the same."""
    profiles: dict[str, list[str]] = {}
    for profile, default in value["profiles"].items():
        profiles.setdefault(default, []).append(profile)
    if len(profiles) == 1 < len(value["profiles"]):
        return next(iter(profiles))
    return ", ".join(f"{default} ({', '.join(names)})" for default, names in profiles.items())


def meaning(key: Key) -> list[str]:
    """Give what a key means, what may stand behind it, and what holds without it, a line each."""
    about = " ".join(str(key.entry.get("description", "")).split())
    lines = [about, f"value    {written(key.entry, _definition).replace('`', '')}"] if about else []
    if "profiles" in key.entry:
        lines.append(f"default  {of_profiles(key.entry)}")
    elif "default" in key.entry:
        lines.append(f"default  {json.dumps(key.entry['default'], ensure_ascii=False)}")
    elif key.required:
        lines.append("default  none: the key is required")
    elif key.path[-2:-1] == ("tcp",) and "default" not in about and "value    a table" not in lines[-1]:
        lines.append("default  what tcp.profile says (bentpipe list profiles)")
    return lines


def _definition(name: str) -> str:
    entry: _Entry = _schema()["$defs"][name]
    about = " ".join(str(entry.get("description", "")).split()).rstrip(".")
    if forms := entry.get("oneOf", entry.get("anyOf")):
        consts = [f'"{form["const"]}"' for form in forms if "const" in form]
        return ", ".join(consts) or " or ".join(_form(form, about) for form in forms)
    keys = ", ".join(entry.get("properties", {}))
    return f"a table of {keys}" if keys else about or written(entry, _definition)


def _form(form: _Entry, about: str) -> str:
    if chosen := _chosen(form):
        others = [key for key, value in form["properties"].items() if "const" not in value]
        return f"{{ {', '.join([*chosen, *others])} }}"
    if "$ref" in form:
        return _definition(form["$ref"].rpartition("/")[2])
    return str(form.get("description", about))


def _chosen(form: _Entry) -> list[str]:
    """Give the values that tell a form from others, as ``model = "packet"``."""
    keys = form.get("properties", {}).items()
    return [f'{key} = "{value["const"]}"' for key, value in keys if "const" in value]
