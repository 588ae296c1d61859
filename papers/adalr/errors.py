"""Sections 5.3 and 5.4: bit errors on the satellite's downlink, without and with congestion."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from bentpipe.results import Estimate, Number, Run
from bentpipe.show.style import GREY, picture
from bentpipe_papers.common import curve, over, plain, width
from bentpipe_papers.reproduction.reproduce import Context, Row, Settings
from bentpipe_papers.reproduction.verdicts import NARROW

from .runs import (
    BERS,
    COLOURS,
    DELAYED_ACK,
    LABELS,
    STANDARD,
    VARIANTS,
    Case,
    bit_errors,
    download,
    download_s,
    finished,
    higher,
    listed,
    rate_kbps,
    settings_of,
    shorter,
    utilization,
    with_errors,
)

Runs = Mapping[tuple[Case, str], Sequence[Run]]

HIGH = ("1e-6", "1e-5")
LOW = ("1e-8", "1e-7")

RENO = "congestion-reno.toml"
"""The same download beside the stream, repaired as by Reno."""

DOWNLOADS = "congestion-downloads.toml"
"""The same download beside three others, which respond."""

_OTHER_SEEDS = {RENO: 6, DOWNLOADS: 4}
"""Replications of what else was tried."""

TRIED: Mapping[bool, Mapping[str, str]] = {False: {}, True: {"reno": RENO, "downloads": DOWNLOADS}}
"""What else was tried, without congestion and with it."""

_CONTROL = {"adalr-sack": "adalr", "sack": "standard"}


def throughput(run: Run) -> Number:
    """Give what the sender sent, in kbit/s over its own time."""
    return rate_kbps(run, "throughput")


def goodput(run: Run) -> Number:
    """Give what arrived for good, in kbit/s over the download's own time."""
    return rate_kbps(run, "goodput")


def busy(run: Run) -> Number:
    """Give the share of time that the satellite link sends, in %."""
    return 100 * plain(utilization(run))


Measure = Callable[[Run], Number]
MEASURES: dict[str, Measure] = {
    "download response time": download_s,
    "throughput": throughput,
    "goodput": goodput,
    "utilization": busy,
    "satellite link throughput": busy,
}
FIGURES = {
    "figure-8": ("download response time", False),
    "figure-9": ("throughput", False),
    "figure-10": ("goodput", False),
    "figure-11": ("utilization", False),
    "figure-13": ("download response time", True),
    "figure-14": ("throughput", True),
    "figure-15": ("goodput", True),
    "figure-16": ("utilization", True),
}
"""What each figure shows, and whether the gateway is congested."""


def sample(runs: Runs, measure: Measure, case: Case, ber: str) -> Estimate:
    """Give what was measured from each seed."""
    return over(measure(run) for run in runs[case, ber])


def gains(
    runs: Runs, measure: Measure, pair: tuple[str, str], delayed: str, bers: Sequence[str], *, lower: bool
) -> dict[str, Estimate]:
    """Give by how many per cent the first is lower or higher, from each seed, at each bit error rate."""
    percent = shorter if lower else higher
    ours, theirs = pair
    return {
        ber: over(
            percent(plain(measure(one)), plain(measure(other)))
            for one, other in zip(runs[(ours, delayed), ber], runs[(theirs, delayed), ber], strict=True)
        )
        for ber in bers
    }


def compute(context: Context) -> list[Row]:
    """Give the rows of one of the figures 8 to 11 and 13 to 16."""
    measured, congestion = FIGURES[context.item]
    runs = finished(with_errors(context, congestion=congestion))
    lower = measured == "download response time"
    tried = TRIED[congestion] if context.explains else {}
    for (what, scenario), delayed in product(tried.items(), DELAYED_ACK):
        other = _tried(context, scenario, delayed)
        by_ber = gains(other, MEASURES[measured], ("adalr-sack", "sack"), delayed, BERS, lower=lower)
        context.fact(f"{what}_{delayed}", in_words(by_ber))
    rows: list[Row] = []
    for row in context.paper.published:
        if row.item != context.item:
            continue
        what, _, end = row.metric.rpartition(", ")
        if end in ("least", "most"):
            rows.append(_range(context, runs, row.case, row.metric, what, end))
        else:
            rows.append(_claim(context, runs, row.case, row.metric))
    return rows


def _tried(context: Context, scenario: str, delayed: str) -> Runs:
    """Run SACK's pair under what else the documents may mean."""
    keys = list(product(_CONTROL, BERS))
    settings: list[Settings] = [
        {
            **(
                {"flows.download.control": _CONTROL[variant], "tcp.delayed_ack": DELAYED_ACK[delayed]}
                if scenario != DOWNLOADS
                else {**settings_of((variant, delayed)), "flows.cross.variant": variant}
            ),
            **bit_errors(ber),
        }
        for variant, ber in keys
    ]
    found = context.replicate(scenario, settings, runs=_OTHER_SEEDS[scenario])
    return finished(
        {((variant, delayed), ber): runs for (variant, ber), runs in zip(keys, found, strict=True)}
    )


def _range(context: Context, runs: Runs, case: str, metric: str, what: str, end: str) -> Row:
    word, _, measured = what.partition(" ")
    delayed = case.rpartition(", ")[2]
    by_ber = gains(
        runs, MEASURES[measured], _pair(case), delayed, listed(context, _bers(case)), lower=word == "shorter"
    )
    name = re.sub(r"\W+", "_", case)
    context.fact(name, in_words(by_ber))
    gain = (min if end == "least" else max)(by_ber.values(), key=plain)
    context.fact(f"{name}_{end}_seeds", f"{_seeds_needed(context, case, metric, gain):,.0f}")
    return context.number(case, metric, gain)


def _seeds_needed(context: Context, case: str, metric: str, gain: Estimate) -> float:
    """Give how many seeds would make an interval narrow enough to decide."""
    wanted = NARROW / 2 * abs(float(context.published(case, metric).published))
    return gain["n"] * (width(gain) / wanted) ** 2


def in_words(by_ber: Mapping[str, Number]) -> str:
    """Write gains and the bit error rates at which they are."""
    values = [f"{plain(gain):.1f}" for gain in by_ber.values()]
    return f"{_listed(values)} % at {_listed(list(by_ber))}"


def _listed(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}"


def _pair(case: str) -> tuple[str, str]:
    """Give who is ahead of whom: ``over sack`` is ADaLR SACK over SACK, ``A over B`` as it says."""
    ahead, _, behind = case.partition(",")[0].partition("over ")
    if ahead:
        return ahead.strip(), behind
    return f"adalr-{behind}", behind


def _claim(context: Context, runs: Runs, case: str, metric: str) -> Row:
    measure = MEASURES[FIGURES[context.item][0]]
    delayed = case.rpartition(", ")[2]
    if case.startswith("losses "):
        return context.claim(case, metric, _lost(runs, delayed, HIGH if "from 1e-6" in case else LOW))
    if case.endswith("by rising BER"):
        variant = case.partition(",")[0]
        return context.claim(
            case, metric, {ber: sample(runs, measure, (variant, "enabled"), ber) for ber in BERS}
        )
    bers = listed(
        context, LOW if metric.endswith("up to 1e-7") else HIGH if metric.endswith("from 1e-6") else BERS
    )
    if case.startswith("disabled over enabled, "):
        values = {column: _over_bers(runs, measure, (delayed, column), bers) for column in DELAYED_ACK}
        return context.claim(case, metric, values)
    column = delayed if delayed in DELAYED_ACK else "enabled"
    means: dict[str, Number] = {}
    for variant in VARIANTS:
        means[variant] = (
            _over_bers(runs, measure, (variant, column), bers, ("sack", column))
            if metric.startswith("mean of the ratios")
            else _over_bers(runs, measure, (variant, column), bers)
        )
    return context.claim(case, metric, means)


def _lost(runs: Runs, delayed: str, bers: Sequence[str]) -> dict[str, Number]:
    """Give the segments that the downloads of all variants lose by each cause, from each seed."""
    causes = {"full queue": "congestion", "bit errors": "random"}
    return {
        f"{ber} {words}": over(
            math.fsum(plain(download(run)[f"loss_cause_{cause}"]) for run in together)
            for together in zip(*(runs[(variant, delayed), ber] for variant in VARIANTS), strict=True)
        )
        for ber in bers
        for words, cause in causes.items()
    }


def _over_bers(
    runs: Runs, measure: Measure, case: Case, bers: Sequence[str], reference: Case | None = None
) -> Estimate:
    """Give the mean over bit error rates from each seed, of ratios to a reference if there is one."""
    return over(
        math.fsum(each) / len(bers)
        for each in zip(
            *(
                [
                    plain(measure(run)) / (plain(measure(other)) if reference else 1.0)
                    for run, other in zip(runs[case, ber], runs[reference or case, ber], strict=True)
                ]
                for ber in bers
            ),
            strict=True,
        )
    )


def abstract(context: Context) -> list[Row]:
    """Give the rows of the abstract: the largest gains of figures 9, 11, 14 and 15."""
    rows = []
    for case, congestion, measured in (
        ("error losses", False, "throughput"),
        ("error losses", False, "utilization"),
        ("congestion and error losses", True, "throughput"),
        ("congestion and error losses", True, "goodput"),
    ):
        runs = finished(with_errors(context, congestion=congestion))
        found = [
            gain
            for pair in STANDARD.items()
            for gain in gains(runs, MEASURES[measured], pair, "enabled", BERS, lower=False).values()
        ]
        rows.append(context.number(case, f"higher {measured}, up to", max(found, key=plain)))
    return rows


_AXES = {
    "download response time": "download response time (s)",
    "throughput": "throughput (kbit/s)",
    "goodput": "goodput (kbit/s)",
    "utilization": "satellite link busy (%)",
}


def draw(context: Context, path: Path) -> None:
    """Draw one figure over the bit error rate, with 95 % intervals, for both settings of delayed ACK."""
    measured, congestion = FIGURES[context.item]
    runs = finished(with_errors(context, congestion=congestion))
    lower = measured == "download response time"
    draw_over_ber(
        context,
        path,
        lambda case, ber: sample(runs, MEASURES[measured], case, ber),
        lambda pair, delayed: gains(runs, MEASURES[measured], pair, delayed, BERS, lower=lower),
        (_AXES[measured], "shorter by (%)" if lower else "higher by (%)"),
    )


Gains = Callable[[tuple[str, str], str], Mapping[str, Number]]
"""The gain of the first of a pair over the second at each bit error rate, by the setting of delayed ACK."""


def draw_over_ber(
    context: Context,
    path: Path,
    value: Callable[[Case, str], Number],
    gain: Gains,
    labels: tuple[str, str],
) -> None:
    """Draw each variant over the bit error rate, and below what ADaLR gains, with the printed ranges."""
    rates = [float(ber) for ber in BERS]
    with picture(path, (11, 7.6)) as figure:
        panels = figure.subplots(2, 2, sharex=True, sharey="row")
        for (above, below), delayed in zip(panels.T, DELAYED_ACK, strict=True):
            for variant in VARIANTS:
                style: dict[str, Any] = {
                    "color": COLOURS[variant],
                    "marker": "o" if variant in STANDARD else "s",
                    "ls": "-" if variant.endswith("sack") else "--",
                }
                values = [value((variant, delayed), ber) for ber in BERS]
                curve(above, rates, values, label=LABELS[variant], **style)
                if variant in STANDARD:
                    found = gain((variant, STANDARD[variant]), delayed)
                    curve(below, rates, [found[ber] for ber in BERS], **style)
                    for bers, low, high in printed_ranges(context, STANDARD[variant], delayed):
                        ends = [float(bers[0]) / 1.3, float(bers[-1]) * 1.3]
                        below.fill_between(ends, low, high, color=COLOURS[variant], alpha=0.15, lw=0)
                        below.plot(ends, [high, high], color=COLOURS[variant], lw=1, ls=":")
            above.set_xscale("log")
            above.set_title(f"delayed ACK {delayed}")
            below.axhline(0, color=GREY, lw=0.8)
            below.set_xlabel("bit error rate of the downlink")
        # The panels share this axis: only when both are drawn is it known how high it reaches.
        if labels[0].endswith("(s)"):
            panels[0][0].set_yscale("log")
        else:
            panels[0][0].set_ylim(bottom=0)
        for axes, label in zip(panels[:, 0], labels, strict=True):
            axes.set_ylabel(label)
        handles, names = panels[0][0].get_legend_handles_labels()
        band = panels[0][0].fill_between([], [], color=GREY, alpha=0.3, lw=0)
        figure.legend([*handles, band], [*names, "printed range"], loc="outside lower center", ncols=5)


def printed_ranges(context: Context, behind: str, delayed: str) -> list[tuple[tuple[str, ...], float, float]]:
    """Give the ranges that the figure prints of ADaLR's gain: at which bit error rates, least and most.

    Where only the most is printed the range begins there; a loss of ADaLR's is below 0.
    """
    found: dict[str, list[float]] = {}
    for row in context.paper.published:
        if row.item == context.item and row.unit == "%" and row.case.endswith(f", {delayed}"):
            ahead, _, whom = row.case.partition(",")[0].partition("over ")
            if whom.removeprefix("adalr-") == behind:
                found.setdefault(row.case, []).append(float(row.published) * (-1 if ahead else 1))
    return [(_bers(case), min(values), max(values)) for case, values in found.items()]


def _bers(case: str) -> tuple[str, ...]:
    return HIGH if "BER from 1e-6" in case else LOW if "BER up to 1e-7" in case else BERS
