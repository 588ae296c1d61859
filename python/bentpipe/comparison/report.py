"""The page of a comparison."""

from typing import TYPE_CHECKING

from bentpipe.comparison import words
from bentpipe.comparison.picture import draw_limits, draw_values
from bentpipe.reports.page import Origin, Report, ReportTable, Section, inline
from bentpipe.show.units import counted

if TYPE_CHECKING:
    from bentpipe.comparison.result import Comparison


def page_of(comparison: "Comparison", command: str = "") -> Report:
    """Give the page of a comparison, made by `command` if one made it."""
    remarks = [comparison.sentence]
    if not comparison.precise:
        remarks.append(f"The precision was not reached in {comparison.runs:,} runs.")
    remarks += [f"{name}: {failure}" for name, failure in comparison.failures]
    what = comparison.measure.number.heading.capitalize()
    spread = " with its 95 % interval" if comparison.runs > 1 else ""
    about = f"{what} of each variant{spread}, the best at the top"
    names = comparison.measure.flows
    rest = [f"{len(names) - _NAMED:,} more"] if len(names) > _NAMED else []
    flows = ", ".join((*names[:_NAMED], *rest))
    compared = Section(
        "Which is best",
        (f"{flows}: {counted(comparison.runs, 'run')} of each variant. {_GAINS}", *words.notes(comparison)),
        (inline(lambda path: draw_values(comparison, path), about, "values"),),
        tables=(_table("variants", words.cells(comparison)),),
    )
    sections = [compared]
    if comparison.explained:
        about = "Share of the time in which each of several things limits a variant"
        sections.append(
            Section(
                "What limits each",
                (comparison.explanation, _LIMITS),
                (inline(lambda path: draw_limits(comparison, path), about, "limits"),),
                tables=(_table("limits", words.limit_cells(comparison)),),
            )
        )
    facts = [("scenario", comparison.scenario), ("first seed", str(comparison.seed))]
    facts += [("runs of each", f"{comparison.runs:,}")]
    facts += [("command", command)] if command else []
    origin = Origin(tuple(facts), (("scenario as one text", comparison.text),) if comparison.text else ())
    return Report(f"{comparison.scenario}: variants compared", tuple(sections), tuple(remarks), origin)


_NAMED = 12
"""So many flows are named."""

_GAINS = (
    "Run k has the same seed with each of them, and a gain is the ratio of their means, less 1; its interval "
    "is of such pairs, and knows that both means are unsure. A gain whose interval holds 0 is none that "
    "these runs show."
)
_LIMITS = (
    "Each moment of a connection counts for what kept it from sending more just then; full link is time in "
    "which a link on the way was sending almost without a pause."
)


def _table(name: str, cells: words.Cells) -> ReportTable:
    headings, rows = cells
    return ReportTable(name, tuple(headings), tuple(map(tuple, rows)))
