"""The scenario and the settings of a finished run, read from its result."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from bentpipe import _core
from bentpipe.errors import InputError
from bentpipe.results import Settings
from bentpipe.source import Pairs, Source

_RESULT = "result.json"


@dataclass(frozen=True)
class Recorded:
    """The scenario and the settings of a finished run, as its result states them."""

    path: Path
    version: str
    file: str
    settings: Settings
    text: str
    engine: str | None = None

    @classmethod
    def at(cls, name: str) -> "Recorded | None":
        """Read the folder that ``run --out`` wrote, or the JSON of a run; ``None`` for a scenario.

        Raises InputError: it is a result and does not say how to run it again, or its scenario was changed.
        """
        path = Path(name)
        if not name or name == "-" or not (path.is_dir() or path.suffix == ".json"):
            return None
        path = path / _RESULT if path.is_dir() else path
        try:
            run = json.loads(path.read_text(encoding="utf-8"))
            text, settings = run["scenario_toml"], run["settings"]
            about = str(run["bentpipe"]), str(run["scenario_file"]), _checked(settings)
            recorded = cls(path, *about, text, run.get("engine_version"))
            changed = digest(text) != run["scenario_sha256"]
        except OSError as error:
            wanted = "a scenario, or what `bentpipe run --out` or `--json` wrote"
            raise InputError(f"{path}: expected {wanted}, found none ({error.strerror})") from error
        except KeyError as error:
            raise InputError(
                f"{path}: expected the result of a run that says how to run it again, found none with {error}"
            ) from error
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            raise InputError(f"{path}: expected the result of a run, found something else") from error
        if changed:
            raise InputError(
                f"{path}: scenario_toml: expected the text of scenario_sha256, found one that was changed"
            )
        return recorded

    def source(self, settings: Pairs) -> Source:
        """Give what its scenario is made of, with these settings on top."""
        before = [(key, value) for key, _, value in (pair.partition("=") for pair in self.settings["set"])]
        return f"{self.path}: scenario_toml", settings, self.text.encode(), self.file, before, [self.path]

    def warning(self) -> str | None:
        """Say that another version made it, or another engine of this version, if one did."""
        if self.version == _core.version():
            if self.engine in (None, _core.engine_version()):
                return None
            return (
                f"{self.path} is of engine {self.engine}, this is {_core.engine_version()}: "
                "numbers may differ"
            )
        return f"{self.path} is of bentpipe {self.version}, this is {_core.version()}: numbers may differ"


def _checked(settings: Any) -> Settings:
    kinds: dict[str, Any] = {"seed": int, "runs": int, "precision": (int, float)}
    for key, kind in kinds.items():
        value: Any = settings[key]
        if value is not None and (isinstance(value, bool) or not isinstance(value, kind) or not value >= 0):
            raise TypeError(key)
    if not all(isinstance(pair, str) for pair in settings["set"]):
        raise TypeError("set")
    return cast(Settings, settings)


def digest(text: str) -> str:
    """Give the SHA-256 by which a text is known."""
    return hashlib.sha256(text.encode()).hexdigest()
