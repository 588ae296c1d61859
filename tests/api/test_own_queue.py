"""Queues written in Python: twins of ours with the same numbers, and what becomes of their mistakes."""
# ruff: noqa: ARG002

import math
from collections.abc import Callable

import pytest

import bentpipe as bp
from bentpipe.own.queue import Arrival, Departure

FLOW = {"from": "server", "to": "client", "bytes": "2 MB", "variant": "newreno"}
SCENARIO = bp.Scenario.from_dict(
    {
        "extends": "preset:geo",
        "seed": 5,
        "tcp": {"receive_window": "1 MiB", "ecn": True},
        "links": {"satellite": {"rate": "2 Mbit/s", "loss": {"model": "packet", "probability": 1e-3}}},
        "flows": {"download": FLOW, "urgent": FLOW | {"class": 5, "start": "1 s"}},
    }
)


class DropTail(bp.Queue):
    """Ours: its limit is all."""

    name = "own-drop-tail"

    def __init__(self, limit: int = 20) -> None:
        self.limit = limit

    def enqueue(self, packet: bp.QueuedPacket, queue: bp.QueueView, random: bp.Random) -> Arrival:
        assert queue.packets <= queue.limit == self.limit
        assert packet.arrived_s == queue.time_s
        assert queue.is_full == (queue.idle_s is None and queue.packets == queue.limit)
        return "take"


class Priority(bp.Queue):
    """Ours: the highest class first."""

    name = "own-priority"
    limit = 20

    def rank(self, packet: bp.QueuedPacket, queue: bp.QueueView) -> float:
        return -packet.traffic_class


class Codel(bp.Queue):
    """RFC 8289 section 5, which begins with the packet that has waited longest."""

    name = "own-codel"

    def __init__(self, ecn: bool = False, limit: int = 60) -> None:
        self.action: Departure = "mark" if ecn else "drop"
        self.ecn, self.limit = ecn, limit
        self.first_above: float | None = None
        self.drop_next = 0.0
        self.count = self.last_count = 0
        self.dropping = self.after_drop = False

    def dequeue(self, packet: bp.QueuedPacket, queue: bp.QueueView, random: bp.Random) -> Departure:
        now, ok = queue.time_s, False
        if now - packet.arrived_s < 0.005 or queue.bytes <= 1500:
            self.first_above = None
        else:
            self.first_above = now + 0.1 if self.first_above is None else self.first_above
            ok = now >= self.first_above
        goes_on, self.after_drop = self.after_drop, False
        if goes_on and not self.dropping:
            # Behind the drop with which dropping begins.
            self.dropping = True
            delta = self.count - self.last_count
            self.count = delta if delta > 1 and now - self.drop_next < 1.6 else 1
            self.drop_next = now + 0.1 / math.sqrt(self.count)
            self.last_count = self.count
            return "send"
        if self.dropping:
            if goes_on and ok:
                self.drop_next += 0.1 / math.sqrt(self.count)
            self.dropping = ok
            if ok and now >= self.drop_next:
                self.count += 1
                self.after_drop = True
                return "drop"
            return "send"
        self.after_drop = ok
        return "drop" if ok else "send"


class Marks(bp.Queue):
    """Marks on arrival from five packets on."""

    name = "marks"
    limit = 50

    def enqueue(self, packet: bp.QueuedPacket, queue: bp.QueueView, random: bp.Random) -> Arrival:
        return "mark" if queue.packets >= 5 else "take"


def with_queue(queue: object) -> bp.Scenario:
    return SCENARIO.with_({"links.satellite.queue": queue})


def numbers(scenario: bp.Scenario) -> object:
    run = bp.run(scenario, progress=False).run
    return [run[rows] for rows in ("flows", "links")]


@pytest.mark.parametrize(
    ("own", "ours"),
    [
        (DropTail(20), "20 packets"),
        (Priority, {"scheme": "priority", "limit": "20 packets"}),
        (Codel, {"scheme": "codel", "limit": "60 packets"}),
    ],
)
def test_the_same_numbers_as_the_twin_in_rust(own: object, ours: object) -> None:
    assert numbers(with_queue(own)) == numbers(with_queue(ours))
    assert bp.run(with_queue(own), progress=False).links["satellite"]["dropped_packets"] != 0


def test_marks_instead_of_drops_where_tcp_is_capable() -> None:
    def numbers(ecn: bool) -> list[object]:
        link = bp.run(with_queue(Marks).with_({"tcp.ecn": ecn}), progress=False).links["satellite"]
        return [link[number] for number in ("marked_packets", "early_dropped_packets")]

    (marked, none), (other, dropped) = numbers(True), numbers(False)
    assert marked != 0 == none
    assert dropped != 0 == other


def test_random_numbers_are_the_seed_s() -> None:
    class Early(bp.Queue):
        name = "early"
        limit = 30

        def enqueue(self, packet: bp.QueuedPacket, queue: bp.QueueView, random: bp.Random) -> Arrival:
            return "drop" if random.uniform() < queue.packets / queue.limit / 4 else "take"

    scenario = with_queue(Early)
    assert numbers(scenario) == numbers(scenario)
    assert numbers(scenario) != numbers(scenario.with_({"seed": 6}))


def gives(hook: str, given: object) -> type[bp.Queue]:
    return type("Gives", (bp.Queue,), {"name": "gives", hook: lambda *_: given})


@pytest.mark.parametrize(
    ("queue", "message"),
    [
        (gives("enqueue", None), 'enqueue: expected "take", "mark" or "drop", found None'),
        (gives("dequeue", "take"), 'dequeue: expected "send", "mark" or "drop", found \'take\''),
        (gives("rank", math.nan), "rank: expected a number, found nan"),
    ],
)
def test_what_a_hook_must_not_give_ends_the_run(queue: type[bp.Queue], message: str) -> None:
    with pytest.raises((TypeError, ValueError)) as raised:
        bp.run(with_queue(queue), progress=False)
    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("load", "message"),
    [
        (
            lambda: with_queue(type("A", (bp.Queue,), {"name": "red"})),
            'own: expected a queue of a name of its own, found "red", which is taken',
        ),
        (
            lambda: with_queue(DropTail(-1)),
            "expected a whole number of packets from 0 to 4294967295 as limit",
        ),
        (
            lambda: bp.Scenario.from_toml(SCENARIO.toml(), own=[DropTail]).with_(
                {"links.satellite.queue": {"scheme": "own-drop-tail", "size": 5}}
            ),
            'links.satellite.queue.size: expected one of the known keys (limit), found "size"',
        ),
    ],
)
def test_what_cannot_be_used_is_one_line(load: Callable[[], object], message: str) -> None:
    with pytest.raises(bp.InputError) as raised:
        load()
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)
