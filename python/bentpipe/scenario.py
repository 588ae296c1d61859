"""A scenario as people hold it in Python: read, changed, looked at."""

import os
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from html import escape
from itertools import islice
from typing import Any, NoReturn, Self, TypeVar

from bentpipe import _core, checks
from bentpipe.errors import InputError, ScenarioError
from bentpipe.own.scheme import NamedSchemes, Own, registered
from bentpipe.recorded import Recorded
from bentpipe.source import read_source

_Read = TypeVar("_Read")

_SHOWN = 4
"""Links and flows that a `repr` names; the rest is counted."""


class Fields(Mapping[str, Any]):
    """A table of a scenario, such as ``scenario.links``: its keys are attributes, and items as in a dict.

    Values are as they were written: a rate is ``"2.048 Mbit/s"``. What nobody wrote is not there.
    """

    def __init__(self, place: str, values: Mapping[str, Any]) -> None:
        self._place, self._values = place, values

    def __getitem__(self, key: str) -> Any:
        value = self._values[key]
        return Fields(f"{self._place}.{key}", value) if isinstance(value, dict) else value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._values:
            raise AttributeError(f"{self._place} has no {name!r}: there are {', '.join(self) or 'none'}")
        return self[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(key for key in self if key.isidentifier())]

    def __repr__(self) -> str:
        return repr(self._values)


class Scenario(_core.Scenario):
    """A network and what goes over it, read and checked. It does not change; `with_` gives another.

    The tables of its text are attributes: ``scenario.links.satellite.rate``, ``scenario.flows["web-1"]``.
    Several threads may run it at once. Two scenarios of the same text are equal. Pickled, it takes its whole
    text along: it needs no file where it comes out again.
    """

    @classmethod
    def load(cls, path: str | os.PathLike[str], settings: checks.Settings = (), own: Own = ()) -> Self:
        """Read a file, ``preset:NAME`` or ``-``, standard input, and change some settings.

        Settings are keys and values, as ``{"seed": 7}``, the way ``--set`` takes them. The scenario of a
        finished run is read from the folder that ``run --out`` wrote, or from the run's JSON. It may name the
        classes `own` beside what ``bentpipe list`` shows.

        Raises
        ------
        ScenarioError
            It cannot be read or used; the message names file, line, key and what was expected.
        InputError
            `path` is no path, or `settings` are neither a mapping nor pairs of a name and a value.
        """
        # A text stays as it is: Path would take "./" and "//" out of what errors name.
        whole = checks.path("path", path)
        name = path if isinstance(path, str) else str(whole)
        named = NamedSchemes(registered(own))
        pairs = checks.pairs(named.names(settings))
        recorded = Recorded.at(name)
        source = recorded.source(pairs) if recorded else read_source(name, pairs)
        return cls(*source, own=named.known)

    @classmethod
    def from_toml(cls, text: str, own: Own = ()) -> Self:
        """Read the text of a scenario file; what it extends lies in the current folder.

        It may name the classes `own` beside what ``bentpipe list`` shows.

        Raises
        ------
        ScenarioError
            It cannot be used; the message names line, key and what was expected.
        """
        if not isinstance(text, str):
            raise InputError(f"text: expected a str, found {checks.found(text)}")
        return cls("text", [], _utf8("text", text), own=registered(own))

    @classmethod
    def from_dict(cls, tables: Mapping[str, Any]) -> Self:
        """Read what a scenario file says, as a dictionary: ``{"links": {...}, "flows": {...}}``.

        A class of your own, or an object of it, may stand for a name: a `Control` for that of a control.

        Raises
        ------
        ScenarioError
            It cannot be used; the message names the key and what was expected.
        InputError
            It holds something that TOML has no word for.
        """
        if not isinstance(tables, Mapping):
            raise InputError(f"tables: expected a mapping, found {checks.found(tables)}")
        own = NamedSchemes()
        try:
            named = own.names(tables).items()
            lines = [f"{checks.toml_key('', key)} = {checks.toml(key, value)}" for key, value in named]
        except RecursionError:
            raise _recursive("tables") from None
        return _without_line(lambda: cls("dictionary", [], "\n".join(lines).encode(), own=own.known))

    def with_(self, settings: checks.Settings) -> Self:
        """Give this scenario with other settings: ``{"flows.*.variant": "reno", "tcp": {"mss": "536 B"}}``.

        A dotted key is changed as ``--set`` does it; a mapping is put over the table that is there. A
        class of your own, or an object of it, may stand for a name: a `Control` for that of a control.

        Raises
        ------
        ScenarioError
            The scenario has no such key, or the value cannot be used.
        InputError
            `settings` are neither a mapping nor pairs of a name and a value.
        """
        own = NamedSchemes(self.own)
        try:
            pairs = checks.pairs(own.names(settings))
        except RecursionError:
            raise _recursive("settings") from None
        content = self.toml().encode()
        return _without_line(
            lambda: type(self)(self.file, pairs, content, self.file, self.settings, self.files, own.known)
        )

    def to_dict(self) -> dict[str, Any]:
        """Give what it says as a dictionary, for `from_dict`."""
        return tomllib.loads(self.toml())

    @cached_property
    def _fields(self) -> Fields:
        return Fields("the scenario", self.to_dict())

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._fields, name)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{name}: a scenario does not change; with_ gives another: s.with_({{...}})")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._fields]

    def __eq__(self, other: object) -> bool:
        return self.toml() == other.toml() if isinstance(other, Scenario) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.toml())

    def __repr__(self) -> str:
        links, flows = _several(list(self._links)), _several(list(self._flows))
        return f"<Scenario {self.title!r}, seed {self.seed}: links {links}; flows {flows}>"

    def _repr_html_(self) -> str:
        rows = []
        for head, facts in (("links", self._links), ("flows", self._flows)):
            rows.append(f"<tr><th colspan=2>{head}</th></tr>")
            rows += [f"<tr><th>{escape(name)}</th><td>{escape(meaning)}</td></tr>" for name, meaning in facts]
        caption = f"<caption>{escape(self.title)} (seed {self.seed})</caption>"
        text = f"<details><summary>TOML</summary><pre>{escape(self.toml())}</pre></details>"
        return f"<table>{caption}{''.join(rows)}</table>{text}"

    @property
    def headline(self) -> str:
        """What to call it: its title, or the flows of one that has neither title nor file."""
        if self.title not in ("dictionary", "text"):
            return self.title
        return f"flows {_several([(name, '') for name, _ in self._flows])}"

    @property
    def _links(self) -> Iterator[tuple[str, str]]:
        for name, link in self._fields.get("links", {}).items():
            yield name, _facts(link, "rate", "delay")

    @property
    def _flows(self) -> Iterator[tuple[str, str]]:
        for name, flow in self._fields.get("flows", {}).items():
            ends = f"{flow['from']} to {flow['to']}" if "from" in flow and "to" in flow else ""
            facts = _facts(flow, "app", "variant", "recovery", "control", "bytes")
            yield name, ", ".join(part for part in (facts, ends) if part)


def _recursive(name: str) -> InputError:
    return InputError(f"{name}: expected a mapping that ends, found one that holds itself")


def _facts(table: Mapping[str, Any], *keys: str) -> str:
    return ", ".join(str(table[key]) for key in keys if isinstance(table.get(key), str | int))


def _several(rows: list[tuple[str, str]]) -> str:
    named = [f"{name} ({meaning})" if meaning else name for name, meaning in islice(rows, _SHOWN)]
    more = f" and {len(rows) - _SHOWN} more" if len(rows) > _SHOWN else ""
    return ", ".join(named) + more


def _utf8(name: str, text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise InputError(f"{name}: expected Unicode text, found one with a lone surrogate") from None


def _without_line(read: Callable[[], _Read]) -> _Read:
    """Read a text that nobody wrote: its lines are in no error."""
    try:
        return read()
    except ScenarioError as error:
        raise error.within("settings" if error.file == "--set" else error.file, written=False) from None
