"""A fade as a picture: rain, signal, and what gets through, over time."""

from pathlib import Path

from bentpipe.show.style import BLUE, GREEN, GREY, ORANGE, RED, picture
from bentpipe.weather.api import Fade


def draw_fade(found: Fade, name: str, path: Path) -> None:
    """Draw the series into a .png or .svg file."""
    series, request = found.answer["series"], found.request
    hours = request["duration_s"] > 3 * 3600
    times = [time_s / (3600 if hours else 60) for time_s in series["time_s"]]
    with picture(path, (8.0, 6.0), f"{name}: rain over a satellite link") as figure:
        rain, signal, data = figure.subplots(3, 1, sharex=True)
        rain.plot(times, series["rain_db"], color=BLUE)
        rain.set(ylabel="rain in dB", title=f"{name}, {request['frequency_ghz']:g} GHz")
        signal.plot(times, series["es_n0_db"], color=GREEN)
        signal.set_ylabel("Es/N0 in dB")
        if found.coded:
            data.step(times, [rate / 1e6 for rate in series["rate_bps"]], where="post", color=ORANGE)
            data.set_ylabel("rate in Mbit/s")
            data.set_ylim(bottom=0)
            lost = [
                loss > 0 or rate == 0 for loss, rate in zip(series["loss"], series["rate_bps"], strict=True)
            ]
            data.fill_between(
                times,
                0,
                1,
                where=lost,
                step="post",
                color=RED,
                alpha=0.2,
                lw=0,
                transform=data.get_xaxis_transform(),
            )
        else:
            data.semilogy(times, [max(ber, 1e-12) for ber in series["ber"]], color=ORANGE)
            data.axhline(1e-5, color=GREY, lw=0.8)
            data.set_ylabel("BER")
        data.set_xlabel(f"time in {'hours' if hours else 'minutes'}")
        data.set_xlim(times[0], times[-1])
