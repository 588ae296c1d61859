"""Beyond the document: figures 4 and 5 with NewReno and SACK as the RFCs have them today."""

from pathlib import Path

from bentpipe.show.style import picture
from bentpipe_papers.reproduction.grid import Grid
from bentpipe_papers.reproduction.reproduce import Context

from .runs import COLOURS, CURVE_WINDOWS, LABELS, LONG_S, TODAY, TRAFFIC_S, satellite, terrestrial
from .satellite import AXES, BEYOND

PAIRS = tuple(zip(("newreno", "sack"), TODAY, strict=True))
CASES = ("one-drop", "three-drops")


def measure(context: Context) -> Grid:
    """Give what each does, then and now, in the document's cases."""
    names = [name for pair in PAIRS for name in pair]
    over = satellite(context, BEYOND, names)
    drops = {case: terrestrial(context, f"{case}.toml", names) for case in CASES}
    cells = [
        (name, place, measured)
        for name in names
        for place, measured in (
            *((case.replace("-", " "), drops[case][name]) for case in CASES),
            *((f"satellite, {window} packets", over[name, window]) for window in BEYOND),
        )
    ]
    return Grid(
        f"NewReno and SACK of then and of today, {TRAFFIC_S} s of traffic",
        (
            "scheme",
            "case",
            "efficiency (%)",
            "throughput (Mbit/s)",
            "queueing delay (ms)",
            "drops",
            "timeouts",
        ),
        tuple(
            (LABELS[name], place, one.efficiency, one.throughput, one.delay, one.drops, one.timeouts)
            for name, place, one in cells
        ),
    )


def draw(context: Context, path: Path) -> None:
    """Draw efficiency and throughput over the window, then and now, in a short and in a long run."""
    with picture(path, (13, 4.2)) as figure:
        panels = figure.subplots(1, 4)
        cases = [
            (metric, traffic_s)
            for metric in ("efficiency", "throughput")
            for traffic_s in (TRAFFIC_S, LONG_S)
        ]
        for axes, (metric, traffic_s) in zip(panels, cases, strict=True):
            sweep = satellite(
                context, CURVE_WINDOWS, [name for pair in PAIRS for name in pair], traffic_s=traffic_s
            )
            for then, now in PAIRS:
                for name, style in ((then, "-"), (now, "--")):
                    values = [getattr(sweep[name, window], metric) for window in CURVE_WINDOWS]
                    axes.plot(CURVE_WINDOWS, values, style, color=COLOURS[then], label=LABELS[name])
            axes.set_title(f"{traffic_s} s of traffic")
            axes.set_xlabel("advertised window (packets)")
            axes.set_ylabel(AXES[metric])
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4)
