"""A scenario's network between the kernels of its hosts, by the wall clock."""

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
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

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

Report = dict[str, Any]
Snapshot = dict[str, Any]


@dataclass(frozen=True)
class Host:
    """A host of a running emulator."""

    process: int
    name: str
    address: str
    descriptor: int

    @property
    def namespace(self) -> str:
        """The file of its network namespace."""
        return f"/proc/{self.process}/fd/{self.descriptor}"


@dataclass(frozen=True)
class Emulator:
    """An emulator that runs on this machine."""

    process: int
    scenario: str
    hosts: Mapping[str, Host]


def emulate(
    scenario: Scenario,
    name: str,
    *,
    until: str | None = None,
    pcap: Path | None = None,
    offloads: bool = True,
    interfaces: Sequence[tuple[str, str]] = (),
    seen: Callable[[Snapshot], None] = lambda _: None,
) -> Report:
    """Emulate `scenario` until its time is over or a signal ends it, and give its report.

    `name` is what `running` finds it by. `seen` is called a few times a second with how things stand.
    Without `offloads`, each packet is one for the hosts' kernels too. `interfaces` are two hosts that are
    other machines, each with the interface of this one at which it is.

    Raises
    ------
    InputError
        The machine or the user lacks something, or an interface cannot be one.
    BentpipeError
        A device failed.
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
                report = _core.emulate(
                    scenario,
                    look,
                    time=until,
                    pcap=str(pcap) if pcap else None,
                    offloads=offloads,
                    interfaces=list(interfaces),
                )
        except ValueError as error:
            raise InputError(str(error)) from error
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
    named = [host for host in snapshot["report"]["hosts"] if host["address"]]
    hosts = [
        {"name": host["name"], "address": host["address"], "descriptor": descriptor}
        for host, descriptor in zip(named, snapshot["namespaces"], strict=True)
    ]
    if sys.platform != "linux":
        raise InputError("live emulate: a live run needs Linux")
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
            card = _card(folder)
        except OSError:
            # It has ended meanwhile.
            continue
        if card is not None:
            process = int(folder.name)
            hosts = {host["name"]: Host(process, **host) for host in card["hosts"]}
            found.append(Emulator(process, card["scenario"], hosts))
    return sorted(found, key=lambda emulator: emulator.process)


def _card(folder: Path) -> dict[str, Any] | None:
    for link in (folder / "fd").iterdir():
        if str(link.readlink()).startswith(f"/memfd:{CALLING_CARD} "):
            # Until it is written it says nothing.
            text = link.read_text()
            card: dict[str, Any] | None = json.loads(text) if text else None
            return card
    return None


def named(scenario: str) -> str:
    """Give the name by which an emulator of `scenario`, as the command line has it, is found."""
    return scenario if scenario == "-" or scenario.startswith("preset:") else str(Path(scenario).resolve())


def place(scenario: str, host: str, process: int | None = None) -> Host:
    """Find `host` of the running emulator of `scenario`, or of the one whose process is given.

    Raises
    ------
    InputError
        There is none, or more than one.
    """
    name = named(scenario)
    emulators = [
        emulator
        for emulator in running()
        if emulator.scenario == name and process in (None, emulator.process)
    ]
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


def enter(there: Host, command: list[str]) -> None:
    """Become `command` in the network namespace of a host; does not return.

    Raises
    ------
    InputError
        The user may not, or there is no such command.
    """
    import ctypes

    try:
        namespace = os.open(there.namespace, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise InputError(f"live shell: the emulator has ended: {error.strerror}") from error
    if ctypes.CDLL(None, use_errno=True).setns(namespace, 0):
        reason = os.strerror(ctypes.get_errno())
        raise InputError(f"live shell: entering a namespace needs root (CAP_SYS_ADMIN): {reason}")
    os.environ["BENTPIPE_HOST"] = there.name
    try:
        os.execvp(command[0], command)  # noqa: S606 - the user asked for this program
    except OSError as error:
        raise InputError(f"{command[0]}: {error.strerror}") from error


class Rates:
    """What the links carried since the snapshot before."""

    def __init__(self) -> None:
        self._before: tuple[float, list[int]] = (0.0, [])
        self.bps: list[float] = []

    def take(self, snapshot: Snapshot) -> None:
        """Hear of a newer one."""
        report = snapshot["report"]
        counts = [link["delivered_bytes"] for link in report["links"]]
        then_s, then = self._before
        span_s = report["duration_s"] - then_s
        if span_s > 0:
            # Satellites get links as paths need them.
            earlier = then + [0] * (len(counts) - len(then))
            self.bps = [8 * (now - old) / span_s for now, old in zip(counts, earlier, strict=True)]
        self._before = (report["duration_s"], counts)


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
