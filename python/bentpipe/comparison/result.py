"""What a comparison found."""

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from bentpipe.comparison import words
from bentpipe.comparison.measure import Measure
from bentpipe.comparison.picture import draw_limits
from bentpipe.comparison.report import page_of
from bentpipe.errors import InputError
from bentpipe.files.output import Staging
from bentpipe.numbers.intervals import paired
from bentpipe.numbers.number import Estimate, Interval, ends
from bentpipe.results import Number, Run, dump, mean
from bentpipe.runs.statistics import Failure
from bentpipe.show.html import html_table
from bentpipe.show.style import picture_format

if TYPE_CHECKING:
    import pyarrow as pa

_SEEN = 5e-5
"""A difference of a smaller share is not printed, and tells nobody anything."""


@dataclass(frozen=True)
class Variant:
    """A variant and what came out with it.

    Parameters
    ----------
    name
        As in a scenario.
    value
        The number that is compared: mean, half-width of its 95 % interval, and over how many runs.
    gain
        How much larger it is than that of the first variant named, as a share of the first's mean, over runs
        with the same seed; the interval knows that the first's mean is unsure too. ``None`` for the first
        itself, and where that has 0.
    of_link
        Goodput as a share of what the narrowest link could carry of payload meanwhile; ``None`` where that
        is not known, and of pages.
    run
        All numbers of its runs, as ``bentpipe run --runs N --json`` prints them.
    values
        The number in each run, in the order of the seeds.
    pairs
        What is held against another variant's, run by run: `values`, or of a percentile, which is of all runs
        together, how much each run moves it (`bentpipe.numbers.intervals.quantile_by_run`).
    came
        Of a response time: how many of the pages, transactions or transfers that began came to their end, as
        a share. The mean is of those that came, and so a lower bound where that is below 1.
    limits
        Where it was asked for, what limited it: shares of the time of its flows, which come to 1, by
        ``link``, ``receive_window``, ``loss_response``, ``slow_start``, ``timeouts``, ``application`` and
        ``control``.
    """

    name: str
    value: Estimate
    gain: Estimate | None
    of_link: Estimate | None
    run: Run
    values: tuple[float, ...]
    pairs: tuple[float, ...]
    came: float | None = None
    limits: dict[str, Estimate] | None = None

    def total(self, key: str, flows: Collection[str]) -> float:
        """Give the mean number a run of what all `flows` together count under `key`."""
        there = [cast(Mapping[str, Number], flow) for flow in self.run["flows"] if flow["name"] in flows]
        return sum(mean(flow[key]) or 0.0 for flow in there)


@dataclass(frozen=True)
class Comparison:
    """Several variants in one scenario, which met the same seeds.

    Data frames take it by the Arrow PyCapsule interface, as ``polars.DataFrame(comparison)``: a row for each
    variant, best first.

    Parameters
    ----------
    scenario, seed, runs
        The scenario's title, the first seed, and how many runs each variant had.
    measure
        The number that is compared, and the flows it is of.
    first
        The variant named first, over which the others gain or lose.
    variants
        All of them, best first.
    precise
        Whether the precision that was asked for was reached.
    failures
        By variant, the flows that broke.
    text
        The scenario as one text, before it had a variant.
    random
        Whether anything in it is random; otherwise a single run says all.
    interval
        How intervals are made.
    """

    scenario: str
    seed: int
    runs: int
    measure: Measure
    first: str
    variants: tuple[Variant, ...]
    precise: bool
    failures: tuple[tuple[str, Failure], ...]
    text: str = ""
    random: bool = True
    interval: Interval = "student-t"

    def __getitem__(self, name: str) -> Variant:
        for variant in self.variants:
            if variant.name == name:
                return variant
        raise KeyError(f"no variant {name!r}: there are {', '.join(v.name for v in self.variants)}")

    def tells_apart(self, one: Variant, other: Variant) -> bool:
        """Say whether these runs tell one variant from another, each pair with the same seed.

        One is then held against all others: the level is 5 % for all these intervals together (Bonferroni).
        Differences that were the same in all runs tell nothing where something is random.
        """
        level = 1 - 0.05 / (len(self.variants) - 1)
        change = paired(one.pairs, other.pairs, self.interval, level)
        if abs(change["mean"]) < _SEEN * abs(other.value["mean"]):
            return False
        if not self.random or self.runs == 1:
            return True
        low, high = ends(change)
        return bool(change["ci95"]) and not low <= 0 <= high

    @cached_property
    def best(self) -> tuple[Variant, ...]:
        """The best variant, and those that these runs do not tell from it.

        The one that is truly best is among them in 95 % of the cases (Hsu 1984, with Bonferroni's bound).
        """
        first, *others = self.variants
        return (first, *(other for other in others if not self.tells_apart(first, other)))

    sentence = cached_property(words.sentence)
    """What came out, in a sentence or two that can be sent on."""

    explanation = cached_property(words.explanation)
    """What limits each variant, in a sentence each; empty where it was not measured."""

    rows, markdown, csv = words.rows, words.markdown, words.csv_of

    def json(self) -> str:
        """Give all of it as the JSON of ``bentpipe compare --json``."""
        return dump(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """Give all of it as what JSON knows."""
        return {
            "scenario": self.scenario,
            "seed": self.seed,
            "runs": self.runs,
            "metric": self.measure.metric,
            "flows": list(self.measure.flows),
            "first": self.first,
            "precise": self.precise,
            "random": self.random,
            "best": [variant.name for variant in self.best],
            "sentence": self.sentence,
            "variants": [
                {
                    "variant": variant.name,
                    self.measure.metric: variant.value,
                    "gain": variant.gain,
                    "of_link": variant.of_link,
                    "values": list(variant.values),
                    **({} if variant.came is None else {"came": variant.came}),
                    **({} if variant.limits is None else {"limits": variant.limits}),
                    "run": variant.run,
                }
                for variant in self.variants
            ],
            "failures": [
                {"variant": name, "flow": failure.flow, "reason": failure.reason, "runs": failure.runs}
                for name, failure in self.failures
            ],
        }

    @property
    def explained(self) -> bool:
        """Whether it was measured what limits the variants."""
        return self.variants[0].limits is not None

    def plot(self, path: str | os.PathLike[str]) -> None:
        """Draw what limits each variant, as bars, into a .png or .svg file.

        Raises
        ------
        InputError
            It was not measured (``explain=True`` does), or the file's name ends otherwise.
        """
        if not self.explained:
            raise InputError("plot: expected a comparison with explain=True, found one without")
        picture_format(Path(path))
        with Staging() as staging:
            draw_limits(self, staging.file(Path(path)))

    def report(self, path: str | os.PathLike[str], command: str = "") -> None:
        """Write it as an HTML page that needs nothing beside it; `command` says there what made it.

        Raises
        ------
        BentpipeError
            The file cannot be written; what was there stays.
        """
        page_of(self, command).write(Path(path))

    def to_arrow(self) -> "pa.Table":
        """Give the rows as a table of pyarrow."""
        import pyarrow as pa

        return pa.Table.from_pylist(self.rows())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)  # type: ignore[no-untyped-call]

    def __repr__(self) -> str:
        return f"<Comparison {self.scenario!r}, {self.runs:,} runs: {self.sentence}>"

    def _repr_html_(self) -> str:
        tables = (
            html_table(headings, ([cell.text for cell in row] for row in rows))
            + "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences)
            for (headings, rows), sentences in words.parts(self)
        )
        return "".join(tables)


def share(number: Estimate, whole: float | None) -> Estimate | None:
    """Give an estimate as a share of a whole; ``None`` where there is none."""
    if not whole:
        return None
    part: Any = dict(number)
    part |= {key: part[key] / whole for key in ("mean", "ci95", "low", "high") if part.get(key) is not None}
    return cast(Estimate, part)
