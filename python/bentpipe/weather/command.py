"""The commands of fades and of traces."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from bentpipe.command_line.completion import scenarios
from bentpipe.command_line.options import Command, File, command_line, json_option, set_option
from bentpipe.command_line.terminal import print_json
from bentpipe.command_line.values import Value, Whole, number
from bentpipe.errors import InputError
from bentpipe.weather import MODEMS, TILTS_DEG

_DAY_S, _STORM_S = 86_400.0, 7200.0


_FAR = 1e15
"""No quantity of a link, in no unit, is as large."""

_ALSO = {"elevation_deg": "--satellite", "latitude_deg": "--place", "longitude_deg": "--place"}
"""What the models call a number that follows from an option, and that option."""

_LINK = (
    *("satellite_longitude_deg", "frequency_ghz", "tilt_deg", "dish_m", "dish_efficiency", "noise_k"),
    *("eirp_dbw", "atmosphere_db", "uplink_dbhz", "symbol_rate_bd", "modem", "implementation_db", "modcod"),
    *("margin_db", "hysteresis_db", "reaction_s", "duration_s", "step_s", "storm_db", "seed"),
)
"""What a request says beside the place."""


def _option(
    name: str, key: str, unit: str, *, default: float | None = None, text: str
) -> Callable[[Any], Any]:
    """Make the option of a number that the models call `key`."""

    def read(given: str) -> float:
        # Which ones are possible, the models say.
        if not abs(found := number(given)) < _FAR:
            raise ValueError(f"expected a number ({unit}), found {given[:40]!r}")
        return found

    return click.option(
        name, key, type=Value(unit, read), default=default, show_default=default is not None, help=text
    )


@click.command(cls=Command, short_help="Rain on a satellite link: a table, a picture, a trace.")
@click.option(
    "--place",
    required=True,
    metavar="NAME|LAT,LON",
    help="A city such as ahmedabad, or degrees north and east, as 48.2,16.4, with --rain-rate.",
)
@_option(
    "--satellite",
    "satellite_longitude_deg",
    "degrees",
    text="Longitude of the geostationary satellite; east is positive.",
)
@_option("--frequency", "frequency_ghz", "GHz", default=12.0, text="Frequency of the downlink, 1 to 55.")
@click.option(
    "--polarization",
    "tilt_deg",
    type=click.Choice(list(TILTS_DEG)),
    default="circular",
    show_default=True,
    help="Of the downlink.",
)
@_option("--dish", "dish_m", "m", default=1.2, text="Diameter of the dish.")
@_option("--dish-efficiency", "dish_efficiency", "share", default=0.65, text="Share of its area that counts.")
@_option("--noise-temperature", "noise_k", "K", default=150.0, text="Of dish and receiver in clear sky.")
@_option("--eirp", "eirp_dbw", "dBW", default=48.0, text="What the satellite sends towards the place.")
@_option("--atmosphere", "atmosphere_db", "dB", default=0.2, text="What gases take in clear sky.")
@_option("--uplink", "uplink_dbhz", "dBHz", text="C/N0 of the uplink; without it the uplink adds no noise.")
@_option(
    "--symbol-rate",
    "symbol_rate_bd",
    "Bd",
    default=10e6,
    text="Symbols a second, whose bandwidth the noise has.",
)
@click.option(
    "--modem",
    type=click.Choice(MODEMS),
    default="dvb-s2",
    show_default=True,
    help="DVB's MODCODs, or QPSK with a convolutional code.",
)
@click.option(
    "--modcod", metavar="NAME", help="A fixed MODCOD, as '8PSK 3/4'; the best at each time without it."
)
@_option(
    "--implementation",
    "implementation_db",
    "dB",
    default=1.0,
    text="What the modem loses against the theory.",
)
@_option("--margin", "margin_db", "dB", default=0.5, text="Es/N0 that a MODCOD must have to spare.")
@_option(
    "--hysteresis", "hysteresis_db", "dB", default=0.5, text="What it must have beyond that to be taken up."
)
@_option(
    "--reaction", "reaction_s", "s", default=0.6, text="From a change of Es/N0 to the MODCOD that answers it."
)
@_option(
    "--rain-rate", "rain_rate_mm_h", "mm/h", text="Exceeded for 0.01 % of a year; the city's by default."
)
@_option(
    "--rain-height", "rain_height_km", "km", text="Above the sea; the city's by default, or by latitude."
)
@_option(
    "--rain-share", "rain_percent", "%", text="Of a year in which it rains; the city's by default, or 5."
)
@_option("--altitude", "altitude_km", "km", text="Of the place above the sea; the city's by default, or 0.")
@_option("--storm", "storm_db", "dB", text="Attenuation in the middle; a usual time of the year without it.")
@_option(
    "--duration",
    "duration_s",
    "s",
    text="Length of the series; a day, or two hours with --storm, by default.",
)
@_option("--step", "step_s", "s", text="Time from point to point; 10, or 1 with --storm, by default.")
@click.option("--seed", type=Whole(0, 2**53 - 1), default=1, show_default=True, help="Of the series.")
@click.option("--plot", type=File(), metavar="FILE", help="Draw the series into a .png or .svg file.")
@click.option("--trace", type=File(), metavar="FILE", help="Write a CSV that a link's trace = reads.")
@json_option
def fade(
    place: str, seed: int, plot: Path | None, trace: Path | None, *, as_json: bool, **given: Any
) -> None:
    """Compute rain on the link from a satellite to a dish, by shares of a year and over time.

    Rain is that of ITU-R P.618-13 and P.838-3, its time series that of P.1853-2, MODCODs those of EN 302 307.
    """
    from bentpipe.files.output import Staging
    from bentpipe.show.style import picture_format
    from bentpipe.show.table import console
    from bentpipe.weather import api
    from bentpipe.weather.picture import draw_fade
    from bentpipe.weather.words import print_fade

    if plot is not None:
        picture_format(plot)
    if given["satellite_longitude_deg"] is None:
        raise InputError("--satellite: expected its longitude in degrees east, found none")
    usual = (_DAY_S, 10.0) if given["storm_db"] is None else (_STORM_S, 1.0)
    for key, value in zip(("duration_s", "step_s"), usual, strict=True):
        given[key] = value if given[key] is None else given[key]
    given |= {"tilt_deg": TILTS_DEG[given["tilt_deg"]], "seed": seed}
    request = _rain_at(place, given) | {key: given[key] for key in _LINK}
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
    from bentpipe import _core
    from bentpipe.weather import api

    known = {place.name: place for place in api.places()}
    if name.lower().replace(" ", "-") in known:
        place = known[name.lower().replace(" ", "-")]
    else:
        try:
            at = tuple(float(part) for part in name.split(","))
        except ValueError:
            at = ()
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


@click.command(cls=Command, short_help="Write the changes of a link as a trace for another link.")
@click.argument("scenario", shell_complete=scenarios)
@click.argument("link")
@click.option(
    "--format",
    "form",
    type=click.Choice(["csv", "mahimahi"]),
    default="csv",
    show_default=True,
    help="Rows of delay, rate and loss, or times of deliveries for mahimahi.",
)
@click.option("--out", "-o", type=File(), metavar="FILE", help="The file; standard output by default.")
@set_option
def trace(
    scenario: str, link: str, form: str, out: Path | None, settings: tuple[tuple[str, str], ...]
) -> None:
    """Write rate, delay and losses of LINK over a run of SCENARIO as a trace.

    SCENARIO is a file, preset:NAME, - for standard input, or the result of a run. LINK is a link's name, or
    its name with /reverse. Of a schedule that repeats, it is one round.
    """
    from bentpipe.files.output import Staging
    from bentpipe.scenario import Scenario

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
