"""A second kernel: Debian's, in QEMU, with this machine's programs and this checkout in its memory.

`boot` builds an initramfs in a temporary folder, starts the kernel with it, runs one command in it, and gives
back what the command said and its exit status. The guest has no network and no disk; it ends with the call.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from archive import Archive, add_python

ROOT = Path(__file__).parent.parent.parent
KERNEL = ROOT / "target/guest"
"""Where `scripts/guest-kernel` has unpacked the kernel."""
QEMU = "qemu-system-x86_64"
BUSYBOX = Path("/bin/busybox")

# The shell too: that of BusyBox prefers its own programs, which know fewer options.
PROGRAMS = ("sh", "ip", "tc", "ss", "sysctl", "mount", "unshare", "nsenter", "setpriv", "iperf3")
# Those of pytest too, so that tests of this checkout run in the guest.
PACKAGES = (
    *("bentpipe*", "click", "numpy*", "rich"),
    *("pytest*", "_pytest", "iniconfig*", "packaging*", "pluggy*", "py.py", "pygments*"),
)
CHECKOUT = (
    "pyproject.toml",
    "python",
    "scenarios",
    "scripts",
    "tests/conftest.py",
    "tests/live",
    "tests/guest",
)

# What this machine's kernel may have built in and Debian's has as modules.
DEVICES = ("virtio_pci", "virtio_console", "tun", "veth", "tcp_diag")
CONTROLS = ("tcp_bbr", "tcp_hybla", "tcp_westwood")
QUEUES = ("sch_netem", "sch_fq", "sch_tbf", "sch_htb", "sch_ingress", "cls_bpf")
_DEPENDS = re.compile(rb"\0depends=([^\0]*)\0")

# An instruction is a nanosecond.
COUNTED = ("-icount", "shift=0,sleep=off", "-rtc", "clock=vm")

PORTS = ("out", "err", "status")

# Nothing reads the console while all goes well: what it says is in the error otherwise.
INIT = """\
#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8
mkdir -p /proc /sys /dev /tmp /run /root
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp; mount -t tmpfs run /run
for module in $(cat /modules/order); do insmod /modules/$module || echo "no $module"; done
for port in /sys/class/virtio-ports/*; do ln -s /dev/${{port##*/}} /dev/$(cat $port/name); done
ip link set lo up
cd {root}
echo guest: running
export PYTHONPATH={root}/tests/live
sh /command </dev/null >/dev/out 2>/dev/err
echo $? >/dev/status
sync
echo guest: done
poweroff -f
"""


class GuestError(Exception):
    """The guest did not come to the end of its command."""


@dataclass(frozen=True)
class Said:
    """What a command in the guest said, and its exit status."""

    stdout: str
    stderr: str
    status: int


def lacking() -> str:
    """Say what this machine lacks for a guest; nothing, if it has all."""
    if not shutil.which(QEMU) or not BUSYBOX.exists():
        return f"needs {QEMU} and {BUSYBOX}: scripts/debian-packages guest"
    return "" if _kernels() else f"needs a kernel in {KERNEL.relative_to(ROOT)}: scripts/guest-kernel"


def boot(
    command: Sequence[str],
    *,
    files: Mapping[str, str] | None = None,
    timeout_s: float = 300,
    counted: bool = False,
    modules: Sequence[str] = (),
) -> Said:
    """Run a command in the guest, in the folder of the checkout; `files` are written there for it first.

    With `counted` the guest's clock counts its one processor's instructions, and leaps while that is idle:
    what the guest measures does not depend on what else this machine does. `modules` are loaded beside those
    of every guest.

    Raises
    ------
    GuestError
        It was not done in time, or the kernel stopped before.
    """
    (image,) = _kernels()
    with tempfile.TemporaryDirectory(prefix="bentpipe-guest-") as temporary:
        folder = Path(temporary)
        initramfs = folder / "initramfs"
        _build(initramfs, command, files or {}, modules)
        ports = [
            word
            for port in PORTS
            for word in (
                *("-chardev", f"file,id={port},path={folder / port}"),
                *("-device", f"virtserialport,chardev={port},name={port}"),
            )
        ]
        machine = ["-accel", "tcg,thread=multi", "-smp", str(min(2, os.cpu_count() or 1))]
        if counted:
            machine = ["-accel", "tcg,thread=single", "-smp", "1", *COUNTED]
        start = [
            *(QEMU, *machine, "-cpu", "max"),
            *("-m", "2G", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"),
            *("-kernel", str(image), "-initrd", str(initramfs)),
            *("-append", "console=ttyS0 quiet panic=-1 mitigations=off tsc=reliable clocksource=tsc"),
            *("-serial", f"file:{folder / 'console'}", "-device", "virtio-serial-pci", *ports),
        ]
        try:
            done = subprocess.run(start, capture_output=True, text=True, timeout=timeout_s, check=False)
            why = done.stderr.strip()
        except subprocess.TimeoutExpired:
            why = f"not done after {timeout_s:g} s"
        said = {name: _read(folder / name) for name in (*PORTS, "console")}
    if not said["status"].strip():
        tail = "\n".join((said["console"] + said["err"]).splitlines()[-20:])
        raise GuestError(f"{shlex.join(command)}: {why}\n{tail}")
    return Said(said["out"], said["err"], int(said["status"]))


def _kernels() -> list[Path]:
    return sorted(KERNEL.glob("boot/vmlinuz-*"))


def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""


def _build(file: Path, command: Sequence[str], files: Mapping[str, str], modules: Sequence[str]) -> None:
    with file.open("wb") as stream:
        archive = Archive(stream)
        archive.write("/init", INIT.format(root=ROOT), 0o755)
        archive.write("/command", f"exec {shlex.join(command)}\n")
        for path, text in files.items():
            archive.write(str(ROOT / path), text)
        archive.add(BUSYBOX.resolve())
        archive.link("/bin", "usr/bin")
        for program in PROGRAMS:
            if found := shutil.which(program):
                archive.add(Path(found))
        environment = Path(sys.prefix)
        add_python(archive, environment, PACKAGES)
        archive.add(environment / "bin/bentpipe")
        for part in CHECKOUT:
            whole = ROOT / part
            (archive.add_all if whole.is_dir() else archive.add)(whole)
        _add_modules(archive, (*DEVICES, *CONTROLS, *QUEUES, *modules))
        archive.close()


def _add_modules(archive: Archive, names: Iterable[str]) -> None:
    """Add these modules with those that they need, and the order to load them in."""
    (modules,) = KERNEL.glob("lib/modules/*")
    there = {path.stem.replace("-", "_"): path for path in modules.rglob("*.ko")}
    order: list[str] = []

    def need(name: str) -> None:
        if name in order:
            return
        if name not in there:
            raise GuestError(
                f"{KERNEL.relative_to(ROOT)} has no module {name}: expected a kernel of Debian 12"
            )
        data = there[name].read_bytes()
        found = _DEPENDS.search(data)
        for other in found.group(1).decode().split(",") if found else ():
            if other:
                need(other.replace("-", "_"))
        archive.write_bytes(f"/modules/{name}", data)
        order.append(name)

    for name in names:
        need(name)
    archive.write("/modules/order", "\n".join(order) + "\n")


if __name__ == "__main__":
    answer = boot(sys.argv[1:])
    sys.stdout.write(answer.stdout)
    sys.stderr.write(answer.stderr)
    sys.exit(answer.status)
