"""What goes wrong in a way that a person can put right: one line, and the exit status of the command line.

=================== ===================================================== ===========
`BentpipeError`     what this package raises, but for an interruption     1
`InputError`        something the caller gave cannot be used              2
`ScenarioError`     a scenario cannot be read or used                     2
`RunError`          a run began and has no result                         1
`Interrupted`       Ctrl-C; no `BentpipeError`, but a `KeyboardInterrupt` 128 + 2
=================== ===================================================== ===========
"""


class BentpipeError(Exception):
    """A run or a write that failed; exit status 1."""

    exit_status = 1


class InputError(BentpipeError, ValueError):
    """Something the caller gave that cannot be used; exit status 2."""

    exit_status = 2


class ScenarioError(InputError):
    """A scenario that cannot be read or used; as text one line with its file, line, key, message and hint.

    Parameters
    ----------
    message
        What is wrong: what was expected and what was found, or what does not go together.
    file
        The file at fault; ``--set`` or ``settings`` for a setting given beside it.
    line
        The line at fault, counted from 1, where there is one.
    key
        The dotted key at fault, ``links.satellite.rate``; empty where it is the file as a whole.
    hint
        What may have been meant.
    """

    def __init__(
        self, message: str, file: str = "", line: int | None = None, key: str = "", hint: str | None = None
    ) -> None:
        super().__init__(message, file, line, key, hint)
        self.message, self.file, self.line, self.key, self.hint = message, file, line, key, hint

    def __str__(self) -> str:
        from bentpipe import _core

        return _core.scenario_error_line(self.message, self.file, self.line, self.key, self.hint)

    def within(self, file: str, *, written: bool = True) -> "ScenarioError":
        """Give the same error of another file; of a text that nobody has `written`, without its line."""
        return ScenarioError(self.message, file, self.line if written else None, self.key, self.hint)


class RunError(BentpipeError, RuntimeError):
    """A run that began and has no result."""


def reason(error: BaseException) -> str:
    """Give what an error of another package says, in one line; its type where that is nothing."""
    return " ".join(str(error).split()) or type(error).__name__


def one_line(text: str, most: int = 2000) -> str:
    """Give a text in one line without anything that a terminal obeys, cut after so many characters."""
    plain = " ".join(text[: 4 * most].split())
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in plain[:most])
    return f"{shown}…" if len(plain) > most else shown


class Interrupted(KeyboardInterrupt):
    """Ctrl-C, SIGTERM or SIGHUP; the exit status is 128 and the signal's number, as shells have it.

    As with every `KeyboardInterrupt`, ``except Exception`` lets it through.
    """
