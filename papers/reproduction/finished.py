"""Finished runs on disk, so that an interrupted reproduction goes on where it stopped."""

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from bentpipe.errors import BentpipeError, InputError
from bentpipe.files.output import write_text
from bentpipe.results import Run, dump


@dataclass(frozen=True)
class Cache:
    """Finished runs in a folder, or none of them kept.

    A file says what its run is (engine and scenario files by their digest, scenario, settings, seed and
    replications) and has a checksum of that and of every number. A run whose file is another's, or is not
    whole, is not found, and so is run again.
    """

    folder: Path | None

    @classmethod
    def at(cls, folder: Path | None, *, off: bool = False) -> "Cache":
        """Take the folder given, else the user's cache folder."""
        if off:
            return cls(None)
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        return cls(folder or home / "bentpipe" / "reproduce")

    def require_writable(self) -> None:
        """Write to the folder now, not after the first hours.

        Raises
        ------
        InputError
            Nothing can be written there.
        """
        if self.folder is None:
            return
        trial = self.folder / f"trial-{os.getpid()}"
        try:
            write_text(trial, "")
            trial.unlink(missing_ok=True)
        except (BentpipeError, OSError) as error:
            reason = getattr(error.__cause__ or error, "strerror", None) or str(error)
            raise InputError(
                f"--cache {self.folder}: expected a folder that can be written to, found none ({reason}); "
                "--no-cache keeps nothing"
            ) from error

    def get(self, what: dict[str, Any]) -> Run | None:
        """Find the finished run that is `what`."""
        if self.folder is None:
            return None
        path = self._path(what)
        try:
            # What is no file may block, or be endless.
            kept = json.loads(path.read_bytes()) if path.is_file() else None
        except (OSError, ValueError, RecursionError):
            return None
        if not isinstance(kept, dict) or kept.get("what") != what or "run" not in kept:
            return None
        return cast(Run, kept["run"]) if kept.get("checksum") == _checksum(what, kept["run"]) else None

    def put(self, what: dict[str, Any], run: Run) -> None:
        """Keep a finished run."""
        if self.folder is not None:
            kept = {"what": what, "checksum": _checksum(what, run), "run": run}
            write_text(self._path(what), dump(kept))

    def _path(self, what: dict[str, Any]) -> Path:
        digest = hashlib.blake2b(_text(what).encode(), digest_size=16)
        return cast(Path, self.folder) / f"{digest.hexdigest()}.json"


def _checksum(what: dict[str, Any], run: object) -> str:
    return hashlib.blake2b(_text([what, run]).encode(), digest_size=16).hexdigest()


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=True)
