"""What a column of a picture shows: a finished run, or a scenario that is run for it."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from bentpipe.errors import InputError
from bentpipe.files.folder import RESULT, SERIES
from bentpipe.plot.check import checked
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

        Raises
        ------
        InputError
            It is neither.
        BentpipeError
            The run failed.
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
