"""Threads that run scenarios, and how to be rid of one whose control in Python does not come back."""

import ctypes
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, ParamSpec, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")

_GRACE_S = 0.3

_left = threading.Event()


class Halted(BaseException):
    """Raised within a hook that has to end; not an `Exception`, so that few hooks catch it."""


def left_behind() -> bool:
    """Say whether a thread was left behind, for whose end an exit of the interpreter would wait."""
    return _left.is_set()


class Crew:
    """Threads that can be sent away, also out of a hook that loops; one that sleeps is left behind."""

    def __init__(self, threads: int) -> None:
        # The threads that are at work: one that waits for work must not be disturbed.
        self._at_work: set[int] = set()
        self._pool = ThreadPoolExecutor(threads)
        self._given: set[Future[Any]] = set()

    def submit(self, function: Callable[_P, _T], *given: _P.args, **named: _P.kwargs) -> Future[_T]:
        """Have a thread call the function."""

        def work() -> _T:
            ident = threading.get_ident()
            self._at_work.add(ident)
            try:
                return function(*given, **named)
            finally:
                self._at_work.discard(ident)

        future = self._pool.submit(work)
        self._given.add(future)
        future.add_done_callback(self._given.discard)
        return future

    def dismiss(self) -> None:
        """Wait until all have come back, who were told to; at last without those who do not."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        if wait(set(self._given), _GRACE_S).not_done:
            for ident in set(self._at_work):
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(ident), ctypes.py_object(Halted))
            if wait(set(self._given), _GRACE_S).not_done:
                _left.set()
                return
        self._pool.shutdown()
