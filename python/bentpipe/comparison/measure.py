"""What is compared: one number of a run."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bentpipe.comparison.metrics import PERCENTILES, Metric
from bentpipe.errors import InputError, RunError
from bentpipe.flows import check_scenario, chosen
from bentpipe.results import Flow, Run, mean
from bentpipe.scenario import Scenario

_WAITED_FOR = {"http": "page", "transactions": "transaction", "short-flows": "transfer", "trace": "transfer"}
"""What the users of an application wait for."""


@dataclass(frozen=True)
class Measure:
    """The number that is compared, and the flows it is of."""

    metric: Metric
    flows: tuple[str, ...]
    waited_for: str = "page"
    """What its users wait for, of a response time."""

    @classmethod
    def of(
        cls, run: Run, scenario: Scenario, patterns: Sequence[str], metric: Metric | None = None
    ) -> "Measure":
        """Choose by what the flows that fit `patterns` carry, unless `metric` says what is compared.

        Flows whose users wait for pages, transactions or short transfers are compared by these if there
        is nothing else. A flow whose data a relay sends on counts by its last connection.

        Raises
        ------
        InputError
            None of the flows is over TCP, or nobody waits for what they bring.
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
        users = {flow["name"]: what for flow in flows if (what := _waited_for(flow, written))}
        rest = tuple(flow["name"] for flow in flows if flow["name"] not in users)
        if metric == "goodput_bps" or (metric is None and rest):
            return cls("goodput_bps", rest or tuple(users))
        if not users:
            raise InputError(
                "--metric: expected goodput_bps of flows that bring neither pages nor transactions nor short "
                f"transfers, found {metric}"
            )
        kinds = set(users.values())
        return cls(metric or "response_s", tuple(users), kinds.pop() if len(kinds) == 1 else "transaction")

    @property
    def percentile(self) -> int | None:
        """Which percentile it is; ``None`` of a mean."""
        return PERCENTILES.get(self.metric)

    @property
    def higher_is_better(self) -> bool:
        """Whether the larger number is the better one."""
        return self.metric == "goodput_bps"

    def value(self, run: Run) -> float:
        """Give the number of a single run.

        Raises
        ------
        RunError
            There is none: no page or transaction came to its end.
        """
        if self.metric != "goodput_bps":
            flows = frozenset(self.flows)
            rows = [*run["pages"], *run["transactions"]]
            found = [
                response
                for row in rows
                if row["flow"] in flows and (response := mean(row["response_s"])) is not None
            ]
            if not found:
                what = f"no {self.waited_for} of {self.flows[0]}"
                raise RunError(f"{what} came to its end, so that there is none to compare")
            if self.percentile is None:
                return math.fsum(found) / len(found)
            return _quantile(sorted(found), self.percentile / 100)
        counted = self._of(run)
        if len(counted) == 1:
            return mean(counted[0]["goodput_bps"]) or 0.0
        begin_s, end_s = self.span_s(run)
        total = math.fsum(mean(flow["bytes_delivered"]) or 0.0 for flow in counted)
        return 8 * total / (end_s - begin_s) if end_s > begin_s else 0.0

    def span_s(self, run: Run) -> tuple[float, float]:
        """Give when the first flow began and when the last one ended, in simulated seconds."""
        flows = self._of(run)
        starts = [mean(flow["start_s"]) or 0.0 for flow in flows]
        ends = [start + (mean(flow["duration_s"]) or 0.0) for start, flow in zip(starts, flows, strict=True)]
        return min(starts), max(ends)

    def carried_bps(self, scenario: Scenario, run: Run) -> float | None:
        """Give the payload that the narrowest links carry meanwhile, at best; ``None`` if unknown."""
        if self.metric != "goodput_bps":
            return None
        numbers = [number for number, flow in enumerate(run["flows"]) if flow["name"] in self.flows]
        found = scenario.carried(numbers, *self.span_s(run))
        return None if found is None else found[1]

    def _of(self, run: Run) -> list[Flow]:
        return [flow for flow in run["flows"] if flow["name"] in self.flows]


def with_variant(scenario: Scenario, variant: str, patterns: Sequence[str]) -> Scenario:
    """Give the scenario in which the flows that fit `patterns`, or all of them, have this variant.

    A control in Python that the scenario knows is one too: what is not said of the recovery is the profile's.

    Raises
    ------
    InputError
        No flow fits a pattern, or a flow says its recovery and control itself.
    """
    key = "control" if variant in {control.name for control in scenario.controls} else "variant"
    if not patterns:
        return scenario.with_({f"flows.*.{key}": variant})
    check_scenario(scenario, patterns)
    written: Mapping[str, Any] = scenario.to_dict()["flows"]
    named = [{"name": name, "group": None} for name in written]
    fitting = [flow["name"] for flow in chosen(named, patterns)]  # type: ignore[arg-type]
    return scenario.with_({"flows": {name: {key: variant} for name in fitting}})


def _waited_for(flow: Flow, written: Mapping[str, Any]) -> str | None:
    apps = (written.get(name or "", {}).get("app") for name in (flow["name"], flow.get("group")))
    return next((_WAITED_FOR[app] for app in apps if app in _WAITED_FOR), None)


def _quantile(ordered: Sequence[float], share: float) -> float:
    """Interpolate as the percentiles of a single flow are: definition 7 of Hyndman and Fan (1996)."""
    place = (len(ordered) - 1) * share
    below, above = ordered[math.floor(place)], ordered[math.ceil(place)]
    return below + (place - math.floor(place)) * (above - below)
