"""One lossy GEO transfer under four TCPs, and how each of them bears random loss."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table

from bentpipe.plot import DrawnRun, draw_sequence, label_axis
from bentpipe.results import Number, half_width, mean
from bentpipe.runs.runner import replicate, run
from bentpipe.scenario import Scenario
from bentpipe.show.style import CYCLE, GREY, ORANGE, picture
from bentpipe.show.units import count, percent, quantity, seconds

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SCENARIO = Path(__file__).with_name("demo.toml")
SCHEMES = {"tahoe": "Tahoe", "reno": "Reno", "newreno": "NewReno", "sack": "SACK"}
COLOURS = dict(zip(SCHEMES, CYCLE, strict=False))
LOSSES = (1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2)
REPLICATIONS = 20
LINK_BPS = 1.536e6


def three_drops(scheme: str) -> DrawnRun:
    """Run the scenario as it stands: three segments of one window are lost."""
    outcome = run(Scenario.load(SCENARIO, {"flows.download.variant": scheme}), series=True)
    return DrawnRun(SCHEMES[scheme], outcome.run, outcome.series)


def random_losses(scheme: str) -> list[Number]:
    """Measure goodput where each packet is lost with one of the probabilities, over replications."""
    scenario = Scenario.load(SCENARIO, {"flows.download.variant": scheme})
    goodputs = []
    for probability in LOSSES:
        loss = {"links.downlink.loss": {"model": "packet", "probability": probability}}
        goodputs.append(replicate(scenario.with_(loss), REPLICATIONS).flows["download"]["goodput_bps"])
    return goodputs


def comparison(subjects: dict[str, DrawnRun], lossy: dict[str, list[Number]]) -> Table:
    """Make the table: the transfer with three drops, then goodput at one random loss rate."""
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 3, 0, 0))
    table.add_column("TCP")
    probability = LOSSES[4]
    for heading in (
        "transfer time",
        "goodput",
        "of the link",
        "resent segments",
        "timeouts",
        f"goodput at {probability:g} random loss",
    ):
        table.add_column(heading, justify="right", no_wrap=True)
    for scheme, subject in sorted(subjects.items(), key=lambda pair: -_goodput(pair[1])):
        flow = subject.run["flows"][0]
        table.add_row(
            SCHEMES[scheme],
            seconds(flow["duration_s"]),
            quantity(flow["goodput_bps"], "bit/s"),
            percent(_goodput(subject) / LINK_BPS),
            count(flow["retransmitted_segments"]),
            count(flow["timeouts"]),
            quantity(lossy[scheme][LOSSES.index(probability)], "bit/s"),
        )
    return table


def draw(subjects: dict[str, DrawnRun], lossy: dict[str, list[Number]], path: Path) -> None:
    """Draw each transfer around the drops, each window, and goodput with three drops and with random loss."""
    with picture(path, (15, 11.5)) as figure:
        figure.suptitle(
            "2 MB over a GEO satellite (1.536 Mbit/s, round trip 255 ms): "
            "the same three segments of one window are lost",
            fontsize=14,
            fontweight="bold",
        )
        panels = figure.subplot_mosaic(
            [list("aabbccdd"), list("eeffgghh"), list("iiijjjjj")],
            height_ratios=(1.5, 1, 1.25),
        )
        for column, (scheme, subject) in enumerate(subjects.items()):
            sequence, window = panels["abcd"[column]], panels["efgh"[column]]
            last = column == len(subjects) - 1
            draw_sequence(sequence, replace(subject, traces=subject.traces.between(2.2, 5.2)), legend=last)
            sequence.set_title(
                f"{subject.title}: {_goodput(subject) / 1e3:,.0f} kbit/s", color=COLOURS[scheme]
            )
            sequence.set_xlim(2.2, 5.2)
            sequence.set_ylim(100e3, 430e3)
            label_axis([sequence], "sequence number", "B")
            sequence.set_xlabel("time (s)")
            _draw_cwnd(window, subject, COLOURS[scheme], legend=last)
            if column > 0:
                for axes in (sequence, window):
                    axes.set_ylabel("")
                    axes.tick_params(labelleft=False)
        _draw_bars(panels["i"], subjects)
        _draw_losses(panels["j"], lossy)


def _draw_cwnd(axes: "Axes", subject: DrawnRun, colour: str, *, legend: bool) -> None:
    flow = subject.run["flows"][0]["name"]
    for kind, shade, style in (("ssthresh", ORANGE, "--"), ("cwnd", colour, "-")):
        trace = subject.traces.get(flow, kind)
        axes.step(trace.time_s, trace.value / 1e3, where="post", color=shade, ls=style, label=kind)
    axes.axhline(96 * 0.472, color=GREY, lw=0.8, ls=":", label="receiver's window")
    axes.set_xlabel("time (s)")
    axes.set_ylabel("congestion window (kB)")
    axes.set_xlim(0, 19)
    axes.set_ylim(0, 150)
    if legend:
        axes.legend(loc="upper right")


def _draw_bars(axes: "Axes", subjects: dict[str, DrawnRun]) -> None:
    goodputs = [_goodput(subject) / 1e3 for subject in subjects.values()]
    bars = axes.bar(
        list(SCHEMES.values()), goodputs, color=[COLOURS[scheme] for scheme in subjects], width=0.62
    )
    axes.bar_label(bars, fmt="{:,.0f}", padding=2, fontweight="bold")
    axes.set_title("Goodput with three segments of one window lost")
    axes.set_ylabel("goodput (kbit/s)")
    axes.set_ylim(0, 1.18 * max(goodputs))
    axes.grid(visible=False, axis="x")


def _draw_losses(axes: "Axes", lossy: dict[str, list[Number]]) -> None:
    for scheme, goodputs in lossy.items():
        centre = [(mean(goodput) or 0.0) / 1e3 for goodput in goodputs]
        width = [(half_width(goodput) or 0.0) / 1e3 for goodput in goodputs]
        axes.errorbar(
            LOSSES, centre, width, color=COLOURS[scheme], marker="o", ms=4, capsize=3, label=SCHEMES[scheme]
        )
    axes.axhline(LINK_BPS / 1e3, color=GREY, lw=0.8, ls=":")
    axes.annotate("link rate", (LOSSES[-1], LINK_BPS / 1e3), ha="right", va="bottom", color=GREY)
    axes.set_xscale("log")
    axes.set_title(f"Goodput with random loss ({REPLICATIONS} replications, 95 % intervals)")
    axes.set_xlabel("probability that a packet is lost")
    axes.set_ylabel("goodput (kbit/s)")
    axes.set_ylim(0, 1.12 * LINK_BPS / 1e3)
    axes.legend(loc="lower left")


def _goodput(subject: DrawnRun) -> float:
    return mean(subject.run["flows"][0]["goodput_bps"]) or 0.0
