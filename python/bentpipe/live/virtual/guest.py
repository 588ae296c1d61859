"""The program in a virtual kernel: calls a function of bentpipe, writes what it gives, turns the machine off.

In the run's folder, ``path`` is where modules are and ``task`` what to call. It writes ``answer-0``,
``answer-1`` and so on there, and how far things are to ``told``.
"""

import ctypes
import json
import os
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path("/run/bentpipe")
_POWER_OFF = 0x4321FEDC


def _write(name: str, content: object) -> None:
    part = FOLDER / f"{name}.part"
    with part.open("wb") as file:
        pickle.dump(content, file)
        file.flush()
        os.fsync(file.fileno())
    part.rename(FOLDER / name)


def _call() -> None:
    sys.path[:] = json.loads((FOLDER / "path").read_text(encoding="utf-8"))
    from bentpipe.errors import BentpipeError
    from bentpipe.runs import progress

    count = 0

    def answer(kind: str, content: object) -> None:
        nonlocal count
        _write(f"answer-{count}", (kind, content))
        count += 1

    with (FOLDER / "told").open("a", encoding="utf-8", buffering=1) as told:
        progress.listener = lambda *said: print(json.dumps(said), file=told)
        try:
            # Written by the command that started this kernel.
            function, arguments, options = pickle.loads((FOLDER / "task").read_bytes())  # noqa: S301
            given: Any = function(*arguments, **options)
            for value in given if isinstance(given, Iterator) else (given,):
                answer("value", value)
            answer("end", None)
        except BentpipeError as error:
            answer("error", error)
        except BaseException as error:
            answer("error", BentpipeError(f"in the virtual kernel: {type(error).__name__}: {error}"))


def main() -> None:
    """Answer, and turn the machine off."""
    try:
        _call()
    finally:
        # From here: ending the programs that are left can take a kernel without a clock for ever.
        os.sync()
        ctypes.CDLL(None).reboot(_POWER_OFF)


if __name__ == "__main__":
    main()
