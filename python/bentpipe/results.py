"""The JSON of a run, typed. Units stand in the names: ``_s`` seconds, ``_bps`` bits a second.

A number is plain in a single run, and an `Estimate` where several replications were combined.
"""

import json
from typing import NotRequired, TypedDict, cast

from bentpipe.numbers.number import Estimate as Estimate
from bentpipe.numbers.number import Number as Number
from bentpipe.result_types import Measured


class Settings(TypedDict):
    """What was asked for beside the scenario: ``key=value`` texts in their order, options that were given."""

    set: list[str]
    seed: int | None
    runs: int | None
    precision: float | None


class Run(Measured):
    """One run, or several combined: what was measured, and what it takes to have it again."""

    runs: NotRequired[int]
    random: NotRequired[bool]
    seeds: NotRequired[list[int]]
    identity: NotRequired[str]
    bentpipe: NotRequired[str]
    engine_version: NotRequired[str]
    scenario_file: NotRequired[str]
    settings: NotRequired[Settings]
    scenario_sha256: NotRequired[str]
    scenario_toml: NotRequired[str]


def parse(text: str) -> Run:
    """Read the JSON of a run."""
    return cast(Run, json.loads(text))


def dump(value: object, *, escaped: bool = False) -> str:
    """Write JSON the one way this project does: two spaces, keys in their order, a newline at the end.

    `escaped` writes what is not ASCII as JSON's escapes.
    """
    # Help needs no Rust, and every command imports this module.
    from bentpipe import _core

    compact = json.dumps(value, ensure_ascii=escaped, allow_nan=False, separators=(",", ":"))
    return _core.indented(compact) + "\n"


def mean(number: Number) -> float | None:
    """Give the value, or the mean of an estimate."""
    return number["mean"] if isinstance(number, dict) else number


def half_width(number: Number) -> float | None:
    """Give the half-width of the 95 % interval; ``None`` for a plain number or a single replication."""
    return number["ci95"] if isinstance(number, dict) else None
