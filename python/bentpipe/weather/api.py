"""Fades by rain: for a place, a dish and a satellite, in a year and in time."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from bentpipe import _core
from bentpipe.errors import InputError

_NO_ERRORS = 1e-15
"""A share of wrong bits below which a trace says that there are none: one in more than a day at 10 Gbit/s."""


@dataclass(frozen=True)
class Place:
    """Where a station stands, and what rain is like there."""

    name: str
    latitude_deg: float
    longitude_deg: float
    altitude_km: float
    rain_height_km: float
    rain_rate_mm_h: float
    """Exceeded for 0.01 % of an average year."""
    rain_percent: float
    """Share of an average year in which it rains."""


def places() -> list[Place]:
    """Give the places that have a name, with what the maps of ITU-R P.837-7, P.839-4 and P.1511-2 say."""
    return [Place(*row) for row in _core.places()]


@dataclass(frozen=True)
class Fade:
    """What was asked, and what came out: a year in shares of time, and a series.

    `answer` has the numbers by their names with their units; its ``series`` has columns of equal length.
    """

    request: Mapping[str, Any]
    answer: Mapping[str, Any]

    @property
    def coded(self) -> bool:
        """Whether the modem is free of bit errors above its threshold, and useless below."""
        return bool(self.request["modem"] != "qpsk-1/2")

    def trace(self, about: str = "") -> str:
        """Write the series as a trace that a link of a scenario follows: rate and losses, or bit errors."""
        column = "loss" if self.coded else "ber"
        lines = [f"# {line}" for line in about.splitlines()]
        lines.append(f"time_s,rate_bps,{column}")
        series = self.answer["series"]
        before: tuple[float, float] | None = None
        for time_s, rate, lost in zip(series["time_s"], series["rate_bps"], series[column], strict=True):
            state = (round(rate), 0.0 if lost < _NO_ERRORS else float(f"{lost:.3g}"))
            if state != before:
                lines.append(f"{time_s:.10g},{state[0]},{state[1]:g}")
            before = state
        return "\n".join(lines) + "\n"

    def spells(self) -> Iterator[float]:
        """Give the length of each spell in seconds in which data does not get through whole."""
        series, step_s = self.answer["series"], self.request["step_s"]
        bers = (0.0 if ber is None else ber for ber in series["ber"])
        columns = zip(series["rate_bps"], series["loss"], bers, strict=True)
        whole = (rate > 0 and loss == 0 and ber <= 1e-5 for rate, loss, ber in columns)
        return (step_s * len(list(spell)) for gets_through, spell in groupby(whole) if not gets_through)

    def to_dict(self) -> dict[str, Any]:
        """Give all of it, as JSON has it."""
        return {"request": dict(self.request), **self.answer}


def fade(request: Mapping[str, Any]) -> Fade:
    """Compute what rain does to a link.

    Parameters
    ----------
    request
        Every number of the link by its name with its unit; ``bentpipe fade --json`` prints one.

    Raises InputError: a number is missing, or one that the models are not for; the message begins with its
    name.
    """
    try:
        return Fade(request, json.loads(_core.fade(json.dumps(request))))
    except ValueError as error:
        raise InputError(str(error)) from None
