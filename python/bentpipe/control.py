"""Controls of one's own: classes whose hooks the simulator calls."""

import copy
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, ClassVar, TypeAlias

from bentpipe import _core
from bentpipe._core import Ack, Exit, Loss, Mark, PartialAck, Timeout, Window
from bentpipe.errors import InputError

__all__ = ["Ack", "Control", "Controls", "Exit", "Loss", "Mark", "PartialAck", "Timeout", "Window"]


class Control:
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
    ``[tcp.scalable]`` in the text of a scenario that was read with ``controls=[Scalable]``.
    """

    name: ClassVar[str] = ""
    """How scenarios and results call it: small letters, digits, ``-`` and ``_``."""
    summary: ClassVar[str] = "a control in Python"
    """One line for people."""
    paces: ClassVar[bool] = False
    """Whether it sets `Window.pacing_rate`, bytes a second, and `Window.send_quantum`."""
    reads_rates: ClassVar[bool] = False
    """Whether it reads `Ack.delivery_rate`, bytes a second."""

    def __init_subclass__(cls, **given: Any) -> None:
        """Refuse hooks that nobody would call."""
        super().__init_subclass__(**given)
        for name in vars(cls):
            if name.startswith("on_") and name not in _HOOKS:
                raise TypeError(f"{cls.__name__}.{name}: expected one of the hooks {', '.join(_HOOKS)}")

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


_HOOKS = tuple(name for name, value in vars(Control).items() if callable(value) and not name.startswith("_"))

Controls: TypeAlias = Iterable[type[Control] | Control]
"""Classes, or objects, which each connection gets a copy of."""


@dataclass(frozen=True, eq=False)
class _Copies:
    """Makes copies of an object that somebody has set up."""

    of: Control

    def __call__(self) -> Control:
        return copy.deepcopy(self.of)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Copies) and self.of is other.of

    def __hash__(self) -> int:
        return id(self.of)


def is_control(value: object) -> bool:
    """Say whether it is a control: an object or its class."""
    return isinstance(value, Control) or (isinstance(value, type) and issubclass(value, Control))


def registered(controls: Any) -> list[_core.OwnControl]:
    """Give what the simulator needs of controls that flows will name."""
    if isinstance(controls, str | bytes) or not isinstance(controls, Iterable):
        raise InputError(f"controls: expected several classes of bentpipe.Control, found {controls!r}")
    return [_own(control, control.name if is_control(control) else "") for control in controls]


def _own(control: Any, name: str) -> _core.OwnControl:
    if not is_control(control):
        raise InputError(f"controls: expected classes or objects of bentpipe.Control, found {control!r}")
    kind: type[Control] = control if isinstance(control, type) else type(control)
    if not isinstance(name, str) or not name:
        raise InputError(f'controls: {kind.__name__}: expected a name, as in name = "mine", found none')
    own = [hook for hook in _HOOKS if getattr(kind, hook) is not getattr(Control, hook)]
    make, options = _maker(control)
    return _core.OwnControl(
        name, str(kind.summary), make, options, own, bool(kind.paces), bool(kind.reads_rates)
    )


def _maker(control: Any) -> tuple[Callable[..., object], list[str]]:
    if isinstance(control, type):
        return control, list(inspect.signature(control).parameters)
    return _Copies(control), []


def kind_and_object(control: _core.OwnControl) -> tuple[type[Control], Control | None]:
    """Give the class of a control that was registered, and the object, if it was one."""
    maker: Any = control.make
    return (type(maker.of), maker.of) if isinstance(maker, _Copies) else (maker, None)


class NamedControls:
    """Puts names in the place of controls in settings, and knows the controls by their names."""

    def __init__(self, known: Iterable[_core.OwnControl] = ()) -> None:
        self.known = list(known)

    def names(self, settings: Any) -> Any:
        """Give the settings with names; two of one name become ``mine`` and ``mine-2``."""
        if is_control(settings):
            return self._name(settings)
        if isinstance(settings, Mapping):
            return {key: self.names(value) for key, value in settings.items()}
        if isinstance(settings, list | tuple):
            return [self.names(value) for value in settings]
        return settings

    def _name(self, control: Any) -> str:
        maker, _ = _maker(control)
        for number in count(1):
            name = control.name if number == 1 else f"{control.name}-{number}"
            of_name = [own for own in self.known if own.name == name]
            if not of_name:
                self.known.append(_own(control, name))
            if not of_name or of_name[0].make == maker:
                return name
        raise AssertionError
