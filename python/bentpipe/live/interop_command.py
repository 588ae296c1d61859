"""``bentpipe live interop``: its options, and the transfers that they ask for."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from bentpipe import _core
from bentpipe.command_line.completion import scenarios
from bentpipe.command_line.options import (
    SEED,
    Command,
    Decorator,
    File,
    flag,
    json_option,
    option,
    set_option,
)
from bentpipe.command_line.terminal import print_json, say
from bentpipe.command_line.values import Value, Whole, checked, quantity
from bentpipe.errors import InputError
from bentpipe.files.output import Staging
from bentpipe.live.interop import (
    LINUX,
    Over,
    Transfer,
    combined,
    in_virtual_kernel,
    kernel_controls,
    loss_model,
)
from bentpipe.live.interop import interop as run
from bentpipe.live.table import print_interop
from bentpipe.live.virtual.machine import Machine, stated
from bentpipe.numbers.number import share
from bentpipe.scenario import Scenario
from bentpipe.show.table import console


def _several(name: str, default: str | None, text: str, kind: str | None = None) -> Decorator:
    """Give an option of one value, or several with commas; ``all`` where there is a set of names."""

    def read(given: str) -> tuple[str, ...]:
        parts = tuple(part.strip() for part in given.split(","))
        if not all(parts):
            raise ValueError(f"{given!r} has an empty entry")
        return parts if kind is None else tuple(checked(kind, part) for part in parts)

    usual = () if default is None else (default,)
    value = Value("list" if kind is None else f"{kind},...", read)
    return option(f"--{name}", value, text, multiple=True, default=usual)


_SHARE, _SIZE, _TIME, _RATE = Value("share", share), quantity("size"), quantity("time"), quantity("rate")
_SEGMENT = Whole(88, 65_495)

_LISTS = ("recovery", "control", "direction", "loss", "delay", "rate", "bytes")

_SAID_BY_THE_SCENARIO = {
    **{name: f"links.NAME.{name}" for name in ("rate", "delay", "loss", "queue")},
    "reverse_rate": "links.NAME.reverse.rate",
    "reverse_loss": "links.NAME.reverse.loss",
    "window": "flows.NAME.tcp.receive_window",
    "scaling": "flows.NAME.tcp.window_scaling",
    **{name: f"flows.NAME.tcp.{name}" for name in ("mss", "timestamps", "sack")},
}
"""Options of a path and a TCP that a scenario has keys for."""

_AS_GIVEN = (
    *("answer", "closes_first", "mss", "window", "kernel_buffer", "kernel_control", "scaling", "timestamps"),
    *("sack", "sequence", "quickack"),
)
"""Options that are settings of a transfer."""


@click.command(cls=Command)
@click.argument("scenario", required=False, shell_complete=scenarios)
@set_option
@option("--flow", str, "The flow of SCENARIO that is run; its first bulk transfer by default.")
@_several("recovery", "sack", "Our end's recovery, all of them, or linux: a second kernel in its place.")
@_several("control", None, "Its control, or all; standard by default, for linux the kernel's reno.")
@_several("direction", "send", "Which way the data goes, from our end: send, receive.")
@_several("loss", "0", "Losses on the way of the data: 0.01, 1%, bursts:0.005:0.3 (begin, end), drop:3+5.")
@_several("delay", "250 ms", "Propagation delay, one way.", "time")
@_several("rate", "10 Mbit/s", "Rate of the path.", "rate")
@_several("bytes", "1 MB", "How much data.", "size")
@option("--reverse-rate", _RATE, "Rate on the way of the acknowledgments, when it differs.")
@option("--reverse-loss", str, "Losses in the direction of the ACKs.", default="0")
@option("--queue", quantity("queue"), "What may wait: 100 packets, 64 KiB.", default="unlimited")
@option("--reorder", _SHARE, "Share of packets held up, both ways.", default="0")
@option("--reorder-delay", _TIME, "How long they are held up.", default="5 ms")
@option("--duplicate", _SHARE, "Share of packets that come twice, both ways.", default="0")
@option("--answer", _SIZE, "Sent back through the half-closed connection.", default="0 B")
@option(
    "--closes-first",
    click.Choice(["sender", "receiver"]),
    "Which end closes its half first.",
    default="sender",
)
@option("--read-rate", Whole(1), "Bytes a second that the receiver reads.")
@option("--pause-after", _SIZE, "The receiver stops reading once it has read so much.")
@option("--pause", _TIME, "For so long.", default="10 s")
@option("--mss", _SEGMENT, "Of our end, in bytes.", default=1460)
@option("--kernel-mss", _SEGMENT, "Of the kernel, in bytes; as ours by default.")
@option("--window", _SIZE, "Our end's receive buffer.", default="1 MiB")
@option("--kernel-buffer", _SIZE, "Receive buffer of the kernel's socket; it sizes it itself by default.")
@option("--kernel-control", str, "Congestion control of the kernel's socket.", default="reno")
@option("--scaling/--no-scaling", bool, "Whether our end offers window scaling.", default=True)
@option("--timestamps/--no-timestamps", bool, "Whether our end offers timestamps.", default=False)
@option("--sack/--no-sack", bool, "Whether our end offers SACK; as its recovery by default.", default=None)
@option("--sequence", Whole(0, 2**32 - 1), "First sequence number, of both ends.")
@flag("--quickack", "The kernel acknowledges every segment at once.")
@option("--sysctl", str, "A kernel setting such as tcp_sack=0; repeatable.", multiple=True)
@option(
    "--seed",
    SEED,
    "Of the payload, the losses and our first sequence number; 1 by default, or that of SCENARIO.",
)
@option("--threads", Whole(1), "How many transfers at a time; 8 by default.")
@option("--pcap", File(), "Write the packets at the data's sender to this pcapng file.")
@json_option
@click.pass_obj
def interop(virtual: Machine | None, /, **options: Any) -> None:
    """Move data between our TCP and an ordinary program on the kernel's, and compare what arrived.

    With SCENARIO, a file, preset:NAME, or - for standard input, a flow of it is run: over its links, with its
    TCP, and as many bytes; the other flows are not. Without, the options describe one link and the TCP.

    Lists (with commas, or the option again) give a row for each combination. The exit status is 1 when any
    hash differs or a connection breaks, and 2 when an option cannot be used or the machine or the user lacks
    something.
    """
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


def _transfers(options: dict[str, Any], virtual: Machine | None) -> tuple[list[Transfer], list[Path]]:
    """Give the transfers, and the files that they were read from."""
    kernels = list(virtual.kernel.controls) if virtual else kernel_controls()
    if options["scenario"] is None:
        for name, given in (("--set", options["settings"]), ("--flow", options["flow"])):
            if given:
                raise InputError(f"{name} needs SCENARIO, of which it says more")
        common = _common(options) | {"seed": 1 if options["seed"] is None else options["seed"]}
        back = loss_model(options["reverse_loss"], "--reverse-loss")
        transfers = []
        paths = combined(_choices(options, kernels), kernels, ("loss", "delay", "rate"))
        for named, (loss, delay, rate) in paths:
            both = {"queue": options["queue"], "delay": delay}
            ways = {
                "forward": {**both, "rate": rate, "loss": loss_model(loss)},
                "backward": {**both, "rate": options["reverse_rate"] or rate, "loss": back},
            }
            transfers.append(Transfer(loss, {**common, **named, **ways}))
        return transfers, []
    source = click.get_current_context().get_parameter_source
    given = {name for name in options if source(name) is not ParameterSource.DEFAULT}
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
    chosen = combined(_choices(options, kernels, over, given), kernels)
    return [Transfer(None, {**common, **named}, over) for named, _ in chosen], scenario.files


def _choices(
    options: dict[str, Any], kernels: list[str], over: Over | None = None, given: Collection[str] = ()
) -> Mapping[str, Sequence[str]]:
    """Give what each list holds; over a scenario what is not given is as its flow has it."""
    choices = {name: [entry for entries in options[name] for entry in entries] for name in _LISTS}
    if over and "recovery" not in given:
        choices["recovery"] = [over.facts["recovery"]]
    if over and "bytes" not in given:
        choices["bytes"] = [over.bytes]
    if choices["recovery"] == ["all"]:
        choices["recovery"] = [name for name, _ in _core.schemes("recoveries")]
    # Of no name, and of all, which ones: at our end, and at the kernel's in its place.
    if (chosen := choices["control"]) in ([], ["all"]):
        usual = over.facts["control"] if over else "standard"
        ours = [name for name, _ in _core.schemes("controls")] if chosen else [usual]
        theirs = kernels if chosen else ["reno"]
        recoveries = set(choices["recovery"])
        choices["control"] = [
            *(ours if recoveries != {LINUX} else ()),
            *(theirs if LINUX in recoveries else ()),
        ]
    wrong = [text for text in choices["direction"] if text not in ("send", "receive")]
    if wrong:
        raise InputError(f"--direction: expected send or receive, found {wrong[0]!r}")
    return choices


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
