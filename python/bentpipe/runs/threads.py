"""Threads that run scenarios, and how to be rid of one whose control in Python does not come back."""

import ctypes
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")

_GRACE_S = 0.3

_left = threading.Event()


class Halted(BaseException):
    """Raised within a hook that has to end; not an `Exception`, so that few hooks catch it."""


class Stopped(Exception):
    """Leaves a run, or a transfer, of which nobody wants the result."""


def left_behind() -> bool:
    """Say whether a thread was left behind, for whose end an exit of the interpreter would wait."""
    return _left.is_set()


class Crew:
    """Threads that can be sent away, also out of a hook that loops; one that sleeps is left behind."""

    def __init__(self, threads: int) -> None:
        self._pool = ThreadPoolExecutor(threads)
        # The threads at work, by their own word: an interruption while the pool starts a thread loses
        # it that thread. One that waits for work must not be disturbed.
        self._at_work: set[int] = set()
        self._changed = threading.Condition()

    def submit(self, function: Callable[_P, _T], *given: _P.args, **named: _P.kwargs) -> Future[_T]:
        """Have a thread call the function."""

        def work() -> _T:
            ident = threading.get_ident()
            with self._changed:
                self._at_work.add(ident)
            try:
                return function(*given, **named)
            finally:
                with self._changed:
                    self._at_work.discard(ident)
                    self._changed.notify_all()

        return self._pool.submit(work)

    def dismiss(self) -> None:
        """Wait until all have come back, who were told to; at last without those who do not."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        if not self._all_back():
            for ident in set(self._at_work):
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(ident), ctypes.py_object(Halted))
            if not self._all_back():
                _left.set()
                return
        self._pool.shutdown()

    def _all_back(self) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: not self._at_work, _GRACE_S)
