"""The page of a scenario's keys, from the schema that the engine reads scenarios by."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from bentpipe import _core
from bentpipe.guide.keys import of_profiles, written

_HEAD = """# Scenarios, key by key

After this page you can look up any key: its values, its bounds, its default. It is made from the schema that
the engine reads scenarios by; [scenario.md](../reference/scenario.md) and
[applications.md](../reference/applications.md) show the keys at work.

An editor that knows the schema completes keys, shows what they mean and marks mistakes. With Even Better TOML
(Taplo), as Visual Studio Code and others have it, write the schema to a file and name it in the first line of
a scenario:

```console
$ bentpipe schema > scenario.schema.json
```

```toml
#:schema ./scenario.schema.json
extends = "preset:geo"
```

A key in **bold** is required. Where a table has several forms, their headings say which value chooses. A
default with names behind it is that of these profiles.
"""

_NAMES = {"Span": "time", "Bytes": "size", "Rate": "rate", "Segments": "window", "Tcp": "TCP", "Rto": "RTO"}

_TOP = "The scenario"


def page() -> str:
    """Give the page."""
    schema = json.loads(_core.schema())
    definitions: dict[str, Any] = schema["$defs"]
    parts = [_HEAD, *_section(_TOP, schema)]
    order = ["LinkFile", "DirectionFile", "FlowFile", "TcpFile"]
    tables = {name: entry for name, entry in definitions.items() if _is_table(entry)}
    for name in [*order, *(name for name in tables if name not in order)]:
        parts += _flow(tables[name]) if name == "FlowFile" else _section(_title(name), tables[name])
    values = [
        f"| {_title(name)} | {_prose(entry['description'])} |"
        for name, entry in definitions.items()
        if "pattern" in entry
    ]
    parts.append("\n".join(["## Values", "", "| value | what |", "| --- | --- |", *values]))
    return "\n".join(parts).rstrip() + "\n"


def _is_table(entry: Mapping[str, Any]) -> bool:
    forms = entry.get("oneOf", [entry])
    return any("properties" in form or "const" in form for form in forms)


def _flow(entry: Mapping[str, Any]) -> Iterator[str]:
    """Give the keys of every flow, and then those of each application."""
    keys = entry["properties"]
    names = keys["app"]["enum"]
    begin = re.compile(rf"(?:^| )({'|'.join(names)}): ")
    every: dict[str, Any] = {}
    own: dict[str, dict[str, Any]] = {name: {} for name in names}
    for key, value in keys.items():
        before, *told = begin.split(value.get("description", ""))
        if before or not told:
            every[key] = {**value, "description": before}
        for name, about in zip(told[::2], told[1::2], strict=True):
            own[name][key] = {**value, "description": about}
    yield from _section("Flow", {**entry, "properties": every})
    for name, its in own.items():
        yield f'### `app = "{name}"`\n'
        yield option_table({"properties": its})


def _section(title: str, entry: Mapping[str, Any]) -> Iterator[str]:
    yield f"## {title}\n"
    if "description" in entry:
        yield _prose(entry["description"]) + "\n"
    forms = entry.get("oneOf")
    if forms is None:
        yield option_table(entry)
    elif all("const" in form for form in forms):
        yield "| value | what |\n| --- | --- |"
        for form in forms:
            yield f'| `"{form["const"]}"` | {_prose(form.get("description", ""))} |'
        yield ""
    else:
        for form in forms:
            values = form["properties"].items()
            chosen = [f'{key} = "{value["const"]}"' for key, value in values if "const" in value]
            yield f"### `{', '.join(chosen)}`\n"
            if "description" in form:
                yield _prose(form["description"]) + "\n"
            yield option_table(form)


def option_table(entry: Mapping[str, Any]) -> str:
    """Give the table of a structure's keys; empty without any."""
    required = entry.get("required", [])
    rows = []
    for key, value in entry.get("properties", {}).items():
        if "const" in value:
            continue
        name = f"**`{key}`**" if key in required else f"`{key}`"
        default, about = _default(value)
        rows.append(f"| {name} | {_kind(value)} | {default} | {_prose(about)} |")
    if not rows:
        return ""
    return "\n".join(["| key | value | default | what |", "| --- | --- | --- | --- |", *rows]) + "\n"


def _default(value: Mapping[str, Any]) -> tuple[str, str]:
    """Give the default, and the description without it."""
    about = " ".join(value.get("description", "").split())
    found = re.search(r'; default ("[^"]*"|true|false|none|[-\d.]+)(?=\.(?: |$))', about)
    if found is not None:
        about = about[: found.start()] + about[found.end() :]
    if "profiles" in value:
        return of_profiles(value), about
    if "default" in value:
        return f"`{json.dumps(value['default'], ensure_ascii=False)}`", about
    return (f"`{found[1]}`" if found and found[1] != "none" else ""), about


def _kind(value: Mapping[str, Any]) -> str:
    return written(value, _reference)


def _reference(name: str) -> str:
    title = _title(name)
    return f"[{title}](#{_anchor(title)})" if _is_table(json.loads(_core.schema())["$defs"][name]) else title


def _title(name: str) -> str:
    """Give the name of a table for people: ``LinkFile`` is a link."""
    words = re.sub(r"(File|Spec)$", "", name)
    return _NAMES.get(words) or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", words).replace("Hy Start", "HyStart")


def _anchor(title: str) -> str:
    return title.lower().replace(" ", "-")


def _prose(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
