"""The start of the command line: signals are caught before anything that takes long is imported."""

import sys

from bentpipe.command_line.signals import Ending


def main() -> None:
    """Import the command line and run it; a signal meanwhile ends the process as it does later."""
    ending = Ending()
    ending.catch()
    try:
        from bentpipe import cli
    except BaseException:
        # A module whose import is interrupted may raise what it likes.
        if ending.number is None:
            raise
        sys.exit(ending.leave("interrupted"))
    cli.main()


if __name__ == "__main__":
    main()
