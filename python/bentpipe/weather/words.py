"""A fade as tables for people."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console

from bentpipe.show.layout import new_table
from bentpipe.show.units import count, percent, quantity, seconds
from bentpipe.weather.api import Fade


def print_fade(found: Fade, name: str, to: Console) -> None:
    """Print the link, what is left of it in shares of a year, and what the series came to."""
    request, answer = found.request, found.answer
    to.print(
        f"[bold]{name}[/bold]  satellite at {_degrees(request['satellite_longitude_deg'])}, "
        f"{answer['elevation_deg']:.1f} degrees high, {answer['distance_km']:,.0f} km, "
        f"{seconds(answer['hop_s'])} one way",
        f"{request['frequency_ghz']:g} GHz, free space {answer['free_space_db']:.1f} dB, "
        f"G/T {answer['gain_over_temperature_db']:.1f} dB/K, "
        f"rain {request['rain_rate_mm_h']:g} mm/h for 0.01 % of a year",
        sep="\n",
        highlight=False,
    )
    what = "MODCOD" if found.coded else "BER"
    table = new_table("worse for", "rain", "C/N0", "Es/N0", "Eb/N0", what, "rate")
    for level in (answer["clear"], *answer["exceeded"]):
        table.add_row(*_level(level, coded=found.coded))
    to.print(table)
    series = answer["series"]
    worst = max(series["rain_db"])
    spells = list(found.spells())
    table = new_table(
        "in time",
        "most rain",
        "carries data",
        "spells without",
        "longest",
        "mean rate of 1500-byte packets",
        "changes",
    )
    table.add_row(
        f"{seconds(request['duration_s'])}, seed {request['seed']}",
        f"{worst:.1f} dB",
        percent(answer["available"]),
        count(len(spells)),
        seconds(max(spells, default=0.0)),
        quantity(answer["mean_rate_bps"], "bit/s"),
        count(answer["changes"]) if found.coded else "–",
    )
    to.print(table)


def _level(level: Mapping[str, Any], *, coded: bool) -> tuple[str, ...]:
    energy = level["eb_n0_db"]
    if coded:
        code = level["modcod"] or "none"
        lost = " (lost)" if level["loss"] else ""
        code, rate = f"{code}{lost}", quantity(level["rate_bps"] * (1 - level["loss"]), "bit/s")
    else:
        code, rate = f"{level['ber']:.1e}", quantity(level["rate_bps"], "bit/s")
    return (
        "clear sky" if level["percent"] is None else f"{level['percent']:g} %",
        f"{level['rain_db']:.2f} dB",
        f"{level['carrier_to_density_dbhz']:.1f} dBHz",
        f"{level['es_n0_db']:.1f} dB",
        "–" if energy is None else f"{energy:.1f} dB",
        code,
        rate,
    )


def _degrees(longitude_deg: float) -> str:
    east = (longitude_deg + 180) % 360 - 180
    return f"{abs(east):g}° {'W' if east < 0 else 'E'}"
