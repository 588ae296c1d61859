"""Whose time series a run has, which kinds of them, and which of these are recorded."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from fnmatch import translate
from functools import cached_property
from typing import Any

from bentpipe._core import Scenario
from bentpipe.errors import InputError

_NAMED = 12
"""Names that an error lists; the rest is counted."""


@dataclass(frozen=True)
class Subjects:
    """The flows (or connections of flows) and directions of links of a run, and what is recorded of them.

    `flow_kinds` and `link_kinds` give the unit of each kind of curve. `series` are the choices that were
    made, as ``--series`` takes them: ``PATTERN``, ``PATTERN:KIND,KIND…`` or ``:KIND``; none for everything.
    A value of the kind ``phase`` is the number of one of the names in `phases`, from 0.
    """

    flows: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    flow_kinds: Mapping[str, str] = field(default_factory=dict)
    link_kinds: Mapping[str, str] = field(default_factory=dict)
    series: tuple[str, ...] = ()
    phases: tuple[str, ...] = ()

    @classmethod
    def of(cls, scenario: Scenario, series: Sequence[str] = ()) -> "Subjects":
        """Give those of a scenario, recorded as `series` says.

        Raises InputError: a choice names nothing that the run has.
        """
        flows, flow_kinds, links, link_kinds, phases = scenario.series()
        kinds = dict(flow_kinds), dict(link_kinds)
        subjects = cls(tuple(flows), tuple(links), *kinds, tuple(series), tuple(phases))
        for choice in subjects.series:
            subjects._check(choice)
        return subjects

    @classmethod
    def from_json(cls, text: bytes) -> "Subjects":
        """Read what `to_json` wrote; files of versions before there were phases have none."""
        fields: dict[str, Any] = dict(json.loads(text))
        fields |= {key: tuple(map(str, value)) for key, value in fields.items() if isinstance(value, list)}
        return cls(**fields)

    def to_json(self) -> str:
        """Write it down for the file that the series are in."""
        return json.dumps(asdict(self))

    def names(self) -> tuple[str, ...]:
        """Give all of them, flows first: in the order of the numbers of their curves."""
        return self.flows + self.links

    def kinds(self) -> dict[str, str]:
        """Give all kinds with their units, those of flows first."""
        return {**self.flow_kinds, **self.link_kinds}

    def wanted(self) -> list[int] | None:
        """Give, for each of `names`, the kinds to record: bit k for kind k; ``None`` for everything."""
        if not self.series:
            return None
        flows = [self._mask(name, self.flow_kinds, flow=True) for name in self.flows]
        return flows + [self._mask(name, self.link_kinds, flow=False) for name in self.links]

    def curve(self, subject: str, kind: str) -> tuple[str, bool]:
        """Give the unit of a curve, and whether it was recorded.

        Raises InputError: the run has no such curve.
        """
        flow, link = subject in self._flows, subject in self._links
        if not (flow or link):
            raise InputError(f"no flow or direction of a link {subject!r}: there are {_list(self.names())}")
        kinds = {**(self.flow_kinds if flow else {}), **(self.link_kinds if link else {})}
        if kind not in kinds:
            raise InputError(f"no curve {kind!r} of {subject}: there are {_list(tuple(kinds))}")
        flow = kind in self.flow_kinds
        taken = (choice.takes(subject, kind, flow=flow) for choice in self._choices)
        return kinds[kind], not self.series or any(taken)

    @cached_property
    def _flows(self) -> frozenset[str]:
        return frozenset(self.flows)

    @cached_property
    def _links(self) -> frozenset[str]:
        return frozenset(self.links)

    @cached_property
    def _choices(self) -> list["_Choice"]:
        return [_Choice.read(choice) for choice in self.series]

    def _mask(self, name: str, kinds: Iterable[str], *, flow: bool) -> int:
        naming = [choice for choice in self._choices if choice.names(name, flow=flow)]
        return sum(
            1 << number
            for number, kind in enumerate(kinds)
            if any(choice.kinds is None or kind in choice.kinds for choice in naming)
        )

    def _check(self, choice: str) -> None:
        read = _Choice.read(choice)
        unknown = [kind for kind in read.kinds or () if kind not in self.kinds()]
        if unknown:
            raise InputError(
                f"--series {choice!r}: no kind {unknown[0]!r}: there are {', '.join(self.flow_kinds)} "
                f"of flows and {', '.join(self.link_kinds)} of links"
            )
        flows = any(read.names(name, flow=True) for name in self.flows)
        links = any(read.names(name, flow=False) for name in self.links)
        if not (flows or links):
            raise InputError(
                f"--series {choice!r}: names no flow or direction of a link: there are {_list(self.names())}"
            )
        here = {**(self.flow_kinds if flows else {}), **(self.link_kinds if links else {})}
        absent = [kind for kind in read.kinds or () if kind not in here]
        if absent:
            raise InputError(
                f"--series {choice!r}: what it names has no {absent[0]!r}: there are {', '.join(here)}"
            )


@dataclass(frozen=True)
class _Choice:
    pattern: re.Pattern[str]
    kinds: frozenset[str] | None

    @classmethod
    def read(cls, text: str) -> "_Choice":
        pattern, colon, kinds = text.partition(":")
        named = frozenset(kind.strip() for kind in kinds.split(",") if kind.strip()) if colon else None
        if (colon and not named) or not (pattern or colon):
            raise InputError(
                f"--series {text!r}: expected a flow, a direction of a link or a pattern with *, and kinds "
                "after a colon if not all are wanted, such as 'web*:cwnd,rtt' or ':queue'"
            )
        return cls(re.compile(translate(pattern.strip() or "*")), named)

    def names(self, name: str, *, flow: bool) -> bool:
        """Say whether it means this flow or link; a connection goes by its flow's name too."""
        connection_of = name.rpartition("/")[0] if flow else ""
        return bool(self.pattern.match(name) or (connection_of and self.pattern.match(connection_of)))

    def takes(self, name: str, kind: str, *, flow: bool) -> bool:
        return self.names(name, flow=flow) and (self.kinds is None or kind in self.kinds)


def _list(names: Iterable[str]) -> str:
    every = list(names)
    more = f" and {len(every) - _NAMED} more" if len(every) > _NAMED else ""
    return (", ".join(every[:_NAMED]) or "none") + more
