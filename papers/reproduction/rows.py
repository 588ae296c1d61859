"""What a paper printed beside what came out here: rows, their verdicts, and the notes that explain them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from bentpipe.errors import BentpipeError
from bentpipe.results import Number, half_width, mean
from bentpipe_papers.reproduction.papers import Cause, Note, Paper, Published
from bentpipe_papers.reproduction.verdicts import (
    Verdict,
    describe,
    distance_from_1,
    judge_claim,
    judge_index,
    judge_input,
    judge_number,
    same_place,
)


@dataclass(frozen=True)
class Row:
    """One thing a paper printed beside what came out here.

    `deviation` is relative: 0.02 is 2 % above; of an index it is that of its distance from 1. `cause` says
    why a row differs. `number` is `computed` with all that is known of it; `measured` is false of the paper's
    input.
    """

    case: str
    metric: str
    unit: str
    published: float | str
    computed: float | str | None
    ci95: float | None
    deviation: float | None
    verdict: Verdict
    note: str
    cause: Cause | None = None
    number: Number = field(default=None, repr=False, compare=False)
    measured: bool = field(default=True, repr=False, compare=False)

    def as_json(self) -> dict[str, Any]:
        """Give the row as ``bentpipe reproduce --json`` prints it."""
        printed = asdict(self)
        del printed["number"], printed["measured"]
        return printed

    def published_text(self) -> str:
        """Write the published value for people."""
        return self._text(self.published, None)

    def computed_text(self) -> str:
        """Write the computed value, with its interval, for people."""
        return self._text(self.computed, self.ci95)

    def deviation_text(self) -> str:
        """Write the deviation in per cent."""
        if self.deviation is None:
            return ""
        return "0.0%" if abs(self.deviation) < 0.5e-3 else f"{self.deviation:+.1%}"

    def explanation(self) -> str:
        """Write why it differs, and the note."""
        return f"{CAUSES[self.cause]}: {self.note}" if self.cause else self.note

    def _text(self, value: float | str | None, width: float | None) -> str:
        if value is None:
            return "–"
        if isinstance(value, str):
            return value
        interval = "" if width is None else f" ± {width:.2g}"
        return f"{value:.6g}{interval} {'' if self.unit == INDEX else self.unit}".rstrip()


INDEX = "index"
"""The unit of what is judged by its distance from 1."""

CAUSES: Mapping[Cause, str] = {
    "contradiction": "The document contradicts itself",
    "not stated": "The document does not say",
    "open": "An open question of ours",
}
"""Why a row differs, for people."""


def number_row(published: Published, computed: Number) -> Row:
    """Hold a computed number, in the published unit, against the published one."""
    printed, value = float(published.published), mean(computed)
    index = published.unit == INDEX
    whole, part = (1 - printed, None if value is None else 1 - value) if index else (printed, value)
    return Row(
        case=published.case,
        metric=published.metric,
        unit=published.unit,
        published=printed,
        computed=value,
        ci95=half_width(computed),
        deviation=None if part is None or whole == 0 else part / whole - 1,
        verdict=_number_verdict(published, computed),
        note="",
        number=computed,
        measured=not published.input,
    )


def claim_row(published: Published, values: Mapping[str, Number], unit: str) -> Row:
    """Hold computed values, by the names and in the order that the claim speaks of, against it.

    Raises
    ------
    ValueError
        The claim is not in the words of `verdicts`, or names a value that is not there.
    """
    verdict = judge_claim(published.published, values)
    if published.input == "duplicate" or (published.input and verdict == "match"):
        verdict = "input"
    computed = describe(values, unit or published.unit)
    return Row(
        case=published.case,
        metric=published.metric,
        unit=published.unit,
        published=published.published,
        computed=computed,
        ci95=None,
        deviation=None,
        verdict=verdict,
        note="",
        measured=not published.input,
    )


def with_shapes(rows: Sequence[Row]) -> list[Row]:
    """Turn ``differs`` into ``shape`` where a number keeps its published place among those of its metric."""
    return [
        replace(row, verdict="shape") if row.verdict == "differs" and _has_its_place(row, rows) else row
        for row in rows
    ]


def with_notes(paper: Paper, item: str, rows: Sequence[Row], facts: Mapping[str, str]) -> list[Row]:
    """Give each row the first note of the paper that fits it, filled with what the item found.

    Raises
    ------
    BentpipeError
        A note asks for something that the item did not find.
    """
    noted = []
    for row in rows:
        note = next((note for note in paper.notes if note.fits(item, row.case, row.metric)), None)
        if note is not None:
            row = replace(row, note=_filled(note, paper, item, facts), cause=note.cause)
        noted.append(row if row.verdict == "differs" else replace(row, cause=None))
    return noted


def _filled(note: Note, paper: Paper, item: str, facts: Mapping[str, str]) -> str:
    try:
        return note.text.format_map(facts)
    except (KeyError, ValueError) as error:
        raise BentpipeError(
            f"{paper.name}/{item}: notes.csv: nobody found {error} for {note.text!r}"
        ) from error


def _number_verdict(published: Published, computed: Number) -> Verdict:
    if published.input == "duplicate":
        return "input"
    if published.input:
        return "input" if judge_input(published.published, computed) else "differs"
    if published.unit == INDEX:
        return judge_index(published.published, computed)
    return judge_number(float(published.published), computed)


def _has_its_place(row: Row, rows: Sequence[Row]) -> bool:
    group = [
        other
        for other in rows
        if other.metric == row.metric and other.measured and isinstance(other.published, float)
    ]
    published = [other.published for other in group if isinstance(other.published, float)]
    computed = [other.number for other in group]
    if row.unit == INDEX:
        published, computed = (
            [1 - value for value in published],
            [distance_from_1(value) for value in computed],
        )
    places = [place for place, other in enumerate(group) if other is row]
    if not places or any(value is None for value in computed):
        return False
    return same_place(published, computed, places[0])
