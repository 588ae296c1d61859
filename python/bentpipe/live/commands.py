"""The commands of ``bentpipe live`` but ``interop``."""

import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from bentpipe import _core
from bentpipe.command_line.options import (
    Command,
    File,
    flag,
    json_option,
    option,
    scenario_argument,
    set_option,
)
from bentpipe.command_line.terminal import give_up_for, print_json
from bentpipe.command_line.values import Value, Whole, quantity
from bentpipe.errors import InputError
from bentpipe.files.output import Staging
from bentpipe.live import emulate as emulator
from bentpipe.live import gateway as gateways
from bentpipe.live import install as controls
from bentpipe.live import testbed as testbeds
from bentpipe.live.emulator_table import print_emulated, shown
from bentpipe.live.testbed_show import draw, print_compared
from bentpipe.live.virtual.machine import Machine, stated
from bentpipe.scenario import Scenario
from bentpipe.show.style import picture_format
from bentpipe.show.table import console
from bentpipe.show.units import counted, seconds
from bentpipe.show.units import quantity as written

_LOG_EVERY_S = 10.0


def _at(text: str) -> tuple[str, str]:
    # No name of an interface has an equals sign.
    host, sign, interface = text.rpartition("=")
    if not (host and sign and interface):
        raise ValueError(f"expected a host and an interface, as server=eth1, found {text!r}")
    return host, interface


@click.command(cls=Command)
@scenario_argument
@set_option
@option("--time", quantity("time"), "For how long; until Ctrl-C or SIGTERM by default.")
@option("--pcap", File(), "Write the packets that hosts send and receive to this pcapng file.")
@option(
    "--interface interfaces",
    Value("HOST=NAME", _at),
    "A host that is another machine, and the interface of this one that leads to it; twice.",
    multiple=True,
)
@flag("--no-offloads", "Each packet is one for the hosts' kernels too.")
@json_option
def emulate(
    scenario: str,
    settings: tuple[tuple[str, str], ...],
    time: str | None,
    pcap: Path | None,
    interfaces: tuple[tuple[str, str], ...],
    *,
    no_offloads: bool,
    as_json: bool,
) -> None:
    """Run the links, queues, losses, schedules, gateways and handovers of SCENARIO in real time.

    Each host between which its flows go is a network namespace; `bentpipe live shell SCENARIO HOST` opens a
    shell there. The flows themselves are not run; programs in these shells send data. With --interface
    HOST=NAME, two hosts are other machines instead, and this one is a wire between them.
    """
    loaded = Scenario.load(scenario, settings)
    with Staging(loaded.files) as staging, shown() as seen:
        options = {"time": time, "offloads": not no_offloads, "interfaces": list(interfaces)}
        file = str(staging.file(pcap, "--pcap")) if pcap else None
        report = emulator.emulate(loaded, emulator.named(scenario), seen=seen, pcap=file, **options)
    if as_json:
        print_json(report)
    else:
        print_emulated(report, console())


@click.command(
    cls=Command, context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False}
)
@scenario_argument
@click.argument("host")
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@option("--process", Whole(1), "Which emulator of SCENARIO, where several run.")
def shell(scenario: str, host: str, command: tuple[str, ...], process: int | None) -> None:
    """Open a shell, or run COMMAND, in the network of HOST.

    `bentpipe live emulate SCENARIO` must be running, by the same user.
    """
    if host.startswith("-"):
        raise InputError(
            f"live shell: expected SCENARIO and HOST, found {host!r}; --process N stands before SCENARIO"
        )
    there = emulator.place(scenario, host, process)
    emulator.enter(host, there, list(command) or [os.environ.get("SHELL") or "/bin/sh"])


@click.command(cls=Command)
@scenario_argument
@set_option
@option(
    "--variants",
    str,
    "Controls of the kernel, a run with each: reno, cubic, bbr, and adalr, afc; by default each flow's.",
    metavar="NAME,...",
)
@flag("--both", "Simulate each too, and print both side by side.")
@option("--plot", File(), "Draw cwnd, RTT and sequence of both to this file (.png or .svg).")
@json_option
@click.pass_obj
def testbed(
    virtual: Machine | None,
    scenario: str,
    settings: tuple[tuple[str, str], ...],
    variants: str | None,
    plot: Path | None,
    *,
    both: bool,
    as_json: bool,
) -> None:
    """Carry the flows of SCENARIO over the TCP of Linux, in real time: bulk data, pages, datagrams.

    Each host is a network namespace with programs that send what the flows say; the network between them is
    the emulator's. Every flow's control is set, and TCP_INFO is sampled. adalr and afc are installed for as
    long as it takes. Needs Linux and root, or live --virtual.
    """
    names = [] if variants is None else [name.strip() for name in variants.split(",")]
    if variants is not None and not all(names):
        raise InputError(f"--variants: expected names with commas between them, found {variants!r}")
    if twice := next((name for place, name in enumerate(names) if name in names[:place]), None):
        raise InputError(f"--variants: expected each variant once, found {twice!r} twice")
    if plot is not None:
        picture_format(plot)
    loaded = Scenario.load(scenario, settings)
    release = virtual.kernel.release if virtual else _core.kernel_release()
    with Staging(loaded.files) as staging:
        picture = staging.file(plot, "--plot") if plot is not None else None
        if virtual is None:
            found = testbeds.over_kernels(loaded, names, both=both)
        else:
            found = testbeds.in_virtual_kernel(virtual, loaded, names, both=both)
        compared = []
        for one in found:
            compared.append(one)
            if not as_json:
                print_compared(one, release, console())
        if picture is not None:
            draw(compared, release, picture)
    if as_json:
        print_json({**stated(release, virtual), "variants": [one.to_dict() for one in compared]})
    flows = [(one.variant, flow) for one in compared for flow in one.kernel.run["flows"]]
    give_up_for([f"{variant}: {flow['name']}: {flow['error']}" for variant, flow in flows if flow["error"]])


@click.command(cls=Command)
@click.argument("interface", metavar="IFACE")
@option("--rate", quantity("rate"), "Of the satellite link behind IFACE.", required=True)
@option(
    "--queue",
    quantity("queue"),
    "Queue before that link: 64 KiB, 100 packets of 1500 bytes.",
    default="60 KiB",
)
@option("--scheme", click.Choice(gateways.SCHEMES), "How.", default="xfwa", expose_value=False)
@option(
    "--rtt",
    str,
    "Round-trip times: handshake, measured from passing handshakes, or a time for all flows.",
    default="handshake",
)
@option("--isl-delay", quantity("time"), "Round-trip times by hops instead, with this delay each.")
@option("--least", quantity("size"), "Smallest window, or the flow's MSS if that is more.", default="1460 B")
@option(
    "--delta-factor",
    click.IntRange(1, 6),
    "A flow is active for so many mean round-trip times after its last data.",
    default=1,
)
@option("--time until_s", float, "For so many seconds.")
@json_option
def gateway(interface: str, until_s: float | None, *, as_json: bool, **settings: Any) -> None:
    """Guard the link behind IFACE: all senders together fill link and queue, and no more.

    The windows that TCP receivers beyond it advertise are lowered, each in proportion to the
    flow's round-trip time (XFWA, equation 1).

    A BPF program does it in the kernel, on what leaves and enters by IFACE and nothing else, until Ctrl-C or
    SIGTERM. It is gone with this command, however that ends. Needs Linux 6.6 and root.
    """
    pace = emulator.Paced(_LOG_EVERY_S)

    def say(counts: gateways.Counts) -> None:
        if pace.is_due():
            click.echo(f"live gateway: {_counts(counts)}", err=True)

    report, counts = gateways.guard(interface, until_s=until_s, seen=say, **settings)
    if as_json:
        print_json(report)
    else:
        click.echo(f"{interface}: {_counts(counts)}")


def _counts(counts: gateways.Counts) -> str:
    parts = [
        seconds(counts.duration_s),
        f"{counted(counts.flows, 'flow')} of {seconds(counts.rtt_mean_s)}" if counts.flows else "no flow",
        f"{counts.segments_forward:,} segments out, {counts.segments_backward:,} in",
        f"{counts.windows_lowered:,} windows lowered",
    ]
    if counts.windows_lowered:
        parts.append(f"to {written(counts.window_mean_bytes, 'B')} in the mean")
    return ", ".join(parts)


@click.command(cls=Command)
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@flag(
    "--default", "New connections of this network namespace use the first NAME, unless their program chooses."
)
@json_option
def install(names: tuple[str, ...], *, default: bool, as_json: bool) -> None:
    """Register NAME, adalr or afc, with the kernel, as BPF programs; needs root.

    They stay until `bentpipe live remove` or the next start of the machine. A program chooses one by
    setsockopt(TCP_CONGESTION), a network namespace by sysctl net.ipv4.tcp_congestion_control.
    """
    new = controls.install(names, default=default)
    there = [control for control in controls.status() if control.name in names]
    if as_json:
        _print_controls(there)
        return
    for control in there:
        word = "installed" if control.name in new else "was installed already"
        click.echo(f"{control.name} {word}{', and is the default' if control.default else ''}")


@click.command(cls=Command)
@click.argument("names", nargs=-1, metavar="[NAME...]")
@json_option
def remove(names: tuple[str, ...], *, as_json: bool) -> None:
    """Take NAME, or all that bentpipe installed, out of the kernel; needs root.

    Connections that use one keep it until they end; new ones cannot choose it. Where it was the default, the
    control before it is the default again.
    """
    gone = controls.remove(names)
    if as_json:
        _print_controls(gone)
        return
    if not gone:
        click.echo("none is installed")
    for control in gone:
        users = len(control.users)
        kept = f"; {users} connection{'s keep' if users > 1 else ' keeps'} it until the end" if users else ""
        click.echo(f"{control.name} removed{kept}")
        _print_users(control)


@click.command(cls=Command)
@json_option
def status(*, as_json: bool) -> None:
    """Say which of the schemes' controls the kernel has, since when, and which connections use them.

    Needs root, which alone may see the connections of others.
    """
    there = controls.status()
    if as_json:
        _print_controls(there)
        return
    if not there:
        click.echo("none is installed: bentpipe live install adalr afc installs both")
    for control in there:
        default = ", the default" if control.default else ""
        users = counted(len(control.users), "connection")
        click.echo(f"{control.name}: installed {control.since.astimezone():%Y-%m-%d %H:%M}{default}, {users}")
        _print_users(control)


def _print_users(control: controls.Installed) -> None:
    for user in control.users:
        words = [f"  {user.local} to {user.remote}", user.programs]
        if user.namespace_of is not None:
            words.append(f"in the network namespace of process {user.namespace_of}")
        click.echo("  ".join(filter(None, words)))


def _print_controls(found: list[controls.Installed]) -> None:
    print_json({"controls": [{**asdict(one), "since": one.since.isoformat()} for one in found]})
