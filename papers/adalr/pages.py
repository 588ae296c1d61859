"""Sections 5.1 and 5.2: pages without losses, and with congestion."""

from collections.abc import Mapping
from pathlib import Path

from bentpipe.results import Estimate, Number, Run
from bentpipe.show.style import GREY, picture
from bentpipe_papers.common import curve, over, plain
from bentpipe_papers.reproduction.reproduce import Context, Row, Settings

from .ideal import by_name, name
from .runs import (
    CASES,
    COLOURS,
    DELAYED_ACK,
    LABELS,
    OWN_CONNECTION,
    VARIANTS,
    Case,
    scenario_table,
    settings_of,
    shorter,
)

NEAR_MBPS = (1.2425, 1.2475, 1.2525, 1.2575, 1.2625, 1.2675, 1.2725, 1.2775)
"""Rates of the stream around the downloads' 1.26 Mbit/s, which leave them within 5 % of their time.

Nothing else differs from run to run: they say how much hangs on a rate that is known no better.
"""

RATES_MBPS = (0.8, 1.0, 1.2, 1.26, 1.3, 1.4)
"""Rates of the stream that were tried."""

DOWNLOADS = "pages-downloads.toml"

OTHERS: Mapping[str, tuple[str, Settings]] = {
    **{
        f"{connections} connections": ("pages-congestion.toml", {"flows.page.connections": connections})
        for connections in (2, 3, 4)
    },
    **{
        f"{connections}, no pipelining": (
            "pages-congestion.toml",
            {"flows.page.connections": connections, "flows.page.pipelining": "false"},
        )
        for connections in (1, 2, 3, 4)
    },
    "own connection": (
        "pages-congestion.toml",
        {"flows.page.count": 33, "flows.page.pages": 1, "flows.page.start_step": "30 s"},
    ),
    "3 downloads": (DOWNLOADS, {}),
}
"""What else was tried: a page's connections, and what is beside it."""


HANDSHAKE_S = 0.58
"""Round trip of the path of the pages, of which a handshake takes one."""


def response_s(context: Context, run: Run) -> float:
    """Give the mean response time in s of the pages."""
    mean = plain(over(page["response_s"] for page in run["pages"] if page["response_s"] is not None))
    return mean - HANDSHAKE_S if context.reads(OWN_CONNECTION) else mean


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
    times = ideal(context)
    if context.explains:
        _explain_table_5(context)
    rows = []
    for metric in ("page response time", "page response time, slides"):
        rows += [context.number(name(case), metric, time) for case, time in times.items()]
    for delayed in DELAYED_ACK:
        percent = shorter(times["adalr-sack", delayed], times["sack", delayed])
        printed = shorter(*(_printed(context, (variant, delayed)) for variant in ("adalr-sack", "sack")))
        rows += [
            context.number(f"gain, {delayed}", "shorter than standard TCP", percent),
            context.number(f"gain, {delayed}", "shorter than standard TCP, slides", printed),
            context.claim(
                f"order, {delayed}", "page response time", {v: times[v, delayed] for v in VARIANTS}
            ),
        ]
    return [*rows, context.claim("disabled outperforms enabled", "page response time", by_name(times))]


def _explain_table_5(context: Context) -> None:
    """Give the notes what other connections make of the pages."""
    for what, pipelining in (("connections", "true"), ("serial", "false")):
        tried = [
            time
            for connections in (1, 2, 3, 4)
            if (connections, pipelining) != (1, "true")
            for time in _with(
                context, {"flows.page.connections": connections, "flows.page.pipelining": pipelining}
            )
        ]
        context.fact(what, f"{min(tried):.1f} to {max(tried):.1f} s")
    context.fact("open", f"{max(_with(context, {'tcp.restart_after_idle': 'false'})):.1f} s")


def ideal(context: Context) -> dict[Case, float]:
    """Give the response time in s without losses."""
    return dict(zip(CASES, _with(context, {}), strict=True))


def _with(context: Context, changes: Settings) -> list[float]:
    runs = context.runs("pages.toml", [{**settings_of(case, "page"), **changes} for case in CASES])
    return [response_s(context, run) for run in runs]


def _printed(context: Context, case: Case) -> float:
    return float(context.published(name(case), "page response time").published)


def congested(context: Context) -> dict[Case, Estimate]:
    """Give the response time in s beside the stream, over the rates that table 7 leaves to it."""
    runs = [_beside(context, "pages-congestion.toml", _rate(mbps)) for mbps in NEAR_MBPS]
    return {case: over(times[case] for times in runs) for case in CASES}


def _rate(mbps: float) -> Settings:
    return {"flows.stream.rate": f"{mbps} Mbit/s"}


def _beside(context: Context, scenario: str, changes: Settings) -> dict[Case, float]:
    """Give the response time in s beside a stream, or beside downloads of the same variant."""
    downloads = scenario == DOWNLOADS
    settings: list[Settings] = [
        {
            **settings_of(case, "page"),
            **changes,
            **({"flows.cross.variant": case[0]} if downloads else {}),
        }
        for case in CASES
    ]
    runs = context.runs(scenario, settings)
    return {case: response_s(context, run) for case, run in zip(CASES, runs, strict=True)}


def _tried(context: Context) -> tuple[dict[float, dict[Case, float]], dict[str, dict[Case, float]]]:
    """Give the response time in s over the rate of the stream, and with each of `OTHERS`."""
    return (
        {mbps: _beside(context, "pages-congestion.toml", _rate(mbps)) for mbps in RATES_MBPS},
        {label: _beside(context, *wanted) for label, wanted in OTHERS.items()},
    )


def table_6b(context: Context) -> list[Row]:
    """Give the rows of the second table 6."""
    times = congested(context)
    lossless = ideal(context)
    if context.explains:
        _explain_table_6b(context)
    rows = []
    for metric in ("page response time", "page response time, slides"):
        rows += [context.number(name(case), metric, time) for case, time in times.items()]
    for delayed in DELAYED_ACK:
        metric = f"shorter {'with' if delayed == 'enabled' else 'without'} delayed ACK, slides"
        printed = shorter(*(_printed(context, (variant, delayed)) for variant in ("adalr-sack", "sack")))
        beside: dict[str, Number] = {f"{variant}, ideal": lossless[variant, delayed] for variant in VARIANTS}
        here: dict[str, Number] = {variant: times[variant, delayed] for variant in VARIANTS}
        rows += [
            context.number(f"gain over sack, {delayed}", metric, printed),
            context.claim(f"adalr-sack is best, {delayed}", "page response time", here),
            context.claim(f"slower than in the ideal case, {delayed}", "page response time", here | beside),
        ]
    printed_times = {case: _printed(context, case) for case in CASES}
    return [
        *rows,
        context.claim("disabled outperforms enabled", "page response time", by_name(times)),
        context.claim("disabled outperforms enabled", "printed page response time", by_name(printed_times)),
    ]


def _explain_table_6b(context: Context) -> None:
    """Give the notes what other streams and pages make of it."""
    rates, others = _tried(context)
    tried = [*rates.values(), *others.values()]
    context.fact("rates", f"{min(RATES_MBPS)} to {max(RATES_MBPS)} Mbit/s")
    every = [time for one in tried for time in one.values()]
    context.fact("tried", f"{min(every):.1f} to {max(every):.1f} s")
    for delayed in DELAYED_ACK:
        best = [
            all(one["adalr-sack", delayed] < one[variant, delayed] for variant in ("sack", "newreno"))
            for one in tried
        ]
        context.fact(f"best_{delayed}", f"{sum(best)} of {len(best)}")


def draw_table_6b(context: Context, path: Path) -> None:
    """Draw the response time over the rate of the stream, and with what else was tried."""
    rates, others = _tried(context)
    inferred = congested(context)
    lossless = ideal(context)
    with picture(path, (12, 7)) as figure:
        panels = figure.subplots(2, 2, sharey=True)
        for (left, right), delayed in zip(panels, DELAYED_ACK, strict=True):
            for variant in VARIANTS:
                case, colour = (variant, delayed), COLOURS[variant]
                left.plot(
                    [0, *rates],
                    [lossless[case], *(one[case] for one in rates.values())],
                    "o-",
                    ms=4,
                    color=colour,
                )
                curve(left, (1.26,), [inferred[case]], color=colour, ms=7, label=LABELS[variant])
                right.plot([*others], [one[case] for one in others.values()], "o", ms=5, color=colour)
                for axes in (left, right):
                    axes.axhline(_printed(context, case), color=colour, lw=0.9, ls="--")
            left.set_title(f"Rate of the stream, delayed ACK {delayed}")
            right.set_title(f"Other pages, and downloads for the stream, delayed ACK {delayed}")
            left.set_ylabel("page response time (s)")
            left.set_ylim(bottom=0)
            right.tick_params(axis="x", rotation=30)
        panels[1][0].set_xlabel("rate of the stream (Mbit/s); 0: no losses")
        handles, labels = panels[0][0].get_legend_handles_labels()
        (line,) = panels[0][0].plot([], [], color=GREY, lw=0.9, ls="--")
        figure.legend([*handles, line], [*labels, "published"], loc="outside lower center", ncols=5)
