import pytest

from bentpipe.results import Number
from bentpipe.verdicts import judge_claim, judge_number, same_order


@pytest.mark.parametrize(
    ("published", "computed", "verdict"),
    [
        (100.0, 104.9, "match"),
        (100.0, 95.1, "match"),
        (100.0, 105.2, "differs"),
        (100.0, {"mean": 120.0, "ci95": 21.0, "n": 5}, "match"),
        (100.0, {"mean": 120.0, "ci95": 19.0, "n": 5}, "differs"),
        (0.0, 0.0, "match"),
        (0.0, 1e-9, "differs"),
        (100.0, None, "differs"),
    ],
)
def test_numbers_within_five_per_cent_or_the_interval_match(
    published: float, computed: Number, verdict: str
) -> None:
    assert judge_number(published, computed) == verdict


def test_order_holds_against_each_other_number() -> None:
    published = [10.0, 20.0, 20.5, 40.0]
    assert same_order(published, [1.0, 5.0, 5.1, 9.0], 1)
    assert not same_order(published, [1.0, 5.0, 9.0, 9.5], 1)
    assert not same_order(published, [6.0, 5.0, 5.1, 9.0], 0)
    assert not same_order([10.0], [10.0], 0)


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
        ("falls", [3.0, 2.0, 1.0], "match"),
        ("falls", [1.0, 2.0], "differs"),
        ("peak 1", [1.0, 9.0, 8.0], "match"),
        ("peak 2", [1.0, 9.0, 8.95], "shape"),
        ("rises", [1.0, None, 3.0], "differs"),
    ],
)
def test_claims_about_a_curve(claim: str, numbers: list[Number], verdict: str) -> None:
    assert judge_claim(claim, {str(index): number for index, number in enumerate(numbers)}) == verdict


def test_equal_where_larger_was_claimed_is_only_the_shape() -> None:
    assert judge_claim("a > b", {"a": 1.0, "b": 1.0}) == "shape"
    wide: dict[str, Number] = {
        "a": {"mean": 10.0, "ci95": 1.0, "n": 5},
        "b": {"mean": 9.0, "ci95": 1.0, "n": 5},
    }
    assert judge_claim("a > b", wide) == "shape"
    assert judge_claim("a > b", {"a": 10.0, "b": 9.0}) == "match"


@pytest.mark.parametrize("claim", ["", "sack", "sack beats reno", "sack > vegas", "peak vegas", "sack >"])
def test_a_claim_in_other_words_is_refused(claim: str) -> None:
    with pytest.raises(ValueError, match="claim"):
        judge_claim(claim, VALUES)
