"""Figures 9 and 10: the transfer beside another transmitter's TCP, through one modem."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from bentpipe.grid import Grid
from bentpipe.papers.common import over, plain
from bentpipe.reproduction import Context, Row, Settings
from bentpipe.results import Estimate, Run
from bentpipe.style import picture

from . import notes
from .runs import (
    BERS,
    FEW,
    RATES_KBPS,
    SCHEMES,
    SEEDS,
    bars,
    counted_errors,
    flow,
    rate,
    ratio,
    throughputs,
    transfers,
)

BESIDE_TCP = "shared-tcp.toml"
STEP_S = 0.5
"""From one transfer's beginning to the next one's: the other TCP begins with the tenth, at 5 s."""

CLEAR = "no errors"
CHANNELS = (CLEAR, *BERS)


TITLES = {2048: "2 Mbit/s", 1024: "1 Mbit/s"}


def channel(context: Context, name: str) -> Settings:
    """Give the settings of a channel: without errors, or with segment losses as counted."""
    return {} if name == CLEAR else counted_errors(context, name)


def beside(
    context: Context, settings: Mapping[str, Settings], scenario: str, seeds: int = SEEDS
) -> dict[tuple[str, str], list[Run]]:
    """Run the transfer beside other traffic, each time beginning at another moment."""
    return transfers(context, settings, scenario, step_s=STEP_S * SEEDS / seeds, seeds=seeds)


def _beside_tcp(context: Context, kbps: int) -> dict[tuple[str, str], Estimate]:
    settings = {name: {**rate(kbps), **channel(context, name)} for name in CHANNELS}
    return {key: throughputs(runs) for key, runs in beside(context, settings, BESIDE_TCP).items()}


def _unanswered(runs: Sequence[Run]) -> tuple[float, float]:
    """Give the mean numbers of congestion losses, and of those that cost no reduction."""
    lost, kept = (
        over(plain(flow(run)[f"loss_cause_congestion{what}"]) for run in runs) for what in ("", "_kept")
    )
    return plain(lost), plain(kept)


def figure_9(context: Context) -> list[Row]:
    """Give the rows of figure 9: no errors, four data rates."""
    runs = beside(context, {f"{kbps}": rate(kbps) for kbps in RATES_KBPS}, BESIDE_TCP)
    rows = []
    for kbps in RATES_KBPS:
        values = {name: throughputs(runs[f"{kbps}", name]) for name in SCHEMES}
        others = {
            name: over(plain(flow(run, "background")["goodput_bps"]) / 8e3 for run in runs[f"{kbps}", name])
            for name in SCHEMES
        }
        rows.append(
            context.claim(
                f"{kbps} kbit/s, no errors",
                "throughput beside a TCP transfer",
                values,
                notes.neighbour(others, *_unanswered(runs[f"{kbps}", "afc"])),
            )
        )
    least = min(
        (ratio(*(throughputs(runs[f"{kbps}", name]) for name in ("afc", "tcp"))) for kbps in RATES_KBPS),
        key=plain,
    )
    return [
        *rows,
        context.claim(
            "no deterioration",
            "least throughput of AFC over TCP's",
            {"ratio": least, "one": 1.0},
            notes.NO_WORSE,
        ),
    ]


TRIED: Mapping[str, Settings] = {
    "64 packets of buffer (default)": {},
    **{f"{packets} packets": {"links.satellite.queue": f"{packets} packets"} for packets in (16, 32, 90)},
    "each segment acknowledged": {"tcp.delayed_ack": "false"},
    "without rate adjustment": {"tcp.afc.rate_adjustment": "false"},
    "receive window 65,535 B": {"tcp.receive_window": "65535 B"},
}
"""Settings under which figure 9 was tried."""


def measure_figure_9(context: Context) -> Grid:
    """Give the throughput of AFC over TCP's without errors, under other settings."""
    cases = {(name, kbps): {**rate(kbps), **some} for name, some in TRIED.items() for kbps in RATES_KBPS}
    runs = beside(context, {f"{name}, {kbps}": some for (name, kbps), some in cases.items()}, BESIDE_TCP, FEW)
    return Grid(
        "Throughput of AFC over TCP's beside a TCP transfer, no errors",
        ("setting", *(f"{kbps} kbit/s" for kbps in RATES_KBPS)),
        tuple(
            (
                name,
                *(
                    ratio(*(throughputs(runs[f"{name}, {kbps}", who]) for who in ("afc", "tcp")))
                    for kbps in RATES_KBPS
                ),
            )
            for name in TRIED
        ),
    )


def figure_10(context: Context) -> list[Row]:
    """Give the rows of figure 10: two error rates and two data rates."""
    rows = []
    for kbps, title in TITLES.items():
        cells = _beside_tcp(context, kbps)
        gains = {ber: ratio(cells[ber, "afc"], cells[ber, "tcp"]) for ber in BERS}
        metric = "throughput beside a TCP transfer"
        moderate = {"BER 1e-6": cells["1e-6", "afc"], CLEAR: cells[CLEAR, "afc"]}
        rows += [
            context.claim(title, "throughput of AFC over TCP's", gains, notes.COUNTED_CHANNEL),
            *(
                context.claim(
                    f"{title}, BER {ber}",
                    metric,
                    {name: cells[ber, name] for name in SCHEMES},
                    notes.COUNTED_CHANNEL,
                )
                for ber in BERS
            ),
            context.claim(
                f"{title}, moderate errors",
                "throughput of AFC beside a TCP transfer",
                moderate,
                notes.moderate(cells),
            ),
        ]
    return rows


def bars_of_cases(
    path: Path, panels: Mapping[str, tuple[str, Mapping[tuple[str, str], Estimate]]], title: str = ""
) -> None:
    """Draw a panel of bars for each: its label of the y axis, and values by case and scheme."""
    with picture(path, (1.5 + 4.6 * len(panels), 4)) as figure:
        grid = figure.subplots(1, len(panels), squeeze=False)[0]
        for axes, (heading, (label, values)) in zip(grid, panels.items(), strict=True):
            cases = list(dict.fromkeys(case for case, _ in values))
            for name in SCHEMES:
                bars(axes, name, [values[case, name] for case in cases], "{:.1f}")
            axes.set_xticks(
                range(len(cases)),
                [case if case == CLEAR or "kbit" in case else f"BER {case}" for case in cases],
            )
            axes.set_ylabel(label)
            axes.set_title(heading)
            axes.grid(visible=False, axis="x")
            axes.margins(y=0.12)
        handles, labels = grid[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=2)
        if title:
            figure.suptitle(title)


def draw_figure_9(context: Context, path: Path) -> None:
    """Draw throughput beside TCP without errors, over the data rate."""
    runs = beside(context, {f"{kbps}": rate(kbps) for kbps in RATES_KBPS}, BESIDE_TCP)
    own = {(f"{case} kbit/s", name): throughputs(some) for (case, name), some in runs.items()}
    other = {
        (f"{case} kbit/s", name): over(plain(flow(run, "background")["goodput_bps"]) / 8e3 for run in some)
        for (case, name), some in runs.items()
    }
    label = "throughput (kB/s)"
    bars_of_cases(path, {"The transfer": (label, own), "The TCP transfer beside it": (label, other)})


def draw_figure_10(context: Context, path: Path) -> None:
    """Draw throughput beside TCP over the channels, at two data rates."""
    bars_of_cases(
        path,
        {title: ("throughput (kB/s)", _beside_tcp(context, kbps)) for kbps, title in TITLES.items()},
    )
