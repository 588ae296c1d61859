"""Applications of one's own."""

from typing import ClassVar, Literal

from bentpipe._core import Connection
from bentpipe.own.scheme import Scheme


class Application(Scheme):
    """An application over a TCP connection: derive from it, name it, and define hooks.

    An object is the programs at both ends of a flow's connection, which opens at the flow's start. What a
    hook raises ends the run and comes out of `bentpipe.run` with its traceback.

    >>> class Telemetry(bp.Application):
    ...     name = "telemetry"
    ...
    ...     def on_start(self, connection):
    ...         self.on_time(connection)
    ...
    ...     def on_time(self, connection):
    ...         connection.send(200)
    ...         connection.call_in(1.0)
    >>> bp.run(scenario.with_({"flows.download.app": Telemetry}))

    Parameters of ``__init__`` are options: keys of the flow in the text of a scenario that was read with
    ``own=[Telemetry]``.
    """

    summary: ClassVar[str] = "an application in Python"
    opened_by: ClassVar[Literal["sender", "receiver"]] = "sender"
    """Which host opens and closes the connection: that of the flow's ``from``, or that of its ``to``."""
    ends: ClassVar[bool] = False
    """Whether it closes the connection by itself: if not, the run needs a duration."""
    no_delay: ClassVar[bool] = False
    """Whether it sends at once what is less than a segment (``TCP_NODELAY``)."""
    _kind = "application"
    _needs = ("on_start",)
    _switches = ("ends", "no_delay")

    def on_start(self, connection: Connection) -> None:
        """Take up that the flow starts."""

    def on_time(self, connection: Connection) -> None:
        """Take up that the time has come for which `Connection.call_in` asked last."""

    def on_data(self, connection: Connection, bytes: int) -> None:  # noqa: A002
        """Take up that the receiver has read so many bytes more of what was sent."""

    def on_request(self, connection: Connection, bytes: int) -> None:  # noqa: A002
        """Take up that the sender has read so many bytes more of what was requested."""
