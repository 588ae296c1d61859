"""The commands of fades and of traces."""

import math
from pathlib import Path
from typing import Any

import click

from bentpipe import _core
from bentpipe.command_line.options import (
    SEED,
    Command,
    Decorator,
    File,
    command_line,
    json_option,
    option,
    scenario_argument,
    set_option,
)
from bentpipe.command_line.terminal import print_json
from bentpipe.command_line.values import Value, number
from bentpipe.errors import InputError
from bentpipe.files.output import Staging
from bentpipe.scenario import Scenario
from bentpipe.show.style import picture_format
from bentpipe.show.table import console
from bentpipe.weather import MODEMS, TILTS_DEG, api
from bentpipe.weather.show import draw_fade, print_fade

_DAY_S, _STORM_S = 86_400.0, 7200.0

_FAR = 1e15
"""No quantity of a link, in no unit, is as large."""

_ALSO = {"elevation_deg": "--satellite", "latitude_deg": "--place", "longitude_deg": "--place"}
"""What the models call a number that follows from an option, and that option."""


def _number(names: str, unit: str, text: str, **more: Any) -> Decorator:
    """Make the option of a number: its name here, and that in the models."""

    def read(given: str) -> float:
        # Which ones are possible, the models say.
        if not abs(found := number(given)) < _FAR:
            raise ValueError(f"expected a number ({unit}), found {given[:40]!r}")
        return found

    return option(names, Value(unit, read), text, **more)


@click.command(cls=Command)
@option(
    "--place",
    str,
    "A city such as ahmedabad, or degrees north and east, as 48.2,16.4, with --rain-rate.",
    required=True,
    metavar="NAME|LAT,LON",
)
@_number(
    "--satellite satellite_longitude_deg",
    "degrees",
    "Longitude of the geostationary satellite; east is positive.",
)
@_number("--frequency frequency_ghz", "GHz", "Frequency of the downlink, 1 to 55.", default=12.0)
@option("--polarization tilt_deg", click.Choice(list(TILTS_DEG)), "Of the downlink.", default="circular")
@_number("--dish dish_m", "m", "Diameter of the dish.", default=1.2)
@_number("--dish-efficiency", "share", "Share of its area that counts.", default=0.65)
@_number("--noise-temperature noise_k", "K", "Of dish and receiver in clear sky.", default=150.0)
@_number("--eirp eirp_dbw", "dBW", "What the satellite sends towards the place.", default=48.0)
@_number("--atmosphere atmosphere_db", "dB", "What gases take in clear sky.", default=0.2)
@_number("--uplink uplink_dbhz", "dBHz", "C/N0 of the uplink; without it the uplink adds no noise.")
@_number(
    "--symbol-rate symbol_rate_bd", "Bd", "Symbols a second, whose bandwidth the noise has.", default=10e6
)
@option(
    "--modem", click.Choice(MODEMS), "DVB's MODCODs, or QPSK with a convolutional code.", default="dvb-s2"
)
@option("--modcod", str, "A fixed MODCOD, as '8PSK 3/4'; the best at each time without it.", metavar="NAME")
@_number("--implementation implementation_db", "dB", "What the modem loses against the theory.", default=1.0)
@_number("--margin margin_db", "dB", "Es/N0 that a MODCOD must have to spare.", default=0.5)
@_number("--hysteresis hysteresis_db", "dB", "What it must have beyond that to be taken up.", default=0.5)
@_number("--reaction reaction_s", "s", "From a change of Es/N0 to the MODCOD that answers it.", default=0.6)
@_number("--rain-rate rain_rate_mm_h", "mm/h", "Exceeded for 0.01 % of a year; the city's by default.")
@_number("--rain-height rain_height_km", "km", "Above the sea; the city's by default, or by latitude.")
@_number("--rain-share rain_percent", "%", "Of a year in which it rains; the city's by default, or 5.")
@_number("--altitude altitude_km", "km", "Of the place above the sea; the city's by default, or 0.")
@_number("--storm storm_db", "dB", "Attenuation in the middle; a usual time of the year without it.")
@_number("--duration duration_s", "s", "Length of the series; a day, or two hours with --storm, by default.")
@_number("--step step_s", "s", "Time from point to point; 10, or 1 with --storm, by default.")
@option("--seed", SEED, "Of the series.", default=1)
@option("--plot", File(), "Draw the series into a .png, .svg or .pdf file.")
@option("--trace", File(), "Write a CSV that a link's trace = reads.")
@json_option
def fade(place: str, plot: Path | None, trace: Path | None, *, as_json: bool, **given: Any) -> None:
    """Compute rain on the link from a satellite to a dish, by shares of a year and over time.

    Rain is that of ITU-R P.618-13 and P.838-3, its time series that of P.1853-2, MODCODs those of EN 302 307.
    """
    if plot is not None:
        picture_format(plot)
    if given["satellite_longitude_deg"] is None:
        raise InputError("--satellite: expected its longitude in degrees east, found none")
    usual = (_DAY_S, 10.0) if given["storm_db"] is None else (_STORM_S, 1.0)
    for key, value in zip(("duration_s", "step_s"), usual, strict=True):
        given[key] = value if given[key] is None else given[key]
    given["tilt_deg"] = TILTS_DEG[given["tilt_deg"]]
    rain = _rain_at(place, given)
    names = [name for name in (parameter.name or "" for parameter in fade.params) if name in given]
    request = rain | {name: given[name] for name in names if name not in rain}
    try:
        found = api.fade(request)
    except InputError as error:
        key, colon, message = str(error).partition(": ")
        options = {parameter.name: parameter.opts[0] for parameter in fade.params} | _ALSO
        raise InputError(f"{options.get(key, key)}{colon}{message}") from None
    with Staging() as staging:
        if trace is not None:
            staging.file(trace, "--trace").write_text(found.trace(command_line()), encoding="utf-8")
        if plot is not None:
            draw_fade(found, place, staging.file(plot, "--plot"))
    for path in filter(None, (plot, trace)):
        click.echo(f"Wrote {path}", err=True)
    if as_json:
        print_json(found.to_dict())
    else:
        print_fade(found, place, console())


def _rain_at(name: str, given: dict[str, Any]) -> dict[str, float]:
    """Give where a place is and what rain is like there, with what the options say of it in their place."""
    known = {place.name: place for place in api.places()}
    if name.lower().replace(" ", "-") in known:
        place = known[name.lower().replace(" ", "-")]
    else:
        at = tuple(number(part) for part in name.split(","))
        if len(at) != 2 or not all(map(math.isfinite, at)):
            raise InputError(
                f"--place: expected degrees as 48.2,16.4 or one of {', '.join(known)}, found {name!r}"
            )
        if given["rain_rate_mm_h"] is None:
            raise InputError(
                "--rain-rate: expected mm/h, exceeded for 0.01 % of a year, beside degrees, found none"
            )
        place = api.Place(name, *at, 0.0, _core.rain_height(at[0]), given["rain_rate_mm_h"], 5.0)
    found = {key: value for key, value in vars(place).items() if key != "name"}
    return found | {key: given[key] for key in found if given.get(key) is not None}


@click.command(cls=Command)
@scenario_argument
@click.argument("link")
@option(
    "--format form",
    click.Choice(["csv", "mahimahi"]),
    "Rows of delay, rate and loss, or times of deliveries for mahimahi.",
    default="csv",
)
@option("--out -o", File(), "The file; standard output by default.")
@set_option
def trace(
    scenario: str, link: str, form: str, out: Path | None, settings: tuple[tuple[str, str], ...]
) -> None:
    """Write rate, delay and losses of LINK over a run of SCENARIO as a trace.

    SCENARIO is a file, preset:NAME, - for standard input, or the result of a run. LINK is a link's name, or
    its name with /reverse. Of a schedule that repeats, it is one round.
    """
    loaded = Scenario.load(scenario, settings)
    try:
        text = loaded.trace(link, form)
    except ValueError as error:
        raise InputError(f"{link}: {error}") from None
    if out is None:
        click.echo(text, nl=False)
        return
    with Staging(loaded.files) as staging:
        staging.file(out, "--out").write_text(text, encoding="utf-8")
    click.echo(f"Wrote {out}", err=True)
