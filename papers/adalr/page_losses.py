"""Figures 7 and 12: pages with bit errors on the satellite's downlink, without and with congestion."""

import math
import re
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path

from bentpipe.results import Estimate, Number
from bentpipe_papers.common import over, plain
from bentpipe_papers.reproduction.reproduce import Context, Row, Settings

from .errors import draw_over_ber, in_words
from .pages import response_s
from .runs import (
    BERS,
    CASES,
    CONGESTED_SEEDS,
    DELAYED_ACK,
    SEEDS,
    VARIANTS,
    Case,
    bit_errors,
    listed,
    settings_of,
    shorter,
)

Times = Mapping[tuple[Case, str], Sequence[float]]
"""Mean response time in s of the pages from each seed."""

FIGURES = {"figure-7": ("pages.toml", SEEDS), "figure-12": ("pages-congestion.toml", CONGESTED_SEEDS)}
"""The scenario of each figure, and its seeds."""

FOUR = "pages-four.toml"
"""The pages of figure 7 over four connections, as was tried."""


def response_times(context: Context) -> Times:
    """Give the response times of a figure, from the same seeds for each case."""
    return _from_seeds(context, *FIGURES[context.item], CASES)


def _from_seeds(context: Context, scenario: str, seeds: int, cases: Sequence[Case]) -> Times:
    keys = list(product(cases, BERS))
    settings: list[Settings] = [{**settings_of(case, "page"), **bit_errors(ber)} for case, ber in keys]
    runs = context.replicate(scenario, settings, runs=seeds)
    return {key: [response_s(context, run) for run in some] for key, some in zip(keys, runs, strict=True)}


def compute(context: Context) -> list[Row]:
    """Give the rows of figure 7 or 12."""
    times = response_times(context)
    if context.item == "figure-7" and context.explains:
        four = _from_seeds(context, FOUR, SEEDS, list(product(("adalr-sack", "sack"), DELAYED_ACK)))
        for delayed in DELAYED_ACK:
            context.fact(f"tried_{delayed}", in_words(_gains(four, "sack", delayed)))
    rows = []
    for row in context.paper.published:
        if row.item != context.item:
            continue
        what, column = row.case.rsplit(", ", 1)
        if row.unit == "%":
            theirs = what.removeprefix("over ")
            gains = _gains(times, theirs, column)
            context.fact(re.sub(r"\W+", "_", row.case), in_words(gains))
            choose = min if row.metric.endswith("least") else max
            rows.append(
                context.number(
                    row.case, row.metric, choose((gains[ber] for ber in listed(context, BERS)), key=plain)
                )
            )
        elif what == "disabled over enabled":
            values: dict[str, Number] = {
                each: _over_bers(times, (column, each), listed(context, BERS)) for each in DELAYED_ACK
            }
            rows.append(context.claim(row.case, row.metric, values))
        else:
            context.fact("adalr_newreno", in_words(_gains(times, "newreno", "enabled")))
            means: dict[str, Number] = {
                v: _over_bers(times, (v, column), listed(context, BERS)) for v in VARIANTS
            }
            rows.append(context.claim(row.case, row.metric, means))
    return rows


def _gains(times: Times, theirs: str, delayed: str) -> dict[str, Estimate]:
    """Give by how many per cent ADaLR is shorter, from each seed, at each bit error rate."""
    return {
        ber: over(
            shorter(one, other)
            for one, other in zip(
                times[(f"adalr-{theirs}", delayed), ber], times[(theirs, delayed), ber], strict=True
            )
        )
        for ber in BERS
    }


def _over_bers(times: Times, case: Case, bers: Sequence[str]) -> Estimate:
    """Give the mean over bit error rates, from each seed."""
    return over(math.fsum(each) / len(bers) for each in zip(*(times[case, ber] for ber in bers), strict=True))


def draw(context: Context, path: Path) -> None:
    """Draw the response time over the bit error rate, and what ADaLR gains."""
    times = response_times(context)
    draw_over_ber(
        context,
        path,
        lambda case, ber: over(times[case, ber]),
        lambda pair, delayed: _gains(times, pair[1], delayed),
        ("page response time (s)", "shorter by (%)"),
    )
