import math
import tracemalloc
from collections.abc import Iterable
from typing import Any, cast

import numpy as np
import pytest

import bentpipe as bp
from bentpipe.numbers import intervals
from bentpipe.numbers.intervals import (
    bootstrap,
    estimate,
    gain,
    judged,
    paired,
    pooled_quantile,
    quantile_by_run,
)
from bentpipe.results import Estimate, Run, mean
from bentpipe.runs.statistics import Failure, Fold, jain, replication_seed
from bentpipe.show.units import doubted


def test_an_estimate_by_hand() -> None:
    # Mean 10, sample variance (9 + 1 + 1 + 9) / 3 = 20/3; t(0.975, 3) = 3.1824463 from the tables.
    found = estimate([7.0, 9.0, 11.0, 13.0])
    assert found["n"] == 4
    assert found["mean"] == 10.0
    assert found["ci95"] == pytest.approx(3.1824463 * math.sqrt(20 / 3) / 2, rel=1e-7)


def test_two_values_have_the_wide_interval_of_one_degree_of_freedom() -> None:
    # t(0.975, 1) = 12.7062047; standard error sqrt(2) / sqrt(2) = 1.
    assert estimate([1.0, 3.0])["ci95"] == pytest.approx(12.7062047, rel=1e-7)


def test_one_value_says_nothing_of_its_spread() -> None:
    assert estimate([5.0]) == {"mean": 5.0, "ci95": None, "n": 1}


def test_equal_values_have_an_interval_of_no_width() -> None:
    # Seven times 0.1, divided by seven, is not 0.1.
    assert estimate([0.1] * 7) == {"mean": 0.1, "ci95": 0.0, "n": 7}


def test_pairs_that_move_together_differ_by_little() -> None:
    theirs = [1.0, 50.0, 100.0]
    found = paired([value + 2.0 for value in theirs], theirs)
    assert found == {"mean": 2.0, "ci95": 0.0, "n": 3}
    with pytest.raises(ValueError, match="shorter"):
        paired([1.0, 2.0], [1.0])


def test_the_interval_covers_the_true_mean_as_often_as_it_says() -> None:
    import random

    source = random.Random(1)  # noqa: S311
    covered = 0
    for _ in range(2000):
        found = estimate([source.gauss(5.0, 2.0) for _ in range(5)])
        assert found["ci95"] is not None
        covered += abs(found["mean"] - 5.0) <= found["ci95"]
    # 95 % of 2000 is 1900 with a standard deviation of 9.7.
    assert 1860 < covered < 1940


def run(finish: float | None, goodput: float, error: str | None = None) -> Run:
    flow = {"name": "f", "goodput_bps": goodput, "finish_s": finish, "error": error}
    engine = {"events": 1, "data_segments": 1, "wall_s": 1}
    made = {
        "scenario": "s",
        "seed": 1,
        "duration_s": 9.0,
        "flows": [flow],
        "links": [],
        "gateways": [],
        "handovers": [],
        "pages": [],
        "jain": None,
    }
    return cast(Run, {**made, "engine": engine})


def fold(runs: Iterable[Run]) -> Fold:
    folded = Fold()
    for one in runs:
        folded.add(one)
    return folded


def combine(runs: Iterable[Run]) -> Run:
    return fold(runs).combined()


def precise_enough(runs: Iterable[Run], precision: float) -> bool:
    return fold(runs).precise_enough(precision)


def test_what_is_missing_in_some_replications_is_estimated_over_the_others() -> None:
    combined = combine([run(4.0, 1.0), run(None, 2.0, "gave up"), run(6.0, 3.0)])
    flow = combined["flows"][0]
    assert isinstance(flow["finish_s"], dict)
    assert (flow["finish_s"]["mean"], flow["finish_s"]["n"]) == (5.0, 2)
    assert flow["finish_s"]["present"] == pytest.approx(2 / 3)
    assert isinstance(flow["goodput_bps"], dict)
    assert (flow["goodput_bps"]["mean"], flow["goodput_bps"]["n"]) == (2.0, 3)
    assert flow["error"] == "gave up"
    assert combined["jain"] is None
    assert (combined["seed"], combined["runs"]) == (1, 3)


def test_pages_are_combined_by_flow_and_number() -> None:
    def with_pages(*responses: float | None) -> Run:
        pages = [
            {"flow": flow, "page": number, "start_s": 30.0 * (number - 1), "response_s": response}
            for flow in ("a", "b")
            for number, response in enumerate(responses, 1)
        ]
        return cast(Run, {**run(1.0, 1.0), "pages": pages})

    combined = combine([with_pages(4.0, None), with_pages(6.0, 8.0, 9.0), with_pages(5.0)])
    found = [
        (page["flow"], page["page"], mean(page["response_s"]), cast(Estimate, page["response_s"])["n"])
        for page in combined["pages"]
    ]
    assert found == [(flow, *rest) for flow in "ab" for rest in ((1, 5.0, 3), (2, 8.0, 1), (3, 9.0, 1))]
    assert mean(combined["pages"][1]["start_s"]) == 30.0
    assert combine([with_pages(None)])["pages"][0]["response_s"] is None


def shaky(n: int) -> list[Run]:
    # Half-width t(0.975, n - 1) * 10.17 / sqrt(30) = 3.80 of 30.
    return [run(1.0, 90.0), run(1.0, 110.0)] * (n // 2)


def test_precision_needs_thirty_runs_and_a_narrow_interval() -> None:
    assert not precise_enough(shaky(28), 0.5)
    assert precise_enough(shaky(30), 0.0381)
    assert not precise_enough(shaky(30), 0.0379)


def test_equal_runs_are_no_certainty_where_something_is_random() -> None:
    assert not precise_enough([run(1.0, 100.0)] * 299, 0.02)
    assert precise_enough([run(1.0, 100.0)] * 300, 0.02)
    assert precise_enough([run(None, 0.0)] * 300, 0.02)
    certain = Fold(certain=True)
    certain.add(run(1.0, 100.0))
    assert certain.precise_enough(0.02)


def test_a_skewed_number_takes_more_runs_than_its_interval_says() -> None:
    # One in ten is far off: skewness 2.67, and 25 times its square is 178.
    rare = ([run(1.0, 100.0)] * 9 + [run(1.0, 90.0)]) * 20
    assert not precise_enough(rare[:170], 0.05)
    assert precise_enough(rare[:180], 0.05)
    # Beyond a thousand it is what the first thousand say.
    assert fold(rare * 10).precise_enough(0.05)


def test_a_precision_is_of_all_flows_together() -> None:
    def of_flows(n: int, goodput: float) -> Run:
        made = run(1.0, goodput)
        return cast(Run, {**made, "flows": [{**made["flows"][0], "name": f"f{k}"} for k in range(n)]})

    def reached(n: int) -> float:
        return fold(of_flows(n, 90.0 + 20 * (k % 2)) for k in range(30)).reached()

    # t(0.9975, 29) is 3.0380, t(0.975, 29) 2.0452 from the tables.
    assert reached(10) / reached(1) == pytest.approx(3.0380 / 2.0452, rel=1e-4)


def test_an_interval_that_may_be_too_narrow_says_why() -> None:
    evenly = [float(value) for value in range(30)]
    assert "doubt" not in judged(evenly)
    assert judged(evenly[:9])["doubt"] == "few"
    assert judged([1.0] * 30)["doubt"] == "equal"
    assert [doubted(judged(few)) for few in ([1.0] * 30, evenly[:9])] == [False, True]
    assert judged([*evenly[:29], 500.0])["doubt"] == "skewed"
    # A size that the scenario sets is equal, and so is everything where nothing is random.
    assert "doubt" not in judged([1000] * 30, "whole")
    assert "doubt" not in judged([1.0] * 30, certain=True)
    combined = combine([run(1.0, 5.0)] * 10)
    assert cast(Estimate, combined["flows"][0]["goodput_bps"])["doubt"] == "equal"


def test_a_count_that_is_seen_seldom_has_an_interval_of_counts() -> None:
    from scipy import stats

    # None in ten runs: at most 3.69 in all (Garwood), where Student's t has no width at all.
    none = judged([0] * 10, "events")
    assert none["low"] == 0.0
    assert none["high"] == pytest.approx(0.368888, rel=1e-5)
    some = judged([1, 0, 2, 0, 1, 0, 0, 1, 0, 0], "events")
    assert some["low"] == pytest.approx(stats.chi2.ppf(0.025, 10) / 20)
    assert some["high"] == pytest.approx(stats.chi2.ppf(0.975, 12) / 20)
    # They vary twice as much as Poisson's law: it is as wide as if there were half as many.
    wide = judged([0, 4, 0, 4, 0, 4, 0, 4], "events")
    variance = 16 * 2 / 7
    assert wide["high"] == pytest.approx(
        stats.chi2.ppf(0.975, 2 * 16 / (variance / 2) + 2) * variance / 2 / 16
    )
    assert judged([0] * 10, "events", certain=True) == {"mean": 0.0, "ci95": 0.0, "n": 10}


def test_packets_that_were_lost_one_by_one_say_nothing_of_many_at_once() -> None:
    # In three of a hundred runs a queue overflows, and takes 75.
    source = np.random.default_rng(1)
    truth = 3 + 0.03 * 75
    for runs in (10, 30, 100):
        held = marked = wrong = 0
        for _ in range(500):
            lost = source.poisson(3, runs) + 75 * (source.random(runs) < 0.03)
            found = judged(lost.tolist(), "packets")
            within = found["low"] <= truth <= found["high"]
            held, marked = held + within, marked + ("doubt" in found)
            wrong += not within and "doubt" not in found
        assert wrong <= 5, runs
        if runs <= 30:
            assert held < 450
            assert marked > 490
    assert judged([3.0, 2.0, 4.0] * 10, "packets")["doubt"] == "single"
    assert "doubt" not in judged([3.0, 2.0, 4.0] * 100, "packets")
    assert "doubt" not in judged([3.0, 2.0, 4.0] * 10, "events")
    # None at all is what the heading of a table speaks of.
    assert "doubt" not in judged([0.0] * 30, "packets")


def test_the_interval_of_a_gain_knows_that_the_first_is_unsure_too() -> None:
    # By hand: r = 40 / 20, residuals (5, -5) / 10 and (-5, 5) / 10.
    found = gain([25.0, 15.0, 15.0, 25.0], [10.0, 10.0, 10.0, 10.0])
    assert found is not None
    assert found["mean"] == 1.0
    assert found["ci95"] == pytest.approx(3.1824463 * math.sqrt(1 / 3) / 2, rel=1e-7)
    source = np.random.default_rng(1)
    covered = old = 0
    for _ in range(1000):
        first = source.normal(10.0, 3.0, 30)
        ours = source.normal(40.0, 1.0, 30)
        found = gain(list(ours), list(first))
        assert found is not None
        assert found["ci95"] is not None
        covered += abs(found["mean"] - 3.0) <= found["ci95"]
        old += abs(found["mean"] - 3.0) <= (paired(list(ours), list(first))["ci95"] or 0.0) / first.mean()
    # 95 % of 1,000, with a standard deviation of 7; as if the first were known it is 40 %.
    assert 925 < covered < 975
    assert old < 500


def goodputs(n: int) -> Iterable[float]:
    import random

    source = random.Random(1)  # noqa: S311
    # Far from zero, where sums of squares would cancel.
    return (1e9 + source.gauss(0.0, 3.0) for _ in range(n))


@pytest.mark.parametrize("n", [1, 2, 999, 1000])
def test_up_to_a_thousand_runs_an_estimate_is_that_of_all_values(n: int) -> None:
    flow = combine(run(None, goodput) for goodput in goodputs(n))["flows"][0]
    assert flow["goodput_bps"] == judged(list(goodputs(n)))


@pytest.mark.parametrize("n", [1001, 2000, 12_345])
def test_beyond_a_thousand_runs_sums_say_the_same(n: int) -> None:
    found = cast(Estimate, combine(run(None, goodput) for goodput in goodputs(n))["flows"][0]["goodput_bps"])
    whole = estimate(list(goodputs(n)))
    assert (found["mean"], found["n"]) == (whole["mean"], n)
    assert found["ci95"] == pytest.approx(whole["ci95"], rel=1e-13)


def test_memory_does_not_grow_with_the_runs() -> None:
    def peak(n: int) -> int:
        tracemalloc.start()
        fold(run(4.0, goodput) for goodput in goodputs(n)).combined()
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(2000)
    # Each of 18,000 runs more would take at least the 8 bytes of each of its seven numbers.
    assert peak(20_000) - peak(2000) < 18_000 * 8


def test_a_flow_that_breaks_is_counted() -> None:
    runs = [run(1.0, 1.0), run(None, 0.0, "gave up"), run(None, 0.0, "reset"), run(None, 0.0, "gave up")]
    assert fold(runs).failures() == (Failure("f", "gave up; reset", 3, 4),)
    assert str(fold(runs).failures()[0]) == "f failed in 3 of 4 replications: gave up; reset"
    assert fold(runs[:1]).failures() == ()


def test_seeds_of_replications_differ_and_depend_on_the_base() -> None:
    seeds = {replication_seed(base, k) for base in range(50) for k in range(1, 50)}
    assert len(seeds) == 50 * 49
    assert replication_seed(123, 0) == 123
    assert max(seeds) < 2**53
    # Fixed for ever: a published interval can be computed again.
    assert [replication_seed(1, k) for k in (1, 2)] == [2182349314671704, 421894444869487]


SKEWED = [1.0, 1.2, 1.3, 1.7, 2.0, 2.2, 9.0, 30.0]


def test_the_bootstrap_is_that_of_the_source() -> None:
    from scipy import stats

    low, high = bootstrap(SKEWED)
    rng = np.random.default_rng(0)
    theirs = stats.bootstrap((SKEWED,), np.mean, n_resamples=9_999, method="BCa", rng=rng)
    assert (low, high) == tuple(theirs.confidence_interval)
    assert bootstrap(SKEWED) == (low, high)
    assert bootstrap(SKEWED, seed=1) != (low, high)
    below, above = bootstrap(SKEWED, np.median)
    assert 1.2 <= below < 2.0 < above <= 9.0
    assert bootstrap([1.0, 2.0, 2.0, 2.0, 3.0, 9.0], np.median) == (1.5, 6.0)


def test_an_interval_by_the_bootstrap_leans_as_its_values_do() -> None:
    found = estimate(SKEWED, "bootstrap")
    low, high = found["low"], found["high"]
    assert low < found["mean"] < high
    # Student's t would begin below zero, where no value can be.
    assert found["mean"] - (estimate(SKEWED)["ci95"] or 0.0) < 0 < low
    assert high - found["mean"] > 2 * (found["mean"] - low)
    assert found["ci95"] == (high - low) / 2
    assert estimate([5.0], "bootstrap") == {"mean": 5.0, "ci95": None, "n": 1}
    assert estimate([5.0, 5.0], "bootstrap") == {"mean": 5.0, "ci95": 0.0, "n": 2, "low": 5.0, "high": 5.0}
    assert paired([2.0, 4.0, 9.0], [1.0, 2.0, 3.0], "bootstrap")["low"] >= 1.0


def test_the_bootstrap_needs_two_values_and_gives_equal_ones_no_width() -> None:
    assert bootstrap([3.0, 3.0, 3.0]) == (3.0, 3.0)
    with pytest.raises(ValueError, match="at least two values to draw from, found 1"):
        bootstrap([3.0])


def test_the_bootstrap_covers_the_true_mean_about_as_often_as_it_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(intervals, "RESAMPLES", 399)
    source = np.random.default_rng(1)
    covered = 0
    for _ in range(300):
        low, high = bootstrap(list(source.normal(5.0, 2.0, 30)))
        covered += low <= 5.0 <= high
    # BCa of 30 values covers some 93 % : 279 of 300,
    # with a standard deviation of 4.4.
    assert 262 < covered < 296


def test_gains_of_a_percentile_of_all_runs_hold_the_truth_as_often_as_they_say() -> None:
    # Both meet the same seeds: a busy run is slow for both. The second takes half as long again.
    source = np.random.default_rng(1)

    def draw(runs: int) -> tuple[list[list[float]], list[list[float]]]:
        busy = source.gamma(4.0, 0.25, runs)
        waits = [source.exponential(one, 20) for one in busy]
        slower = [wait * 1.5 * source.uniform(0.9, 1.1, 20) for wait in waits]
        return [list(wait) for wait in waits], [list(wait) for wait in slower]

    first, second = draw(40_000)
    truth = pooled_quantile(second, 0.95)["mean"] / pooled_quantile(first, 0.95)["mean"] - 1
    covered, apart = 0, 0
    for _ in range(400):
        pairs = [quantile_by_run(runs, 0.95) for runs in draw(30)]
        found = gain(pairs[1], pairs[0])
        assert found is not None
        assert found["ci95"] is not None
        covered += abs(found["mean"] - truth) <= found["ci95"]
        apart += found["ci95"] < 0.5 * found["mean"]
    assert 0.92 * 400 <= covered <= 0.98 * 400
    assert apart > 390


def test_jain_is_one_for_equal_shares_and_one_over_n_for_a_monopoly() -> None:
    assert jain([3.0, 3.0, 3.0]) == pytest.approx(1.0)
    assert jain([1.0, 0.0, 0.0, 0.0]) == pytest.approx(0.25)
    assert jain([1.0, 2.0, 3.0]) == pytest.approx(36 / 42)
    assert jain([0.0, 0.0]) == 1.0


def test_jain_is_that_of_the_engine() -> None:
    flow = {"from": "server", "to": "client", "bytes": "1 MB"}
    scenario = bp.Scenario.from_dict(
        {"extends": "preset:geo", "flows": {"a": flow, "b": {**flow, "start": "2 s"}}}
    )
    run = bp.run(scenario).run
    assert jain([cast(float, flow["goodput_bps"]) for flow in run["flows"]]) == pytest.approx(run["jain"])


def test_a_quantile_over_replications_is_that_of_all_runs_together() -> None:
    source = np.random.default_rng(1)
    truth = -math.log(0.01)
    covered, of_runs = 0, []
    for _ in range(300):
        # Of 20 exponential values a run, in 100 runs; those of a run have something in common.
        runs = source.exponential(1.0, (100, 20)).tolist()
        found = pooled_quantile(runs, 0.99)
        covered += found["low"] <= truth <= found["high"]
        of_runs.append(float(np.mean([np.quantile(run, 0.99) for run in runs])))
    # 95 % of 300, with a standard deviation of 3.8; the mean of the runs' quantiles never comes near.
    assert 273 <= covered <= 297
    assert max(of_runs) < truth - 0.5


def test_a_run_combined_has_the_quantiles_of_all_its_transfers() -> None:
    def of(*responses: float) -> Run:
        made = cast(Any, run(1.0, 1.0))
        made["flows"][0]["response_p99_s"] = float(np.quantile(responses, 0.99))
        rows = [
            {"flow": "f", "transaction": k, "size_bytes": 1, "start_s": 0.0, "response_s": one}
            for k, one in enumerate(responses, 1)
        ]
        return cast(Run, {**made, "transactions": rows})

    runs = [of(1.0, 2.0, 3.0), of(4.0, 5.0, 60.0)]
    flow = cast(Any, combine(runs)["flows"][0])
    assert flow["response_p99_s"]["mean"] == pytest.approx(np.quantile([1, 2, 3, 4, 5, 60], 0.99))
    assert flow["response_p99_s"]["n"] == 2
