"""Section 5.1: pages over a channel without losses, each over a connection of its own."""

from bentpipe.reproduction import Context, Row
from bentpipe.results import Run

from . import notes
from .ideal import name
from .runs import CASES, DELAYED_ACK, VARIANTS, over, plain, scenario_table, settings_of, shorter

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
