"""``bentpipe live``: the commands that need the wall clock and root."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from bentpipe.errors import InputError
from bentpipe.options import Commands, Whole
from bentpipe.share import share

_Decorator = Callable[[Callable[..., None]], Callable[..., None]]


class _List(click.ParamType[tuple[str, ...]]):
    """One value, or several with commas between them; ``all`` where there is a set of names."""

    name = "list"

    def __init__(self, kind: str | None = None) -> None:
        self._one = None if kind is None else _Quantity(kind)
        if kind is not None:
            self.name = f"{kind},..."

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        parts = tuple(part.strip() for part in str(value).split(","))
        if not all(parts):
            self.fail(f"{value!r} has an empty entry", param, ctx)
        return parts if self._one is None else tuple(self._one.convert(part, param, ctx) for part in parts)


class _Quantity(click.ParamType[str]):
    """A time, a rate, a size or a queue as scenarios write it."""

    def __init__(self, kind: str) -> None:
        self.name = kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from bentpipe import _core

        try:
            _core.check_quantity(self.name, str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)
        return str(value)


class _Share(click.ParamType[float]):
    name = "share"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            return share(str(value))
        except ValueError:
            self.fail(f"expected a share such as 0.01 or 1%, found {str(value)!r}", param, ctx)


def _several(name: str, default: str | None, text: str, kind: str | None = None) -> _Decorator:
    values = () if default is None else (default,)
    return click.option(
        f"--{name}", type=_List(kind), multiple=True, default=values, show_default=True, help=text
    )


def _quantity(name: str, kind: str, default: str | None, text: str) -> _Decorator:
    return click.option(name, type=_Quantity(kind), default=default, show_default=True, help=text)


_SEGMENT = Whole(88, 65_495)


@click.group(
    cls=Commands,
    invoke_without_command=True,
    short_help="Run our TCP against the kernel's; needs Linux and root.",
)
@click.pass_context
def live(context: click.Context) -> None:
    """Run our TCP on a real wire, against the kernel's; needs Linux and root."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@live.command(short_help="Transfers between our TCP and the kernel's.")
@_several("recovery", "sack", "Our end's recovery, all of them, or linux: a second kernel in its place.")
@_several("control", None, "Its control, or all; standard by default, for linux the kernel's reno.")
@_several("direction", "send", "Which way the data goes, from our end: send, receive.")
@_several("loss", "0", "Losses on the way of the data: 0.01, 1%, bursts:0.005:0.3 (begin, end), drop:3+5.")
@_several("delay", "250 ms", "Propagation delay, one way.", "time")
@_several("rate", "10 Mbit/s", "Rate of the path.", "rate")
@_several("bytes", "1 MB", "How much data.", "size")
@_quantity("--reverse-rate", "rate", None, "Rate on the way of the acknowledgments, when it differs.")
@click.option(
    "--reverse-loss", default="0", show_default=True, help="Losses on the way of the acknowledgments."
)
@_quantity("--queue", "queue", "unlimited", "What may wait: 100 packets, 64 KiB.")
@click.option("--reorder", type=_Share(), default="0", help="Share of packets held up, both ways.")
@_quantity("--reorder-delay", "time", "5 ms", "How long they are held up.")
@click.option("--duplicate", type=_Share(), default="0", help="Share of packets that come twice, both ways.")
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
    default=1,
    show_default=True,
    help="Of the payload, the losses and our first sequence number.",
)
@click.option("--threads", type=Whole(1), help="How many transfers at a time; 8 by default.")
@click.option(
    "--pcap",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the packets at the data's sender to this pcapng file.",
)
@click.option("--json", "as_json", is_flag=True, help="JSON on stdout, messages on stderr.")
def interop(**options: Any) -> None:
    """Move data between our TCP and an ordinary program on the kernel's, and compare what arrived.

    Lists (with commas, or the option again) give a row for each combination. The exit status is 1 when any
    hash differs or a connection breaks, and 2 when an option cannot be used or the machine or the user lacks
    something.
    """
    from bentpipe import table
    from bentpipe.live.interop import PEER, matrix
    from bentpipe.live.interop import interop as run
    from bentpipe.output import Staging
    from bentpipe.terminal import print_json

    transfers = matrix(_choices(options), _common(options), _way(options))
    pcap = options["pcap"]
    if pcap is not None and len(transfers) > 1:
        raise InputError(f"--pcap is for one transfer, and these options give {len(transfers)}")
    with Staging([PEER]) as staging:
        result = run(
            transfers,
            threads=options["threads"],
            pcap=staging.file(pcap, "--pcap") if pcap is not None else None,
        )
    if options["as_json"]:
        print_json(result)
    else:
        table.print_interop(result, table.console())
    for row in result["rows"]:
        if "error" in row:
            click.echo(
                f"bentpipe: {row['recovery']} {row['control']} {row['direction']}: {row['error']}", err=True
            )
    if not all(row["sha256_equal"] for row in result["rows"]):
        raise click.exceptions.Exit(1)


def _choices(options: dict[str, Any]) -> Mapping[str, Sequence[str]]:
    from bentpipe import _core

    choices = {
        name: [entry for entries in options[name] for entry in entries]
        for name in ("recovery", "control", "direction", "loss", "delay", "rate", "bytes")
    }
    if choices["recovery"] == ["all"]:
        choices["recovery"] = [name for name, _ in _core.recoveries()]
    choices["control"] = _controls(choices["control"], choices["recovery"])
    wrong = [text for text in choices["direction"] if text not in ("send", "receive")]
    if wrong:
        raise InputError(f"--direction: expected send or receive, found {wrong[0]!r}")
    return choices


def _controls(chosen: list[str], recoveries: list[str]) -> list[str]:
    """Put the names for none at all and for ``all``, at our end or the kernel in its place."""
    from bentpipe import _core
    from bentpipe.live.interop import LINUX, kernel_controls

    if chosen not in ([], ["all"]):
        return chosen
    controls = []
    if set(recoveries) != {LINUX}:
        controls += [name for name, _ in _core.controls()] if chosen else ["standard"]
    if LINUX in recoveries:
        controls += kernel_controls() if chosen else ["reno"]
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
    return {
        "answer": options["answer"],
        "closes_first": options["closes_first"],
        "reading": reading,
        "mss": options["mss"],
        "kernel_mss": options["kernel_mss"] or options["mss"],
        "window": options["window"],
        "kernel_buffer": options["kernel_buffer"],
        "kernel_control": options["kernel_control"],
        "scaling": options["scaling"],
        "timestamps": options["timestamps"],
        "sack": options["sack"],
        "sequence": options["sequence"],
        "kernel_sequence": options["sequence"],
        "quickack": options["quickack"],
        "sysctl": sysctl,
        "seed": options["seed"],
    }


def _way(options: dict[str, Any]) -> dict[str, Any]:
    return {
        "queue": options["queue"],
        "disorder": {
            "reorder": options["reorder"],
            "reorder_delay": options["reorder_delay"],
            "duplicate": options["duplicate"],
        },
        "reverse_rate": options["reverse_rate"],
        "reverse_loss": options["reverse_loss"],
    }
