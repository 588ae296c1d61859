"""What is compared: one number of a run, and what limited its flows."""

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, cast

from bentpipe.errors import InputError, RunError
from bentpipe.numbers.declared import Columns, Declared, structure, tables
from bentpipe.numbers.intervals import judged, pooled_quantile
from bentpipe.numbers.number import Estimate
from bentpipe.result_types import Flow, FlowLimits
from bentpipe.results import Number, Run, mean
from bentpipe.scenario import Scenario
from bentpipe.show.flows import check_scenario, chosen

_WAITED_FOR = {"http": "page", "transactions": "transaction", "short-flows": "transfer", "trace": "transfer"}
"""What the users of an application wait for."""


def metrics(*what: str) -> Columns:
    """Give the numbers of these tables of which one may be better than another: of flows, pages and films."""
    parts = [tables()[table].values() for table in what or ("flows", "pages", "videos")]
    return {one.key: one for columns in parts for one in columns if one.better}


@dataclass(frozen=True)
class Words:
    """How a number is told of in a sentence."""

    does: str
    """What the best variant does, before its number."""
    better: str
    """Behind a share, of the best against another."""
    worse: str
    """Around a share, ``{}``, of the next against the best."""

    @classmethod
    def of(cls, metric: Declared) -> "Words":
        """Give the words for a number, of which most say no more than which of two is larger."""
        more = metric.better == "more"
        plain = cls(
            f"has a {metric.heading} of",
            "more than" if more else "less than",
            "has {} less" if more else "has {} more",
        )
        return _SAID.get(metric.key, plain)


_SAID = {
    "goodput_bps": Words("carries", "more than", "carries {} less"),
    "bit_rate_mean_bps": Words("shows the film at", "more than", "shows it at {} less"),
    "startup_s": Words("shows the first picture after", "sooner than", "takes {} longer"),
    "stalled_s": Words("stalls for", "shorter than", "stalls {} longer"),
}


@dataclass(frozen=True)
class Measure:
    """The number that is compared, and the flows it is of."""

    metric: str
    flows: tuple[str, ...]
    waited_for: str = "page"
    """What its users wait for, of a response time."""

    @classmethod
    def of(
        cls, run: Run, scenario: Scenario, patterns: Sequence[str], metric: str | None = None
    ) -> "Measure":
        """Choose by what the flows that fit `patterns` carry, unless `metric` says what is compared.

        Flows whose users wait for pages, transactions or short transfers are compared by these if there
        is nothing else, and films by their bit rate. A flow whose data a relay sends on counts by its last
        connection.

        Raises InputError: none of the flows is over TCP, or they have no such number.
        """
        written = scenario.to_dict()["flows"]
        upstream = {relay["upstream"] for relay in run["relays"]}
        flows = [
            flow
            for flow in (chosen(run["flows"], patterns) if patterns else run["flows"])
            if flow["variant"] != "udp" and flow["name"] not in upstream
        ]
        if not flows:
            raise InputError("--flows: expected a flow over TCP to compare, found none")
        films = tuple(flow["name"] for flow in flows if _app(flow, written) == "video")
        if metric in metrics("videos") or (metric is None and len(films) == len(flows)):
            if not films:
                raise InputError(f'--metric: expected a flow with app = "video" for {metric}, found none')
            return cls(metric or "bit_rate_mean_bps", films, "film")
        users = {flow["name"]: what for flow in flows if (what := _WAITED_FOR.get(_app(flow, written)))}
        others = {*users, *films}
        rest = tuple(name for flow in flows if (name := flow["name"]) not in others)
        if metric not in _waits() and (metric or rest):
            return cls(metric or "goodput_bps", rest or (*users, *films))
        if not users:
            raise InputError(
                "--metric: expected goodput_bps of flows that bring neither pages nor transactions nor short "
                f"transfers, found {metric}"
            )
        kinds = set(users.values())
        return cls(metric or "response_s", tuple(users), kinds.pop() if len(kinds) == 1 else "transaction")

    @cached_property
    def names(self) -> frozenset[str]:
        """The flows it is of, to look one up in."""
        return frozenset(self.flows)

    @property
    def number(self) -> Declared:
        """What the engine says of the number."""
        return metrics()[self.metric]

    @property
    def quantile(self) -> float | None:
        """The quantile of response times that it is; ``None`` of a mean."""
        return self.number.quantile

    @property
    def words(self) -> Words:
        """How it is told of."""
        if self.metric not in _waits():
            return Words.of(self.number)
        what, share = self.waited_for, self.quantile
        does = f"brings a {what} in" if share is None else f"brings {share:.0%} of {what}s within"
        return Words(does.replace("%", " %"), "sooner than", "takes {} longer")

    def value(self, run: Run) -> float:
        """Give the number of a single run.

        Raises RunError: there is none: no page, transaction or film came so far.
        """
        if self.metric in _waits():
            found = self.responses(run)
            if self.quantile is None:
                return math.fsum(found) / len(found)
            return pooled_quantile([found], self.quantile)["mean"]
        if self.metric != "goodput_bps":
            return self._mean(run)
        counted = self._of(run)
        if len(counted) == 1:
            return mean(counted[0]["goodput_bps"]) or 0.0
        begin_s, end_s = self.span_s(run)
        total = math.fsum(mean(flow["bytes_delivered"]) or 0.0 for flow in counted)
        return 8 * total / (end_s - begin_s) if end_s > begin_s else 0.0

    def responses(self, run: Run) -> list[float]:
        """Give how long the users of a single run waited, for what came.

        Raises RunError: nothing came.
        """
        rows = [*run["pages"], *run["transactions"]]
        waits = (mean(row["response_s"]) for row in rows if row["flow"] in self.names)
        found = [wait for wait in waits if wait is not None]
        if not found:
            what = f"no {self.waited_for} of {self.flows[0]}"
            raise RunError(f"{what} came to its end, so that there is none to compare")
        return found

    def came(self, run: Run) -> tuple[int, int]:
        """Give how many of what users waited for came to their end, and how many began; 0 of bulk data."""
        if self.metric not in _waits():
            return 0, 0
        rows = [row for row in (*run["pages"], *run["transactions"]) if row["flow"] in self.names]
        return sum(row["response_s"] is not None for row in rows), len(rows)

    def _mean(self, run: Run) -> float:
        every = run["videos"] if self.metric in metrics("videos") else run["flows"]
        rows = [cast(Mapping[str, Number], row) for row in every if row["name"] in self.names]
        found = [mean(row[self.metric]) for row in rows]
        missing = [name for name, value in zip(self.flows, found, strict=True) if value is None]
        if missing:
            what = "segment" if self.waited_for == "film" else self.number.heading
            raise RunError(f"no {what} of {missing[0]} came in time, so that there is none to compare")
        return math.fsum(value for value in found if value is not None) / len(found)

    def span_s(self, run: Run) -> tuple[float, float]:
        """Give when the first flow began, or the warm-up ended, and when the last one did, in seconds."""
        flows = self._of(run)
        warm_up = mean(run.get("warm_up_s")) or 0.0
        starts = [max(mean(flow["start_s"]) or 0.0, warm_up) for flow in flows]
        ends = [start + (mean(flow["duration_s"]) or 0.0) for start, flow in zip(starts, flows, strict=True)]
        return min(starts), max(ends)

    def carried_bps(self, scenario: Scenario, run: Run) -> float | None:
        """Give the payload that the narrowest links carry meanwhile, at best; ``None`` if unknown."""
        if self.metric != "goodput_bps":
            return None
        numbers = [number for number, flow in enumerate(run["flows"]) if flow["name"] in self.names]
        found = scenario.carried(numbers, *self.span_s(run))
        return None if found is None else found[1]

    def _of(self, run: Run) -> list[Flow]:
        return [flow for flow in run["flows"] if flow["name"] in self.names]


def _waits() -> set[str]:
    """Give the numbers that are of how long users waited."""
    return {"response_s", *(one.key for one in metrics("flows").values() if one.quantile is not None)}


@cache
def limit_names() -> dict[str, str]:
    """Give what limits a flow, with its name for people."""
    numbers = structure("FlowLimits").values()
    return {one.key.removesuffix("_s"): one.heading for one in numbers if one.kind != "text"}


def shares(measured: Sequence[FlowLimits], flows: Set[str]) -> dict[str, float]:
    """Give what share of the time of all `flows` together each limit has in a run."""
    spent = {
        name: math.fsum(mean(flow[f"{name}_s"]) or 0.0 for flow in measured if flow["flow"] in flows)  # type: ignore[literal-required]
        for name in limit_names()
    }
    whole = math.fsum(spent.values())
    return {name: seconds / whole if whole else 0.0 for name, seconds in spent.items()}


def averaged(runs: Sequence[dict[str, float]], *, certain: bool) -> dict[str, Estimate] | None:
    """Give the mean share of each limit over the runs; ``None`` without runs."""
    return (
        {name: judged([run[name] for run in runs], certain=certain) for name in limit_names()}
        if runs
        else None
    )


def with_variant(scenario: Scenario, variant: str, patterns: Sequence[str]) -> Scenario:
    """Give the scenario in which the flows that fit `patterns`, or all of them, have this variant.

    A control in Python that the scenario knows is one too: what is not said of the recovery is the profile's.

    Raises InputError: no flow fits a pattern, or a flow says its recovery and control itself.
    """
    key = "control" if variant in {own.name for own in scenario.own if own.kind == "control"} else "variant"
    if not patterns:
        return scenario.with_({f"flows.*.{key}": variant})
    check_scenario(scenario, patterns)
    written: Mapping[str, Any] = scenario.to_dict()["flows"]
    named = [{"name": name, "group": None} for name in written]
    fitting = [flow["name"] for flow in chosen(named, patterns)]  # type: ignore[arg-type]
    return scenario.with_({"flows": {name: {key: variant} for name in fitting}})


def _app(flow: Flow, written: Mapping[str, Any]) -> str:
    names = (flow["name"], flow.get("group") or "")
    return next((app for name in names if (app := written.get(name, {}).get("app"))), "ftp")
