"""A comparison for people: its table, as Markdown and CSV too, and a sentence."""

import csv
import io
from typing import TYPE_CHECKING, Any, TypeAlias

from rich.console import Console
from rich.markup import escape

from bentpipe.comparison.measure import limit_names
from bentpipe.numbers.intervals import gain
from bentpipe.numbers.number import Estimate
from bentpipe.reports.page import Cell
from bentpipe.show.columns import columns, written
from bentpipe.show.layout import new_table, print_whole
from bentpipe.show.units import (
    NOTE_OF_DOUBT,
    NOTHING_RANDOM,
    about_intervals,
    count,
    counted,
    doubted,
    percent,
)

if TYPE_CHECKING:
    from bentpipe.comparison.result import Comparison, Variant

Cells: TypeAlias = tuple[list[str], list[list[Cell]]]
"""A table: its headings and its rows."""

_NAMED = 3
_WORTH_NAMING = 0.1
"""The sentences name the largest limit, and at most two more that have so large a share."""


def rows(comparison: "Comparison") -> list[dict[str, Any]]:
    """Give a row for each variant, best first; units stand in the names, shares are of one."""
    metric, flows = comparison.measure.metric, comparison.measure.names
    return [
        {
            "variant": variant.name,
            metric: variant.value["mean"],
            f"{metric}_ci95": variant.value["ci95"],
            "runs": comparison.runs,
            "gain": variant.gain and variant.gain["mean"],
            "gain_ci95": variant.gain and variant.gain["ci95"],
            "of_link": variant.of_link and variant.of_link["mean"],
            "of_link_ci95": variant.of_link and variant.of_link["ci95"],
            **({} if variant.came is None else {"came": variant.came}),
            "retransmitted_segments": variant.total("retransmitted_segments", flows),
            "timeouts": variant.total("timeouts", flows),
            **{f"limit_{name}": share["mean"] for name, share in (variant.limits or {}).items()},
        }
        for variant in comparison.variants
    ]


def csv_of(comparison: "Comparison") -> str:
    """Write the rows as CSV; a number that there is none of is an empty cell."""
    text = io.StringIO()
    there = rows(comparison)
    writer = csv.DictWriter(text, list(there[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(there)
    return text.getvalue()


def cells(comparison: "Comparison") -> Cells:
    """Give the table: the headings, and a row for each variant."""
    bulk = comparison.measure.metric == "goodput_bps"
    late = any(_is_late(variant) for variant in comparison.variants)
    repairs = columns("flows", "retransmitted_segments", "timeouts")
    headings = ["variant", comparison.measure.number.heading, f"against {comparison.first}"]
    headings += ["of the link"] if bulk else []
    headings += ["came"] if late else []
    headings += [one.heading for one in repairs]
    rows = []
    for variant in comparison.variants:
        gain, of_link, came = variant.gain, variant.of_link, variant.came
        row = [Cell(variant.name), Cell(_value(comparison, variant), variant.value["mean"])]
        row += [Cell("–") if gain is None else Cell(_change(gain), gain["mean"])]
        row += [Cell(percent(of_link), of_link and of_link["mean"])] if bulk else []
        row += [Cell(percent(came), came)] if late else []
        totals = [variant.total(one.key, comparison.measure.names) for one in repairs]
        rows.append([*row, *(Cell(count(_three(total)), total) for total in totals)])
    return headings, rows


def limit_cells(comparison: "Comparison") -> Cells:
    """Give what limits the variants: the headings, and a row for each; what limits none is left out."""
    limits = {variant.name: variant.limits or {} for variant in comparison.variants}
    shown = [name for name in limit_names() if any(one[name]["mean"] > 0 for one in limits.values())]
    rows = [
        [Cell(variant), *(Cell(_whole(one[name]["mean"]), one[name]["mean"]) for name in shown)]
        for variant, one in limits.items()
    ]
    return ["limited by", *(limit_names()[name] for name in shown)], rows


def parts(comparison: "Comparison") -> list[tuple[Cells, list[str]]]:
    """Give the tables, each with the lines below it."""
    found = [(cells(comparison), [*notes(comparison), comparison.sentence])]
    if comparison.explained:
        found.append((limit_cells(comparison), [comparison.explanation]))
    return found


def explanation(comparison: "Comparison") -> str:
    """Say of each variant what limits it for most of the time."""
    sentences = []
    for variant in comparison.variants:
        found = sorted((variant.limits or {}).items(), key=lambda pair: -pair[1]["mean"])
        named = [
            f"{limit_names()[name]} ({_whole(share['mean'])}{'' if place else ' of the time'})"
            for place, (name, share) in enumerate(found[:_NAMED])
            if place == 0 or share["mean"] >= _WORTH_NAMING
        ]
        if named:
            sentences.append(f"{variant.name} is limited most by: {', then '.join(named)}.")
    return " ".join(sentences)


def markdown(comparison: "Comparison") -> str:
    """Write the tables and the sentences as Markdown."""
    found = []
    for (headings, rows), sentences in parts(comparison):
        lines = [headings, ["---", *["--:"] * (len(headings) - 1)]]
        lines += [[cell.text for cell in row] for row in rows]
        found.append(
            "".join(f"| {' | '.join(line)} |\n" for line in lines)
            + "".join(f"\n{one}\n" for one in sentences)
        )
    return "\n".join(found)


def print_comparison(comparison: "Comparison", to: Console) -> None:
    """Print the table and the sentence."""
    runs = f"seed {comparison.seed}, {counted(comparison.runs, 'run')} each"
    if not comparison.random:
        runs += f", {NOTHING_RANDOM}"
    elif comparison.runs > 1:
        runs += f", {about_intervals(comparison.runs)}"
    to.print(f"[bold]{escape(comparison.scenario)}[/bold]  ({runs})", highlight=False)
    for (headings, rows), sentences in parts(comparison):
        table = new_table(*headings)
        for row in rows:
            table.add_row(*(cell.text for cell in row))
        print_whole(table, to)
        for line in sentences:
            to.print(line, highlight=False, markup=False, soft_wrap=True)


def notes(comparison: "Comparison") -> list[str]:
    """Say what the signs in the table mean."""
    numbers = [(variant.value, variant.gain) for variant in comparison.variants]
    return [NOTE_OF_DOUBT] if doubted(*numbers) else []


def sentence(comparison: "Comparison") -> str:
    """Say which variant is best, by how much, and how sure that is."""
    best, second = comparison.variants[:2]
    words = comparison.measure.words
    sentence = f"{comparison.scenario}: {best.name} {words.does} {_value(comparison, best)}"
    if _is_late(best):
        sentence += f" ({percent(best.came)} came, so that it is at least that)"
    alike = [variant for variant in comparison.best[1:] if variant is not best]
    first = comparison[comparison.first]
    parts = []
    if best.gain is not None and first not in alike and _is_seen(best.gain):
        parts.append(f"{_size(best.gain)} {words.better} {first.name}")
    if best.of_link is not None:
        parts.append(f"{_rounded(best.of_link)} of what the link could carry")
    sentence += "".join(f", {'and ' if place else ''}{part}" for place, part in enumerate(parts))
    # The best is the one that happened to be first of many: the next may be as good.
    behind = gain(second.pairs, best.pairs, comparison.interval, certain=not comparison.random)
    if alike:
        change = f" ({_change(behind)})" if behind is not None else ""
        names = [variant.name for variant in alike]
        listed = " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)
        sentence += f"; these runs do not tell it and {listed} apart{change if len(alike) == 1 else ''}"
    elif behind is not None and _is_seen(behind) and (second is not first or best is first):
        sentence += f"; {second.name}, the next, {words.worse.format(_size(behind))}"
    if not comparison.random:
        return f"{sentence}. Nothing in it is random: one run is enough."
    if comparison.runs == 1:
        return f"{sentence}. This is a single run, which does not say how sure it is."
    return f"{sentence}. ({comparison.runs:,} runs of each with the same seeds, 95 % intervals.)"


def _is_late(variant: "Variant") -> bool:
    return variant.came is not None and variant.came < 1


def _size(change: Estimate) -> str:
    return _rounded({**change, "mean": abs(change["mean"])})


def _value(comparison: "Comparison", variant: "Variant") -> str:
    return written(variant.value, comparison.measure.number)


def _change(number: Estimate) -> str:
    sign = "+" if number["mean"] > 0 and _is_seen(number) else ""
    return sign + _rounded(number)


def _rounded(number: Estimate) -> str:
    """Write a share in per cent with three digits, which is what an interval leaves of it."""
    return percent({**number, "mean": _three(number["mean"]) if _is_seen(number) else 0.0})


def _is_seen(number: Estimate) -> bool:
    """Say whether a share is more than nothing in hundredths of a per cent."""
    return abs(number["mean"]) >= 5e-5


def _whole(share: float) -> str:
    """Write a share in whole per cent."""
    return "<1 %" if 0 < share < 0.005 else f"{100 * share:.0f} %"


def _three(value: float) -> float:
    return float(f"{value:.3g}")
