"""What a paper printed beside what came out here: rows, their verdicts, and the notes that explain them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from decimal import Decimal
from typing import Any

from bentpipe.errors import BentpipeError
from bentpipe.results import Number, half_width, mean
from bentpipe_papers.reproduction.papers import Cause, Note, Paper, Published
from bentpipe_papers.reproduction.verdicts import (
    Verdict,
    describe,
    distance_from,
    is_high_share,
    judge_claim,
    judge_distance,
    judge_input,
    judge_number,
    same_place,
)


@dataclass(frozen=True)
class Without:
    """What a row comes to when the paper's scheme is taken out of its runs."""

    computed: float | str | None
    ci95: float | None
    verdict: Verdict


@dataclass(frozen=True)
class Row:
    """One thing a paper printed beside what came out here.

    `deviation` is relative: 0.02 is 2 % above; of an index it is that of its distance from 1, of a share of
    90 % and more from 100. `where` and `comment` are the document's place and words. `cause` says why a row
    differs. `without` is what a measured row comes to without the scheme. `number` is `computed` with all
    that is known of it; `measured` is false of the paper's input; `printed` is the published number's text.
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
    where: str = ""
    comment: str = ""
    cause: Cause | None = None
    without: Without | None = None
    number: Number = field(default=None, repr=False, compare=False)
    measured: bool = field(default=True, repr=False, compare=False)
    printed: str = field(default="", repr=False, compare=False)

    def as_json(self) -> dict[str, Any]:
        """Give the row as ``bentpipe reproduce --json`` prints it."""
        printed = asdict(self)
        del printed["number"], printed["measured"], printed["printed"]
        return printed

    def published_text(self) -> str:
        """Write the published value for people."""
        return f"{self.printed} {self._unit}".rstrip() if self.printed else self._text(self.published, None)

    def computed_text(self) -> str:
        """Write the computed value, with its interval, for people."""
        return self._text(self.computed, self.ci95)

    def without_text(self) -> str:
        """Write the computed value without the scheme, for people; it is the same where the scheme is not."""
        if self.without is None:
            return ""
        text = self._text(self.without.computed, self.without.ci95)
        return "the same" if text == self.computed_text() else text

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
        places = self._places(value)
        interval = (
            "" if width is None else f" ± {width:.{places if round(width, places) else 1 - _order(width)}f}"
        )
        return f"{value:.{places}f}{interval} {self._unit}".rstrip()

    @property
    def _unit(self) -> str:
        return "" if self.unit == INDEX else self.unit

    def _places(self, value: float) -> int:
        """Give as many decimal places as are printed, but two digits at least, and of large numbers four."""
        exponent = Decimal(self.printed or "1").as_tuple().exponent
        printed = max(0, -exponent) if isinstance(exponent, int) else 0
        if self.unit == INDEX:
            return printed
        return max(0, min(printed, 3 - _order(value)), min(1 - _order(value), printed + 2))


def _order(value: float) -> int:
    """Give the place of the first digit: 0 of 7.2, -1 of 0.72."""
    return math.floor(math.log10(abs(value))) if value else 0


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
    best = _best(published.unit, printed)
    whole, part = (printed, value) if best is None else (best - printed, mean(distance_from(best, computed)))
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
        where=published.where,
        comment=published.comment,
        number=computed,
        measured=not published.input,
        printed=published.published,
    )


def claim_row(published: Published, values: Mapping[str, Number], unit: str) -> Row:
    """Hold computed values, by the names and in the order that the claim speaks of, against it.

    Raises
    ------
    ValueError
        The claim is not in the words of `verdicts`, or names a value that is not there.
    """
    verdict = judge_claim(published.published, values, unit or published.unit)
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
        where=published.where,
        comment=published.comment,
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
        noted.append(_with_cause(row))
    return noted


def _with_cause(row: Row) -> Row:
    if row.verdict != "differs":
        return replace(row, cause=None)
    return replace(row, verdict="contradiction") if row.cause == "contradiction" else row


def beside(rows: Sequence[Row], without: Sequence[Row]) -> list[Row]:
    """Put the same rows without the scheme beside those with it: a match that survives tells little of it."""
    bare = {(row.case, row.metric): row for row in without}
    return [_beside(row, bare[row.case, row.metric]) if row.measured else row for row in rows]


def _beside(row: Row, bare: Row) -> Row:
    survives = row.verdict == bare.verdict == "match"
    return replace(
        row,
        verdict="match (also without)" if survives else row.verdict,
        without=Without(bare.computed, bare.ci95, bare.verdict),
    )


def explained(rows: Sequence[Row], *, all_of_them: bool = False) -> dict[str, list[str]]:
    """Collect rows by what explains them, so that it stands once: those that do not match, or all."""
    found: dict[str, list[str]] = {}
    for row in rows:
        if row.note and (all_of_them or row.verdict in ("shape", "contradiction", "differs")):
            found.setdefault(row.explanation(), []).append(f"{row.case}, {row.metric}")
    return found


def _filled(note: Note, paper: Paper, item: str, facts: Mapping[str, str]) -> str:
    try:
        return note.text.format_map(facts)
    except (KeyError, ValueError) as error:
        raise BentpipeError(
            f"{paper.name}/{item}: notes.csv: nobody found {error} for {note.text!r}"
        ) from error


def _best(unit: str, printed: float) -> float | None:
    """Give the best value, the distance from which is judged, if a number has one."""
    if unit == INDEX:
        return 1.0
    return 100.0 if is_high_share(printed, unit) else None


def _number_verdict(published: Published, computed: Number) -> Verdict:
    if published.input == "duplicate":
        return "input"
    if published.input:
        return "input" if judge_input(published.published, computed) else "differs"
    best = _best(published.unit, float(published.published))
    if best is not None:
        return judge_distance(published.published, computed, best)
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
        published = [1 - value for value in published]
        computed = [distance_from(1, value) for value in computed]
    places = [place for place, other in enumerate(group) if other is row]
    if not places or any(value is None for value in computed):
        return False
    return same_place(published, computed, places[0])
