"""A limit for every test, and children that signals end: a plugin of pytest."""

import os
import signal
from collections.abc import Generator
from types import FrameType

import pytest

LIMIT_S = float(os.environ.get("BENTPIPE_TEST_LIMIT_S", "900"))
"""The longest test takes minutes on a machine that does other things."""


def pytest_configure() -> None:
    # A child inherits what is ignored, as under nohup, and not what is handled.
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGQUIT):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, _ignore)


def _ignore(_number: int, _frame: FrameType | None) -> None:
    """Take up a signal, and do nothing."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    def end(_number: int, _frame: FrameType | None) -> None:
        pytest.fail(f"{item.nodeid} took more than {LIMIT_S:g} s")

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, LIMIT_S)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
