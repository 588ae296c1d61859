"""Options of several commands, and what is said of commands and options that are not there."""

import shlex
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

import click

from bentpipe.command_line.completion import scenarios, settings
from bentpipe.command_line.values import SETTING, Whole
from bentpipe.errors import InputError
from bentpipe.numbers.number import INTERVALS

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def option(names: str, kind: Any, text: str, **more: Any) -> Decorator:
    """Give an option by its names, as ``--map world``, the kind of its values, and its help.

    A usual value that is given as ``default`` is shown.
    """
    return click.option(*names.split(), type=kind, help=text, show_default="default" in more, **more)


def flag(names: str, text: str) -> Decorator:
    """Give an option without a value."""
    return click.option(*names.split(), is_flag=True, help=text)


class File(click.Path):
    """A file to write."""

    _what, _is_file = "file", True

    def __init__(self) -> None:
        super().__init__(dir_okay=not self._is_file, file_okay=self._is_file, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Give the path."""
        if not str(value):
            self.fail(f"expected a {self._what}'s name, found an empty one", param, ctx)
        return super().convert(value, param, ctx)


class Folder(File):
    """A folder to write to."""

    _what, _is_file = "folder", False

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Give the path."""
        path = Path(value)
        hint = _NAMES_OF_FILES.get(path.suffix.lower())
        if hint is not None and not path.is_dir():
            self.fail(f"expected a folder, found the name of a file, {str(value)!r}; {hint}", param, ctx)
        return super().convert(value, param, ctx)


_IN_FOLDER = "numbers and time series are written to files in a folder"
_NAMES_OF_FILES = {
    ".html": _IN_FOLDER,
    ".json": "--json prints the JSON, for > to a file",
    **dict.fromkeys((".csv", ".parquet", ".txt"), f"{_IN_FOLDER}, result.json and series.parquet"),
    **dict.fromkeys((".pcap", ".pcapng"), "--pcap FILE writes packets"),
    **dict.fromkeys((".png", ".svg", ".pdf"), "bentpipe plot SCENARIO --out FILE draws to a file"),
}

SEED = Whole(0, 2**53 - 1)

scenario_argument = click.argument("scenario", shell_complete=scenarios)
set_option = click.option(
    "--set",
    "settings",
    type=SETTING,
    multiple=True,
    shell_complete=settings,
    help="Change one value of the scenario, as links.satellite.rate='1 Mbit/s'; repeatable.",
)
seed_option = option("--seed", SEED, "Seed in place of the scenario's.")
threads_option = option("--threads", Whole(1, 1024), "How many runs at a time; all cores by default.")
json_option = flag("--json as_json", "JSON on stdout, messages on stderr.")
interval_option = option(
    "--interval",
    click.Choice(INTERVALS),
    "Method of the 95 % intervals: Student's t, or the bootstrap (BCa).",
    default=INTERVALS[0],
)
report_option = option("--report", File(), "Write a self-contained HTML page with pictures and tables.")


def page_file(path: Path) -> Path:
    """Give the file of a page.

    Raises InputError: its name ends otherwise than in .html.
    """
    if path.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"--report: expected a file name that ends in .html, found {path}")
    return path


def command_line() -> str:
    """Give the command that was typed, so that it can be typed again."""
    return shlex.join(["bentpipe", *sys.argv[1:]])


_OTHER_COMMANDS = {
    "report": "bentpipe reproduce PAPER --report DIR writes a paper's page",
    "validate": "bentpipe run checks a scenario before it begins",
    "check": "bentpipe run checks a scenario before it begins",
}

_FORMAT = "--json prints JSON, --out DIR writes result.json and series.parquet"
_OTHER_OPTIONS = {
    **dict.fromkeys(("--csv", "--excel", "--format", "--html", "--output", "--parquet", "--xlsx"), _FORMAT),
    **dict.fromkeys(("--replications", "--repeat"), "--runs N says how many"),
    "--controls": "--own FILE.py brings classes of your own",
    "--variant": "--set 'flows.*.variant=NAME' chooses it",
    "--variants": "bentpipe compare SCENARIO --variants NAME,NAME compares several",
    "--vary": "bentpipe sweep runs a scenario for each of several values",
    "--jobs": "--threads N says how many runs at a time",
    "--duration": "--set duration='60 s' says when the run ends",
}


class Command(click.Command):
    """A command that says what to use instead of an option that it has not."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take the options apart."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            hint = _OTHER_OPTIONS.get(error.option_name)
            if hint is None:
                raise
            _instead(f"No such option {error.option_name!r}", hint, ctx)


class Later(click.Command):
    """Stands for a command in a module until it is called: help waits for no module."""

    def __init__(self, where: str, short_help: str) -> None:
        self._module, _, name = where.rpartition(".")
        super().__init__(name, short_help=short_help)

    def load(self) -> click.Command:
        """Give the command itself."""
        found: click.Command = getattr(import_module(self._module), self.name or "")
        return found


class Commands(click.Group):
    """A group whose commands are loaded when called; it says what to use instead of one that it has not."""

    command_class = Command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command."""
        hint = _OTHER_COMMANDS.get(args[0])
        if hint is not None and args[0] not in self.commands and not ctx.resilient_parsing:
            _instead(f"No such command {args[0]!r} yet", hint, ctx)
        name, command, rest = super().resolve_command(ctx, args)
        return name, command.load() if isinstance(command, Later) else command, rest


def _instead(message: str, hint: str, ctx: click.Context) -> NoReturn:
    raise click.UsageError(f"{message}: {hint}.", ctx)
