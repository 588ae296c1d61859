"""A scenario's network between the kernels of its hosts, by the wall clock."""

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bentpipe import _core
from bentpipe._core import Scenario
from bentpipe.errors import InputError
from bentpipe.live.errors import errors_of

CALLING_CARD = "bentpipe-emulator"
"""The name of the file in memory by which `running` finds an emulator; it is gone with its process."""

_CARD = f"/memfd:{CALLING_CARD} "
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

Report = dict[str, Any]
Snapshot = dict[str, Any]


@dataclass(frozen=True)
class Emulator:
    """An emulator that runs on this machine, and the network namespaces of its hosts by their names."""

    process: int
    scenario: str
    hosts: Mapping[str, Path]


def emulate(
    scenario: Scenario, name: str, *, seen: Callable[[Snapshot], None] = lambda _: None, **options: Any
) -> Report:
    """Emulate `scenario` until its time is over or a signal ends it, and give its report.

    `name` is what `running` finds it by. `seen` is called a few times a second with how things stand.
    `options` are ``time``, ``pcap``, ``offloads``, without which each packet is one for the hosts' kernels
    too, and ``interfaces``: two hosts that are other machines, each with the interface at which it is.

    Raises InputError: the machine or the user lacks something, or an interface cannot be one.
    Raises BentpipeError: a device failed.
    """
    cards: list[int] = []
    with ended_by_signals() as ended:

        def look(text: str | None) -> bool:
            if text is not None:
                snapshot = json.loads(text)
                if not cards:
                    cards.append(_leave_card(name, snapshot))
                seen(snapshot)
            return ended.is_set()

        try:
            with errors_of("live emulate"):
                report = _core.emulate(scenario, look, **options)
        finally:
            for card in cards:
                os.close(card)
    return {"kernel_release": _core.kernel_release(), **json.loads(report)}


@contextmanager
def ended_by_signals() -> Iterator[threading.Event]:
    """Have the signals that end the command line set the event instead."""
    ended = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield ended
        return
    before = {
        number: signal.signal(number, lambda *_: ended.set())
        for number in _SIGNALS
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield ended
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _leave_card(name: str, snapshot: Snapshot) -> int:
    names = [host["name"] for host in snapshot["report"]["hosts"] if host["address"]]
    hosts = dict(zip(names, snapshot["namespaces"], strict=True))
    card = os.memfd_create(CALLING_CARD)
    os.write(card, json.dumps({"scenario": name, "hosts": hosts}).encode())
    return card


def running() -> list[Emulator]:
    """Find the emulators of this user on this machine."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            # Somebody else's process could lead us into a network of its own.
            if folder.stat().st_uid != os.geteuid():
                continue
            links = (folder / "fd").iterdir()
            card = next((one for one in links if str(one.readlink()).startswith(_CARD)), None)
            # Until it is written it says nothing.
            text = card.read_text() if card else ""
        except OSError:
            # It has ended meanwhile.
            continue
        if text:
            told = json.loads(text)
            hosts = {name: folder / "fd" / str(number) for name, number in told["hosts"].items()}
            found.append(Emulator(int(folder.name), told["scenario"], hosts))
    return sorted(found, key=lambda emulator: emulator.process)


def named(scenario: str) -> str:
    """Give the name by which an emulator of `scenario`, as the command line has it, is found."""
    return scenario if scenario == "-" or scenario.startswith("preset:") else str(Path(scenario).resolve())


def place(scenario: str, host: str, process: int | None = None) -> Path:
    """Find the network of `host` of the running emulator of `scenario`, or of the one whose process is given.

    Raises InputError: there is none, or more than one.
    """
    name = named(scenario)
    emulators = [one for one in running() if one.scenario == name and process in (None, one.process)]
    if not emulators:
        which = f" with the process {process}" if process is not None else ""
        raise InputError(
            f"{scenario}: no emulator of it runs here{which}: start one by bentpipe live emulate {scenario}"
        )
    if len(emulators) > 1:
        numbers = ", ".join(str(emulator.process) for emulator in emulators)
        raise InputError(f"--process: expected which of the emulators of {scenario}: {numbers}")
    hosts = emulators[0].hosts
    if not hosts:
        raise InputError(f"{scenario}: its hosts are other machines, at the interfaces of this one")
    if host not in hosts:
        raise InputError(f"HOST: expected one of {', '.join(hosts)}, found {host!r}")
    return hosts[host]


def enter(host: str, there: Path, command: list[str]) -> None:
    """Become `command` in the network namespace of a host, which is `there`; does not return.

    Raises InputError: the user may not, or there is no such command.
    """
    import ctypes

    try:
        namespace = os.open(there, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise InputError(f"live shell: the emulator has ended: {error.strerror}") from error
    if ctypes.CDLL(None, use_errno=True).setns(namespace, 0):
        reason = os.strerror(ctypes.get_errno())
        raise InputError(f"live shell: entering a namespace needs root (CAP_SYS_ADMIN): {reason}")
    os.environ["BENTPIPE_HOST"] = host
    try:
        os.execvp(command[0], command)  # noqa: S606 - the user asked for this program
    except OSError as error:
        raise InputError(f"{command[0]}: {error.strerror}") from error


class Paced:
    """Lets through one call in so many seconds, the first at once."""

    def __init__(self, every_s: float) -> None:
        self._every_s = every_s
        self._due = 0.0

    def is_due(self) -> bool:
        """Say whether it is time, and begin to wait again if so."""
        now = time.monotonic()
        if now < self._due:
            return False
        self._due = now + self._every_s
        return True
