"""Controls of one's own: classes whose hooks the simulator calls."""

from typing import ClassVar

from bentpipe import _core
from bentpipe._core import Ack, Exit, Loss, Mark, PartialAck, Timeout, Window
from bentpipe.own.scheme import Scheme


class Control(Scheme):
    """A congestion control: derive from it, name it, and define the hooks in which it is not RFC 5681.

    A hook that a class does not define costs nothing: the simulator does there what RFC 5681 and RFC 6582
    say. A hook may change `Window.cwnd` and the rest of the window, which are bytes. What it raises ends the
    run and comes out of `bentpipe.run` with its traceback. Each connection has an object of its own.

    >>> class Scalable(bp.Control):
    ...     name = "scalable"
    ...
    ...     def congestion_avoidance(self, w, ack):
    ...         w.cwnd += 0.01 * ack.acked
    >>> bp.run(scenario.with_({"flows.download.control": Scalable}))

    Parameters of ``__init__`` are options: ``Scalable(increase=0.02)`` in place of the class, or
    ``[tcp.scalable]`` in the text of a scenario that was read with ``own=[Scalable]``.
    """

    summary: ClassVar[str] = "a control in Python"
    _kind = "control"
    _switches = ("paces", "reads_rates")
    paces: ClassVar[bool] = False
    """Whether it sets `Window.pacing_rate`, bytes a second, and `Window.send_quantum`."""
    reads_rates: ClassVar[bool] = False
    """Whether it reads `Ack.delivery_rate`, bytes a second."""

    def on_ack(self, w: Window, ack: Ack) -> bool | None:
        """Take up an ACK, in recovery or not. ``False`` leaves out the growth that would follow."""

    def slow_start_growth(self, w: Window, ack: Ack) -> float:
        """Give the bytes by which an ACK opens cwnd below ssthresh; a slow start may take less."""
        return w.slow_start_growth(ack.acked)

    def congestion_avoidance(self, w: Window, ack: Ack) -> None:
        """Grow from ssthresh on (RFC 5681 equation 3)."""
        w.cwnd += w.avoidance_growth(ack.acked)

    def on_rtt_sample(self, now_s: float, sample_s: float) -> None:
        """Take up a sample of the retransmission timer; told before the rest of the ACK."""

    def on_handshake(self, w: Window, now_s: float, rtt_s: float) -> None:
        """Take up the handshake's round trip; not told where the SYN had to be sent again."""

    def on_loss(self, w: Window, loss: Loss) -> bool:
        """Take up the first loss of a window (RFC 5681 equation 4).

        Gives whether the window was reduced; ``False`` has the hole repaired and the window left alone.
        """
        return _core.StandardHooks.on_loss(w, loss)

    def on_further_loss(self, w: Window, loss: Loss) -> bool:  # noqa: ARG002
        """Take up a further loss in a window in which one was found; gives whether the window was reduced."""
        return False

    def on_congestion_mark(self, w: Window, mark: Mark) -> None:
        """Take up that a packet was marked on its way (RFC 3168); told once a window."""
        _core.StandardHooks.on_congestion_mark(w, mark)

    def on_partial_ack(self, w: Window, ack: PartialAck) -> None:
        """Take up an ACK in recovery that does not end it (RFC 6582)."""
        _core.StandardHooks.on_partial_ack(w, ack)

    def on_recovery_exit(self, w: Window, exit: Exit) -> None:  # noqa: A002
        """Leave recovery; ``exit.cwnd`` is what the recovery's RFC leaves."""
        w.cwnd = exit.cwnd

    def on_timeout(self, w: Window, timeout: Timeout) -> None:
        """Take up that the retransmission timer expired (RFC 5681 section 3.1)."""
        _core.StandardHooks.on_timeout(w, timeout)

    def restart_after_idle(self, w: Window, restart: float) -> None:
        """Begin again after an idle time; `restart` is the first window in bytes (RFC 5681 section 4.1)."""
        _core.StandardHooks.restart_after_idle(w, restart)

    def on_resume(self, w: Window, now_s: float, by_application: bool) -> None:
        """Take up that data is about to go out where all before it is acknowledged."""
