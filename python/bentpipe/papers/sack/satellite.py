"""Section 9: figures 2 to 5, over the advertised window."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from bentpipe.reproduction import Context, Row
from bentpipe.results import Number
from bentpipe.style import GREY, picture

from . import notes
from .recovery import lost_at_end
from .runs import (
    BUFFER,
    COLOURS,
    CURVE_WINDOWS,
    LABELS,
    LONG_S,
    PRODUCT,
    RFC_NEWRENO,
    SCHEMES,
    TRAFFIC_S,
    WINDOWS,
    Claim,
    Sweep,
    satellite,
    scheme_settings,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DURATIONS = (5, 10, 20, 60)
BUFFERS = (24, 36, 49, 72, 96)
BEYOND = (96, 128, 160, 190)

AXES = {
    "delay": "mean queueing delay (ms)",
    "drops": "dropped packets",
    "efficiency": "efficiency, goodput over link rate (%)",
    "throughput": "average throughput (Mbit/s)",
}
METRICS = {
    "delay": "queueing delay",
    "drops": "drops",
    "efficiency": "efficiency",
    "throughput": "throughput",
}
"""What ``published.csv`` calls each."""


def grid(context: Context) -> dict[tuple[int, int], Sweep]:
    """Run the case over durations and buffers, neither of which is stated."""
    return {
        (traffic_s, buffer): satellite(context, traffic_s=traffic_s, buffer=buffer)
        for traffic_s, buffer in product(DURATIONS, BUFFERS)
    }


def _over_windows(metric: str, scheme: str, windows: Sequence[int], sweep: Sweep) -> Mapping[str, Number]:
    return {str(window): getattr(sweep[scheme, window], metric) for window in windows}


def _over_schemes(metric: str, window: int, sweep: Sweep) -> Mapping[str, Number]:
    return {scheme: getattr(sweep[scheme, window], metric) for scheme in SCHEMES}


def _of(scheme: str, words: str, metric: str, windows: Sequence[int], note: str) -> Claim[Sweep]:
    """Claim something of a scheme over windows."""
    values = partial(_over_windows, metric, scheme, windows)
    return Claim(f"{LABELS[scheme]}: {words}", METRICS[metric], values, note)


def _each(words: str, metric: str, windows: Sequence[int], note: str) -> list[Claim[Sweep]]:
    """Claim the same of every scheme."""
    return [_of(scheme, words, metric, windows, note) for scheme in SCHEMES]


def _efficiency(words: str, windows: tuple[int, int]) -> list[Claim[Sweep]]:
    """Claim the same of every scheme's efficiency, each for its own reason."""
    reasons = notes.EFFICIENCY[words]
    return [_of(scheme, words, "efficiency", windows, reasons[scheme]) for scheme in SCHEMES]


def _at(window: int, words: str, metric: str, note: str) -> Claim[Sweep]:
    """Claim something of the schemes at one window."""
    return Claim(f"{window} packets: {words}", METRICS[metric], partial(_over_schemes, metric, window), note)


CLAIMS: dict[str, list[Claim[Sweep]]] = {
    "figure-2": [
        *_each("a longer queue with a larger window", "delay", WINDOWS, notes.DELAY),
        _at(190, "all four alike", "delay", notes.DELAY_ALIKE),
    ],
    "figure-3": [
        *(
            _of(scheme, "more drops with a larger window", "drops", WINDOWS, notes.DROPS)
            for scheme in ("tahoe", "reno", "sack")
        ),
        _of("newreno", "fewer drops at 190 than at 160 packets", "drops", (160, 190), notes.NEWRENO_DROPS),
    ],
    "figure-4": [
        *_efficiency("lower at 128 than at 96 packets", (96, 128)),
        *_efficiency("higher at 160 than at 128 packets", (128, 160)),
        *_efficiency("lower at 190 than at 160 packets", (160, 190)),
        *(_at(window, "SACK far ahead", "efficiency", notes.SACK_AHEAD[window]) for window in BEYOND),
        *(_at(window, "NewReno worst", "efficiency", notes.NEWRENO_WORST) for window in BEYOND[1:]),
    ],
    "figure-5": [
        *_each("highest at 96 packets", "throughput", WINDOWS, notes.PEAK),
        *_each("falls from 96 packets on", "throughput", BEYOND, notes.FALLS),
        *_each("higher at 190 than at 160 packets", "throughput", (160, 190), notes.HIGHER_AT_190),
        _at(190, "NewReno lowest", "throughput", notes.NEWRENO_WORST),
        _of("newreno", "lowest at 190 packets", "throughput", BEYOND, notes.NEWRENO_LOWEST),
        *(_at(window, "SACK not behind Tahoe", "throughput", notes.NOT_BEHIND) for window in BEYOND[1:]),
    ],
}


def compute(context: Context) -> list[Row]:
    """Give the rows of one of the figures 2 to 5."""
    others = list(grid(context).values())
    sweep = satellite(context)
    rows = [claim.row(context, sweep, others) for claim in CLAIMS[context.item]]
    if context.item == "figure-3":
        settings = {**scheme_settings("newreno"), "tcp.receive_window": "190 segments"}
        missing = lost_at_end(context.trace("satellite.toml", settings, title="NewReno"))
        rows.append(
            context.claim(
                "NewReno, 190 packets: not through with its losses when the run ends",
                "losses not repaired",
                {"at the end": float(missing), "none": 0.0},
                notes.UNREPAIRED,
            )
        )
    return rows


def draw(metric: str, context: Context, path: Path) -> None:
    """Draw one metric over the window, for the default and for a long run."""
    schemes = (*SCHEMES, RFC_NEWRENO)
    with picture(path, (11, 4.2)) as figure:
        panels = figure.subplots(1, 2, sharey=metric != "delay")
        for axes, traffic_s in zip(panels, (TRAFFIC_S, LONG_S), strict=True):
            sweep = satellite(context, CURVE_WINDOWS, schemes, traffic_s=traffic_s)
            _curves(axes, sweep, metric)
            axes.set_title(f"{traffic_s} s of traffic" + (", the default" if traffic_s == TRAFFIC_S else ""))
            axes.set_xlabel("advertised window (packets of 512 bytes)")
        for axes in panels:
            axes.set_ylim(bottom=0)
        panels[0].set_ylabel(AXES[metric])
        if metric == "delay":
            panels[1].set_ylabel(AXES[metric])
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=6)


def _curves(axes: "Axes", sweep: Sweep, metric: str) -> None:
    # Widest first, so that schemes that do the same stay visible beneath each other.
    for width, scheme in zip((4.6, 3.4, 2.2, 1.2), SCHEMES, strict=True):
        values = [getattr(sweep[scheme, window], metric) for window in CURVE_WINDOWS]
        axes.plot(CURVE_WINDOWS, values, color=COLOURS[scheme], lw=width, label=LABELS[scheme])
        marked = [getattr(sweep[scheme, window], metric) for window in BEYOND]
        axes.plot(BEYOND, marked, "o", color=COLOURS[scheme], ms=width + 2.4, label=None)
    values = [getattr(sweep[RFC_NEWRENO, window], metric) for window in CURVE_WINDOWS]
    axes.plot(CURVE_WINDOWS, values, color=COLOURS["newreno"], lw=1, ls="--", label=LABELS[RFC_NEWRENO])
    axes.axvline(PRODUCT, color=GREY, lw=0.9, ls=":", label="one bandwidth-delay product")
    axes.set_xlim(30, 202)
    axes.set_xticks((32, 64, *BEYOND))


def draw_grid(context: Context, path: Path) -> None:
    """Draw which claims of figures 2 to 5 hold at which durations and buffers."""
    runs = grid(context)
    claims = [(item, claim) for item, group in CLAIMS.items() for claim in group]
    codes = {"match": 2, "shape": 1, "differs": 0}
    cells = [
        [codes[claim.verdict(context.paper, item, sweep)] for sweep in runs.values()]
        for item, claim in claims
    ]
    labels = [f"{item.replace('figure-', 'fig. ')}: {claim.case}" for item, claim in claims]
    with picture(path, (11, 11)) as figure:
        from matplotlib.colors import ListedColormap
        from matplotlib.patches import Patch, Rectangle

        colours = ("#e3a08f", "#efd48a", "#86c5a6")
        axes = figure.subplots()
        axes.imshow(cells, cmap=ListedColormap(colours), vmin=0, vmax=2, aspect="auto")
        axes.set_yticks(range(len(claims)), labels, fontsize=7.5)
        axes.set_xticks(range(len(runs)), [str(buffer) for _, buffer in runs], fontsize=7.5)
        axes.set_xticks([index - 0.5 for index in range(len(runs) + 1)], minor=True)
        axes.set_yticks([index - 0.5 for index in range(len(claims) + 1)], minor=True)
        axes.grid(visible=False)
        axes.grid(visible=True, which="minor", color="white", lw=1.5)
        axes.tick_params(which="both", length=0)
        axes.set_xlabel("buffer (packets)")
        for index, traffic_s in enumerate(DURATIONS):
            middle = index * len(BUFFERS) + (len(BUFFERS) - 1) / 2
            axes.annotate(
                f"{traffic_s} s", (middle, 1.0), xycoords=("data", "axes fraction"), ha="center", va="bottom"
            )
            if index:
                axes.axvline(index * len(BUFFERS) - 0.5, color="#555555", lw=1.2)
        default = list(runs).index((TRAFFIC_S, BUFFER))
        axes.add_patch(
            Rectangle(
                (default - 0.5, -0.5),
                1,
                len(claims),
                fill=False,
                ec="#222222",
                lw=1.6,
                clip_on=False,
                zorder=5,
            )
        )
        names = ("does not hold", "holds weakly", "holds")
        figure.legend(
            [Patch(color=colour) for colour in colours[::-1]],
            names[::-1],
            loc="outside lower center",
            ncols=3,
        )
