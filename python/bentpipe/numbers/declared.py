"""The numbers of a result as the engine declares them: units, headings, meanings, how several become one."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeAlias


@dataclass(frozen=True)
class Declared:
    """A column of a table of the result, or a number of the run as a whole.

    `flows` says how several flows together have it (``sum``, ``spread``, ``mean``), `runs` how replications
    do, `better` which of two is the better one; they are empty where there is nothing to say.
    """

    key: str
    kind: Literal["text", "integer", "number"]
    meaning: str
    always: bool
    """Whether every row has it."""
    unit: str = ""
    heading: str = ""
    flows: str = ""
    runs: str = ""
    better: str = ""

    @property
    def about(self) -> dict[str, str]:
        """What the metadata of a column says of it."""
        return {"meaning": self.meaning, **({"unit": self.unit} if self.unit else {})}

    @property
    def quantile(self) -> float | None:
        """The quantile of what all runs have together that it is."""
        return int(self.runs[1:]) / 100 if self.runs[1:].isdigit() else None


Columns: TypeAlias = Mapping[str, Declared]


@cache
def schema() -> dict[str, Any]:
    """Give the JSON Schema of a result."""
    # `bentpipe --help` comes without the Rust side.
    from bentpipe._core import result_schema

    found: dict[str, Any] = json.loads(result_schema())
    return found


@cache
def of_transfer() -> Columns:
    """Give the texts and numbers of the row of a transfer against a kernel."""
    from bentpipe._core import live_schema

    return {one.key: one for one in _declared(json.loads(live_schema()))}


def fields(of: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Give the fields of an object in the order in which the Rust side has them; the schema sorts them."""
    there = of["properties"]
    return [(key, there[key]) for key in dict.fromkeys([*of.get("required", []), *there])]


@cache
def structure(name: str = "") -> Columns:
    """Give the texts and numbers of a structure of the schema; of the run as a whole without a name."""
    return {one.key: one for one in _declared(schema()["$defs"][name] if name else schema())}


@cache
def tables() -> dict[str, Columns]:
    """Give the columns of each table of a result."""
    parts = ((key, part) for key, part in fields(schema()) if part.get("type") == "array")
    return {key: structure(part["items"]["$ref"].rpartition("/")[2]) for key, part in parts}


@cache
def declared(key: str) -> Declared | None:
    """Give the number of this name, in whatever table it is first."""
    for columns in (structure(), *tables().values(), structure("EngineResult")):
        if key in columns:
            return columns[key]
    return None


def is_text(key: str) -> bool:
    """Say whether what has this name is a text, also where it is missing."""
    return (found := declared(key)) is not None and found.kind == "text"


@cache
def quantiles() -> dict[str, float]:
    """Give the numbers that are a quantile of what all runs have together."""
    return {one.key: one.quantile for one in tables()["flows"].values() if one.quantile is not None}


@cache
def listed() -> dict[str, str]:
    """Give the tables whose rows are as many as came in a run, and the number by which a row is known."""
    return {
        table: one.key for table, columns in tables().items() for one in columns.values() if one.runs == "one"
    }


def _declared(of: Mapping[str, Any]) -> Iterator[Declared]:
    for key, field in fields(of):
        kinds = field.get("type")
        kind = kinds[0] if isinstance(kinds, list) else kinds
        if kind in ("string", "integer", "number"):
            always = key in of.get("required", [])
            about = dict(field.get("number", []))
            yield Declared(
                key, "text" if kind == "string" else kind, field.get("description", ""), always, **about
            )
