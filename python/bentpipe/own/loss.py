"""Loss models of one's own."""

from typing import ClassVar

from bentpipe._core import Random, SentPacket
from bentpipe.own.scheme import Scheme


class LossModel(Scheme):
    """A loss model: derive from it, name it, and define `lost`.

    Each direction of a link that names it has an object of its own, and so has each change of a schedule.
    What it raises ends the run and comes out of `bentpipe.run` with its traceback.

    >>> class Independent(bp.LossModel):
    ...     name = "independent"
    ...
    ...     def __init__(self, probability):
    ...         self.probability = probability
    ...
    ...     def lost(self, packet, random):
    ...         return random.uniform() < self.probability
    >>> bp.run(scenario.with_({"links.satellite.loss": Independent(0.01)}))

    Parameters of ``__init__`` are options: ``loss = { model = "independent", probability = 0.01 }`` in the
    text of a scenario that was read with ``own=[Independent]``.
    """

    summary: ClassVar[str] = "a loss model in Python"
    _kind = "loss"
    _key = "model"
    _needs = ("lost",)

    def lost(self, packet: SentPacket, random: Random) -> bool:
        """Say whether a packet is lost; asked in the order in which the last bits are sent."""
        raise NotImplementedError
