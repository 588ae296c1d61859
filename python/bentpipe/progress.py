"""A progress line on stderr for runs that take long enough to wonder about."""

import sys
import time
from contextlib import suppress
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

_TERMINAL_AFTER_S = 0.5
_LOG_AFTER_S = 2.0
_LOG_EVERY_S = 10.0


class Reporter:
    """Shows how far a job is: a bar on a terminal, now and then a line elsewhere.

    A short job shows nothing, nor does one without a title.
    """

    def __init__(self, title: str | None) -> None:
        self._title = title
        self._console = Console(stderr=True)
        self._bar: Progress | None = None
        self._task = TaskID(0)
        self._due = time.monotonic() + (_TERMINAL_AFTER_S if self._console.is_terminal else _LOG_AFTER_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if self._bar is not None:
            # A terminal that was closed takes nothing more.
            with suppress(OSError):
                self._bar.stop()

    def update(self, share: float | None, detail: str) -> None:
        """Say that `share` (0 to 1; ``None`` if nobody knows) is done, with something to read beside it."""
        if self._title is None:
            return
        now = time.monotonic()
        if self._bar is not None:
            self._bar.update(self._task, completed=share, total=None if share is None else 1.0, detail=detail)
        elif now < self._due:
            return
        elif self._console.is_terminal:
            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.fields[detail]}"),
                TimeRemainingColumn(),
                console=self._console,
                transient=True,
            )
            self._task = self._bar.add_task(self._title, total=None if share is None else 1.0, detail=detail)
            self._bar.start()
        else:
            self._due = now + _LOG_EVERY_S
            done = "" if share is None else f"{share:.0%}, "
            print(f"{self._title}: {done}{detail}", file=sys.stderr, flush=True)
