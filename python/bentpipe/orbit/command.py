"""The command that follows the paths of a constellation without a run, and the pictures that it draws."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import click

from bentpipe import _core
from bentpipe._core import Sky
from bentpipe.command_line.options import (
    Command,
    File,
    command_line,
    json_option,
    option,
    scenario_argument,
    set_option,
)
from bentpipe.command_line.terminal import print_json
from bentpipe.command_line.values import Value
from bentpipe.errors import InputError
from bentpipe.files.output import Staging
from bentpipe.orbit import film, map_plot, rtt_plot
from bentpipe.orbit.passes import passes
from bentpipe.orbit.passes import table_of as table_of_passes
from bentpipe.orbit.rtt_plot import Pair, table_of
from bentpipe.orbit.station_path import StationPath, pairs, trace_of
from bentpipe.runs.notes import ages_in_words
from bentpipe.runs.progress import Reporter
from bentpipe.scenario import Scenario
from bentpipe.show.flows import check_patterns
from bentpipe.show.layout import mention_rest
from bentpipe.show.style import FORMATS, picture_format
from bentpipe.show.table import console

_UNITS_S = {"": 1.0, "s": 1.0, "ms": 1e-3, "min": 60.0, "h": 3600.0}
_TIME = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*(\w*)")

_MOST_FRAMES = {"html": 10_000, "png": 1000}
"""By what the film's name ends in: a moving picture is made in memory, a megabyte a frame."""
_MOST_PLACES = 10_000_000
"""Of all satellites in all frames: a page has four bytes for each."""


def _time(text: str) -> float:
    found = _TIME.fullmatch(text.strip())
    if found is None or found[2] not in _UNITS_S:
        raise ValueError(f"expected a time such as '30 s', '500 ms' or '2 min', found {text!r}")
    return float(found[1]) * _UNITS_S[found[2]]


TIME = Value("time", _time)
"""A time of the run, in seconds."""


@dataclass(frozen=True)
class Pictures:
    """What is to be drawn, and into which files.

    Raises InputError: a file's name has another ending, or an option lacks the one that it belongs to.
    """

    plot: Path | None = None
    world: Path | None = None
    film: Path | None = None
    at: float | None = None
    track: str | None = None
    step: float | None = None

    def __post_init__(self) -> None:
        for name, given, needed, there in (
            ("--at", self.at, "--map FILE", self.world),
            ("--track", self.track, "--map FILE", self.world),
            ("--step", self.step, "--film FILE", self.film),
        ):
            if given is not None and there is None:
                raise InputError(f"{name} needs {needed}")
        if self.step == 0:
            raise InputError("--step: expected a time above zero, found 0 s")
        for path, formats in (
            (self.plot, rtt_plot.FORMATS),
            (self.world, FORMATS),
            (self.film, film.FORMATS),
        ):
            if path is not None:
                picture_format(path, formats)

    @property
    def files(self) -> list[Path]:
        """What is to be written."""
        return [path for path in (self.plot, self.world, self.film) if path is not None]

    def draw(
        self,
        sky: Sky,
        paths: Sequence[StationPath],
        title: str,
        until_s: float,
        reads: Sequence[Path] = (),
        command: str = "",
    ) -> None:
        """Draw everything, or write nothing.

        Raises InputError: there is no such satellite or time, or there are too many frames.
        Raises BentpipeError: a file cannot be written.
        """
        if self.at is not None and self.at > until_s:
            raise InputError(f"--at: expected a time up to the end, {until_s:g} s, found {self.at:g} s")
        ending = picture_format(self.film, film.FORMATS) if self.film else "html"
        most = min(_MOST_FRAMES[ending], _MOST_PLACES // len(sky.satellites))
        if self.step is not None and until_s / self.step > most:
            raise InputError(f"--step: expected {most:,} frames at most, found {until_s / self.step:,.0f}")
        with Staging(reads) as staging:
            if self.plot is not None:
                rtt_plot.draw(sky, paths, title, staging.file(self.plot, "--plot"), command)
            if self.world is not None:
                file = staging.file(self.world, "--map")
                map_plot.draw(sky, paths, title, file, self.at or 0.0, self.track)
            if self.film is not None:
                times = film.times_of(until_s, self.step)
                film.draw(sky, paths, title, staging.file(self.film, "--film"), times, command)
        for path in self.files:
            click.echo(f"Wrote {path}", err=True)


_USUAL_S = 600.0


@click.command(cls=Command)
@scenario_argument
@set_option
@option(
    "--until",
    TIME,
    "Follow the paths up to this time; the scenario's duration by default, or 10 min without one.",
)
@option(
    "--flows patterns",
    str,
    "Only the stations that these flows join, as download or 'web*'; repeatable.",
    metavar="PATTERN",
    multiple=True,
)
@option(
    "--station", str, "List the passes over this station instead: rise, culmination and set.", metavar="NAME"
)
@option("--trace", File(), "Write the delay of the one path as a CSV that a link's trace = reads.")
@option("--plot", File(), "Draw round trips over time and their distribution, .png, .svg, .pdf or .html.")
@option("--map world", File(), "Draw satellites and paths, .png, .svg or .pdf.")
@option("--film", File(), "Film the paths: a .html page, or an animated .png.")
@option("--at", TIME, "With --map: at this time; at the start by default.")
@option("--track", str, "With --map: one revolution of this satellite.", metavar="SATELLITE")
@option("--step", TIME, "With --film: time between frames; by default for 96 to 240 frames.")
@json_option
def orbit(
    scenario: str,
    settings: tuple[tuple[str, str], ...],
    until: float | None,
    patterns: tuple[str, ...],
    station: str | None,
    trace: Path | None,
    as_json: bool,
    **wanted: Any,
) -> None:
    """Follow the paths between the stations that the flows of SCENARIO join, without a run.

    SCENARIO is a file, preset:NAME, or - for standard input, with a [constellation].
    """
    asked = Pictures(**wanted)
    loaded = Scenario.load(scenario, settings)
    sky = _core.Sky(loaded.toml())
    until_s = until if until is not None else sky.duration_s or _USUAL_S
    if until_s < sky.step_s:
        raise InputError(f"--until: expected a step, {sky.step_s:g} s, or more, found {until_s:g} s")
    if station is not None:
        if asked.files or trace or patterns:
            raise InputError("--station: expected neither --flows nor a file beside it, found one")
        names = [name for name, _, _ in sky.stations]
        if station not in names:
            raise InputError(f"--station: expected a station ({', '.join(names[:10])}), found {station!r}")
        seen = passes(sky, station, until_s)
        if as_json:
            print_json(seen)
            return
        console().print(table_of_passes(seen, station))
        _tell(ages_in_words(sky.ages_days))
        return
    flows: dict[str, Any] = loaded.to_dict()["flows"]
    check_patterns([(name, None) for name in flows], patterns)
    meant = [name for name in flows if not patterns or any(fnmatchcase(name, each) for each in patterns)]
    ends = pairs([(flows[name]["from"], flows[name]["to"]) for name in meant])
    if trace is not None and len(ends) != 1:
        raise InputError(f"--trace: expected one path, as --flows chooses it, found {len(ends)}")
    paths = []
    with Reporter("paths") as reporter:
        for number, (source, to) in enumerate(ends):
            reporter.update(number / len(ends), f"{source} – {to}")
            paths.append(StationPath.of(sky, source, to, until_s))
    asked.draw(sky, paths, loaded.title, until_s, loaded.files, command_line())
    if trace is not None:
        with Staging(loaded.files) as staging:
            staging.file(trace, "--trace").write_text(trace_of(paths[0], command_line()), encoding="utf-8")
        click.echo(f"Wrote {trace}", err=True)
    found = [Pair.of(sky, path) for path in paths]
    if as_json:
        print_json([pair.to_dict() for pair in found])
        return
    table = table_of(found)
    mention_rest(table, len(found))
    console().print(table)
    _tell(ages_in_words(sky.ages_days))


def _tell(line: str | None) -> None:
    if line is not None:
        click.echo(line)
