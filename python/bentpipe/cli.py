"""The command line: reads options, calls what does the work, turns errors into one line and a status."""

import math
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from bentpipe.command_line.completion import scenarios
from bentpipe.command_line.options import (
    Commands,
    File,
    Folder,
    Later,
    flag,
    json_option,
    option,
    scenario_argument,
    seed_option,
    set_option,
    threads_option,
)
from bentpipe.command_line.own_schemes import line_of_hook, own_in, own_option
from bentpipe.command_line.signals import Ending, discard
from bentpipe.command_line.terminal import give_up_for, prepare, print_json, say
from bentpipe.command_line.values import PRECISION, Value, Whole, number
from bentpipe.errors import BentpipeError, InputError, one_line
from bentpipe.runs.statistics import MOST_RUNS, failures
from bentpipe.runs.threads import left_behind
from bentpipe.sweeps import command as sweeps


def _size(text: str) -> int:
    from bentpipe._core import parse_size

    return parse_size(text)


def _seconds(text: str) -> float:
    if not 0 <= (found := number(text)) < math.inf:
        raise ValueError(f"expected simulated seconds such as 2.5, found {text!r}")
    return found


def _points(text: str) -> int:
    if not (1 <= (found := number(text)) < 2**63 and found.is_integer()):
        raise ValueError(f"expected a number of points such as 2000000 or 2e6, found {text!r}")
    return int(found)


_SECONDS = Value("seconds", _seconds)

NO_PAPERS = "the papers are a package of their own, which is not installed: pip install 'bentpipe[papers]'"

_flows = option(
    "--flows",
    str,
    "Show these flows separately, as download or 'web*'; repeatable.",
    metavar="PATTERN",
    multiple=True,
)


_FIRST = {"Start": ("demo", "new"), "Simulate": ("run", "compare"), "Look closer": ("plot", "explain")}
"""What people begin with: shown without a command."""


class _Commands(Commands):
    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            # Click would print an empty line and forget the reason.
            raise _Left(str(error)) from error


class _Left(Exception):
    """An interruption on its way past Click."""


@click.group(
    cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]}, invoke_without_command=True
)
@click.version_option(package_name="bentpipe")
@click.pass_context
def cli(context: click.Context) -> None:
    """Simulate TCP over satellite links."""
    if context.invoked_subcommand is not None:
        return
    text = context.make_formatter()
    text.write_text("Simulate TCP over satellite links. Begin with these:")
    for heading, names in _FIRST.items():
        with text.section(heading):
            text.write_dl([(name, cli.commands[name].get_short_help_str(90)) for name in names])
    text.write_paragraph()
    text.write_text("bentpipe --help lists all commands, bentpipe COMMAND --help has the options of one.")
    click.echo(text.getvalue(), nl=False)


@cli.command(short_help="Run a scenario and print its numbers.")
@scenario_argument
@set_option
@own_option
@seed_option
@option(
    "--runs",
    Whole(1, MOST_RUNS),
    f"Replications, at most {MOST_RUNS:,}: each number becomes mean, 95 % interval and n.",
)
@option(
    "--precision",
    PRECISION,
    "Replicate until every flow's goodput is known to this share, as 2%; at most --runs times, or 1000.",
)
@option(
    "--out",
    Folder(),
    "Write result.json and series.parquet to this folder; an older result there is replaced.",
)
@flag(
    "--plot draw",
    "Draw the run: plot.png in the folder of --out, or else a .png here with the scenario's name.",
)
@option("--pcap", File(), "Write every packet (of the first replication) to this pcapng file.")
@option(
    "--series",
    str,
    "With --out: record the time series of these flows and links only, as 'web*:cwnd,rtt' or ':queue'; "
    "repeatable.",
    metavar="PATTERN[:KIND,KIND...]",
    multiple=True,
)
@option(
    "--series-limit",
    Value("points", _points),
    "With --out: stop recording time series after so many points; 2e7 by default.",
)
@option(
    "--pcap-limit",
    Value("size", _size),
    "With --pcap: stop recording packets before the file is larger; '4 GiB' by default.",
)
@option("--snap", Whole(1), "With --pcap: bytes kept of each packet; all headers by default.")
@_flows
@threads_option
@json_option
def run(
    scenario: str,
    settings: tuple[tuple[str, str], ...],
    own: tuple[Path, ...],
    out: Path | None,
    draw: bool,
    pcap: Path | None,
    flows: tuple[str, ...],
    as_json: bool,
    **options: Any,
) -> None:
    """Run SCENARIO, a file, preset:NAME, or - for standard input, and print its numbers.

    SCENARIO may also be the folder that --out wrote, or the JSON of a run: that run is repeated, with its
    settings unless options replace them.
    """
    from bentpipe.files.folder import PICTURE, RESULT, SERIES
    from bentpipe.files.output import Staging
    from bentpipe.recorded import Recorded
    from bentpipe.runs import runner
    from bentpipe.runs.notes import notes
    from bentpipe.runs.subjects import Subjects
    from bentpipe.runs.traces import Traces
    from bentpipe.scenario import Scenario
    from bentpipe.show.flows import check_scenario
    from bentpipe.show.remarks import remarks

    plan = {key: value for key, value in options.items() if value not in (None, ())}
    for key, needed, there in (
        ("series", "--out DIR", out),
        ("series_limit", "--out DIR", out),
        ("pcap_limit", "--pcap FILE", pcap),
        ("snap", "--pcap FILE", pcap),
    ):
        if key in plan and there is None:
            raise InputError(f"--{key.replace('_', '-')} needs {needed}: it says what is recorded there")
    loaded = Scenario.load(scenario, settings, own_in(own))
    if recorded := Recorded.at(scenario):
        if warning := recorded.warning():
            say(warning)
        if not plan.keys() & {"runs", "precision"}:
            plan |= {key: recorded.settings[key] for key in ("runs", "precision")}
        if "seed" not in plan and all(key != "seed" for key, _ in settings):
            plan["seed"] = recorded.settings["seed"]
    Subjects.of(loaded, options["series"])
    check_scenario(loaded, flows)
    for note in notes(loaded):
        say(note)
    with Staging([*loaded.files, *own]) as staging:
        folder = staging.result_folder(out, "--out") if out else None
        stem = Path(scenario.removeprefix("preset:")).stem
        picture = Path(f"{'plot' if stem in ('', '-') else stem}.png") if draw and out is None else None
        drawn = staging.file(picture, "--plot") if picture else None
        files: dict[str, Any] = {
            "traces": drawn is not None,
            "pcap": staging.file(pcap, "--pcap") if pcap else None,
            "series_file": folder / SERIES if folder else None,
        }
        outcome = runner.execute(loaded, runner.Plan(**plan, **files), title=loaded.title)
        if folder is not None:
            (folder / RESULT).write_text(outcome.json(), encoding="utf-8")
            drawn = folder / PICTURE if draw else None
        if drawn is not None:
            from bentpipe.plot import DrawnRun, draw_runs

            traces = outcome.series if folder is None else Traces.read(folder / SERIES)
            draw_runs([DrawnRun(loaded.title, outcome.run, traces)], drawn, flows=flows)
    if picture is not None:
        click.echo(f"Wrote {picture}", err=True)
    if not outcome.precise:
        say(f"the precision was not reached in {outcome.run.get('runs')} replications")
    if as_json:
        print_json(outcome.run)
    else:
        from bentpipe.show import table

        table.print_run(outcome.run, table.console(), flows)
        for line in remarks(outcome.run):
            say(line)
    give_up_for(outcome.failures)


_LISTED = (
    *("variants", "recoveries", "controls", "starts", "applications", "losses", "queues", "gateways"),
    *("presets", "profiles", "papers"),
)


@cli.command("list", short_help="List the names of variants, presets, papers and more.")
@click.argument("what", metavar="WHAT", type=click.Choice(_LISTED))
@json_option
def list_(what: str, as_json: bool) -> None:
    """List what scenarios can name, or the papers that can be reproduced.

    WHAT is variants, recoveries, controls, starts, applications, losses, queues, gateways, presets, profiles
    or papers.
    """
    from bentpipe import catalogue

    if what == "papers":
        from bentpipe_papers import command

        entries = command.entries()
    else:
        entries = catalogue.entries(what)
    if as_json:
        print_json([{"name": entry.name, "summary": entry.summary} for entry in entries])
    else:
        from bentpipe.show import table

        table.print_catalogue(entries, table.console())


@cli.command(short_help="Draw runs, side by side in one picture.")
@click.argument("results", metavar="RESULT...", nargs=-1, required=True, shell_complete=scenarios)
@option("--out -o", File(), "The picture, .png, .svg or .pdf; plot.png by default.")
@option("--from start", _SECONDS, "First simulated second shown; the start by default.")
@option("--to end", _SECONDS, "Last simulated second shown; the end by default.")
@option("--title", str, "In place of the title that the scenario or the sweep has.", metavar="TEXT")
@option("--xlabel", str, "In place of what stands at the horizontal axis.", metavar="TEXT")
@_flows
@set_option
@seed_option
@sweeps.in_pictures
def plot(
    results: tuple[str, ...],
    out: Path | None,
    title: str | None,
    xlabel: str | None,
    start: float | None,
    end: float | None,
    flows: tuple[str, ...],
    settings: tuple[tuple[str, str], ...],
    seed: int | None,
    **of_sweep: Any,
) -> None:
    """Draw each RESULT, a folder that `run --out` wrote or a scenario, as a column of one picture.

    A scenario is a file, preset:NAME, or - for standard input. Of a folder that `sweep --out` wrote, a number
    is drawn over what was varied.
    """
    from bentpipe.files.output import Staging
    from bentpipe.plot import DrawnRun, draw_runs, end_of
    from bentpipe.show.style import picture_format

    out = out or Path("plot.png")
    picture_format(out)
    if sweeps.is_sweep(results) or any(of_sweep.values()):
        given = {"--from": start, "--to": end, "--flows": flows, "--set": settings, "--seed": seed}
        sweeps.draw(results, out, given, title=title, xlabel=xlabel, **of_sweep)
        return
    if end is not None and (start or 0.0) >= end:
        raise InputError(f"--from {start or 0.0:g} is not before --to {end:g}")
    if (settings or seed is not None) and all(Path(result).is_dir() for result in results):
        option = "--set" if settings else "--seed"
        raise InputError(
            f"{option}: expected a scenario to change, found finished runs: {', '.join(results)}"
        )
    subjects = [DrawnRun.of(result, settings, seed) for result in results]
    reads = [path for subject in subjects for path in subject.files]
    for subject in subjects:
        if (ended := _cut_short(subject.run)) is not None:
            say(f"{subject.title}: time series were recorded up to {ended:g} s")
    last = end_of(subjects)
    if start is not None and start >= last:
        raise InputError(f"--from {start:g}: expected a time before the runs end, at {last:g} s")
    with Staging(reads) as staging:
        shown = {"start_s": start, "end_s": end, "flows": flows, "title": title, "xlabel": xlabel}
        draw_runs(subjects, staging.file(out, "--out"), **shown)
    click.echo(f"Wrote {out}", err=True)
    run_now = [subject for name, subject in zip(results, subjects, strict=True) if not Path(name).is_dir()]
    give_up_for([failure for subject in run_now for failure in failures(subject.run)])


@cli.command(short_help="Print the JSON Schema of scenarios, for editors.")
def schema() -> None:
    """Print the JSON Schema of a scenario file.

    An editor completes keys by it where the file begins with ``#:schema ./scenario.schema.json``.
    """
    from bentpipe import _core

    click.echo(_core.schema())


def _cut_short(run: Mapping[str, Any]) -> float | None:
    """Give the simulated second at which a run's time series end, if that is before the run does."""
    recording = run.get("recording")
    series = recording.get("series") if isinstance(recording, dict) else None
    ended = series.get("ended_s") if isinstance(series, dict) else None
    return ended if isinstance(ended, float) else None


for where, what in {
    "bentpipe.comparison.command.compare": (
        "Run a scenario with several variants: which is best, and by how much."
    ),
    "bentpipe.advise.command.advise": "Settings of a Linux server behind a satellite link, to paste.",
    "bentpipe.demo.command.demo": "Simulate four TCPs over a satellite, and draw what they do.",
    "bentpipe.guide.command.doctor": "Say what of the optional parts this machine has.",
    "bentpipe.guide.command.explain": "Say what a key of a scenario means, its bounds and default.",
    "bentpipe.guide.command.new": "Write a scenario of a link of yours, from six answers.",
    "bentpipe.live.command.live": "Run our TCP against the kernel's; needs Linux and root.",
    "bentpipe.orbit.command.orbit": "Paths over satellites: round trips over time, a map, a film.",
    "bentpipe.sweeps.command.sweep": "Run a scenario at many points; an interrupted sweep can be continued.",
    "bentpipe.sweeps.command.show": "Show the means of a sweep, finished or not.",
    "bentpipe.weather.command.fade": "Rain on a satellite link: a table, a picture, a trace.",
    "bentpipe.weather.command.trace": "Write the changes of a link as a trace for another link.",
    "bentpipe_papers.command.reproduce": "Compare a paper's numbers and claims with ours.",
}.items():
    cli.add_command(Later(where, what))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave the process with its exit status."""
    prepare()
    ending = Ending()
    ending.catch()
    try:
        status = _invoke(arguments)
        sys.stdout.flush()
    except (click.Abort, KeyboardInterrupt, _Left) as error:
        status = ending.leave(str(error) or "interrupted")
    except OSError as error:
        status = _closed(error)
    if left_behind():
        # The interpreter would wait for the thread.
        sys.stderr.flush()
        os._exit(status)
    sys.exit(status)


def _invoke(arguments: Sequence[str] | None) -> int:
    try:
        # Without standalone mode an exit status that a command asks for comes back as a value.
        status = cli.main(args=arguments, prog_name="bentpipe", standalone_mode=False)
    except click.ClickException as error:
        return _complain(error.format_message(), error.exit_code)
    except BentpipeError as error:
        return _complain(str(error), error.exit_status)
    except ImportError as error:
        if error.name in ("bentpipe_papers", "bentpipe_papers.command"):
            return _complain(NO_PAPERS, 2)
        if error.name != "bentpipe._core":
            raise
        return _complain("the Rust module is not built: run `make setup` in the checkout", 1)
    except (Exception, SystemExit) as error:
        if (fault := line_of_hook(error)) is None:
            raise
        return _complain(fault, 1)
    return status if isinstance(status, int) else 0


def _complain(message: str, status: int) -> int:
    print(f"bentpipe: {one_line(message)}", file=sys.stderr)
    return status


def _closed(error: OSError) -> int:
    """Deal with a standard output that takes no more: quietly if its reader has gone, else in one line."""
    discard(sys.stdout)
    if isinstance(error, BrokenPipeError):
        return 1
    return _complain(f"cannot write {error.filename or 'standard output'}: {error.strerror}", 1)
