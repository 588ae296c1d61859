"""Each rule that gives a verdict, on made-up values on both sides of its edge."""

import pytest

from bentpipe.numbers.intervals import estimate
from bentpipe.results import Estimate, Number
from bentpipe_papers.reproduction.verdicts import (
    judge_claim,
    judge_distance,
    judge_input,
    judge_number,
    same_place,
)


def around(mean: float, ci95: float) -> Estimate:
    return {"mean": mean, "ci95": ci95, "n": 5}


def runs(*values: float) -> Estimate:
    return {**estimate(values), "values": values}


@pytest.mark.parametrize(
    ("published", "computed", "verdict"),
    [
        (100.0, 104.9, "match"),
        (100.0, 95.1, "match"),
        (100.0, 105.2, "differs"),
        (100.0, 94.8, "differs"),
        (100.0, around(109.0, 9.5), "match"),
        (100.0, around(109.0, 8.5), "differs"),
        # An interval of a fifth of the published value or more decides nothing.
        (100.0, around(109.0, 10.5), "differs"),
        (100.0, around(120.0, 21.0), "differs"),
        # A gain that is a loss.
        (1.0, around(-1.9, 5.8), "differs"),
        (1.0, around(-0.05, 0.09), "differs"),
        (-100.0, around(-109.0, 9.5), "match"),
        (0.0, 0.0, "match"),
        (0.0, 1e-9, "differs"),
        (0.0, around(0.1, 0.2), "differs"),
        (100.0, None, "differs"),
    ],
)
def test_numbers_within_five_per_cent_or_a_narrow_interval_match(
    published: float, computed: Number, verdict: str
) -> None:
    assert judge_number(published, computed) == verdict


@pytest.mark.parametrize(
    ("published", "computed", "verdict"),
    [
        ("0.9000", 0.9049, "match"),
        ("0.9000", 0.9051, "differs"),
        ("0.9000", 0.8949, "differs"),
        # Within 5 % of the index, and 377 times as unfair.
        ("0.99996", 0.98492, "differs"),
        ("0.99996", 0.999964, "match"),
        ("0.99996", 0.999953, "differs"),
        ("0.9000", around(0.9085, 0.009), "match"),
        ("0.9000", around(0.9085, 0.011), "differs"),
        ("1", 1.0, "match"),
        ("0.9", None, "differs"),
    ],
)
def test_an_index_is_judged_by_its_distance_from_1(published: str, computed: Number, verdict: str) -> None:
    assert judge_distance(published, computed) == verdict


@pytest.mark.parametrize(
    ("published", "computed", "holds"),
    [
        ("1048", 1048.49, True),
        ("1048", 1048.51, False),
        ("41127", 41759.0, False),
        ("2.50", 2.5049, True),
        ("2.50", 2.5051, False),
        # Exactly half a unit: it may have been cut.
        ("95.737", 95.7375, True),
        ("95.737", 95.73751, False),
        ("1e-5", 1e-5, True),
        # Half a unit of the last digit would be half of the value.
        ("1e-5", 1.06e-5, False),
        ("2", 1.94, True),
        ("2", 1.89, False),
        ("0", 0.0, True),
        ("0", 0.1, False),
        ("3", None, False),
    ],
)
def test_input_holds_to_the_printed_digits(published: str, computed: Number, holds: bool) -> None:
    assert judge_input(published, computed) is holds


@pytest.mark.parametrize(
    ("computed", "verdict"), [(93.51, "match"), (94.49, "match"), (90.0, "differs"), (98.0, "differs")]
)
def test_a_share_near_100_is_judged_by_its_distance_from_it(computed: float, verdict: str) -> None:
    # All of these are within 5 % of it.
    assert judge_distance("94", computed, 100) == verdict


@pytest.mark.parametrize(
    ("left", "right", "unit", "verdict"),
    [
        (95.0, 95.4, "%", "match"),
        (95.0, 95.9, "%", "shape"),
        (95.0, 96.1, "%", "differs"),
        (95.0, 96.1, "ms", "match"),
        (85.0, 88.0, "%", "match"),
        (89.0, 91.0, "%", "match"),
    ],
)
def test_shares_near_100_are_alike_within_half_a_point(
    left: float, right: float, unit: str, verdict: str
) -> None:
    assert judge_claim("a ~ b", {"a": left, "b": right}, unit) == verdict


def test_a_place_holds_against_each_other_number() -> None:
    published = [10.0, 20.0, 20.5, 40.0]
    assert same_place(published, [1.0, 5.0, 5.1, 9.0], 1)
    # The printed order alone: what is printed near may be far apart, but not the other way round.
    assert same_place(published, [1.0, 5.0, 8.0, 9.0], 1)
    assert not same_place(published, [1.0, 5.0, 4.0, 9.0], 1)
    assert same_place([10.0, 10.0], [1.0, 2.0], 0)
    assert not same_place(published, [6.0, 5.0, 5.1, 9.0], 0)
    assert not same_place(published, [1.0, 5.0, 5.1, None], 1)
    assert not same_place([10.0], [10.0], 0)


def test_a_place_needs_the_sign_and_an_interval_that_shows_it() -> None:
    assert not same_place([1.0, 5.0], [-1.9, 5.0], 0)
    assert same_place([1.0, 5.0], [around(2.0, 0.9), around(4.0, 0.9)], 0)
    assert not same_place([1.0, 5.0], [around(2.0, 1.1), around(4.0, 1.1)], 0)
    # Paired by seed the same numbers tell.
    ours, theirs = runs(1.0, 2.0, 3.0), runs(2.0, 3.1, 4.0)
    assert same_place([1.0, 5.0], [ours, theirs], 0)
    assert not same_place([1.0, 5.0], [ours, runs(4.0, 3.1, 2.0)], 0)


VALUES: dict[str, Number] = {"tahoe": 80.0, "reno": 70.0, "newreno": 92.0, "sack": 94.0}


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("sack > newreno > tahoe > reno", "match"),
        ("sack > *", "match"),
        ("* > reno", "match"),
        ("sack >> tahoe", "match"),
        ("sack >> newreno", "shape"),
        ("newreno >> sack", "differs"),
        ("sack ~ newreno", "match"),
        ("tahoe ~ newreno", "differs"),
        ("newreno ~ sack > tahoe", "match"),
        ("newreno > sack", "differs"),
        ("peak sack", "match"),
        ("peak newreno", "differs"),
        ("sack > reno; newreno > sack", "differs"),
        ("sack > reno; sack >> newreno", "shape"),
    ],
)
def test_claims_about_four_schemes(claim: str, verdict: str) -> None:
    assert judge_claim(claim, VALUES) == verdict


@pytest.mark.parametrize(
    ("claim", "numbers", "verdict"),
    [
        ("rises", [1.0, 2.0, 2.0, 3.0], "match"),
        ("rises", [1.0, 3.0, 2.0, 4.0], "shape"),
        ("rises", [2.0, 3.0, 1.0], "differs"),
        ("rises", [1.0, 1.0], "differs"),
        ("rises", [around(1.0, 0.4), around(2.0, 0.5)], "match"),
        ("rises", [around(1.0, 0.5), around(2.0, 0.6)], "differs"),
        ("falls", [3.0, 2.0, 1.0], "match"),
        ("falls", [1.0, 2.0], "differs"),
        ("falls", [2.0, 1.999], "differs"),
        ("peak 1", [1.0, 9.0, 8.0], "match"),
        ("peak 1", [1.0, 9.0, 9.0], "shape"),
        ("peak 2", [1.0, 9.0, 8.95], "differs"),
        ("peak 1", [around(1.0, 1.0), around(9.0, 0.5), around(8.0, 0.6)], "differs"),
        ("rises", [1.0, None, 3.0], "differs"),
    ],
)
def test_claims_about_a_curve(claim: str, numbers: list[Number], verdict: str) -> None:
    assert judge_claim(claim, {str(index): number for index, number in enumerate(numbers)}) == verdict


@pytest.mark.parametrize(
    ("claim", "a", "b", "verdict"),
    [
        ("a > b", 1.0, 1.0, "differs"),
        ("a > b", 1.002, 1.0, "match"),
        ("a > b", 1.0005, 1.0, "differs"),
        ("a > b", around(10.0, 0.4), around(9.0, 0.5), "match"),
        ("a > b", around(10.0, 0.5), around(9.0, 0.6), "differs"),
        ("a >> b", 10.6, 10.0, "match"),
        ("a >> b", 10.4, 10.0, "shape"),
        ("a >> b", around(12.0, 1.0), around(10.0, 1.1), "differs"),
        ("a ~ b", 10.4, 10.0, "match"),
        ("a ~ b", 10.6, 10.0, "shape"),
        ("a ~ b", 11.2, 10.0, "differs"),
        ("a ~ b", around(10.0, 0.4), around(10.1, 0.5), "match"),
        ("a ~ b", around(10.0, 0.5), around(10.1, 0.6), "differs"),
    ],
)
def test_an_order_holds_outside_the_interval_of_the_difference(
    claim: str, a: Number, b: Number, verdict: str
) -> None:
    assert judge_claim(claim, {"a": a, "b": b}) == verdict


def test_replications_of_the_same_seeds_are_paired() -> None:
    slow, fast = runs(10.0, 14.0, 18.0), runs(10.6, 14.8, 18.7)
    assert judge_claim("a > b", {"a": fast, "b": slow}) == "match"
    assert judge_claim("a > b", {"a": runs(18.7, 14.8, 10.6), "b": slow}) == "differs"
    # Without the replications only the intervals are left, which overlap.
    assert judge_claim("a > b", {"a": around(14.7, 10.0), "b": around(14.0, 10.0)}) == "differs"


@pytest.mark.parametrize("claim", ["", "sack", "sack beats reno", "sack > vegas", "peak vegas", "sack >"])
def test_a_claim_in_other_words_is_refused(claim: str) -> None:
    with pytest.raises(ValueError, match="claim"):
        judge_claim(claim, VALUES)
