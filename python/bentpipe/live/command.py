"""``bentpipe live``: the commands that need the wall clock and root."""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from bentpipe.command_line.completion import scenarios
from bentpipe.command_line.options import Commands, File, json_option, set_option
from bentpipe.command_line.values import Value, Whole, checked, quantity
from bentpipe.errors import InputError
from bentpipe.live.emulate_command import emulate, shell
from bentpipe.live.gateway_command import gateway
from bentpipe.live.install_command import install, remove, status
from bentpipe.live.testbed_command import testbed
from bentpipe.numbers.share import share

if TYPE_CHECKING:
    from bentpipe.live.interop import Over, Transfer
    from bentpipe.live.virtual.machine import Virtual

_Decorator = Callable[[Callable[..., None]], Callable[..., None]]


def _share(text: str) -> float:
    try:
        return share(text)
    except ValueError:
        raise ValueError(f"expected a share such as 0.01 or 1%, found {text!r}") from None


_SHARE = Value("share", _share)


def _several(name: str, default: str | None, text: str, kind: str | None = None) -> _Decorator:
    """Give an option of one value, or several with commas; ``all`` where there is a set of names."""

    def read(given: str) -> tuple[str, ...]:
        parts = tuple(part.strip() for part in given.split(","))
        if not all(parts):
            raise ValueError(f"{given!r} has an empty entry")
        return parts if kind is None else tuple(checked(kind, part) for part in parts)

    return click.option(
        f"--{name}",
        type=Value("list" if kind is None else f"{kind},...", read),
        multiple=True,
        default=() if default is None else (default,),
        show_default=True,
        help=text,
    )


def _quantity(name: str, kind: str, default: str | None, text: str) -> _Decorator:
    return click.option(name, type=quantity(kind), default=default, show_default=True, help=text)


_VIRTUAL = ("testbed", "interop")
"""The commands that a virtual kernel can run."""

_SEGMENT = Whole(88, 65_495)

_SAID_BY_THE_SCENARIO = {
    "rate": "links.NAME.rate",
    "delay": "links.NAME.delay",
    "loss": "links.NAME.loss",
    "queue": "links.NAME.queue",
    "reverse_rate": "links.NAME.reverse.rate",
    "reverse_loss": "links.NAME.reverse.loss",
    "mss": "flows.NAME.tcp.mss",
    "window": "flows.NAME.tcp.receive_window",
    "scaling": "flows.NAME.tcp.window_scaling",
    "timestamps": "flows.NAME.tcp.timestamps",
    "sack": "flows.NAME.tcp.sack",
}
"""Options of a path and a TCP that a scenario has keys for."""

_AS_GIVEN = (
    *("answer", "closes_first", "mss", "window", "kernel_buffer", "kernel_control", "scaling", "timestamps"),
    *("sack", "sequence", "quickack"),
)
"""Options that are settings of a transfer."""


@click.group(
    cls=Commands,
    invoke_without_command=True,
    short_help="Run our TCP against the kernel's; needs Linux and root.",
)
@click.option(
    "--virtual",
    is_flag=True,
    help="Run testbed or interop in a virtual kernel, in simulated time and without root.",
)
@click.option(
    "--kernel", metavar="KERNEL", help="The kernel, by its release or folder; the one built last by default."
)
@click.option(
    "--kernel-seed",
    type=Whole(0, 2**53 - 1),
    default=1,
    show_default=True,
    help="Seed of all random numbers in it.",
)
@click.option("--time-limit", type=Whole(1), help="End the command after so many seconds of the wall clock.")
@click.pass_context
def live(
    context: click.Context, kernel: str | None, kernel_seed: int, time_limit: int | None, *, virtual: bool
) -> None:
    """Run our TCP on a real wire, against the kernel's; needs Linux and root.

    With --virtual a kernel that `make virtual-kernel` built is the machine: its time is simulated, the same
    command gives the same bytes again, and needs no root.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
        return
    if not virtual:
        for name, option in (
            ("kernel", "--kernel"),
            ("kernel_seed", "--kernel-seed"),
            ("time_limit", "--time-limit"),
        ):
            if _is_given(context, name):
                raise InputError(f"{option}: expected --virtual beside it")
        return
    if context.invoked_subcommand not in _VIRTUAL:
        raise InputError(
            f"live --virtual: expected {' or '.join(_VIRTUAL)}, found {context.invoked_subcommand}"
        )
    from bentpipe.live.virtual.kernel import find
    from bentpipe.live.virtual.machine import Virtual

    context.obj = Virtual(find(kernel), kernel_seed, time_limit)


@live.command(short_help="Transfers between our TCP and the kernel's.")
@click.argument("scenario", required=False, shell_complete=scenarios)
@set_option
@click.option("--flow", help="The flow of SCENARIO that is run; its first bulk transfer by default.")
@_several("recovery", "sack", "Our end's recovery, all of them, or linux: a second kernel in its place.")
@_several("control", None, "Its control, or all; standard by default, for linux the kernel's reno.")
@_several("direction", "send", "Which way the data goes, from our end: send, receive.")
@_several("loss", "0", "Losses on the way of the data: 0.01, 1%, bursts:0.005:0.3 (begin, end), drop:3+5.")
@_several("delay", "250 ms", "Propagation delay, one way.", "time")
@_several("rate", "10 Mbit/s", "Rate of the path.", "rate")
@_several("bytes", "1 MB", "How much data.", "size")
@_quantity("--reverse-rate", "rate", None, "Rate on the way of the acknowledgments, when it differs.")
@click.option("--reverse-loss", default="0", show_default=True, help="Losses in the direction of the ACKs.")
@_quantity("--queue", "queue", "unlimited", "What may wait: 100 packets, 64 KiB.")
@click.option("--reorder", type=_SHARE, default="0", help="Share of packets held up, both ways.")
@_quantity("--reorder-delay", "time", "5 ms", "How long they are held up.")
@click.option("--duplicate", type=_SHARE, default="0", help="Share of packets that come twice, both ways.")
@_quantity("--answer", "size", "0 B", "Sent back through the half-closed connection.")
@click.option(
    "--closes-first",
    type=click.Choice(["sender", "receiver"]),
    default="sender",
    show_default=True,
    help="Which end closes its half first.",
)
@click.option("--read-rate", type=Whole(1), help="Bytes a second that the receiver reads.")
@_quantity("--pause-after", "size", None, "The receiver stops reading once it has read so much.")
@_quantity("--pause", "time", "10 s", "For so long.")
@click.option("--mss", type=_SEGMENT, default=1460, show_default=True, help="Of our end, in bytes.")
@click.option("--kernel-mss", type=_SEGMENT, help="Of the kernel, in bytes; as ours by default.")
@_quantity("--window", "size", "1 MiB", "Our end's receive buffer.")
@_quantity(
    "--kernel-buffer", "size", None, "Receive buffer of the kernel's socket; it sizes it itself by default."
)
@click.option(
    "--kernel-control",
    default="reno",
    show_default=True,
    help="Congestion control of the kernel's socket.",
)
@click.option(
    "--scaling/--no-scaling", default=True, show_default=True, help="Whether our end offers window scaling."
)
@click.option(
    "--timestamps/--no-timestamps",
    default=False,
    show_default=True,
    help="Whether our end offers timestamps.",
)
@click.option(
    "--sack/--no-sack", default=None, help="Whether our end offers SACK; as its recovery by default."
)
@click.option("--sequence", type=Whole(0, 2**32 - 1), help="First sequence number, of both ends.")
@click.option("--quickack", is_flag=True, help="The kernel acknowledges every segment at once.")
@click.option("--sysctl", multiple=True, help="A kernel setting such as tcp_sack=0; repeatable.")
@click.option(
    "--seed",
    type=Whole(0, 2**53 - 1),
    help="Of the payload, the losses and our first sequence number; 1 by default, or that of SCENARIO.",
)
@click.option("--threads", type=Whole(1), help="How many transfers at a time; 8 by default.")
@click.option(
    "--pcap",
    type=File(),
    help="Write the packets at the data's sender to this pcapng file.",
)
@json_option
@click.pass_obj
def interop(virtual: "Virtual | None", /, **options: Any) -> None:
    """Move data between our TCP and an ordinary program on the kernel's, and compare what arrived.

    With SCENARIO, a file, preset:NAME, or - for standard input, a flow of it is run: over its links, with its
    TCP, and as many bytes; the other flows are not. Without, the options describe one link and the TCP.

    Lists (with commas, or the option again) give a row for each combination. The exit status is 1 when any
    hash differs or a connection breaks, and 2 when an option cannot be used or the machine or the user lacks
    something.
    """
    from bentpipe.command_line.terminal import print_json, say
    from bentpipe.files.output import Staging
    from bentpipe.live.interop import in_virtual_kernel
    from bentpipe.live.interop import interop as run
    from bentpipe.live.table import print_interop
    from bentpipe.live.virtual.machine import stated
    from bentpipe.show.table import console

    transfers, reads = _transfers(options, virtual)
    pcap = options["pcap"]
    if pcap is not None and len(transfers) > 1:
        raise InputError(f"--pcap is for one transfer, and these options give {len(transfers)}")
    with Staging(reads) as staging:
        capture = staging.file(pcap, "--pcap") if pcap is not None else None
        if virtual is None:
            result = run(transfers, threads=options["threads"], pcap=capture)
        else:
            result = in_virtual_kernel(virtual, transfers, threads=options["threads"], pcap=capture)
        result = {**stated(result["kernel_release"], virtual), **result}
    if options["as_json"]:
        print_json(result)
    else:
        print_interop(result, console())
    for row in result["rows"]:
        if "error" in row:
            say(f"{row['recovery']} {row['control']} {row['direction']}: {row['error']}")
    if not all(row["sha256_equal"] for row in result["rows"]):
        raise click.exceptions.Exit(1)


for command in (emulate, shell, testbed, install, remove, status, gateway):
    live.add_command(command)


def _transfers(
    options: dict[str, Any], virtual: "Virtual | None" = None
) -> tuple[list["Transfer"], list[Path]]:
    """Give the transfers, and the files that they were read from."""
    from bentpipe.live.interop import Over, kernel_controls, matrix, over_scenario
    from bentpipe.scenario import Scenario

    kernels = list(virtual.kernel.controls) if virtual else kernel_controls()
    if options["scenario"] is None:
        for option, given in (("--set", options["settings"]), ("--flow", options["flow"])):
            if given:
                raise InputError(f"{option} needs SCENARIO, of which it says more")
        seed = 1 if options["seed"] is None else options["seed"]
        way = {name: options[name] for name in ("queue", "reverse_rate", "reverse_loss")}
        return matrix(_choices(options, kernels), _common(options) | {"seed": seed}, way, kernels), []
    context = click.get_current_context()
    given = {name for name in options if _is_given(context, name)}
    for name, key in _SAID_BY_THE_SCENARIO.items():
        if name in given:
            raise InputError(
                f"--{name.replace('_', '-')}: expected none beside SCENARIO, which says it: "
                f"--set {key}=VALUE changes it"
            )
    scenario = Scenario.load(options["scenario"], options["settings"])
    over = Over.of(scenario, options["flow"])
    common = {key: value for key, value in _common(options).items() if key not in _SAID_BY_THE_SCENARIO}
    common |= {
        "seed": scenario.seed if options["seed"] is None else options["seed"],
        "kernel_mss": options["kernel_mss"],
    }
    return over_scenario(_choices(options, kernels, over, given), common, over, kernels), scenario.files


def _is_given(context: click.Context, name: str) -> bool:
    return context.get_parameter_source(name) is not ParameterSource.DEFAULT


def _choices(
    options: dict[str, Any], kernels: list[str], over: "Over | None" = None, given: Collection[str] = ()
) -> Mapping[str, Sequence[str]]:
    """Give what each list holds; over a scenario what is not given is as its flow has it."""
    from bentpipe import _core

    choices = {
        name: [entry for entries in options[name] for entry in entries]
        for name in ("recovery", "control", "direction", "loss", "delay", "rate", "bytes")
    }
    if over and "recovery" not in given:
        choices["recovery"] = [over.facts["recovery"]]
    if over and "bytes" not in given:
        choices["bytes"] = [over.bytes]
    if choices["recovery"] == ["all"]:
        choices["recovery"] = [name for name, _ in _core.recoveries()]
    ours = over.facts["control"] if over else "standard"
    choices["control"] = _controls(choices["control"], choices["recovery"], ours, kernels)
    wrong = [text for text in choices["direction"] if text not in ("send", "receive")]
    if wrong:
        raise InputError(f"--direction: expected send or receive, found {wrong[0]!r}")
    return choices


def _controls(chosen: list[str], recoveries: list[str], ours: str, kernels: list[str]) -> list[str]:
    """Put the names for none, which is `ours`, and for ``all``, at our end or the kernel in its place."""
    from bentpipe import _core
    from bentpipe.live.interop import LINUX

    if chosen not in ([], ["all"]):
        return chosen
    controls = []
    if set(recoveries) != {LINUX}:
        controls += [name for name, _ in _core.controls()] if chosen else [ours]
    if LINUX in recoveries:
        controls += kernels if chosen else ["reno"]
    return controls


def _common(options: dict[str, Any]) -> dict[str, Any]:
    sysctl = {}
    for setting in options["sysctl"]:
        name, equals, value = setting.partition("=")
        if not equals:
            raise InputError(f"--sysctl: expected name=value such as tcp_sack=0, found {setting!r}")
        sysctl[name.strip().removeprefix("net.ipv4.")] = value.strip()
    reading: dict[str, Any] = {"bytes_per_s": options["read_rate"]}
    if options["pause_after"] is not None:
        reading |= {"pause_after": options["pause_after"], "pause": options["pause"]}
    disorder = {name: options[name] for name in ("reorder", "reorder_delay", "duplicate")}
    return {
        **{name: options[name] for name in _AS_GIVEN},
        "reading": reading,
        "kernel_mss": options["kernel_mss"] or options["mss"],
        "kernel_sequence": options["sequence"],
        "sysctl": sysctl,
        "disorder": {"forward": disorder, "backward": disorder},
    }
