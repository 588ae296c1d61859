"""A limit for every test, and children that signals end: a plugin of pytest."""

import os
import signal
from collections.abc import Generator
from types import FrameType
from typing import Any

import pytest

LIMIT_S = float(os.environ.get("BENTPIPE_TEST_LIMIT_S", "900"))
"""The longest test takes minutes on a machine that does other things."""


IGNORED = pytest.StashKey[list[int]]()


def pytest_configure(config: pytest.Config) -> None:
    # A child inherits what is ignored, as under nohup, and not what is handled: a worker is told.
    told = getattr(config, "workerinput", {}).get("ignored", [])
    ending = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGQUIT)
    ignored = [
        int(number) for number in ending if number in told or signal.getsignal(number) is signal.SIG_IGN
    ]
    for number in ignored:
        signal.signal(number, _ignore)
    config.stash[IGNORED] = ignored


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    node.workerinput["ignored"] = node.config.stash[IGNORED]


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
