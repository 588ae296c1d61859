"""Sections 5.1 to 5.4: pages without losses, with congestion, with bit errors, and with both."""

import math
from collections.abc import Sequence
from itertools import product
from pathlib import Path

from bentpipe.papers.common import curve, over, plain
from bentpipe.reproduction import Context, Row, Settings
from bentpipe.results import Estimate, Number, Run
from bentpipe.style import GREY, picture

from . import notes
from .errors import draw_over_ber, gain
from .ideal import name
from .runs import (
    BERS,
    CASES,
    COLOURS,
    DELAYED_ACK,
    LABELS,
    SEEDS,
    STARTS,
    VARIANTS,
    Case,
    bit_errors,
    cross_flows,
    scenario_table,
    settings_of,
    shorter,
)

BUFFER = "15 packets"
"""Gateway buffer of the congested pages."""

CROSS_FLOWS = (1, 2, 3, 4, 5, 6, 8)
"""Numbers of cross flows that were tried; three are the downloads' (table 7)."""

RESIDUALS = (1.0, 0.5, 0.4, 0.3, 0.2)
"""Shares of the link that an unresponsive stream would leave to the pages."""


def response_s(run: Run) -> float:
    """Give the mean response time in s of the pages."""
    return plain(over(page["response_s"] for page in run["pages"] if page["response_s"] is not None))


def table_2(context: Context) -> list[Row]:
    """Give the rows of table 2, as the scenario has them."""
    scenario = scenario_table(context, "pages.toml")
    flow = scenario["flows"]["page"]
    values = {
        "page inter-arrival time": float(flow["page_interval"].split()[0]),
        "main page object": float(flow["main_object"].split()[0]),
        "embedded objects": float(flow["objects"]),
        "embedded object": float(flow["object"].split()[0]),
        "simulated time": float(scenario["duration"].split()[0]),
        "HTTP version": 1.1,
    }
    return [context.number(case, "value", value) for case, value in values.items()]


def table_5(context: Context) -> list[Row]:
    """Give the rows of table 5."""
    runs = context.runs("pages.toml", [settings_of(case, "page") for case in CASES])
    times = {case: response_s(run) for case, run in zip(CASES, runs, strict=True)}
    rows = []
    for metric in ("page response time", "page response time, slides"):
        rows += [context.number(name(case), metric, time, notes.TABLE_5) for case, time in times.items()]
    for delayed in DELAYED_ACK:
        percent = shorter(times["adalr-sack", delayed], times["sack", delayed])
        values = {variant: times[variant, delayed] for variant in VARIANTS}
        rows += [
            context.number(f"gain, {delayed}", "shorter than standard TCP", percent, notes.PAGE_GAIN),
            context.number(
                f"gain, {delayed}", "shorter than standard TCP, slides", percent, notes.PAGE_SWAPPED
            ),
            context.claim(f"order, {delayed}", "page response time", values),
        ]
    return rows


def with_errors(context: Context) -> dict[tuple[Case, str], Estimate]:
    """Give the response time with bit errors on the downlink: pages are alike, so each is a sample."""
    keys = list(product(CASES, BERS))
    settings: list[Settings] = [{**settings_of(case, "page"), **bit_errors(ber)} for case, ber in keys]
    runs = context.runs("pages.toml", settings, runs=SEEDS)
    times: dict[tuple[Case, str], Estimate] = {}
    for key, run in zip(keys, runs, strict=True):
        times[key] = over(page["response_s"] for page in run["pages"] if page["response_s"] is not None)
    return times


def figure_7(context: Context) -> list[Row]:
    """Give the rows of figure 7."""
    times = with_errors(context)
    rows = []
    for row in context.paper.published:
        if row.item != context.item:
            continue
        if row.case == "both outperform, enabled":
            means = {v: over(times[(v, "enabled"), ber] for ber in BERS)["mean"] for v in VARIANTS}
            rows.append(context.claim(row.case, row.metric, means, notes.PAGES_ERRORS))
            continue
        theirs, delayed = row.case.removeprefix("over ").split(", ")
        gains = {
            ber: shorter(
                times[(f"adalr-{theirs}", delayed), ber]["mean"], times[(theirs, delayed), ber]["mean"]
            )
            for ber in BERS
        }
        choose = min if row.metric.endswith("least") else max
        values = ", ".join(f"{ber}: {gain:.1f}" for ber, gain in gains.items())
        note = f"% by BER: {values}. {notes.PAGES_ERRORS}"
        rows.append(context.number(row.case, row.metric, choose(gains.values()), note))
    return rows


def draw_figure_7(context: Context, path: Path) -> None:
    """Draw the response time over the bit error rate."""
    times = with_errors(context)
    draw_over_ber(path, lambda case, ber: times[case, ber], "page response time (s)", 1.0, log=True)


def buffer_alone(context: Context, residual: float = 1.0) -> dict[Case, float]:
    """Give the response time through the small buffer without cross traffic, with a share of the link."""
    settings: list[Settings] = [
        {
            **settings_of(case, "page"),
            "links.satellite.queue": BUFFER,
            "links.satellite.efficiency": f"{0.8 * residual:g}",
        }
        for case in CASES
    ]
    runs = context.runs("pages.toml", settings)
    return {case: response_s(run) for case, run in zip(CASES, runs, strict=True)}


def congested(
    context: Context, flows: int = 3, bers: Sequence[str] = ("",)
) -> dict[tuple[Case, str], list[float]]:
    """Give the mean response time in s beside cross traffic, from each of `STARTS`, with its own seed."""
    keys = list(product(CASES, bers))
    times: dict[tuple[Case, str], list[float]] = {key: [] for key in keys}
    for seed, start in enumerate(STARTS, 1):
        settings: list[Settings] = []
        for case, ber in keys:
            errors = bit_errors(ber) if ber else {}
            settings.append(
                {
                    **cross_flows(flows),
                    **settings_of(case, "page"),
                    **errors,
                    "flows.cross.variant": case[0],
                    "flows.page.start": f"{start} s",
                }
            )
        runs = context.runs("pages-congestion.toml", settings, seed=seed)
        for key, run in zip(keys, runs, strict=True):
            times[key].append(response_s(run))
    return times


def table_6b(context: Context) -> list[Row]:
    """Give the rows of the second table 6."""
    alone = buffer_alone(context)
    times = {case: over(samples) for (case, _), samples in congested(context).items()}
    rows = []
    for metric in ("page response time", "page response time, slides"):
        rows += [
            context.number(name(case), metric, time, notes.pages_congested(alone[case]))
            for case, time in times.items()
        ]
    for delayed in DELAYED_ACK:
        ours, theirs = ("adalr-sack", delayed), ("sack", delayed)
        rows += [
            context.number(
                f"gain over sack, {delayed}",
                f"shorter {'with' if delayed == 'enabled' else 'without'} delayed ACK, slides",
                gain(times[ours], times[theirs], lower=True),
                notes.pages_congested_gain(shorter(alone[ours], alone[theirs]), delayed),
            ),
            context.claim(
                f"adalr-sack is best, {delayed}",
                "page response time",
                {variant: times[variant, delayed] for variant in VARIANTS},
                notes.PAGES_CONGESTED_ORDER,
            ),
        ]
    return rows


def figure_12(context: Context) -> list[Row]:
    """Give the rows of figure 12."""
    times = congested(context, bers=BERS)
    rows = []
    for row in context.paper.published:
        if row.item != context.item:
            continue
        what, delayed = row.case.rsplit(", ", 1)
        if row.metric.endswith("over all BER"):
            means = {
                variant: over(
                    math.fsum(samples) / len(BERS)
                    for samples in zip(*(times[(variant, delayed), ber] for ber in BERS), strict=True)
                )
                for variant in VARIANTS
            }
            rows.append(context.claim(row.case, row.metric, means, _by_ber(times, what, delayed)))
            continue
        theirs = what.removeprefix("over ")
        gains = {
            ber: gain(
                *(over(times[(variant, delayed), ber]) for variant in (f"adalr-{theirs}", theirs)), lower=True
            )
            for ber in BERS
        }
        top = max(gains, key=lambda ber: gains[ber]["mean"])
        values = ", ".join(f"{ber}: {gain['mean']:.1f}" for ber, gain in gains.items())
        note = f"At {top}; % by BER: {values}. {notes.PAGES_BOTH}"
        rows.append(context.number(row.case, row.metric, gains[top], note))
    return rows


def _by_ber(times: dict[tuple[Case, str], list[float]], what: str, delayed: str) -> str:
    """Write the response times at each bit error rate."""
    lines = (
        f"{ber}: " + " / ".join(f"{over(times[(variant, delayed), ber])['mean']:.1f}" for variant in VARIANTS)
        for ber in BERS
    )
    worse = f" {notes.NEWRENO_BOTH}" if "worse" in what else ""
    return f"s by BER, in this order: {', '.join(lines)}.{worse} {notes.PAGES_BOTH}"


def draw_figure_12(context: Context, path: Path) -> None:
    """Draw the response time over the bit error rate, with congestion."""
    times = congested(context, bers=BERS)
    draw_over_ber(path, lambda case, ber: over(times[case, ber]), "page response time (s)", 1.0, log=True)


def draw_table_6b(context: Context, path: Path) -> None:
    """Draw the response time over the number of cross flows, and with a stream that does not respond."""
    streams = {residual: buffer_alone(context, residual) for residual in RESIDUALS}
    beside = {flows: congested(context, flows) for flows in CROSS_FLOWS}
    with picture(path, (11, 7)) as figure:
        panels = figure.subplots(2, 2, sharey=True)
        for (left, right), delayed in zip(panels, DELAYED_ACK, strict=True):
            for variant in VARIANTS:
                case = (variant, delayed)
                numbers: list[Number] = [streams[1.0][case]]
                numbers += [over(times[case, ""]) for times in beside.values()]
                curve(left, (0, *CROSS_FLOWS), numbers, color=COLOURS[variant], label=LABELS[variant])
                right.plot(
                    [100 * residual for residual in RESIDUALS],
                    [streams[residual][case] for residual in RESIDUALS],
                    "o-",
                    ms=4,
                    color=COLOURS[variant],
                )
                printed = float(context.published(name(case), "page response time").published)
                for axes in (left, right):
                    axes.axhline(printed, color=COLOURS[variant], lw=0.9, ls="--")
            left.set_title(f"Long downloads, delayed ACK {delayed}")
            right.set_title(f"A stream that does not respond, delayed ACK {delayed}")
            left.set_ylabel("page response time (s)")
            left.set_ylim(bottom=0)
        panels[1][0].set_xlabel("number of cross flows")
        panels[1][1].set_xlabel("share of the link that is left (%)")
        handles, labels = panels[0][0].get_legend_handles_labels()
        (line,) = panels[0][0].plot([], [], color=GREY, lw=0.9, ls="--")
        figure.legend([*handles, line], [*labels, "published"], loc="outside lower center", ncols=5)
