"""Section 9: figures 2 to 5, over the advertised window."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from bentpipe.plot import DrawnRun
from bentpipe.results import Number
from bentpipe.show.style import GREY, picture
from bentpipe_papers.reproduction.grid import Cell, Grid
from bentpipe_papers.reproduction.reproduce import Context, Row
from bentpipe_papers.reproduction.verdicts import Verdict

from .recovery import lost_at_end, most_resent_in_a_round_trip, recovery
from .runs import (
    BUFFER,
    COLOURS,
    CURVE_WINDOWS,
    LABELS,
    LONG_S,
    PHASES,
    PRODUCT,
    SCHEMES,
    TRAFFIC_S,
    WINDOWS,
    Claim,
    Runs,
    Sweep,
    satellite,
    satellite_settings,
    terrestrial,
)
from .terrestrial import CASES
from .terrestrial import CLAIMS as TERRESTRIAL

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DURATIONS = (5, 10, 20, LONG_S)
BUFFERS = (24, 36, 49, 72, 96)
BEYOND = (96, 128, 160, 190)
"""The windows that the text names."""

UP_TO_128 = tuple(window for window in WINDOWS if window <= 128)

AXES = {
    "delay": "mean queueing delay (ms)",
    "drops": "dropped packets",
    "efficiency": "efficiency, goodput over throughput (%)",
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


def _over_both(metric: str, windows: Sequence[int], sweep: Sweep) -> Mapping[str, Number]:
    values = product(SCHEMES, windows)
    return {f"{scheme} {window}": getattr(sweep[scheme, window], metric) for scheme, window in values}


def _of(scheme: str, words: str, metric: str, windows: Sequence[int]) -> Claim[Sweep]:
    """Claim something of a scheme over windows."""
    values = partial(_over_windows, metric, scheme, windows)
    return Claim(f"{LABELS[scheme]}: {words}", METRICS[metric], values)


def _each(words: str, metric: str, windows: Sequence[int]) -> list[Claim[Sweep]]:
    """Claim the same of every scheme."""
    return [_of(scheme, words, metric, windows) for scheme in SCHEMES]


def _at(window: int, words: str, metric: str) -> Claim[Sweep]:
    """Claim something of the schemes at one window."""
    return Claim(f"{window} packets: {words}", METRICS[metric], partial(_over_schemes, metric, window))


CLAIMS: dict[str, list[Claim[Sweep]]] = {
    "figure-2": [
        *_each("a longer queue with a larger window", "delay", WINDOWS),
        Claim(
            "all four alike: longer at 190 than at 32 packets",
            METRICS["delay"],
            partial(_over_both, "delay", (32, 190)),
        ),
    ],
    "figure-3": [
        *(
            _of(scheme, "more drops with a larger window", "drops", WINDOWS)
            for scheme in ("tahoe", "reno", "sack")
        ),
        _of("newreno", "fewer drops at 190 than at 160 packets", "drops", (160, 190)),
    ],
    "figure-4": [
        *_each("falls up to 128 packets", "efficiency", UP_TO_128),
        *_each("higher at 160 than at 128 packets", "efficiency", (128, 160)),
        *_each("lower at 190 than at 160 packets", "efficiency", (160, 190)),
        *(_at(window, "SACK far ahead", "efficiency") for window in BEYOND),
        *(_at(window, "NewReno worst", "efficiency") for window in BEYOND),
    ],
    "figure-5": [
        *_each("highest at 96 packets", "throughput", WINDOWS),
        *_each("falls from 96 packets on", "throughput", BEYOND),
        *_each("higher at 190 than at 160 packets", "throughput", (160, 190)),
        _of("newreno", "lowest at 190 packets", "throughput", BEYOND),
        *(_at(window, "SACK far ahead", "throughput") for window in BEYOND),
        *(_at(window, "NewReno worst", "throughput") for window in BEYOND),
        *(_at(window, "SACK not behind Tahoe", "throughput") for window in BEYOND[1:]),
    ],
}


CODES: dict[Verdict, int] = {"match": 2, "shape": 1, "differs": 0}


def traced(context: Context, scheme: str, window: int) -> DrawnRun:
    """Run a scheme at a window with its time series."""
    return context.trace("satellite.toml", satellite_settings(scheme, window), title=LABELS[scheme])


def compute(context: Context) -> list[Row]:
    """Give the rows of one of the figures 2 to 5."""
    runs = grid(context)
    curves = satellite(context, CURVE_WINDOWS)
    _facts(context, curves)
    others = {
        f"{traffic_s} s, {buffer} packets": sweep
        for (traffic_s, buffer), sweep in runs.items()
        if (traffic_s, buffer) != (TRAFFIC_S, BUFFER)
    }
    rows = [claim.row(context, curves, others) for claim in CLAIMS[context.item]]
    further = {"figure-2": _time_consuming, "figure-3": _newreno, "figure-4": _one_a_round_trip}
    return rows + (further[context.item](context, runs) if context.item in further else [])


def _facts(context: Context, curves: Sweep) -> None:
    """Give the notes what decides most of the rows."""
    first = min(window for window in CURVE_WINDOWS if curves["tahoe", window].drops)
    context.fact("first", f"{first} packets")
    context.fact(
        "tried",
        f"Of other durations from {DURATIONS[0]} to {DURATIONS[-1]} s "
        f"and buffers from {BUFFERS[0]} to {BUFFERS[-1]} packets",
    )
    for scheme in SCHEMES:
        some = [curves[scheme, window] for window in BEYOND]
        context.fact(f"{scheme}_drops", ", ".join(f"{measured.drops:.0f}" for measured in some))
        context.fact(f"{scheme}_throughput", ", ".join(f"{measured.throughput:.2f}" for measured in some))


def _time_consuming(context: Context, _: Mapping[tuple[int, int], Sweep]) -> list[Row]:
    repairs = {scheme: recovery(traced(context, scheme, 190)) for scheme in SCHEMES}
    took: dict[str, Number] = {scheme: repair.took_s for scheme, repair in repairs.items()}
    return [
        context.claim(
            "190 packets: repair is time-consuming",
            "time until all is repaired, or the run ends",
            {**took, "one round trip": repairs["sack"].rtt_s},
        )
    ]


def _newreno(context: Context, runs: Mapping[tuple[int, int], Sweep]) -> list[Row]:
    long = {str(window): runs[LONG_S, BUFFER]["newreno", window].drops for window in (160, 190)}
    return [
        context.claim(
            "NewReno, 190 packets: not through with its losses when the run ends",
            "losses not repaired",
            {"at the end": float(lost_at_end(traced(context, "newreno", 190))), "none": 0.0},
        ),
        context.claim("NewReno: like the others in a run long enough", "drops", long),
    ]


def _one_a_round_trip(context: Context, _: Mapping[tuple[int, int], Sweep]) -> list[Row]:
    most = most_resent_in_a_round_trip(traced(context, "newreno", 190))
    return [context.number("NewReno, 190 packets", "lost packets resent in a round trip, most", float(most))]


def draw(metric: str, context: Context, path: Path) -> None:
    """Draw one metric over the window, for the default and for all durations and buffers tried."""
    runs = grid(context)
    with picture(path, (11, 4.2)) as figure:
        left, right = figure.subplots(1, 2, sharey=True)
        _curves(left, satellite(context, CURVE_WINDOWS), metric)
        left.set_title(f"{TRAFFIC_S} s of traffic, buffer {BUFFER} packets")
        for index, scheme in enumerate(SCHEMES):
            places = [window + 3 * (index - 1.5) for window in WINDOWS]
            for place, window in zip(places, WINDOWS, strict=True):
                values = [getattr(sweep[scheme, window], metric) for sweep in runs.values()]
                right.plot([place] * len(values), values, "_", color=COLOURS[scheme], ms=6, mew=1)
                right.plot([place] * 2, [min(values), max(values)], color=COLOURS[scheme], lw=0.8)
        right.set_title(
            f"{DURATIONS[0]} to {DURATIONS[-1]} s, buffers of {BUFFERS[0]} to {BUFFERS[-1]} packets"
        )
        right.set_xticks(WINDOWS)
        for axes in (left, right):
            axes.set_xlabel("advertised window (packets of 512 bytes)")
            if metric != "efficiency":
                axes.set_ylim(bottom=0)
        left.set_ylabel(AXES[metric])
        handles, labels = left.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=6)


def _curves(axes: "Axes", sweep: Sweep, metric: str) -> None:
    # Widest first, so that schemes that do the same stay visible beneath each other.
    for width, scheme in zip((4.6, 3.4, 2.2, 1.2), SCHEMES, strict=True):
        values = [getattr(sweep[scheme, window], metric) for window in CURVE_WINDOWS]
        axes.plot(CURVE_WINDOWS, values, color=COLOURS[scheme], lw=width, label=LABELS[scheme])
        marked = [getattr(sweep[scheme, window], metric) for window in BEYOND]
        axes.plot(BEYOND, marked, "o", color=COLOURS[scheme], ms=width + 2.4, label=None)
    axes.axvline(PRODUCT, color=GREY, lw=0.9, ls=":", label="one bandwidth-delay product")
    axes.set_xlim(30, 202)
    axes.set_xticks((32, 64, *BEYOND))


def measure_phases(context: Context) -> Grid:
    """Count for each claim of figures 1 to 5 at how many phases of the timer's tick it holds."""
    over = [satellite(context, phase=phase) for phase in range(PHASES)]
    drops = [
        {case: terrestrial(context, f"{case}.toml", phase=phase) for case in CASES} for phase in range(PHASES)
    ]
    rows = [*_counted(context, TERRESTRIAL, drops), *_counted(context, CLAIMS, over)]
    return Grid(
        f"At how many of {PHASES} phases of the timer's tick each claim holds",
        ("figure", "claim", "holds", "holds weakly", "does not hold"),
        tuple(rows),
    )


def _counted(
    context: Context, claims: Mapping[str, Sequence[Claim[Runs]]], runs: Sequence[Runs]
) -> list[tuple[Cell, ...]]:
    rows: list[tuple[Cell, ...]] = []
    for item, group in claims.items():
        for claim in group:
            verdicts = [claim.verdict(context.paper, item, one) for one in runs]
            counts = [float(verdicts.count(verdict)) for verdict in CODES]
            rows.append((item, f"{claim.case}, {claim.metric}", *counts))
    return rows


def measure_grid(context: Context) -> Grid:
    """Count for each claim of figures 2 to 5 in how many settings it holds."""
    runs = grid(context)
    return Grid(
        f"In how many of {len(runs)} durations and buffers each claim holds",
        ("figure", "claim", "holds", "holds weakly", "does not hold"),
        tuple(_counted(context, CLAIMS, list(runs.values()))),
    )


def draw_grid(context: Context, path: Path) -> None:
    """Draw which claims of figures 2 to 5 hold at which durations and buffers."""
    runs = grid(context)
    claims = [(item, claim) for item, group in CLAIMS.items() for claim in group]
    cells = [
        [CODES[claim.verdict(context.paper, item, sweep)] for sweep in runs.values()]
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
