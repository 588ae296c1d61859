"""Queues of one's own."""

# ruff: noqa: ARG002

from typing import ClassVar, Literal, TypeAlias

from bentpipe._core import QueuedPacket, QueueView, Random
from bentpipe.own.scheme import Scheme

Arrival: TypeAlias = Literal["take", "mark", "drop"]
Departure: TypeAlias = Literal["send", "mark", "drop"]


class Queue(Scheme):
    """A queue before a link: derive from it, name it, and define where it is not drop-tail.

    The simulator holds the packets, and sends them in the order of their ranks. A packet that finds the link
    idle needs no room. Where there is none, the packet that would leave last is dropped, be it the new one.
    Each direction of a link that names a queue has an object of its own. What a hook raises ends the run and
    comes out of `bentpipe.run` with its traceback.

    >>> class Early(bp.Queue):
    ...     name = "early"
    ...
    ...     def enqueue(self, packet, queue, random):
    ...         return "drop" if random.uniform() < queue.packets / queue.limit else "take"
    >>> bp.run(scenario.with_({"links.satellite.queue": Early}))

    Parameters of ``__init__`` are options: ``queue = { scheme = "mine", limit = 50 }`` in the text of a
    scenario that was read with ``own=[Mine]``.
    """

    summary: ClassVar[str] = "a queue in Python"
    limit: int = 100
    """The most packets that wait; read when the scenario is."""
    _kind = "queue"
    _key = "scheme"

    def enqueue(self, packet: QueuedPacket, queue: QueueView, random: Random) -> Arrival:
        """Say what becomes of a packet that comes; `queue` is without it.

        ``"mark"`` takes it and sets ECN's CE where it is ECN-capable, and drops it otherwise.
        """
        return "take"

    def rank(self, packet: QueuedPacket, queue: QueueView) -> float:
        """Give the place of a packet that is taken: the lowest leaves first, and of these the oldest."""
        return 0.0

    def dequeue(self, packet: QueuedPacket, queue: QueueView, random: Random) -> Departure:
        """Say what becomes of the packet that leaves next; `queue` is without it.

        ``"mark"`` sends it with ECN's CE where it is ECN-capable, and drops it otherwise. After a drop, the
        packet behind is asked about.
        """
        return "send"
