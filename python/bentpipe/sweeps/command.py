"""The commands of sweeps."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from bentpipe.command_line.options import (
    Command,
    Folder,
    command_line,
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
from bentpipe.command_line.terminal import print_json, say
from bentpipe.command_line.values import SETTING, Whole
from bentpipe.errors import InputError
from bentpipe.numbers.number import Interval

_where = option(
    "--where",
    SETTING,
    "Of a sweep: only rows with this value of a varied key, or of name; repeatable.",
    multiple=True,
    metavar="KEY=VALUE",
)


def in_pictures(command: Callable[..., None]) -> Callable[..., None]:
    """Add to a command that draws what it takes to draw a sweep."""
    for of_sweep in (
        _where,
        option(
            "--by",
            str,
            "Of a sweep: a line for each value of this; repeatable.",
            metavar="KEY",
            multiple=True,
        ),
        option(
            "--y", str, "Of a sweep: the measured number on the y axis, as goodput_bps.", metavar="NUMBER"
        ),
        option("--x", str, "Of a sweep: the varied key on the x axis.", metavar="KEY"),
    ):
        command = of_sweep(command)
    return command


@click.command(cls=Command)
@scenario_argument
@option(
    "--vary",
    SETTING,
    "Values of one key: V1,V2,… or N values as LO..HI:N or LO..HI:log:N; repeatable, for every combination.",
    multiple=True,
    required=True,
    metavar="KEY=VALUES",
)
@click.option("--runs", type=Whole(1, 1_000_000), default=1, help="Replications of each point; 1 by default.")
@option(
    "--sample",
    Whole(1, 1_000_000),
    "Draw so many points, a Latin hypercube, in place of every combination; ranges are LO..HI or LO..HI:log.",
)
@option("--out", Folder(), "A new folder, or that of this sweep to continue it.", required=True)
@option("--on", str, "Run on the workers of this Dask scheduler, as tcp://10.0.0.1:8786.", metavar="ADDRESS")
@set_option
@own_option
@seed_option
@threads_option
@json_option
def sweep(
    scenario: str,
    out: Path,
    on: str | None,
    settings: tuple[tuple[str, str], ...],
    own: tuple[Path, ...],
    threads: int | None,
    as_json: bool,
    **how: Any,
) -> None:
    """Run SCENARIO at every combination of values, and write a row of each run to DIR/rows.parquet.

    The same command continues an interrupted sweep. A run that fails is a row with its error.
    """
    from bentpipe.runs.notes import notes
    from bentpipe.scenario import Scenario
    from bentpipe.sweeps import api
    from bentpipe.sweeps.driver import Counts

    if on is not None and threads is not None:
        raise InputError(
            "--threads: expected a sweep on this machine, found --on, whose workers have their own"
        )
    loaded = Scenario.load(scenario, settings, own_in(own))
    for note in notes(loaded):
        say(note)

    def say_counts(counts: Counts) -> None:
        if counts.other_engine:
            say(
                f"{counts.other_engine:,} runs in {out} are of another engine, and are run again; "
                "their rows are in its folder before until all are there"
            )
        if counts.before:
            say(f"{counts.before:,} of {counts.total:,} runs are there from before")

    found = api.sweep(loaded, out=out, on=on, threads=threads, on_counts=say_counts, **how)
    click.echo(f"Wrote {out / 'rows.parquet'}", err=True)
    _tell(found, (), {}, as_json=as_json)
    failed = len(found.failed())
    if failed:
        say(f"{failed:,} of {found.design.total:,} runs failed")
        click.get_current_context().exit(1)


@click.command(cls=Command)
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@option(
    "--y metrics", str, "Show this measured number, as timeouts; repeatable.", metavar="NUMBER", multiple=True
)
@_where
@interval_option
@report_option
@json_option
def show(
    folder: Path,
    metrics: tuple[str, ...],
    where: tuple[tuple[str, str], ...],
    interval: Interval,
    report: Path | None,
    as_json: bool,
) -> None:
    """Show the means of DIR, a folder that `bentpipe sweep --out` wrote, at each of its points."""
    from bentpipe.sweeps.result import Sweep

    sweep = Sweep.open(folder)
    if report is not None:
        _require_own(page_file(report), sweep)
        sweep.report(report, metrics, dict(where), command_line())
        click.echo(f"Wrote {report}", err=True)
    _tell(sweep, metrics, dict(where), as_json=as_json, interval=interval)


def _require_own(report: Path, sweep: Any) -> None:
    from bentpipe.files.output import Outputs

    Outputs([path for path in sweep.folder.rglob("*") if path.is_file()]).add(report, "--report")


def _tell(
    sweep: Any,
    metrics: tuple[str, ...],
    where: dict[str, str],
    *,
    as_json: bool,
    interval: Interval = "student-t",
) -> None:
    from bentpipe.show.table import console
    from bentpipe.sweeps.show import as_json as json_of
    from bentpipe.sweeps.show import print_sweep

    if as_json:
        print_json(json_of(sweep, metrics, where, interval))
    else:
        print_sweep(sweep, console(), metrics, where, interval)


def is_sweep(results: tuple[str, ...]) -> bool:
    """Say whether what is to be drawn is a sweep."""
    from bentpipe.sweeps.design import ABOUT

    return any((Path(result) / ABOUT).exists() for result in results)


def draw(
    results: tuple[str, ...],
    out: Path,
    others: Mapping[str, object],
    x: str | None,
    y: str | None,
    by: tuple[str, ...],
    where: tuple[tuple[str, str], ...],
    **words: str | None,
) -> None:
    """Draw the sweep that is named to the file `out`.

    `words` take the place of the title, and of what stands at the horizontal axis.

    Raises InputError: it is none, the options leave open what to draw, or `others` are given, which are those
    of runs.
    """
    from bentpipe.files.output import Staging
    from bentpipe.sweeps.picture import draw_sweep
    from bentpipe.sweeps.result import Sweep

    if len(results) > 1:
        raise InputError(f"expected one sweep to draw, found {len(results)} names: {', '.join(results)}")
    sweep = Sweep.open(Path(results[0]))
    for name, value in others.items():
        if value is not None and value != ():
            raise InputError(f"{name}: expected runs to draw, found a sweep: {results[0]}")
    if x is None or y is None:
        missing = "--x" if x is None else "--y"
        raise InputError(
            f"{missing}: expected a name, as in "
            f"bentpipe plot {results[0]} --x {sweep.keys[0]} --y goodput_bps"
        )
    with Staging(sweep.folder.rglob("*")) as staging:
        draw_sweep(sweep, staging.file(out, "--out"), x, y, by, dict(where), **words)
    click.echo(f"Wrote {out}", err=True)
