"""Statements: which rows are one, and what becomes of it."""

import pytest

from bentpipe_papers.reproduction.papers import Cause
from bentpipe_papers.reproduction.rows import Row
from bentpipe_papers.reproduction.statements import Outcome, counted, sentence, statements
from bentpipe_papers.reproduction.verdicts import Verdict


def row(verdict: Verdict, cause: Cause | None = None, *, words: str = "more", measured: bool = True) -> Row:
    return Row("a", "b", "s", 1.0, 1.0, None, 0.0, verdict, "", "section 1", words, cause, measured=measured)


WITHOUT: Verdict = "match (also without)"


@pytest.mark.parametrize(
    ("rows", "outcome"),
    [
        ([row("match"), row("shape")], "holds"),
        ([row("match"), row(WITHOUT)], "holds"),
        ([row(WITHOUT), row(WITHOUT)], "holds also without"),
        ([row("match"), row("differs", "not stated")], "cannot be told"),
        ([row("match"), row("contradiction", "contradiction")], "cannot be told"),
        ([row("differs", "not stated"), row("differs", "open")], "does not hold"),
        ([row("differs")], "does not hold"),
    ],
)
def test_a_statement_is_as_good_as_its_worst_row(rows: list[Row], outcome: Outcome) -> None:
    (found,) = statements(rows)
    assert found.outcome == outcome


def test_statements_are_counted_by_place_and_words_without_input() -> None:
    rows = [row("match"), row("match"), row("shape", words="less"), row("input", words="x", measured=False)]
    counts = counted(statements(rows))
    assert counts == {"holds": 2, "holds also without": 0, "cannot be told": 0, "does not hold": 0}
    assert sentence(counts) == (
        "2 statements: 2 hold, 0 hold also without the scheme, 0 cannot be told, 0 do not"
    )
