"""What is swept, and how its folder says it."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import pyarrow as pa

from bentpipe.errors import InputError
from bentpipe.results import dump
from bentpipe.sweeps.axes import Axis, Points, points_of
from bentpipe.sweeps.work import Base

ABOUT, SCENARIO = "sweep.json", "scenario.toml"
_FORMAT = 1


@dataclass(frozen=True)
class Design:
    """A scenario, the points that change it, and how often each of them is run."""

    title: str
    base: Base
    points: Points
    runs: int

    @cached_property
    def identity(self) -> str:
        """What a folder of this sweep bears; the number of replications is no part of it."""
        axes = [[axis.key, axis.values] for axis in self.points.axes]
        parts = [self.base.text, self.base.seed, axes, self.points.sample]
        parts += [dict(sorted(self.base.sources.items()))] if self.base.sources else []
        text = json.dumps(parts)
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()

    @property
    def total(self) -> int:
        """Runs in all."""
        return len(self.points) * self.runs

    @cached_property
    def columns(self) -> list[tuple[Axis, Mapping[str, "pa.Array[Any]"]]]:
        """The axes, with what each is in the dataset: columns by their names, a value for each of the axis.

        Plain numbers are numbers. Quantities with a unit are texts, and numbers in a further column.
        """

        def columns(axis: Axis) -> dict[str, "pa.Array[Any]"]:
            numbers = axis.numbers()
            if numbers is None:
                return {axis.key: pa.array(axis.values, pa.string())}
            values, unit = numbers
            plain = pa.array(values, pa.float64())
            if not unit:
                return {axis.key: plain}
            return {axis.key: pa.array(axis.values, pa.string()), f"{axis.key} ({unit})": plain}

        return [(axis, columns(axis)) for axis in self.points.axes]

    def numeric_column(self, key: str) -> str:
        """Give the column that has the values of a key as numbers, or else as texts."""
        return next((list(columns)[-1] for axis, columns in self.columns if axis.key == key), key)

    def to_json(self) -> str:
        """Write it down, without the text of the scenario."""
        about = {"bentpipe_sweep": _FORMAT, "identity": self.identity, "scenario": self.title}
        about |= {"scenario_file": self.base.name, "seed": self.base.seed, "runs": self.runs}
        about |= {"points": len(self.points), "sample": self.points.sample}
        about |= {"controls": dict(self.base.sources)} if self.base.sources else {}
        return dump({**about, "vary": {axis.key: axis.given for axis in self.points.axes}})

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read what the sweep in `folder` is.

        Raises InputError: there is none, or what it says was changed.
        """
        try:
            about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
            text = (folder / SCENARIO).read_text(encoding="utf-8")
            base = Base(about["scenario_file"], text, about["seed"], about.get("controls", {}))
            points = points_of(list(about["vary"].items()), about["sample"], base.seed)
            design = cls(about["scenario"], base, points, about["runs"])
            changed = design.identity != about["identity"]
        except OSError as error:
            raise InputError(
                f"{folder}: expected the folder of a sweep, found no {Path(str(error.filename)).name} "
                f"that can be read ({error.strerror})"
            ) from error
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise InputError(f"{folder / ABOUT}: expected what a sweep is, found something else") from error
        if changed:
            raise InputError(
                f"{folder}: expected a sweep as it was begun, found a changed {ABOUT} or {SCENARIO}"
            )
        return design

    @classmethod
    def identity_in(cls, folder: Path) -> str | None:
        """Give what the folder's sweep.json says that it is, without looking at the rest."""
        try:
            return str(json.loads((folder / ABOUT).read_text(encoding="utf-8"))["identity"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None

    def difference(self, other: "Design") -> str:
        """Say what of `other` is not as it is here."""
        if other.base.text != self.base.text:
            return f"one of another scenario, {other.title!r}, or of other settings or another seed"
        for name, source in other.base.sources.items():
            if self.base.sources.get(name, source) != source:
                return f"one with another {name}, whose source is in its {ABOUT}"
        keys, others = ({axis.key: axis.given for axis in d.points.axes} for d in (self, other))
        for key, given in others.items():
            if keys.get(key) != given:
                there = given if isinstance(given, str) else ",".join(given)
                return f"one with --vary {key}='{there}'"
        if self.points.sample != other.points.sample:
            return (
                f"one with --sample {other.points.sample}" if other.points.sample else "one without --sample"
            )
        return f"one with --vary {' and '.join(others)} alone, or in another order"
