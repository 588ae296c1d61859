"""Sections 5.1 and 5.3: pages without losses and with bit errors, each over a connection of its own."""

from itertools import product
from pathlib import Path

from bentpipe.reproduction import Context, Row, Settings
from bentpipe.results import Estimate, Run

from . import notes
from .errors import draw_over_ber
from .ideal import name
from .runs import (
    BERS,
    CASES,
    DELAYED_ACK,
    SEEDS,
    VARIANTS,
    Case,
    over,
    plain,
    scenario_table,
    settings_of,
    shorter,
)

SYN_BITS = 8 * 48
HANDSHAKE_S = 2 * (0.040 + 0.250) + SYN_BITS * (2 / 10e6 + 1 / 1.6384e6 + 1 / 204.8e3)
"""SYN and its answer over the preset's links, in s: before the time that the document measures."""


def response_s(run: Run) -> float:
    """Give the mean response time in s of the pages, from the established connection on."""
    times = [page["response_s"] for page in run["pages"] if page["response_s"] is not None]
    return plain(over(times)) - HANDSHAKE_S


def table_2(context: Context) -> list[Row]:
    """Give the rows of table 2, as the scenario has them."""
    scenario = scenario_table(context, "pages.toml")
    flow = scenario["flows"]["page"]
    values = {
        "page inter-arrival time": float(flow["start_step"].split()[0]),
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
        gain = shorter(times["adalr-sack", delayed], times["sack", delayed])
        values = {variant: times[variant, delayed] for variant in VARIANTS}
        rows += [
            context.number(f"gain, {delayed}", "shorter than standard TCP", gain, notes.PAGE_GAIN),
            context.number(f"gain, {delayed}", "shorter than standard TCP, slides", gain, notes.PAGE_SWAPPED),
            context.claim(f"order, {delayed}", "page response time", values),
        ]
    return rows


def with_errors(context: Context) -> dict[tuple[Case, str], Estimate]:
    """Give the response time with bit errors on the downlink: pages are alike, so each is a sample."""
    keys = list(product(CASES, BERS))
    settings: list[Settings] = [
        {**settings_of(case, "page"), "links.satellite.loss.model": "ber", "links.satellite.loss.ber": ber}
        for case, ber in keys
    ]
    runs = context.runs("pages.toml", settings, runs=SEEDS)
    times: dict[tuple[Case, str], Estimate] = {}
    for key, run in zip(keys, runs, strict=True):
        value = over(page["response_s"] for page in run["pages"] if page["response_s"] is not None)
        times[key] = {**value, "mean": value["mean"] - HANDSHAKE_S}
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
