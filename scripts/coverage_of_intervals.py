"""How often 95 % intervals of commands hold the truth: docs/generated/coverage-of-intervals.md.

The truth of a number is its mean over a pool of some thousand runs, or their percentile together; an interval
is made, by the code that the commands call, of runs drawn from the pool. Fails where an interval of 30 runs
holds the truth in less than 92 or more than 97 % of the cases, and misses it without a question mark in more
than 8 %.
"""

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

import bentpipe as bp
from bentpipe.numbers.intervals import gain, judged, kind_of, pooled_quantile, quantile_by_run
from bentpipe.numbers.number import Estimate
from bentpipe.results import Run
from bentpipe.runs.statistics import Fold, replication_seed

PAGE = Path(__file__).parent.parent / "docs" / "generated" / "coverage-of-intervals.md"
HEAD = """# How often 95 % intervals hold the truth

After this page you know in which share of the cases an interval of 10, 30 and 100 runs holds the true mean,
and how often it bears a question mark
([statistics.md](../reference/statistics.md#when-an-interval-is-too-narrow)).

"""
RUNS = (10, 30, 100)
TRIALS, PRECISE_TRIALS = 2000, 200
LEAST, MOST = 0.92, 0.97
LATE = 0.95

Values = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Estimate]


@dataclass(frozen=True)
class Number:
    """A number of a scenario: what it is called, its truth, and its estimate of so many runs drawn anew."""

    name: str
    scenario: str
    truth: float
    draw: Draw


def bulk(size: str, loss: float, window: str = "1 MiB", flows: int = 1, duration: str = "") -> bp.Scenario:
    """Give transfers over GEO with random losses."""
    flow = {"from": "server", "to": "client", **({"bytes": size} if size else {})}
    return bp.Scenario.from_dict(
        {
            "extends": "preset:geo",
            **({"duration": duration} if duration else {}),
            "links": {"satellite": {"loss": {"model": "packet", "probability": loss}}},
            "tcp": {"receive_window": window},
            "flows": {f"f{number}": flow for number in range(flows)},
        }
    )


def pool(scenario: bp.Scenario, runs: int, number: Callable[[Run], list[float]]) -> Values:
    """Give numbers of many runs: a row for each."""
    found = (
        number(json.loads(scenario.simulate(seed=replication_seed(1, run)).json())) for run in range(runs)
    )
    return np.array(list(found), dtype=float)


def of_flow(*keys: str) -> Callable[[Run], list[float]]:
    """Give these numbers of the first flow."""
    return lambda run: [cast(dict[str, float], run["flows"][0])[key] for key in keys]


def mean_of(values: Values, name: str, scenario: str, key: str) -> Number:
    """Give the mean of a number over runs, as `run` and `show` print it."""
    kind = kind_of(key)

    def draw(source: np.random.Generator, runs: int) -> Estimate:
        return judged(source.choice(values, runs).tolist(), kind)

    return Number(name, scenario, float(values.mean()), draw)


def gain_of(ours: Values, theirs: Values, name: str, scenario: str) -> Number:
    """Give a gain, as `compare` prints it."""

    def draw(source: np.random.Generator, runs: int) -> Estimate:
        chosen = source.integers(0, len(ours), runs)
        return cast(Estimate, gain(ours[chosen].tolist(), theirs[chosen].tolist()))

    return Number(name, scenario, float(ours.mean() / theirs.mean() - 1), draw)


def late_of(waits: Sequence[Sequence[float]], name: str, scenario: str) -> Number:
    """Give a percentile of what all runs have together, as `run`, `show` and `compare` print it."""

    def draw(source: np.random.Generator, runs: int) -> Estimate:
        return pooled_quantile([waits[run] for run in source.integers(0, len(waits), runs)], LATE)

    return Number(name, scenario, pooled_quantile(waits, LATE)["mean"], draw)


def late_gain_of(
    ours: Sequence[Sequence[float]], theirs: Sequence[Sequence[float]], name: str, scenario: str
) -> Number:
    """Give how much later it is, as `compare --metric response_p95_s` prints it."""
    truth = pooled_quantile(ours, LATE)["mean"] / pooled_quantile(theirs, LATE)["mean"] - 1

    def draw(source: np.random.Generator, runs: int) -> Estimate:
        chosen = source.integers(0, len(ours), runs)
        one, other = (quantile_by_run([waits[run] for run in chosen], LATE) for waits in (ours, theirs))
        return cast(Estimate, gain(one, other))

    return Number(name, scenario, truth, draw)


def numbers() -> list[Number]:
    """Give what is measured: numbers of six scenarios."""
    found = []
    keys = ("goodput_bps", "duration_s", "retransmitted_segments", "timeouts")
    for size, loss, variant in (
        ("500 kB", 1e-3, "newreno"),
        ("2 MB", 2e-3, "cubic"),
        ("30 kB", 1e-3, "newreno"),
    ):
        scenario = f"{size} of {variant} over GEO, one packet in {1 / loss:,.0f} lost"
        values = pool(bulk(size, loss).with_({"flows.*.variant": variant}), 10_000, of_flow(*keys))
        wanted = {"500 kB": "goodput_bps duration_s timeouts", "2 MB": "goodput_bps retransmitted_segments"}
        for key in wanted.get(size, "goodput_bps timeouts").split():
            name = {"duration_s": "time"}.get(key, key.removesuffix("_bps").replace("_", " "))
            found.append(mean_of(values[:, keys.index(key)], name, scenario, key))
    by_variant = {
        variant: pool(
            bulk("5 MB", 2e-3, "512 KiB").with_({"flows.*.variant": variant}), 3_000, of_flow("goodput_bps")
        )[:, 0]
        for variant in ("tahoe", "newreno", "sack", "cubic", "bbr3")
    }
    for one, other in (("bbr3", "tahoe"), ("cubic", "newreno"), ("sack", "newreno")):
        scenario = "5 MB over GEO, one packet in 500 lost"
        found.append(gain_of(by_variant[one], by_variant[other], f"gain of {one} over {other}", scenario))
    users = {"from": "server", "to": "client", "app": "http", "count": 5, "page_interval": "10 s"}
    web = bulk("", 1e-2, duration="60 s").to_dict() | {"flows": {"web{i}": users}}
    pages = {variant: _responses(bp.Scenario.from_dict(web), variant) for variant in ("newreno", "cubic")}
    scenario = "pages of 5 users over GEO, one packet in 100 lost, 60 s"
    means = np.array([np.mean(waits) for waits in pages["newreno"]])
    found.append(mean_of(means, "response", scenario, "response_s"))
    found.append(late_of(pages["newreno"], "response, p95", scenario))
    found.append(
        late_gain_of(pages["cubic"], pages["newreno"], "gain of cubic over newreno in p95", scenario)
    )
    ten = pool(bulk("", 1e-3, flows=10, duration="60 s"), 1_000, of_flow("goodput_bps"))
    found.append(mean_of(ten[:, 0], "goodput of one", "ten flows over GEO, 60 s", "goodput_bps"))
    return found


def _responses(scenario: bp.Scenario, variant: str) -> list[list[float]]:
    several = scenario.with_({"flows.*.variant": variant})
    found = []
    for run in range(2_000):
        pages = json.loads(several.simulate(seed=replication_seed(1, run)).json())["pages"]
        found.append([page["response_s"] for page in pages if page["response_s"] is not None])
    return found


def holds(found: Estimate, truth: float) -> bool:
    """Say whether an interval holds the truth."""
    width = found["ci95"] or 0.0
    low, high = found.get("low", found["mean"] - width), found.get("high", found["mean"] + width)
    return low - 1e-12 <= truth <= high + 1e-12


def precise(values: Values, precision: float) -> tuple[float, float]:
    """Give how often the mean at which `--precision` ends holds the truth, and after how many runs."""
    source = np.random.default_rng(2)
    truth, held, runs = float(values.mean()), 0, 0
    for _ in range(PRECISE_TRIALS):
        fold = Fold()
        for value in source.choice(values, 1000).tolist():
            fold.add(cast(Run, _run(value)))
            if fold.precise_enough(precision):
                break
        held += holds(cast(Estimate, fold.combined()["flows"][0]["goodput_bps"]), truth)
        runs += fold.runs
    return held / PRECISE_TRIALS, runs / PRECISE_TRIALS


def _run(goodput_bps: float) -> dict[str, Any]:
    return {"scenario": "", "seed": 1, "flows": [{"name": "f", "goodput_bps": goodput_bps}]}


def row(number: Number) -> tuple[str, bool]:
    """Give the row of a number, and whether it does as it says."""
    cells = []
    good = True
    for runs in RUNS:
        source = np.random.default_rng(1)
        drawn = [number.draw(source, runs) for _ in range(TRIALS)]
        held = [holds(found, number.truth) for found in drawn]
        marked = sum("doubt" in found for found in drawn) / TRIALS
        silent = sum("doubt" not in one and not held[place] for place, one in enumerate(drawn)) / TRIALS
        share = sum(held) / TRIALS
        cells.append(f"{100 * share:.0f} %" + (f", ? {100 * marked:.0f} %" if marked >= 0.005 else ""))
        if runs == 30:
            exact = "low" in drawn[0] and share > MOST
            good = (share <= MOST and silent <= 1 - LEAST) or exact
    return f"| {number.name} | {number.scenario} | {' | '.join(cells)} |\n", good


def main() -> int:
    """Measure, and write the table."""
    rows = [row(number) for number in numbers()]
    head = "| number | scenario | 10 runs | 30 runs | 100 runs |\n| --- | --- | --- | --- | --- |\n"
    table = head + "".join(text for text, _ in rows)
    table += "\n| `--precision` | goodput | holds the truth | runs |\n| --- | --- | --: | --: |\n"
    kept: Sequence[tuple[str, str, float]] = (("500 kB", "newreno", 1e-3), ("2 MB", "cubic", 2e-3))
    for size, variant, loss in kept:
        scenario = bulk(size, loss).with_({"flows.*.variant": variant})
        values = pool(scenario, 10_000, of_flow("goodput_bps"))[:, 0]
        for precision in (0.05, 0.02):
            held, runs = precise(values, precision)
            table += f"| {precision:.0%} | {size} of {variant} | {100 * held:.0f} % | {runs:.0f} |\n"
    table = table.replace("| 5% |", "| 5 % |").replace("| 2% |", "| 2 % |")
    PAGE.write_text(HEAD + table, encoding="utf-8")
    print(table)
    bad = [text for text, good in rows if not good]
    for text in bad:
        print(f"outside of {LEAST:.0%} to {MOST:.0%} without a mark: {text}", file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
