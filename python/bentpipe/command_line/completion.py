"""What a shell offers behind the TAB key: presets, scenarios, results, papers and names of variants."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from click.shell_completion import BashComplete, CompletionItem, add_completion_class, split_arg_string

_PRESET = "preset:"

_NAMED = {
    "variant": "variants",
    "recovery": "recoveries",
    "slow_start": "starts",
    "control": "controls",
    "app": "applications",
    "profile": "profiles",
}
"""Keys of a scenario whose values are names, and where these are listed."""


def scenarios(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem[Any]]:
    """Offer presets by name, and scenario files; files of every name once one is begun."""
    presets = _offered("presets", _PRESET, incomplete)
    if not incomplete:
        return [*map(CompletionItem, sorted(str(path) for path in Path().glob("*.toml"))), *presets]
    return presets or [CompletionItem(incomplete, type="file")]


def settings(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem[Any]]:
    """Offer the values of ``KEY=`` where they are names, such as those of ``flows.*.variant=``."""
    key, equals, _value = incomplete.partition("=")
    what = _NAMED.get(key.rpartition(".")[2])
    return _offered(what, f"{key}=", incomplete) if equals and what else []


def variants(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem[Any]]:
    """Offer the variants that do not stand before the last comma yet."""
    before, comma, _last = incomplete.rpartition(",")
    return _offered("variants", before + comma, incomplete, without=before.split(","))


def _offered(what: str, before: str, begun: str, without: Sequence[str] = ()) -> list[CompletionItem[Any]]:
    """Offer the names of a kind behind what stands before them, where that is begun so."""
    from bentpipe import catalogue

    return [
        CompletionItem(before + entry.name, help=entry.summary)
        for entry in catalogue.entries(what)
        if (before + entry.name).startswith(begun) and entry.name not in without
    ]


_SOURCE = BashComplete.source_template.replace(
    'COMP_WORDS="${COMP_WORDS[*]}" COMP_CWORD=$COMP_CWORD',
    'COMP_LINE="$COMP_LINE" COMP_POINT="$COMP_POINT" COMP_WORDBREAKS="$COMP_WORDBREAKS"',
)


@add_completion_class
class _Bash(BashComplete):
    """Bash takes ``preset:geo`` and ``key=value`` for several words, and replaces the last of them only."""

    name = "bash"
    source_template = _SOURCE

    def get_completion_args(self) -> tuple[list[str], str]:
        line = os.environ["COMP_LINE"].encode()[: int(os.environ["COMP_POINT"])].decode(errors="ignore")
        words = split_arg_string(line)
        incomplete = "" if line.endswith((" ", "\t")) or not words else words.pop()
        return words[1:], incomplete

    def complete(self) -> str:
        arguments, incomplete = self.get_completion_args()
        breaks = [c for c in os.environ.get("COMP_WORDBREAKS", "") if c in ":="]
        prefix = max((incomplete.rfind(c) + 1 for c in breaks), default=0)
        lines = []
        for item in self.get_completions(arguments, incomplete):
            value = str(item.value)[prefix:] if item.type == "plain" else item.value
            lines.append(f"{item.type},{value}")
        return "\n".join(lines)
