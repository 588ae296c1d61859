"""A fade as tables, and as a picture of rain, signal and what gets through over time."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console

from bentpipe.show.layout import new_table
from bentpipe.show.style import BLUE, GREEN, GREY, ORANGE, RED, picture
from bentpipe.show.units import count, percent, quantity, seconds
from bentpipe.weather.api import Fade


def print_fade(found: Fade, name: str, to: Console) -> None:
    """Print the link, what is left of it in shares of a year, and what the series came to."""
    request, answer = found.request, found.answer
    east = (request["satellite_longitude_deg"] + 180) % 360 - 180
    to.print(
        f"[bold]{name}[/bold]  satellite at {abs(east):g}° {'W' if east < 0 else 'E'}, "
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
    spells = list(found.spells())
    headings = ("most rain", "carries data", "spells without", "longest", "mean rate of 1500-byte packets")
    table = new_table("in time", *headings, "changes")
    table.add_row(
        f"{seconds(request['duration_s'])}, seed {request['seed']}",
        f"{max(series['rain_db']):.1f} dB",
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


def draw_fade(found: Fade, name: str, path: Path) -> None:
    """Draw the series into a .png or .svg file."""
    series, request = found.answer["series"], found.request
    hours = request["duration_s"] > 3 * 3600
    times = [time_s / (3600 if hours else 60) for time_s in series["time_s"]]
    with picture(path, (8.0, 6.0), f"{name}: rain over a satellite link") as figure:
        rain, signal, data = figure.subplots(3, 1, sharex=True)
        rain.plot(times, series["rain_db"], color=BLUE)
        rain.set(ylabel="rain (dB)", title=f"{name}, {request['frequency_ghz']:g} GHz")
        signal.plot(times, series["es_n0_db"], color=GREEN)
        signal.set_ylabel("Es/N0 (dB)")
        if found.coded:
            data.step(times, [rate / 1e6 for rate in series["rate_bps"]], where="post", color=ORANGE)
            data.set_ylabel("rate (Mbit/s)")
            data.set_ylim(bottom=0)
            both = zip(series["loss"], series["rate_bps"], strict=True)
            lost = [loss > 0 or rate == 0 for loss, rate in both]
            whole = {"step": "post", "transform": data.get_xaxis_transform()}
            data.fill_between(times, 0, 1, where=lost, color=RED, alpha=0.2, lw=0, **whole)
        else:
            data.semilogy(times, [max(ber, 1e-12) for ber in series["ber"]], color=ORANGE)
            data.axhline(1e-5, color=GREY, lw=0.8)
            data.set_ylabel("BER")
        data.set_xlabel(f"time ({'h' if hours else 'min'})")
        data.set_xlim(times[0], times[-1])
