"""What a paper says, counted: a statement is what stands at one place in one sentence, in one row or more."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from bentpipe_papers.reproduction.rows import Row

Outcome = Literal["holds", "holds also without", "cannot be told", "does not hold"]

OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)


@dataclass(frozen=True)
class Statement:
    """One statement with the rows that judge it, of which none is the paper's input."""

    where: str
    words: str
    rows: tuple[Row, ...]

    @property
    def failing(self) -> list[Row]:
        """Give the rows that neither match nor keep their shape."""
        return [row for row in self.rows if row.verdict in ("differs", "contradiction")]

    @property
    def outcome(self) -> Outcome:
        """Say what becomes of it.

        It holds if each row matches or keeps its shape, and also without the scheme if every row would match
        so. It cannot be told if what the rows that differ depend on is not stated, or is contradicted.
        """
        if any(row.verdict == "differs" and row.cause != "not stated" for row in self.rows):
            return "does not hold"
        if self.failing:
            return "cannot be told"
        also_without = all(row.verdict == "match (also without)" for row in self.rows)
        return "holds also without" if also_without else "holds"


def statements(rows: Iterable[Row]) -> list[Statement]:
    """Collect the measured rows by the statement that they judge."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row.measured:
            found.setdefault((row.where, row.comment), []).append(row)
    return [Statement(where, words, tuple(some)) for (where, words), some in found.items()]


def counted(found: Sequence[Statement]) -> dict[Outcome, int]:
    """Count the statements of each outcome."""
    counts = Counter(one.outcome for one in found)
    return {outcome: counts[outcome] for outcome in OUTCOMES}


def sentence(counts: dict[Outcome, int]) -> str:
    """Say it in one line."""
    holds, without, unknown, fails = (counts[outcome] for outcome in OUTCOMES)
    return (
        f"{sum(counts.values())} statements: {holds} hold, {without} hold also without the scheme, "
        f"{unknown} cannot be told, {fails} do not"
    )
