"""Section 9: figures 2 to 5, over the advertised window."""

from collections.abc import Mapping, Sequence
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


def grid(context: Context) -> dict[tuple[int, int], Sweep]:
    """Run the case over durations and buffers, neither of which is stated."""
    return {
        (traffic_s, buffer): satellite(context, traffic_s=traffic_s, buffer=buffer)
        for traffic_s, buffer in product(DURATIONS, BUFFERS)
    }


class _Over:
    """One metric of one scheme over windows."""

    def __init__(self, metric: str, scheme: str, windows: Sequence[int]) -> None:
        self.metric, self.scheme, self.windows = metric, scheme, windows

    def __call__(self, sweep: Sweep) -> Mapping[str, Number]:
        return {str(window): getattr(sweep[self.scheme, window], self.metric) for window in self.windows}


class _At:
    """One metric of every scheme at one window."""

    def __init__(self, metric: str, window: int) -> None:
        self.metric, self.window = metric, window

    def __call__(self, sweep: Sweep) -> Mapping[str, Number]:
        return {scheme: getattr(sweep[scheme, self.window], self.metric) for scheme in SCHEMES}


def _claims() -> dict[str, list[Claim[Sweep]]]:
    each = [(scheme, LABELS[scheme]) for scheme in SCHEMES]
    return {
        "figure-2": [
            *(
                Claim(
                    f"{label}: a longer queue with a larger window",
                    "queueing delay",
                    _Over("delay", scheme, WINDOWS),
                    notes.DELAY,
                )
                for scheme, label in each
            ),
            Claim("190 packets: all four alike", "queueing delay", _At("delay", 190), notes.DELAY_ALIKE),
        ],
        "figure-3": [
            *(
                Claim(
                    f"{label}: more drops with a larger window",
                    "drops",
                    _Over("drops", scheme, WINDOWS),
                    notes.DROPS,
                )
                for scheme, label in each
                if scheme != "newreno"
            ),
            Claim(
                "NewReno: fewer drops at 190 than at 160 packets",
                "drops",
                _Over("drops", "newreno", (160, 190)),
                notes.NEWRENO_DROPS,
            ),
        ],
        "figure-4": [
            *(
                Claim(
                    f"{label}: {words}",
                    "efficiency",
                    _Over("efficiency", scheme, windows),
                    notes.EFFICIENCY[words][scheme],
                )
                for words, windows in (
                    ("lower at 128 than at 96 packets", (96, 128)),
                    ("higher at 160 than at 128 packets", (128, 160)),
                    ("lower at 190 than at 160 packets", (160, 190)),
                )
                for scheme, label in each
            ),
            *(
                Claim(
                    f"{window} packets: SACK far ahead",
                    "efficiency",
                    _At("efficiency", window),
                    notes.SACK_AHEAD[window],
                )
                for window in BEYOND
            ),
            *(
                Claim(
                    f"{window} packets: NewReno worst",
                    "efficiency",
                    _At("efficiency", window),
                    notes.NEWRENO_WORST,
                )
                for window in BEYOND[1:]
            ),
        ],
        "figure-5": [
            *(
                Claim(
                    f"{label}: highest at 96 packets",
                    "throughput",
                    _Over("throughput", scheme, WINDOWS),
                    notes.PEAK,
                )
                for scheme, label in each
            ),
            *(
                Claim(
                    f"{label}: falls from 96 packets on",
                    "throughput",
                    _Over("throughput", scheme, BEYOND),
                    notes.FALLS,
                )
                for scheme, label in each
            ),
            *(
                Claim(
                    f"{label}: higher at 190 than at 160 packets",
                    "throughput",
                    _Over("throughput", scheme, (160, 190)),
                    notes.HIGHER_AT_190,
                )
                for scheme, label in each
            ),
            Claim("190 packets: NewReno lowest", "throughput", _At("throughput", 190), notes.NEWRENO_WORST),
            Claim(
                "NewReno: lowest at 190 packets",
                "throughput",
                _Over("throughput", "newreno", BEYOND),
                notes.NEWRENO_LOWEST,
            ),
            *(
                Claim(
                    f"{window} packets: SACK not behind Tahoe",
                    "throughput",
                    _At("throughput", window),
                    notes.NOT_BEHIND,
                )
                for window in BEYOND[1:]
            ),
        ],
    }


CLAIMS = _claims()


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
