"""What goes wrong in a way that a person can put right: one line, and the exit status of the command line."""


class BentpipeError(Exception):
    """A run or a write that failed; exit status 1."""

    exit_status = 1


class InputError(BentpipeError):
    """Something the caller gave that cannot be used; exit status 2."""

    exit_status = 2


class Interrupted(BentpipeError):
    """Ctrl-C, SIGTERM or SIGHUP; the exit status is 128 and the signal's number, as shells have it."""
