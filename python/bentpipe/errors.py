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
    """A scenario that cannot be read or used; the text names file, line, key and what was expected."""


class RunError(BentpipeError, RuntimeError):
    """A run that began and has no result."""


def one_line(text: str, most: int = 2000) -> str:
    """Give a text in one line without anything that a terminal obeys, cut after so many characters."""
    plain = " ".join(text[: 4 * most].split())
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in plain[:most])
    return f"{shown}…" if len(plain) > most else shown


class Interrupted(KeyboardInterrupt):
    """Ctrl-C, SIGTERM or SIGHUP; the exit status is 128 and the signal's number, as shells have it.

    As with every `KeyboardInterrupt`, ``except Exception`` lets it through.
    """
