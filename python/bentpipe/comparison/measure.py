"""What is compared: one number of a run."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from bentpipe.errors import InputError, RunError
from bentpipe.flows import check_scenario, chosen
from bentpipe.results import Flow, Run, mean
from bentpipe.scenario import Scenario

Metric = Literal["goodput_bps", "response_s"]
"""Goodput of all compared flows together in bits a second, or the mean response time of pages in seconds."""


@dataclass(frozen=True)
class Measure:
    """The number that is compared, and the flows it is of."""

    metric: Metric
    flows: tuple[str, ...]

    @classmethod
    def of(cls, run: Run, scenario: Scenario, patterns: Sequence[str]) -> "Measure":
        """Choose by what the flows that fit `patterns` carry: pages alone, or something else beside them.

        A flow whose data a relay sends on counts by its last connection.

        Raises
        ------
        InputError
            None of the flows is over TCP.
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
        rest = tuple(flow["name"] for flow in flows if not _brings_pages(flow, written))
        if rest:
            return cls("goodput_bps", rest)
        return cls("response_s", tuple(flow["name"] for flow in flows))

    @property
    def higher_is_better(self) -> bool:
        """Whether the larger number is the better one."""
        return self.metric == "goodput_bps"

    def value(self, run: Run) -> float:
        """Give the number of a single run.

        Raises
        ------
        RunError
            There is none: no page came to its end.
        """
        if self.metric == "response_s":
            found = [
                response
                for page in run["pages"]
                if page["flow"] in self.flows and (response := mean(page["response_s"])) is not None
            ]
            if not found:
                raise RunError(
                    f"no page of {self.flows[0]} came to its end, so that there is none to compare"
                )
            return math.fsum(found) / len(found)
        flows = self._of(run)
        if len(flows) == 1:
            return mean(flows[0]["goodput_bps"]) or 0.0
        begin_s, end_s = self.span_s(run)
        total = math.fsum(mean(flow["bytes_delivered"]) or 0.0 for flow in flows)
        return 8 * total / (end_s - begin_s) if end_s > begin_s else 0.0

    def span_s(self, run: Run) -> tuple[float, float]:
        """Give when the first flow began and when the last one ended, in simulated seconds."""
        flows = self._of(run)
        starts = [mean(flow["start_s"]) or 0.0 for flow in flows]
        ends = [start + (mean(flow["duration_s"]) or 0.0) for start, flow in zip(starts, flows, strict=True)]
        return min(starts), max(ends)

    def carried_bps(self, scenario: Scenario, run: Run) -> float | None:
        """Give the payload that the narrowest links carry meanwhile, at best; ``None`` if unknown."""
        if self.metric == "response_s":
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


def _brings_pages(flow: Flow, written: Mapping[str, Any]) -> bool:
    return any(written.get(name or "", {}).get("app") == "http" for name in (flow["name"], flow.get("group")))
