"""A progress line on stderr for work that takes long enough to wonder about."""

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

_TERMINAL_AFTER_S = 0.5
_TERMINAL_EVERY_S = 0.1
_NOTEBOOK_EVERY_S = 0.5
_LOG_AFTER_S = 2.0
_LOG_EVERY_S = 10.0

listener: Callable[[str | None, float | None, str], None] | None = None
"""What hears of every update in the place of stderr: title, share and detail."""


class Reporter:
    """Shows how far a job is and how long it will take.

    That is a bar on a terminal and in a notebook, and now and then a line elsewhere.

    A short job shows nothing, nor does one without a title.
    """

    def __init__(self, title: str | None) -> None:
        self._title = title
        self._console: Console | None = None
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._began = time.monotonic()
        self._line: Callable[[str, float | None], None] | None = None
        self._due = self._began + _TERMINAL_AFTER_S

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._line is not None:
            self._line("", None)
        if self._bar is not None:
            # A terminal that was closed takes nothing more.
            with suppress(OSError):
                self._bar.stop()

    def due(self) -> bool:
        """Say whether `update` would show something now, for those to whom working out the detail is dear."""
        if listener is not None:
            return True
        if self._title is None or time.monotonic() < self._due:
            return False
        if self._console is None:
            # Loading rich takes longer than most runs.
            from rich.console import Console

            self._console = Console(stderr=True)
            if not (self._console.is_terminal or self._console.is_jupyter):
                self._due = self._began + _LOG_AFTER_S
        return time.monotonic() >= self._due

    def update(self, share: float | None, detail: str) -> None:
        """Say that `share` (0 to 1; ``None`` if nobody knows) is done, with something to read beside it."""
        if listener is not None:
            listener(self._title, share, detail)
            return
        if not self.due() or self._title is None or self._console is None:
            return
        now = time.monotonic()
        total = None if share is None else 1.0
        if not self._console.is_terminal:
            done = "" if share is None else f"{share:.0%}, "
            left = f"about {spell((now - self._began) * (1 / share - 1))} left, " if share else ""
            line = f"{self._title}: {done}{left}{detail}"
            if self._console.is_jupyter:
                self._due = now + _NOTEBOOK_EVERY_S
                self._line = self._line or _line_of_notebook()
                self._line(line, share)
            else:
                self._due = now + _LOG_EVERY_S
                print(line, file=sys.stderr, flush=True)
            return
        self._due = now + _TERMINAL_EVERY_S
        if self._bar is None or self._task is None:
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            # A title is what a scenario says, and no markup.
            self._bar = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                TextColumn("{task.fields[detail]}", markup=False),
                TimeRemainingColumn(),
                console=self._console,
                transient=True,
            )
            self._task = self._bar.add_task(self._title, total=total, detail=detail)
            self._bar.start()
        self._bar.update(self._task, completed=share, total=total, detail=detail)


def _line_of_notebook() -> Callable[[str, float | None], None]:
    """Give what shows a bar and a line in the cell that runs, in the place of those before."""
    # The notebook that runs us has it; we do not depend on it. Rich's own bar there needs ipywidgets.
    shown = import_module("IPython.display").display({"text/plain": ""}, raw=True, display_id=True)

    def show(text: str, share: float | None) -> None:
        done = "" if share is None else f' value="{share:.3f}"'
        page = f"<progress{done}></progress> {escape(text)}" if text else ""
        shown.update({"text/plain": text, "text/html": page}, raw=True)

    return show


def spell(seconds: float) -> str:
    """Write a time for people, to two digits or so: ``45 s``, ``12 min``, ``3.4 h``, ``2.1 days``."""
    for limit, unit, name in ((90, 1, "s"), (90 * 60, 60, "min"), (48 * 3600, 3600, "h")):
        if seconds < limit:
            value = seconds / unit
            return f"{value:.1f} {name}" if name == "h" else f"{max(1, round(value))} {name}"
    return f"{seconds / 86400:,.1f} days"
