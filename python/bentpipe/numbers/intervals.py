"""Means of replications, how sure they are, and when an interval says less than it seems to."""

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

from bentpipe.numbers.declared import declared
from bentpipe.numbers.number import Doubt, Estimate, Interval

RESAMPLES = 9_999
"""How often the bootstrap draws the values again."""

FEW_RUNS = 10
"""Fewer values do not show how skewed they are."""

UNSEEN = 300
"""From so many equal values on, a number counts as known: what happens in 1 % of the runs would have been
seen, with a probability of 95 %."""

_POISSON = 2
"""A count that varies at most so many times as much as by Poisson's law is taken for one of single events."""

Kind = Literal["events", "packets", "whole", "measured"]
"""What a number is: a count of events or of packets, another whole number, or measured."""


def kind_of(key: str) -> Kind:
    """Say what a number of a run is, by its name."""
    found = declared(key)
    if found is None:
        return "measured"
    # What the scenario or the machine gives says nothing of chance by being equal.
    whole = found.kind == "integer" or found.runs == "given"
    return found.runs if found.runs in ("events", "packets") else "whole" if whole else "measured"  # type: ignore[return-value]


def estimate(values: Sequence[float], interval: Interval = "student-t", level: float = 0.95) -> Estimate:
    """Give mean, half-width of the interval of this `level`, and number of `values` (at least one).

    The half-width is ``None`` for a single value, which says nothing of its spread.
    """
    n = len(values)
    if n == 1:
        return {"mean": float(values[0]), "ci95": None, "n": 1}
    # Divided and multiplied again, a value may come out a bit beside itself.
    equal = min(values) == max(values)
    centre = float(values[0]) if equal else math.fsum(values) / n
    if interval == "bootstrap":
        low, high = bootstrap(values, level=level)
        return {"mean": centre, "ci95": (high - low) / 2, "n": n, "low": low, "high": high}
    if equal:
        return {"mean": centre, "ci95": 0.0, "n": n}
    return from_sums(n, centre, math.fsum((value - centre) ** 2 for value in values), level)


def from_sums(n: int, centre: float, squares: float, level: float = 0.95) -> Estimate:
    """Give the estimate of `n` values, at least two, with this sum of squared distances from their mean."""
    # Imported here: it costs a fifth of a second, and a single run has no interval.
    from scipy.special import stdtrit

    student_t = float(stdtrit(n - 1, (1 + level) / 2))
    return {"mean": centre, "ci95": student_t * math.sqrt(squares / (n - 1) / n), "n": n}


def judged(
    values: Sequence[float],
    kind: Kind = "measured",
    interval: Interval = "student-t",
    *,
    certain: bool = False,
) -> Estimate:
    """Give the estimate of a number that the runs of a scenario measured, and what is doubtful about it.

    Where nothing is random (`certain`), nothing is.
    """
    found = estimate(values, interval)
    if certain:
        return found
    if kind in ("events", "packets") and interval == "student-t" and len(values) > 1:
        squares = math.fsum((value - found["mean"]) ** 2 for value in values)
        counted = counted_of(kind, len(values), math.fsum(values), squares)
        found = counted or found
        if counted and squares <= _POISSON * (len(values) - 1) * found["mean"]:
            return counted
    about = doubt(values, kind)
    return {**found, "doubt": about} if about else found


def counted_of(kind: Kind, n: int, total: float, squares: float) -> Estimate | None:
    """Give the estimate of a count, by its sum and the sum of squared distances from its mean.

    It is exact for Poisson's law (Garwood 1936), and wider by as much as the counts vary more than by that.
    ``None`` of another number, and of a count that is the same in all runs and not 0, which no law of chance
    makes. Packets that are lost one by one vary as Poisson's law has it; a queue that overflows takes many.
    Runs in which there was none of that say nothing of how many it takes.
    """
    if kind not in ("events", "packets") or (total and not squares):
        return None
    from scipy.special import chdtri

    centre = total / n
    spread = max(1.0, squares / (n - 1) / centre) if total else 1.0
    low = float(chdtri(2 * total / spread, 0.975)) * spread / 2 / n if total else 0.0
    high = float(chdtri(2 * total / spread + 2, 0.025)) * spread / 2 / n
    found: Estimate = {"mean": centre, "ci95": (high - low) / 2, "n": n, "low": low, "high": high}
    one_by_one = 0 < squares <= _POISSON * (n - 1) * centre
    return {**found, "doubt": "single"} if kind == "packets" and one_by_one and n < UNSEEN else found


def doubt(values: Sequence[float], kind: Kind = "measured") -> Doubt | None:
    """Say why the interval of a mean may hold it too seldom; ``None`` where nothing tells so."""
    n = len(values)
    if n < 2:
        return None
    if min(values) == max(values):
        return "equal" if kind == "measured" and n < UNSEEN else None
    if n < FEW_RUNS:
        return "few"
    return "skewed" if n < wanted(values) else None


def wanted(values: Sequence[float]) -> float:
    """Give how many values it takes that the interval of their mean is one of 95 %.

    It is 25 times the square of their skewness, with which the interval misses the mean in at most 6 % of the
    cases (Cochran 1977, section 2.15).
    """
    centre = math.fsum(values) / len(values)
    squares = math.fsum((value - centre) ** 2 for value in values) / len(values)
    cubes = math.fsum((value - centre) ** 3 for value in values) / len(values)
    return 25 * cubes * cubes / squares**3 if squares**3 > 0 else 0.0


def paired(
    ours: Sequence[float], theirs: Sequence[float], interval: Interval = "student-t", level: float = 0.95
) -> Estimate:
    """Give the estimate of how much larger `ours` are than `theirs`, which met the same seeds one by one."""
    return estimate([one - other for one, other in zip(ours, theirs, strict=True)], interval, level)


def gain(
    ours: Sequence[float],
    theirs: Sequence[float],
    interval: Interval = "student-t",
    *,
    level: float = 0.95,
    certain: bool = False,
) -> Estimate | None:
    """Give how much larger the mean of `ours` is than that of `theirs`, as a share of the latter.

    Both met the same seeds one by one. The mean of `theirs` is as unsure as that of `ours`: the interval is
    that of the residuals of the ratio r, ``(ours - r theirs) / mean(theirs)`` (the delta method; Cochran
    1977, section 6.4), or of the ratio by the bootstrap of pairs. ``None`` where the mean is 0.
    """
    first = math.fsum(theirs) / len(theirs)
    if not first:
        return None
    ratio = math.fsum(ours) / len(ours) / first
    residuals = [(one - ratio * other) / first for one, other in zip(ours, theirs, strict=True)]
    found: Estimate = {**estimate(residuals, level=level), "mean": ratio - 1}
    if interval == "bootstrap" and found["ci95"]:
        import numpy as np

        def statistic(x: Any, y: Any, axis: int) -> Any:
            return np.mean(x, axis=axis) / np.mean(y, axis=axis) - 1

        low, high = _drawn((ours, theirs), statistic, "BCa", 0, level)
        found |= {"ci95": (high - low) / 2, "low": low, "high": high}
    about = None if certain else doubt(residuals)
    return {**found, "doubt": about} if about else found


def pooled_quantile(runs: Sequence[Sequence[float]], share: float, *, certain: bool = False) -> Estimate:
    """Give a quantile of what all runs have together, with an interval over the runs (Woodruff 1952).

    The share of values below it is a ratio over runs, each of which counts as one draw; the ends of the
    interval are the quantiles at the ends of that share's interval. The mean of the runs' own quantiles is
    another number, and of a few values a run it does not come near this one however many runs there are.
    """
    import numpy as np

    every, residuals = _pooled(runs, share)
    centre, n = float(np.quantile(every, share)), len(runs)
    if n == 1 or certain:
        return {"mean": centre, "ci95": None if n == 1 else 0.0, "n": n}
    width = estimate(residuals)["ci95"] or 0.0
    low, high = (float(np.quantile(every, min(1.0, max(0.0, share + way * width)))) for way in (-1, 1))
    found: Estimate = {"mean": centre, "ci95": (high - low) / 2, "n": n, "low": low, "high": high}
    # Beyond the largest value nobody has seen anything.
    return {**found, "doubt": "few"} if share + width >= 1 or n < FEW_RUNS else found


def quantile_by_run(runs: Sequence[Sequence[float]], share: float) -> list[float]:
    """Give a number of each run whose mean is the quantile of all together, and that varies as it is unsure.

    It is the quantile and how much the run moves it: by how much its share of values below misses the one of
    all, over the density there, which is that of the interval (Woodruff). So runs of equal seed make pairs.
    """
    import numpy as np

    every, residuals = _pooled(runs, share)
    centre = float(np.quantile(every, share))
    width = (estimate(residuals)["ci95"] or 0.0) if len(runs) > 1 else 0.0
    if not width:
        return [centre] * len(runs)
    below, above = max(0.0, share - width), min(1.0, share + width)
    steepness = (np.quantile(every, above) - np.quantile(every, below)) / (above - below)
    return [centre - float(steepness) * residual for residual in residuals]


def _pooled(runs: Sequence[Sequence[float]], share: float) -> "tuple[Any, list[float]]":
    """Give the values of all runs, and by how much the share of each run's below the quantile is off."""
    import numpy as np

    several = [np.asarray(values, dtype=float) for values in runs]
    every = np.concatenate(several)
    centre = np.quantile(every, share)
    below = np.array([np.count_nonzero(values <= centre) for values in several], dtype=float)
    sizes = np.array([len(values) for values in several], dtype=float)
    return every, ((below - below.sum() / sizes.sum() * sizes) / sizes.mean()).tolist()


def bootstrap(
    values: Sequence[float],
    statistic: Callable[..., Any] | None = None,
    *,
    seed: int = 0,
    level: float = 0.95,
) -> tuple[float, float]:
    """Give the ends of the 95 % interval of a statistic of `values`, at least two, by the bootstrap.

    Of the mean it is BCa, bias-corrected and accelerated (Efron 1987), of another statistic the percentiles,
    which also exist where the statistic stays the same without any one of the values. Both are from 9,999
    samples, by `scipy.stats.bootstrap`.

    Parameters
    ----------
    values
        One number of each replication, in any unit; the ends have the same.
    statistic
        The mean by default; else a function of an array and its ``axis``, as ``numpy.median``.
    seed
        Of the samples, so that the same values give the same ends.
    level
        How often the interval is to hold the statistic.

    Raises
    ------
    ValueError
        There are fewer than two values.
    """
    import numpy as np

    if len(values) < 2:
        raise ValueError(f"expected at least two values to draw from, found {len(values)}")
    if min(values) == max(values):
        return float(values[0]), float(values[0])
    if statistic is None:
        return _drawn((values,), np.mean, "BCa", seed, level)
    return _drawn((values,), statistic, "percentile", seed, level)


def _drawn(
    samples: Sequence[Sequence[float]],
    statistic: Callable[..., Any],
    method: Literal["BCa", "percentile"],
    seed: int = 0,
    level: float = 0.95,
) -> tuple[float, float]:
    import numpy as np
    from scipy import stats

    drawn = stats.bootstrap(
        tuple(np.asarray(values, dtype=float) for values in samples),
        statistic,
        n_resamples=RESAMPLES,
        paired=len(samples) > 1,
        vectorized=True,
        method=method,
        confidence_level=level,
        rng=np.random.default_rng(seed),
    )
    return float(drawn.confidence_interval.low), float(drawn.confidence_interval.high)
