"""Which flows a table or a picture shows by themselves, and which together."""

import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from bentpipe._core import Scenario
from bentpipe.errors import InputError
from bentpipe.result_types import Flow
from bentpipe.results import Number, mean

MAXIMUM_FLOWS = 8
"""Flows that are shown each by itself; of more, the copies of one flow of the scenario are shown as one."""

_NAMED_IN_ERRORS = 5


@dataclass(frozen=True)
class Bundle:
    """Flows that are shown as one under a name: copies of one flow of the scenario, or a flow by itself."""

    name: str
    flows: tuple[Flow, ...]

    @property
    def alone(self) -> bool:
        """Whether it is a single flow."""
        return len(self.flows) == 1

    def values(self, of: Callable[[Flow], Number]) -> list[float]:
        """Give a number of each flow, without those that have none."""
        return [value for flow in self.flows if (value := mean(of(flow))) is not None]

    @property
    def carried(self) -> float:
        """Bytes that all of them delivered."""
        return sum(self.values(lambda flow: flow["bytes_delivered"]))


def bundles(flows: Sequence[Flow]) -> list[Bundle]:
    """Give each flow by itself, or when they are many the copies of one together, in their order."""
    if len(flows) <= MAXIMUM_FLOWS:
        return [Bundle(flow["name"], (flow,)) for flow in flows]
    groups: dict[tuple[str, bool], list[Flow]] = {}
    for flow in flows:
        group = flow.get("group")
        groups.setdefault((group or flow["name"], group is not None), []).append(flow)
    return [
        Bundle(copies[0]["name"] if len(copies) == 1 else name, tuple(copies))
        for (name, _), copies in groups.items()
    ]


def chosen(flows: Sequence[Flow], patterns: Sequence[str]) -> list[Flow]:
    """Give the flows whose name, or whose group's name, fits one of the `patterns`: ``*``, ``?``, ``[abc]``.

    Raises InputError: no flow fits a pattern.
    """
    named = [(flow["name"], flow.get("group")) for flow in flows]
    check_patterns(named, patterns)
    return [flow for flow, names in zip(flows, named, strict=True) if _fits(names, patterns)]


def check_patterns(
    flows: Sequence[tuple[str, str | None]], patterns: Sequence[str], known: Sequence[str] = ()
) -> None:
    """See that each pattern fits a flow, given by its name and its group; errors list what is `known`.

    Raises InputError: no flow fits a pattern.
    """
    for pattern in patterns:
        if not any(_fits(names, [pattern]) for names in flows):
            known = known or list(dict.fromkeys(group or name for name, group in flows))
            more = ", …" if len(known) > _NAMED_IN_ERRORS else ""
            listed = ", ".join(known[:_NAMED_IN_ERRORS]) + more
            raise InputError(
                f"--flows: expected the name of a flow ({listed}) or a pattern, found {pattern!r}"
            )


def check_scenario(scenario: Scenario, patterns: Sequence[str]) -> None:
    """See that each pattern fits a flow that `scenario` will run.

    Raises InputError: no flow fits a pattern.
    """
    if patterns:
        written = tomllib.loads(scenario.toml())["flows"]
        # The connections of a flow have a number behind its name.
        names = (name.partition("/")[0] for name in scenario.series()[0])
        check_patterns([(name, None) for name in (*written, *names)], patterns, list(written))


def _fits(names: tuple[str, str | None], patterns: Sequence[str]) -> bool:
    # A group's name may hold brackets that are no pattern, as web{i} does not but a[1] would.
    return any(
        name is not None and (name == pattern or fnmatchcase(name, pattern))
        for name in names
        for pattern in patterns
    )
