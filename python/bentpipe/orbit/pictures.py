"""What `bentpipe orbit` draws: round trips over time, a map, a film."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from bentpipe._core import Sky
from bentpipe.command_line.values import Value
from bentpipe.errors import InputError
from bentpipe.files.output import Staging
from bentpipe.orbit import film, map_plot, rtt_plot
from bentpipe.orbit.station_path import StationPath
from bentpipe.show.style import picture_format

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

    Raises
    ------
    InputError
        A file's name has another ending, or an option lacks the one that it belongs to.
    """

    plot: Path | None = None
    world: Path | None = None
    film: Path | None = None
    at: float | None = None
    track: str | None = None
    step: float | None = None

    def __post_init__(self) -> None:
        for option, given, needed, there in (
            ("--at", self.at, "--map FILE", self.world),
            ("--track", self.track, "--map FILE", self.world),
            ("--step", self.step, "--film FILE", self.film),
        ):
            if given is not None and there is None:
                raise InputError(f"{option} needs {needed}")
        if self.step == 0:
            raise InputError("--step: expected a time above zero, found 0 s")
        for path, formats in (
            (self.plot, rtt_plot.FORMATS),
            (self.world, ("png", "svg")),
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

        Raises
        ------
        InputError
            There is no such satellite or time, or there are too many frames.
        BentpipeError
            A file cannot be written.
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
