"""What a column of a picture shows: a finished run, which is checked, or a scenario that is run for it."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from sys import float_info
from typing import Any, cast

from bentpipe.errors import InputError
from bentpipe.files.folder import RESULT, SERIES
from bentpipe.results import Run
from bentpipe.runs.recording import identity_of
from bentpipe.runs.traces import Traces

_FILES = (RESULT, SERIES)


@dataclass(frozen=True)
class DrawnRun:
    """One run to draw: the folder or scenario that it was asked for by, and the files read for it."""

    title: str
    run: Run
    traces: Traces
    source: str = ""
    files: tuple[Path, ...] = ()

    @classmethod
    def of(cls, name: str, settings: Iterable[tuple[str, str]] = (), seed: int | None = None) -> "DrawnRun":
        """Take a folder that ``run --out`` wrote, or run a scenario.

        Raises InputError: it is neither.
        Raises BentpipeError: the run failed.
        """
        folder = Path(name)
        if folder.is_dir():
            return cls._read(folder, name)
        if folder.name in _FILES and folder.is_file():
            raise InputError(
                f"{name}: expected the folder that it is in, or a scenario, found a file of a result"
            )
        from bentpipe.runs import runner
        from bentpipe.scenario import Scenario

        scenario = Scenario.load(name, settings)
        outcome = runner.execute(scenario, runner.Plan(seed=seed, traces=True), title=scenario.title)
        return cls(outcome.run["scenario"], outcome.run, outcome.series, name, tuple(scenario.files))

    @classmethod
    def _read(cls, folder: Path, name: str) -> "DrawnRun":
        result, series = (folder / file for file in _FILES)
        try:
            run = checked(json.loads(result.read_text(encoding="utf-8")))
        except OSError as error:
            raise InputError(
                f"{folder}: not a folder that `bentpipe run --out` wrote ({error.strerror})"
            ) from error
        except (ValueError, RecursionError) as error:
            raise InputError(f"{result}: not the result of a run: {error}") from error
        traces = Traces.read(series)
        if identity_of(series) != run.get("identity"):
            raise InputError(f"{folder}: expected files of one run, found {RESULT} and {SERIES} of two")
        return cls(run["scenario"], run, traces, name, (result, series))


_NEEDED: Mapping[str, Any] = {
    "scenario": "text",
    "seed": "number",
    "duration_s": "time",
    "flows": [{"name": "text", "variant": "text", "bytes_delivered": "number"}],
    "links": [{"name": "text", "queue_max_packets": "number"}],
    "handovers": [{"name": "text", "at_s": "number"}],
}
"""The keys of a result, and of the rows of its lists, with the kind of each value."""


def checked(value: Any) -> Run:
    """Give `value` back as a run, if all that a picture needs is there and of its kind.

    Raises ValueError: it is not; the message names the place and what was expected.
    """
    _check(value, "", _NEEDED)
    if not value["flows"]:
        raise ValueError("flows: expected at least one flow, found none")
    for number, flow in enumerate(value["flows"]):
        if flow.get("group") is not None:
            _check(flow["group"], f"flows[{number}].group", "text")
    return cast(Run, value)


def _check(value: Any, where: str, kind: Any) -> None:
    if isinstance(kind, Mapping):
        if not isinstance(value, dict):
            raise _wrong(where, "an object", value)
        for key, inner in kind.items():
            place = f"{where}.{key}" if where else key
            if key not in value:
                raise ValueError(f"{place}: expected a value, found none")
            _check(value[key], place, inner)
    elif isinstance(kind, list):
        if not isinstance(value, list):
            raise _wrong(where, "a list", value)
        for number, row in enumerate(value):
            _check(row, f"{where}[{number}]", kind[0])
    elif kind == "text":
        if not isinstance(value, str):
            raise _wrong(where, "a text", value)
    else:
        _check_number(value, where, above_zero=kind == "time")


def _check_number(value: Any, where: str, *, above_zero: bool) -> None:
    if isinstance(value, dict) and "mean" in value:
        value = value["mean"]
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= float_info.max:
        raise _wrong(where, "a number", value)
    if value < 0:
        raise _wrong(where, "a number that is not negative", value)
    if above_zero and value == 0:
        raise _wrong(where, "a time above zero", 0)


def _wrong(where: str, expected: str, found: Any) -> ValueError:
    kinds = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    shown = kinds.get(type(found)) or (
        f"{found:g}" if abs(found) <= float_info.max else "one that is not finite"
    )
    return ValueError(f"{where or 'the file'}: expected {expected}, found {shown}")
