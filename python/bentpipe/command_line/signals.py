"""The signals that end the command line: Ctrl-C, SIGTERM, and SIGHUP, which a closed terminal sends."""

import os
import select
import signal
import sys
import time
from contextlib import suppress
from types import FrameType
from typing import TextIO

_ONCE_S = 1.0


class Ending:
    """Turns the first of the signals into a `KeyboardInterrupt`, and remembers which it was.

    What comes within a second of it says the same again (a closed terminal sends SIGHUP twice, people press
    Ctrl-C twice) and must not disturb the sweeping up. What comes later is raised again.
    """

    def __init__(self) -> None:
        self.number: signal.Signals | None = None
        self._raised_s = 0.0

    def catch(self) -> None:
        """Listen from now on; a signal that the caller has us ignore, as nohup does, stays ignored."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._raise)

    def _raise(self, number: int, _: FrameType | None) -> None:
        now_s = time.monotonic()
        if self.number is None:
            self.number = signal.Signals(number)
        elif now_s < self._raised_s + _ONCE_S:
            return
        self._raised_s = now_s
        raise KeyboardInterrupt

    def leave(self, message: str) -> int:
        """Say `message` in one line and give the exit status, 128 and the signal's number, as shells have it.

        A reader who has stopped reading keeps nobody: what he has not taken is dropped.
        """
        discard(sys.stdout)
        with suppress(OSError):
            if select.select([], [sys.stderr], [], 0.2)[1]:
                print(f"bentpipe: {message}", file=sys.stderr)
            else:
                discard(sys.stderr)
        return 128 + (self.number or signal.SIGINT)


def discard(stream: TextIO) -> None:
    """Let everything that is still to go to `stream`, and was not taken yet, go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
