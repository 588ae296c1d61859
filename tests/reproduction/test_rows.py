"""Rows out of published and computed values: which rule judges them, and what keeps its place."""

import pytest

from bentpipe.results import Number
from bentpipe_papers.reproduction.papers import Input, Published
from bentpipe_papers.reproduction.rows import INDEX, claim_row, number_row, with_shapes
from bentpipe_papers.reproduction.verdicts import Verdict


def published(printed: str, *, case: str = "a", unit: str = "s", why: Input = "") -> Published:
    return Published("table-1", case, "time", unit, printed, kind="printed", input=why, where="", comment="")


@pytest.mark.parametrize(
    ("unit", "why", "computed", "verdict", "deviation"),
    [
        ("s", "", 0.985, "match", -0.014941),
        # A 375 times as large distance from 1.
        (INDEX, "", 0.985, "differs", 374.0),
        (INDEX, "", 0.99996, "match", 0.0),
        ("s", "echo", 0.99996, "input", 0.0),
        ("s", "echo", 0.985, "differs", -0.014941),
        ("s", "construction", 0.985, "differs", -0.014941),
        # It is judged where it is printed first.
        ("s", "duplicate", 0.5, "input", -0.49998),
        ("s", "duplicate", None, "input", None),
    ],
)
def test_a_number_is_judged_by_its_kind(
    unit: str, why: Input, computed: Number, verdict: Verdict, deviation: float | None
) -> None:
    row = number_row(published("0.99996", unit=unit, why=why), computed)
    assert row.verdict == verdict
    assert row.deviation == (None if deviation is None else pytest.approx(deviation, abs=1e-4))


@pytest.mark.parametrize(
    ("why", "values", "verdict"),
    [
        ("", {"a": 2.0, "b": 1.0}, "match"),
        ("construction", {"a": 2.0, "b": 1.0}, "input"),
        ("construction", {"a": 1.0, "b": 2.0}, "differs"),
        ("duplicate", {"a": 1.0, "b": 2.0}, "input"),
    ],
)
def test_a_claim_on_input_has_to_hold(why: Input, values: dict[str, Number], verdict: Verdict) -> None:
    assert claim_row(published("a > b", why=why), values, "s").verdict == verdict


def test_what_is_input_has_no_place_and_gives_none() -> None:
    low, high = published("10", case="low"), published("20", case="high")
    rows = [number_row(low, 12.0), number_row(high, 30.0)]
    assert [row.verdict for row in with_shapes(rows)] == ["shape", "shape"]
    # A wrong echo beside them stays wrong, and takes nobody's place.
    echo = number_row(published("15", case="echo", why="echo"), 40.0)
    assert [row.verdict for row in with_shapes([*rows, echo])] == ["shape", "shape", "differs"]


@pytest.mark.parametrize(
    ("computed", "verdict"),
    [((0.98, 0.998), "shape"), ((0.97, 0.96), "differs"), ((0.97, 0.97), "differs")],
)
def test_indices_have_their_places_by_their_distances_from_1(
    computed: tuple[float, float], verdict: Verdict
) -> None:
    # As plain numbers the two would lie within 5 % of each other, whatever comes out.
    printed = ("0.99", "0.999")
    rows = [
        number_row(published(index, unit=INDEX), value)
        for index, value in zip(printed, computed, strict=True)
    ]
    assert [row.verdict for row in with_shapes(rows)] == [verdict, verdict]
