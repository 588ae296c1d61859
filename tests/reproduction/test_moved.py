"""What another reading moves: which rows, and whether for better or worse."""

import pytest

from bentpipe_papers.reproduction.moved import ReadOtherwise, moved
from bentpipe_papers.reproduction.readings import Reading
from bentpipe_papers.reproduction.rows import Row
from bentpipe_papers.reproduction.verdicts import Verdict


def row(
    computed: float, deviation: float | None, verdict: Verdict, case: str = "a", *, measured: bool = True
) -> Row:
    return Row(case, "time", "s", 10.0, computed, None, deviation, verdict, "", measured=measured)


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        (row(12, 0.2, "differs"), row(10, 0.0, "match"), 1),
        (row(10, 0.0, "match (also without)"), row(12, 0.2, "shape"), -1),
        (row(12, 0.2, "differs"), row(11, 0.1, "differs"), 1),
        (row(9, -0.1, "differs"), row(12, 0.2, "contradiction"), -1),
        (row(10, 0.01, "match (also without)"), row(10.001, 0.0101, "match"), 0),
        (row(1, None, "match"), row(2, None, "match"), 0),
    ],
)
def test_a_row_is_better_by_its_verdict_or_else_by_its_deviation(
    before: Row, after: Row, change: int
) -> None:
    (one,) = moved("table-1", [before], [after])
    assert one.change == change


def test_every_measured_row_that_comes_out_otherwise_is_told() -> None:
    before = [
        row(12, 0.2, "differs"),
        row(10, 0.0, "match", "b"),
        row(11, 0.1, "shape", "c"),
        row(5, -0.5, "input", "d", measured=False),
    ]
    after = [
        row(10, 0.0, "match"),
        row(10, 0.0, "match", "b"),
        row(12, 0.2, "shape", "c"),
        row(6, -0.4, "input", "d", measured=False),
    ]
    read = ReadOtherwise(Reading("wider", "wider"), tuple(moved("table-1", before, after)))
    assert [one.row.case for one in read.moved] == ["a", "c"]
    assert read.sentence() == (
        "1 rows come nearer and 1 go farther, 0 only change; 1 verdicts are better and 0 worse"
    )
    assert read.of(1)[0].text().endswith("(differs becomes match)")
    assert [one["change"] for one in read.as_json()["rows"]] == [1, -1]


def test_a_reading_moves_the_items_of_its_names() -> None:
    reading = Reading("wider", "wider", items=("figure-1[2-6]",))
    assert [item for item in ("figure-1", "figure-12", "figure-16") if reading.moves(item)] == [
        "figure-12",
        "figure-16",
    ]
