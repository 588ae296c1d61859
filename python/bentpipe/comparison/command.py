"""The command of comparisons."""

from pathlib import Path
from typing import Any

import click

from bentpipe.command_line.completion import variants
from bentpipe.command_line.options import (
    Command,
    command_line,
    flag,
    interval_option,
    json_option,
    option,
    page_file,
    report_option,
    scenario_argument,
    seed_option,
    set_option,
    threads_option,
)
from bentpipe.command_line.own_schemes import own_in, own_option
from bentpipe.command_line.terminal import give_up_for, print_json, say
from bentpipe.command_line.values import PRECISION, Whole
from bentpipe.comparison import api, words
from bentpipe.comparison.measure import metrics
from bentpipe.errors import InputError, ScenarioError
from bentpipe.files.output import Outputs
from bentpipe.runs.notes import notes
from bentpipe.scenario import Scenario
from bentpipe.show.style import picture_format
from bentpipe.show.table import console


@click.command(cls=Command)
@scenario_argument
@option(
    "--variants",
    str,
    "Variants to compare, as sack,cubic,bbr3; gains are over the first.",
    required=True,
    metavar="A,B,…",
    shell_complete=variants,
)
@option("--runs", Whole(1, 1_000_000), "Runs of each variant, with the same seeds; 10 by default.")
@option(
    "--precision",
    PRECISION,
    "Run until every variant's number is known to this share, as 2%; at most --runs times, or 1000.",
)
@option("--flows", str, "Change and compare these flows alone; repeatable.", metavar="PATTERN", multiple=True)
@option(
    "--metric",
    click.Choice(list(metrics())),
    "The number to compare, as startup_s; goodput by default, response_s without bulk transfers.",
    metavar="NUMBER",
)
@flag("--explain", "Measure and print the limits of each variant.")
@option(
    "--plot",
    click.Path(path_type=Path),
    "Draw the limits of each variant into a .png, .svg or .pdf file; implies --explain.",
    metavar="FILE",
)
@report_option
@interval_option
@set_option
@own_option
@seed_option
@threads_option
@flag("--markdown", "The table as Markdown.")
@flag("--csv as_csv", "The table as CSV.")
@json_option
def compare(
    scenario: str,
    variants: str,
    explain: bool,
    plot: Path | None,
    report: Path | None,
    settings: tuple[tuple[str, str], ...],
    own: tuple[Path, ...],
    markdown: bool,
    as_csv: bool,
    as_json: bool,
    **how: Any,
) -> None:
    """Run SCENARIO with each of several variants, and show them in one table, best first.

    Every variant meets the same seeds. Gains are over the variant named first, with the 95 % interval of the
    paired differences.
    """
    forms = {"--markdown": markdown, "--csv": as_csv, "--json": as_json}
    if len(asked := [name for name, given in forms.items() if given]) > 1:
        raise InputError(f"{asked[1]}: expected one form of the table, found {asked[0]} too")
    loaded = Scenario.load(scenario, settings, own_in(own))
    outputs = Outputs([*loaded.files, *own])
    if plot is not None:
        picture_format(plot)
        outputs.add(plot, "--plot")
    if report is not None:
        outputs.add(page_file(report), "--report")
    names = [name.strip() for name in variants.split(",")]
    for note in notes(loaded):
        say(note)
    try:
        found = api.compare(loaded, names, explain=explain or plot is not None, **how)
    except ScenarioError as error:
        raise error.within(f"--{error.file}") from None
    except InputError as error:
        if str(error).startswith("variants: "):
            raise type(error)(f"--{error}") from None
        raise
    if not found.precise:
        say(f"the precision was not reached in {found.runs:,} runs")
    if plot is not None:
        found.plot(plot)
        click.echo(f"Wrote {plot}", err=True)
    if report is not None:
        found.report(report, command_line())
        click.echo(f"Wrote {report}", err=True)
    if as_json:
        print_json(found.to_dict())
    elif as_csv or markdown:
        click.echo(found.csv() if as_csv else found.markdown(), nl=False)
    else:
        words.print_comparison(found, console())
    give_up_for([f"{name}: {failure}" for name, failure in found.failures])
