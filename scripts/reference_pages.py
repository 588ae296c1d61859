"""Writes the pages of docs/generated that come from the code alone: keys, numbers, names, commands."""

import inspect
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

import bentpipe as bp
import scenario_reference
import scheme_pages
from bentpipe import _core
from bentpipe.catalogue import entries
from bentpipe.cli import cli
from bentpipe.command_line.options import Later
from bentpipe.numbers.declared import fields, schema

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "generated"
PRESETS = ROOT / "scenarios" / "presets"


def pages() -> dict[str, str]:
    """Give each page by its name."""
    return {
        "scenario-reference.md": scenario_reference.page(),
        "result-reference.md": "\n".join(_numbers()),
        "names.md": "\n".join(_names()),
        "commands.md": "\n".join(_commands()),
        "library.md": "\n".join(_library()),
        **scheme_pages.pages(),
    }


def _numbers() -> Iterator[str]:
    yield "# Results, number by number\n"
    yield (
        "After this page you can look up any number of a run, with its unit. "
        "[results.md](../reference/results.md) says how to get them.\n"
    )
    named = {name: structure for name, structure in schema()["$defs"].items() if "properties" in structure}
    parts = {"The run": schema(), **{_title(name): structure for name, structure in named.items()}}
    transfer = json.loads(_core.live_schema())
    for title, structure in {**parts, "Transfer against a kernel": transfer}.items():
        yield f"## {title}\n"
        yield structure.get("description", "") + "\n"
        yield "| key | unit | what |\n| --- | --- | --- |"
        for key, field in fields(structure):
            unit = dict(field.get("number", [])).get("unit", "")
            what = re.sub(r"(?<!`)\b[Nn]ull\b(?!`)", "`null`", field.get("description", "")).replace(
                "\n", " "
            )
            yield f"| `{key}` | {unit} | {_cell(what)} |"
        yield ""


def _title(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name.removesuffix("Result")).capitalize()


def _cell(text: str) -> str:
    return text.replace("|", "\\|").removesuffix(".")


def _names() -> Iterator[str]:
    yield "# Names\n"
    yield "After this page you can name whatever a scenario can choose. `bentpipe list` prints the same.\n"
    for what in _kinds():
        yield f"## {what.capitalize()}\n"
        yield "| name | what |\n| --- | --- |"
        for one in entries(what):
            nodes = f"; nodes {_nodes(one.name)}" if what == "presets" else ""
            yield f"| `{one.name}` | {_cell(one.summary)}{nodes} |"
        yield ""


def _nodes(preset: str) -> str:
    links = tomllib.loads((PRESETS / f"{preset}.toml").read_text(encoding="utf-8"))["links"].values()
    nodes = dict.fromkeys(link[end] for link in links for end in ("from", "to"))
    return ", ".join(f"`{node}`" for node in nodes)


def _kinds() -> list[str]:
    choices = (one.type.choices for one in cli.commands["list"].params if isinstance(one.type, click.Choice))
    return [kind for kind in next(choices) if kind != "papers"]


def _commands() -> Iterator[str]:
    yield "# Commands\n"
    yield "After this page you know every command and its options. Each prints the same with `--help`.\n"
    yield from _help(cli, click.Context(cli, info_name="bentpipe"))


def _help(command: click.Command, context: click.Context) -> Iterator[str]:
    yield f"## {context.command_path}\n"
    yield f"```text\n{command.get_help(context)}\n```\n"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            inner = inner.load() if isinstance(inner, Later) else inner
            if inner is not None and not inner.hidden:
                yield from _help(inner, click.Context(inner, context, name))


def _library() -> Iterator[str]:
    yield "# The library, name by name\n"
    yield (
        "After this page you know the arguments and results of each name of `import bentpipe`. "
        "[library.md](../how-to/library.md) has them at work.\n"
    )
    parts: dict[str, list[str]] = {"Functions": [], "Classes": [], "Errors": []}
    for name in sorted(bp.__all__):
        thing: Any = getattr(bp, name)
        if not inspect.isclass(thing):
            parts["Functions"].append(f".. autofunction:: bentpipe.{name}")
        elif issubclass(thing, BaseException):
            parts["Errors"].append(f".. autoexception:: bentpipe.{name}")
        else:
            parts["Classes"].append(f".. autoclass:: bentpipe.{name}\n   :members:")
    for heading, lines in parts.items():
        yield f"## {heading}\n"
        yield "```{eval-rst}\n" + "\n\n".join(lines) + "\n```\n"


def write() -> None:
    """Write all of them."""
    for name, text in pages().items():
        (FOLDER / name).parent.mkdir(exist_ok=True)
        (FOLDER / name).write_text(text.rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    write()
