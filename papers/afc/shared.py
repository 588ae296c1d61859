"""Figures 9 and 10: the transfer beside another transmitter's TCP, through one modem."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from bentpipe.results import Estimate, Run
from bentpipe.show.style import BLUE, CYCLE, GREY, picture
from bentpipe_papers.common import curve, over, plain
from bentpipe_papers.reproduction.grid import Grid
from bentpipe_papers.reproduction.reproduce import Context, Row, Settings

from .runs import (
    BERS,
    FEW,
    RATES_KBPS,
    SCHEMES,
    SEEDS,
    bars,
    counted_errors,
    flow,
    paired,
    rate,
    span,
    surest,
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


def _beside_tcp(context: Context, kbps: int) -> dict[tuple[str, str], list[Run]]:
    settings = {name: {**rate(kbps), **channel(context, name)} for name in CHANNELS}
    return beside(context, settings, BESIDE_TCP)


def _without_errors(context: Context) -> dict[tuple[str, str], list[Run]]:
    return beside(context, {f"{kbps}": rate(kbps) for kbps in RATES_KBPS}, BESIDE_TCP)


def _neighbour(runs: Sequence[Run]) -> Estimate:
    """Give the throughput of the transfer beside, in kB/s."""
    return over(plain(flow(run, "background")["goodput_bps"]) / 8e3 for run in runs)


def _kept(runs: Sequence[Run]) -> float:
    """Give the share, in %, of congestion losses that cost no reduction."""
    lost, kept = (
        sum(plain(flow(run)[f"loss_cause_congestion{what}"]) for run in runs) for what in ("", "_kept")
    )
    return 100 * kept / lost


def figure_9(context: Context) -> list[Row]:
    """Give the rows of figure 9: no errors, four data rates."""
    runs = _without_errors(context)
    ratios = {kbps: paired(runs[f"{kbps}", "afc"], runs[f"{kbps}", "tcp"]) for kbps in RATES_KBPS}
    for kbps in RATES_KBPS:
        context.fact(f"kept {kbps}", f"{_kept(runs[f'{kbps}', 'afc']):.0f} %")
        found = [some[kbps] for some in tried(context).values()]
        context.fact(f"tried {kbps}", span(found, "{:.2f}"))
        beside_tcp, beside_afc = (_neighbour(runs[f"{kbps}", name]) for name in SCHEMES)
        change = 100 * (1 - plain(beside_afc) / plain(beside_tcp))
        context.fact(f"neighbour {kbps}", f"{change:.0f} %")
    not_above = [over(min(1.0, value) for value in found["values"]) for found in ratios.values()]
    return [
        *(
            context.claim(
                f"{kbps} kbit/s, no errors",
                "throughput beside a TCP transfer",
                {name: throughputs(runs[f"{kbps}", name]) for name in SCHEMES},
            )
            for kbps in RATES_KBPS
        ),
        context.claim(
            "no deterioration",
            "least throughput of AFC over TCP's, 1 where AFC has more",
            {"ratio": surest(not_above), "one": 1.0},
        ),
    ]


TRIED: Mapping[str, Settings] = {
    **{f"{packets} packets": {"links.satellite.queue": f"{packets} packets"} for packets in (16, 32, 64)},
    "without rate adjustment": {"tcp.afc.rate_adjustment": "false"},
    "receive window 65,535 B": {"tcp.receive_window": "65535 B"},
}
"""Settings under which figure 9 was tried, besides a buffer of 90 packets."""


def tried(context: Context) -> dict[str, dict[int, Estimate]]:
    """Give the throughput of AFC over TCP's without errors under other settings, by data rate."""
    cases = {f"{name}, {kbps}": {**rate(kbps), **some} for name, some in TRIED.items() for kbps in RATES_KBPS}
    runs = beside(context, cases, BESIDE_TCP, FEW)
    return {
        name: {
            kbps: paired(runs[f"{name}, {kbps}", "afc"], runs[f"{name}, {kbps}", "tcp"])
            for kbps in RATES_KBPS
        }
        for name in TRIED
    }


def measure_figure_9(context: Context) -> Grid:
    """Give the throughput of AFC over TCP's without errors, under other settings."""
    return Grid(
        "Throughput of AFC over TCP's beside a TCP transfer, no errors",
        ("setting", *(f"{kbps} kbit/s" for kbps in RATES_KBPS)),
        tuple((name, *found.values()) for name, found in tried(context).items()),
    )


def figure_10(context: Context) -> list[Row]:
    """Give the rows of figure 10: two error rates and two data rates."""
    rows = []
    for kbps, title in TITLES.items():
        runs = _beside_tcp(context, kbps)
        moderate = {
            "BER 1e-6": throughputs(runs["1e-6", "afc"]),
            CLEAR: throughputs(runs[CLEAR, "afc"]),
        }
        rows += [
            context.claim(
                title,
                "throughput of AFC over TCP's",
                {ber: paired(runs[ber, "afc"], runs[ber, "tcp"]) for ber in BERS},
            ),
            *(
                context.claim(
                    f"{title}, BER {ber}",
                    "throughput beside a TCP transfer",
                    {name: throughputs(runs[ber, name]) for name in SCHEMES},
                )
                for ber in BERS
            ),
            context.claim(f"{title}, moderate errors", "throughput of AFC beside a TCP transfer", moderate),
        ]
        kept = {name: paired(runs["1e-6", name], runs[CLEAR, name]) for name in SCHEMES}
        for name, share in kept.items():
            context.fact(f"kept {name} {kbps}", f"{100 * plain(share):.0f} %")
    return rows


def bars_of_cases(path: Path, panels: Mapping[str, tuple[str, Mapping[tuple[str, str], Estimate]]]) -> None:
    """Draw a panel of bars for each: its label of the y axis, and values by case and scheme."""
    with picture(path, (1.5 + 4.6 * len(panels), 4)) as figure:
        grid = figure.subplots(1, len(panels), squeeze=False)[0]
        for axes, (heading, (label, values)) in zip(grid, panels.items(), strict=True):
            cases = list(dict.fromkeys(case for case, _ in values))
            for name in SCHEMES:
                bars(axes, name, [values[case, name] for case in cases], "{:.1f}")
            axes.set_xticks(
                range(len(cases)),
                [case if case == CLEAR else f"BER {case}" for case in cases],
            )
            axes.set_ylabel(label)
            axes.set_title(heading)
            axes.grid(visible=False, axis="x")
            axes.margins(y=0.12)
        handles, labels = grid[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=2)


def draw_figure_9(context: Context, path: Path) -> None:
    """Draw throughput beside TCP without errors, over the data rate, and what other settings make of it."""
    runs = _without_errors(context)
    with picture(path, (15, 4)) as figure:
        own, other, ratio = figure.subplots(1, 3)
        for name in SCHEMES:
            bars(own, name, [throughputs(runs[f"{kbps}", name]) for kbps in RATES_KBPS], "{:.1f}")
            bars(other, name, [_neighbour(runs[f"{kbps}", name]) for kbps in RATES_KBPS], "{:.1f}")
        for axes, title in ((own, "The transfer"), (other, "The TCP transfer beside it")):
            axes.set_xticks(range(len(RATES_KBPS)), [f"{kbps} kbit/s" for kbps in RATES_KBPS])
            axes.set_ylabel("throughput (kB/s)")
            axes.set_title(title)
            axes.grid(visible=False, axis="x")
            axes.legend(loc="upper left")
        default = [paired(runs[f"{kbps}", "afc"], runs[f"{kbps}", "tcp"]) for kbps in RATES_KBPS]
        curve(ratio, RATES_KBPS, default, color=BLUE, lw=2, label="90 packets")
        for (name, found), colour in zip(tried(context).items(), CYCLE[2:], strict=False):
            curve(ratio, RATES_KBPS, list(found.values()), color=colour, lw=0.9, label=name)
        ratio.axhline(1.0, color=GREY, lw=0.8)
        ratio.set_xscale("log", base=2)
        ratio.set_xticks(RATES_KBPS, [str(kbps) for kbps in RATES_KBPS])
        ratio.set_xlabel("data rate (kbit/s)")
        ratio.set_ylabel("throughput of AFC over TCP's")
        ratio.set_title("Under other settings")
        ratio.legend(fontsize=7)


def draw_figure_10(context: Context, path: Path) -> None:
    """Draw throughput beside TCP over the channels, at two data rates."""
    cells = {
        title: {key: throughputs(runs) for key, runs in _beside_tcp(context, kbps).items()}
        for kbps, title in TITLES.items()
    }
    bars_of_cases(path, {title: ("throughput (kB/s)", some) for title, some in cells.items()})
