"""SEARCH's end of slow start beside a model of the rule of draft-chung-ccwg-search-09 alone."""

from collections import deque

import numpy as np
import pytest

import bentpipe as bp

_BINS, _EXTRA_BINS, _WINDOW, _THRESHOLD = 10, 15, 3.5, 0.26

_SCENARIO = """\
title = "slow start that fills a path"
duration = "3 s"
[links.path]
from = "server"
to = "client"
rate = "{rate} Mbit/s"
delay = "{delay_ms} ms"
queue = "unlimited"
[links.path.reverse]
rate = "100 Gbit/s"
[tcp]
mss = "1460 B"
slow_start = "search"
initial_window = "{initial} segments"
receive_window = "900 MB"
delayed_ack = false
[flows.download]
from = "server"
to = "client"
variant = "sack"
"""


def _window_at_the_exit(round_trip: float, initial: int) -> float:
    """Give cwnd in segments at the end of slow start; times are in those that a segment takes to be sent."""
    acks: deque[tuple[float, float]] = deque()
    free, cwnd, delivered = 0.0, initial, 0

    def send(now: float) -> None:
        nonlocal free
        free = max(free, now) + 1
        acks.append((free + round_trip, now))

    for _ in range(initial):
        send(0.0)
    sent_by: list[int] = []
    delivered_by: list[int] = []
    length = ends = 0.0
    while True:
        now, sent_at = acks.popleft()
        delivered += 1
        rtt = now - sent_at
        if not sent_by:
            length = rtt * _WINDOW / _BINS
            ends = now + length
            sent_by.append(delivered + len(acks))
            delivered_by.append(delivered)
        elif now > ends:
            passed = int((now - ends) // length) + 1
            sent_by += [sent_by[-1]] * (passed - 1) + [delivered + len(acks)]
            delivered_by += [delivered_by[-1]] * (passed - 1) + [delivered]
            ends += passed * length
            newest, back = len(sent_by) - 1, int(rtt // length)
            before, share = newest - back, rtt % length / length
            if before > _BINS and back < _EXTRA_BINS:
                sooner, later = (sent_by[end] - sent_by[end - _BINS] for end in (before - 1, before))
                expected = sooner * share + later * (1 - share)
                if expected - (delivered_by[newest] - delivered_by[newest - _BINS]) >= _THRESHOLD * expected:
                    return cwnd
        cwnd += 1
        send(now)
        send(now)


@pytest.mark.parametrize(("rate", "delay_ms", "initial"), [(10, 50, 10), (100, 50, 2), (100, 50, 10)])
def test_search_leaves_slow_start_where_the_rule_of_its_draft_does(
    rate: int, delay_ms: int, initial: int
) -> None:
    text = _SCENARIO.format(rate=rate, delay_ms=delay_ms, initial=initial)
    result = bp.run(bp.Scenario.from_toml(text), series=["*:cwnd"], progress=False)
    highest = np.asarray(result.series.get("download", "cwnd").value, float).max() / 1460
    segments = 2 * delay_ms / 1e3 * rate * 1e6 / 8 / 1500
    assert highest == pytest.approx(_window_at_the_exit(segments, initial), rel=0.02)
    # A window of 3.5 round trips has to pass first, and each adds as much to cwnd as the path holds.
    assert 5.2 < highest / segments < 5.8
