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

_OPTIONS = {
    "altitude_km": "--altitude",
    "atmosphere_db": "--atmosphere",
    "dish_efficiency": "--dish-efficiency",
    "dish_m": "--dish",
    "duration_s": "--duration",
    "eirp_dbw": "--eirp",
    "elevation_deg": "--satellite",
    "frequency_ghz": "--frequency",
    "hysteresis_db": "--hysteresis",
    "implementation_db": "--implementation",
    "latitude_deg": "--place",
    "longitude_deg": "--place",
    "margin_db": "--margin",
    "modcod": "--modcod",
    "noise_k": "--noise-temperature",
    "rain_height_km": "--rain-height",
    "rain_percent": "--rain-share",
    "rain_rate_mm_h": "--rain-rate",
    "reaction_s": "--reaction",
    "satellite_longitude_deg": "--satellite",
    "step_s": "--step",
    "storm_db": "--storm",
    "symbol_rate_bd": "--symbol-rate",
    "uplink_dbhz": "--uplink",
}
"""What the models call a number, and the option that gives it."""


def _option(*names: str, unit: str, default: float | None = None, text: str) -> Callable[[Any], Any]:
    def read(given: str) -> float:
        # Which ones are possible, the models say.
        if not abs(found := number(given)) < _FAR:
            raise ValueError(f"expected a number ({unit}), found {given[:40]!r}")
        return found

    return click.option(
        *names, type=Value(unit, read), default=default, show_default=default is not None, help=text
    )


@click.command(cls=Command, short_help="Rain on a satellite link: a table, a picture, a trace.")
@click.option(
    "--place",
    required=True,
    metavar="NAME|LAT,LON",
    help="A city such as ahmedabad, or degrees north and east, as 48.2,16.4, with --rain-rate.",
)
@_option("--satellite", unit="degrees", text="Longitude of the geostationary satellite; east is positive.")
@_option("--frequency", unit="GHz", default=12.0, text="Frequency of the downlink, 1 to 55.")
@click.option(
    "--polarization",
    type=click.Choice(list(TILTS_DEG)),
    default="circular",
    show_default=True,
    help="Of the downlink.",
)
@_option("--dish", unit="m", default=1.2, text="Diameter of the dish.")
@_option("--dish-efficiency", unit="share", default=0.65, text="Share of its area that counts.")
@_option("--noise-temperature", unit="K", default=150.0, text="Of dish and receiver in clear sky.")
@_option("--eirp", unit="dBW", default=48.0, text="What the satellite sends towards the place.")
@_option("--atmosphere", unit="dB", default=0.2, text="What gases take in clear sky.")
@_option("--uplink", unit="dBHz", text="C/N0 of the uplink; without it the uplink adds no noise.")
@_option("--symbol-rate", unit="Bd", default=10e6, text="Symbols a second, whose bandwidth the noise has.")
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
@_option("--implementation", unit="dB", default=1.0, text="What the modem loses against the theory.")
@_option("--margin", unit="dB", default=0.5, text="Es/N0 that a MODCOD must have to spare.")
@_option("--hysteresis", unit="dB", default=0.5, text="What it must have beyond that to be taken up.")
@_option("--reaction", unit="s", default=0.6, text="From a change of Es/N0 to the MODCOD that answers it.")
@_option("--rain-rate", unit="mm/h", text="Exceeded for 0.01 % of a year; the city's by default.")
@_option("--rain-height", unit="km", text="Above the sea; the city's by default, or by latitude.")
@_option("--rain-share", unit="%", text="Of a year in which it rains; the city's by default, or 5.")
@_option("--altitude", unit="km", text="Of the place above the sea; the city's by default, or 0.")
@_option("--storm", unit="dB", text="Attenuation in the middle; a usual time of the year without it.")
@_option("--duration", unit="s", text="Length of the series; a day, or two hours with --storm, by default.")
@_option("--step", unit="s", text="Time from point to point; 10, or 1 with --storm, by default.")
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
    if given["satellite"] is None:
        raise InputError("--satellite: expected its longitude in degrees east, found none")
    storm = given["storm"] is not None
    duration = given["duration"] if given["duration"] is not None else (_STORM_S if storm else _DAY_S)
    step = given["step"] if given["step"] is not None else (1.0 if storm else 10.0)
    request = {
        **_rain_at(place, given),
        "satellite_longitude_deg": given["satellite"],
        "frequency_ghz": given["frequency"],
        "tilt_deg": TILTS_DEG[given["polarization"]],
        "dish_m": given["dish"],
        "dish_efficiency": given["dish_efficiency"],
        "noise_k": given["noise_temperature"],
        "eirp_dbw": given["eirp"],
        "atmosphere_db": given["atmosphere"],
        "uplink_dbhz": given["uplink"],
        "symbol_rate_bd": given["symbol_rate"],
        "modem": given["modem"],
        "implementation_db": given["implementation"],
        "modcod": given["modcod"],
        "margin_db": given["margin"],
        "hysteresis_db": given["hysteresis"],
        "reaction_s": given["reaction"],
        "duration_s": duration,
        "step_s": step,
        "storm_db": given["storm"],
        "seed": seed,
    }
    try:
        found = api.fade(request)
    except InputError as error:
        key, colon, message = str(error).partition(": ")
        raise InputError(f"{_OPTIONS.get(key, key)}{colon}{message}") from None
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
        if given["rain_rate"] is None:
            raise InputError(
                "--rain-rate: expected mm/h, exceeded for 0.01 % of a year, beside degrees, found none"
            )
        place = api.Place(name, *at, 0.0, _core.rain_height(at[0]), given["rain_rate"], 5.0)
    own = {"rain_rate": "rain_rate_mm_h", "rain_height": "rain_height_km", "altitude": "altitude_km"}
    own["rain_share"] = "rain_percent"
    found = {key: value for key, value in vars(place).items() if key != "name"}
    return found | {key: given[option] for option, key in own.items() if given[option] is not None}


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
