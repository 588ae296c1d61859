"""Beyond the paper: what each mechanism is worth, and what a receiver that enforces its window does."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bentpipe.results import Run
from bentpipe.show.style import picture
from bentpipe_papers.common import over, plain, width
from bentpipe_papers.reproduction.reproduce import Context, Settings

from .runs import BERS, SEEDS, bit_errors, download, download_s, finished, settings_of

MECHANISMS = ("scaling", "cwnd_increase", "rwnd_increase", "loss_recovery")

ABLATION: Mapping[str, Mapping[str, str]] = {
    "all four": {},
    "without scaling (rho = 15)": {"tcp.adalr.scaling": "false"},
    "without cwnd increase": {"tcp.adalr.cwnd_increase": "false"},
    "without rwnd increase": {"tcp.adalr.rwnd_increase": "false"},
    "without loss recovery": {"tcp.adalr.loss_recovery": "false"},
}

READINGS: Mapping[str, Mapping[str, str]] = {
    **{
        f"rwnd adjusted {reading}": {"tcp.adalr.rwnd_reading": reading}
        for reading in ("from-advertised", "per-ack", "accumulating")
    },
    "no linear window after recovery": {"tcp.adalr.linear_after_recovery": "0"},
    "avoidance as in the slides": {"tcp.adalr.avoidance_reading": "slides"},
}

CHANNELS: Mapping[str, Mapping[str, str]] = {
    "no losses": {},
    **{f"BER {ber}": bit_errors(ber) for ber in BERS},
}

WINDOWS: Mapping[str, Mapping[str, str]] = {
    "65,535 bytes": {},
    "128 KiB, scaled": {"tcp.window_scaling": "true", "tcp.receive_window": "128 KiB"},
    "1 MiB, scaled": {"tcp.window_scaling": "true", "tcp.receive_window": "1 MiB"},
}

QUEUE = "100 packets"
"""Gateway buffer of the comparison of windows: a large window needs some bound."""


@dataclass(frozen=True)
class Measured:
    """Times in s; bytes that a receiver dropped for lying beyond its window, and that it had already."""

    time: float
    interval: float
    beyond: float
    duplicate: float
    timeouts: float


def _measure(runs: Sequence[Run]) -> Measured:
    time = over(download_s(run) for run in runs)
    beyond, duplicate, timeouts = (
        plain(over(download(run)[what] for run in runs))
        for what in ("beyond_window_bytes", "duplicate_bytes", "timeouts")
    )
    return Measured(plain(time), width(time), beyond, duplicate, timeouts)


def ablation(context: Context, variant: str = "adalr-sack") -> dict[tuple[str, str], Measured]:
    """Run the download with each mechanism off alone, and with each other reading, over the channels."""
    base = settings_of((variant, "enabled"))
    rows: dict[str, Settings] = {
        "TCP SACK": settings_of(("sack", "enabled")),
        **{name: {**base, **change} for name, change in {**ABLATION, **READINGS}.items()},
    }
    keys = [(row, channel) for row in rows for channel in CHANNELS]
    settings = [{**rows[row], **CHANNELS[channel]} for row, channel in keys]
    runs = context.replicate("download.toml", settings, runs=SEEDS)
    found = finished(dict(zip(keys, runs, strict=True)))
    return {key: _measure(some) for key, some in found.items()}


def windows(context: Context) -> dict[tuple[str, str, str, str], Measured]:
    """Run the download over windows, buffers and channels, with and without the rwnd increase."""
    senders: dict[str, Settings] = {
        "TCP SACK": settings_of(("sack", "enabled")),
        "ADaLR": settings_of(("adalr-sack", "enabled")),
        "ADaLR, no rwnd increase": {
            **settings_of(("adalr-sack", "enabled")),
            "tcp.adalr.rwnd_increase": "false",
        },
    }
    buffers = ("unlimited", QUEUE)
    keys = [
        (window, buffer, channel, sender)
        for window in WINDOWS
        for buffer in buffers
        for channel in ("no losses", "BER 1e-8", "BER 1e-7", "BER 1e-6")
        for sender in senders
    ]
    settings = [
        {**senders[sender], **WINDOWS[window], **CHANNELS[channel], "links.satellite.queue": buffer}
        for window, buffer, channel, sender in keys
    ]
    runs = context.replicate("download.toml", settings, runs=SEEDS)
    found = finished(dict(zip(keys, runs, strict=True)))
    return {key: _measure(some) for key, some in found.items()}


def draw_ablation(context: Context, path: Path) -> None:
    """Draw the ablation as a table of download times."""
    cells = ablation(context)
    names = list(dict.fromkeys(row for row, _ in cells))
    text = [
        [f"{cells[name, channel].time:,.1f} ± {cells[name, channel].interval:.1f}" for channel in CHANNELS]
        for name in names
    ]
    ratios = [
        [cells[name, channel].time / cells["all four", channel].time - 1 for channel in CHANNELS]
        for name in names
    ]
    _table(
        path,
        names,
        list(CHANNELS),
        text,
        ratios,
        "Download response time of 50 MB in s (red: slower than with all four, green: faster)",
    )


def draw_windows(context: Context, path: Path) -> None:
    """Draw times and discarded bytes over windows as a table."""
    cells = windows(context)
    columns = list(dict.fromkeys((channel, sender) for _, _, channel, sender in cells))
    rows = list(dict.fromkeys((window, buffer) for window, buffer, _, _ in cells))
    text, ratios = [], []
    for window, buffer in rows:
        line, shade = [], []
        for channel, sender in columns:
            cell = cells[window, buffer, channel, sender]
            beyond = f"\nbeyond {cell.beyond / 1e3:,.0f} kB" if cell.beyond else ""
            line.append(f"{cell.time:,.0f} s{beyond}")
            shade.append(cell.time / cells[window, buffer, channel, "TCP SACK"].time - 1)
        text.append(line)
        ratios.append(shade)
    _table(
        path,
        [f"{window}\nbuffer {buffer}" for window, buffer in rows],
        [f"{channel}\n{sender.replace(', ', chr(10))}" for channel, sender in columns],
        text,
        ratios,
        "Download response time, data dropped beyond the window (red: slower than TCP SACK, green: faster)",
    )


def _table(
    path: Path,
    rows: list[str],
    columns: list[str],
    text: list[list[str]],
    shade: list[list[float]],
    title: str,
) -> None:
    with picture(path, (2.4 + 1.05 * len(columns), 1.2 + 0.5 * len(rows))) as figure:
        from matplotlib.colors import LinearSegmentedColormap

        axes = figure.subplots()
        colours = LinearSegmentedColormap.from_list("gain", ("#86c5a6", "#ffffff", "#e3a08f"))
        axes.imshow(shade, cmap=colours, vmin=-0.5, vmax=0.5, aspect="auto")
        axes.set_xticks(range(len(columns)), columns, fontsize=7)
        axes.set_yticks(range(len(rows)), rows, fontsize=8)
        axes.xaxis.tick_top()
        axes.tick_params(length=0)
        axes.grid(visible=False)
        for row, line in enumerate(text):
            for column, words in enumerate(line):
                axes.annotate(words, (column, row), ha="center", va="center", fontsize=7)
        axes.set_title(title, fontsize=9, pad=10)
