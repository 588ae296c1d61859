"""The commands for those who begin: new, explain, doctor."""

import shlex
import sys
from functools import partial
from pathlib import Path
from textwrap import fill
from typing import Any

import click

from bentpipe.command_line.options import Command, File, json_option, option
from bentpipe.command_line.terminal import print_json
from bentpipe.command_line.values import Value
from bentpipe.errors import InputError
from bentpipe.files.output import Staging
from bentpipe.guide.first_scenario import QUESTIONS, Question, read_answer, scenario_text

_WIDTH = 100


def _answer(question: Question) -> Value[str]:
    return Value("value", partial(read_answer, question.name))


def _questions(command: Any) -> Any:
    """Give the command an option for each question."""
    for question in reversed(QUESTIONS):
        text = f"{question.text}; {question.usual} by default."
        command = option(f"--{question.name}", _answer(question), text)(command)
    return command


@click.command(cls=Command)
@click.argument("file", metavar="FILE", type=File())
@_questions
def new(file: Path, **given: str | None) -> None:
    """Write FILE, a scenario of a link of yours with comments: from six answers, or from these options.

    Without an option it asks; with one, what is not given has its usual value.
    """
    if file.suffix != ".toml":
        raise InputError(f"{file}: expected a file name that ends in .toml")
    if file.exists():
        raise InputError(f"{file}: expected a new file, found one that is there")
    answers = {question.name: given[question.name] or question.usual for question in QUESTIONS}
    if not any(given.values()):
        answers = {question.name: _ask(question) for question in QUESTIONS}
    text = scenario_text(shlex.quote(str(file)), f"{answers['rate']}, {answers['delay']} one way", answers)
    with Staging() as staging:
        staging.file(file, "FILE").write_text(text, encoding="utf-8")
    click.echo(f"Wrote {file}", err=True)
    click.echo(f"Run it: bentpipe run {shlex.quote(str(file))}", err=True)


def _ask(question: Question) -> str:
    try:
        answer: str = click.prompt(question.text, question.usual, type=_answer(question), err=True)
    except click.Abort:
        if sys.stdin.isatty():
            raise
        raise InputError(f"--{question.name}: expected an answer or this option, found neither") from None
    return answer


@click.command(cls=Command)
@click.argument("key", metavar="KEY")
def explain(key: str) -> None:
    """Say what KEY of a scenario means, with unit, bounds and default, as links.a.loss or just loss."""
    from bentpipe.guide.keys import find, meaning, nearest

    found: dict[tuple[str, ...], list[str]] = {}
    for one in find(key):
        beside = f" beside {one.beside}" if one.beside else ""
        found.setdefault(tuple(meaning(one)), []).append(".".join(one.path) + beside)
    if not found:
        like = nearest(key)
        hint = f"did you mean {', '.join(like)}?" if like else "bentpipe schema has all"
        raise InputError(f"no key {key!r}: {hint}")
    for number, (lines, places) in enumerate(found.items()):
        click.echo("\n" * bool(number) + "\n".join(places))
        for line in lines:
            further = "  " if line is lines[0] else " " * 11
            click.echo(fill(line, _WIDTH, initial_indent="  ", subsequent_indent=further))


@click.command(cls=Command)
@json_option
def doctor(as_json: bool) -> None:
    """Say what of the optional parts this machine has, what each is for, and the line that installs it."""
    from bentpipe.guide.machine import PARTS
    from bentpipe.show.layout import new_table, print_whole
    from bentpipe.show.table import console

    found = [(part, part.here()) for part in PARTS]
    if as_json:
        rows = ((part.name, part.use, here, part.install) for part, here in found)
        print_json([dict(zip(("name", "for", "here", "install"), row, strict=True)) for row in rows])
        return
    table = new_table("part")
    for heading in ("here", "for", "install"):
        table.add_column(heading, no_wrap=True)
    for part, here in found:
        table.add_row(part.name, "yes" if here else "no", part.use, "" if here else part.install)
    print_whole(table, console())
