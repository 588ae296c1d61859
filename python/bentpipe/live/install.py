"""The schemes' congestion controls in the running kernel: installed, told of, and removed."""

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import as_file, files
from pathlib import Path

from bentpipe import _core
from bentpipe.errors import InputError
from bentpipe.live.errors import errors_of

CONTROLS = ("adalr", "afc")
"""Those that are BPF programs."""

_FILE_SYSTEM = Path("/sys/fs/bpf")
_PINS = _FILE_SYSTEM / "bentpipe"
_AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
_DEFAULT = Path("/proc/sys/net/ipv4/tcp_congestion_control")
_BEFORE = Path("/run/bentpipe")
"""What was the default before one of ours: a file for each network namespace, named by its number."""
_OURS = Path("/proc/self/ns/net")
_LAST_RESORT = "reno"


@dataclass(frozen=True)
class User:
    """A connection that uses a control: its ends, its programs, and a process of its network namespace.

    The programs are empty where a connection has none any more, the process is None in our own namespace.
    """

    local: str
    remote: str
    programs: str
    namespace_of: int | None


@dataclass(frozen=True)
class Installed:
    """A control of ours that the kernel has."""

    name: str
    since: datetime
    default: bool
    users: tuple[User, ...]


def install(names: Sequence[str], *, default: bool = False) -> list[str]:
    """Have the kernel know these controls until `remove`, or until the machine is started again.

    Gives those that it did not know yet. The system's default stays as it is unless `default` says that the
    first of them is to be it, in this network namespace.

    Raises InputError: there is no such control, or the machine, the user or this build lacks something.
    Raises BentpipeError: the kernel refuses.
    """
    for name in names:
        if name not in CONTROLS:
            raise InputError(f"live install: expected one of {', '.join(CONTROLS)}, found {name!r}")
    with ExitStack() as stack:
        objects = [stack.enter_context(bpf_object(name, "live install")) for name in names]
        _make_folder_of_pins()
        new = []
        for name, file in zip(names, objects, strict=True):
            pin = _PINS / name
            if pin.exists():
                continue
            if name in available():
                raise InputError(f"live install: the kernel has a {name} already, and not from bentpipe")
            with errors_of(f"live install: {name}"):
                _core.bpf_install(str(file), str(pin))
            new.append(name)
    if default:
        if (before := _read(_DEFAULT)) not in CONTROLS:
            _BEFORE.mkdir(parents=True, exist_ok=True)
            _before().write_text(before, encoding="ascii")
        _DEFAULT.write_text(names[0], encoding="ascii")
    return new


@contextmanager
def held(names: Iterable[str], who: str) -> Iterator[None]:
    """Have the kernel know these controls meanwhile, those that it does not know yet.

    They are gone with this process, however it ends. Errors name `who` asked. Raises as `install` does.
    """
    with ExitStack() as stack:
        for name in sorted(set(names) - set(available())):
            file = stack.enter_context(bpf_object(name, who))
            with errors_of(f"{who}: {name}"):
                controls = _core.bpf_hold(str(file))
            stack.callback(controls.release)
        yield


def remove(names: Sequence[str]) -> list[Installed]:
    """Take these controls out of the kernel again, all of them without a name; give what they were.

    Connections that use one keep it until they end. Where one is the default, what was before it is again.

    Raises InputError: one is not installed, or the user may not.
    Raises BentpipeError: the kernel refuses.
    """
    there = {control.name: control for control in status()}
    for name in names:
        if name not in there:
            known = f"installed are {', '.join(there)}" if there else "none is installed"
            raise InputError(f"live remove: {name} is not installed: {known}")
    chosen = [there[name] for name in names or there]
    for control in chosen:
        if control.default:
            _restore_default()
        with errors_of(f"live remove: {control.name}"):
            _core.bpf_remove(str(_PINS / control.name))
    return chosen


def status() -> list[Installed]:
    """Give the controls of ours that the kernel has, with the connections of every network namespace.

    Raises InputError: the user may not look.
    """
    default = _read(_DEFAULT)
    try:
        pins = sorted(_PINS.iterdir())
    except FileNotFoundError:
        return []
    except PermissionError as error:
        raise InputError("live status: this needs root: run it with sudo") from error
    made = ((pin.name, datetime.fromtimestamp(pin.stat().st_mtime, UTC)) for pin in pins)
    return [Installed(name, since, name == default, tuple(_users(name))) for name, since in made]


def available() -> list[str]:
    """Give the controls that the kernel knows."""
    return _read(_AVAILABLE).split()


@contextmanager
def bpf_object(name: str, who: str) -> Iterator[Path]:
    """Give the file of a control's program, where this user may load it."""
    if sys.platform != "linux":
        raise InputError(f"{who}: this needs Linux")
    if os.geteuid() != 0:
        raise InputError(f"{who}: a BPF program needs root: run this with sudo")
    file = files("bentpipe") / "bpf" / f"{name}.bpf.o"
    if not file.is_file():
        raise InputError(f"{who}: this build of bentpipe has no object of {name}: one beside clang-19 has it")
    with as_file(file) as path:
        yield path


def _make_folder_of_pins() -> None:
    """Make it on a file system that holds BPF programs."""
    mounts = _read(Path("/proc/mounts")).splitlines()
    if not any(line.split()[1:3] == [str(_FILE_SYSTEM), "bpf"] for line in mounts):
        command = ["mount", "-t", "bpf", "bpf", str(_FILE_SYSTEM)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            said = done.stderr.strip().splitlines() or ["it cannot be mounted"]
            raise InputError(f"live install: no BPF file system at {_FILE_SYSTEM}: {said[0]}")
    _PINS.mkdir(mode=0o755, exist_ok=True)


def _before() -> Path:
    return _BEFORE / f"default-control-{_OURS.stat().st_ino}"


def _restore_default() -> None:
    try:
        _DEFAULT.write_text(_read(_before()) or _LAST_RESORT, encoding="ascii")
    except PermissionError:
        # A namespace may inherit a default that it may not choose.
        _DEFAULT.write_text(_LAST_RESORT, encoding="ascii")
    _before().unlink(missing_ok=True)


def _users(name: str) -> Iterator[User]:
    for process in _namespaces():
        enter = [] if process is None else ["nsenter", f"--net=/proc/{process}/ns/net"]
        try:
            listed = subprocess.run([*enter, "ss", "-HOtinp"], capture_output=True, text=True, check=False)
        except FileNotFoundError:
            return
        for line in listed.stdout.splitlines():
            words = line.split()
            if name in words[5:]:
                programs = next((word for word in words if word.startswith("users:")), "")
                yield User(words[3], words[4], programs.removeprefix("users:").strip("()"), process)


def _namespaces() -> Iterator[int | None]:
    """Give a process of each network namespace that any is in, None for our own."""
    seen = {_OURS.stat().st_ino}
    yield None
    for process in Path("/proc").glob("[0-9]*"):
        try:
            number = (process / "ns/net").stat().st_ino
        except OSError:
            continue
        if number not in seen:
            seen.add(number)
            yield int(process.name)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:
        return ""
