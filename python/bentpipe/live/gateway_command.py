"""``bentpipe live gateway``: XFWA at an interface of this machine."""

import math
from typing import TYPE_CHECKING

import click

from bentpipe.command_line.options import json_option
from bentpipe.command_line.values import quantity
from bentpipe.errors import InputError

if TYPE_CHECKING:
    from bentpipe.live.gateway import Counts

_LOG_EVERY_S = 10.0


@click.command(short_help="XFWA at an interface, in the kernel.")
@click.argument("interface", metavar="IFACE")
@click.option("--rate", type=quantity("rate"), required=True, help="Of the satellite link behind IFACE.")
@click.option(
    "--queue",
    type=quantity("queue"),
    default="60 KiB",
    show_default=True,
    help="Queue before that link: 64 KiB, 100 packets of 1500 bytes.",
)
@click.option("--scheme", type=click.Choice(["xfwa"]), default="xfwa", show_default=True, help="How.")
@click.option(
    "--rtt",
    default="handshake",
    show_default=True,
    help="Round-trip times: handshake, measured from passing handshakes, or a time for all flows.",
)
@click.option(
    "--isl-delay", type=quantity("time"), help="Round-trip times by hops instead, with this delay each."
)
@click.option(
    "--least",
    type=quantity("size"),
    default="1460 B",
    show_default=True,
    help="Smallest window, or the flow's MSS if that is more.",
)
@click.option(
    "--delta-factor",
    type=click.IntRange(1, 6),
    default=1,
    show_default=True,
    help="A flow is active for so many mean round-trip times after its last data.",
)
@click.option("--time", "until_s", type=float, help="For so many seconds.")
@json_option
def gateway(
    interface: str,
    rate: str,
    queue: str,
    scheme: str,  # noqa: ARG001 - there is one
    rtt: str,
    isl_delay: str | None,
    least: str,
    delta_factor: int,
    until_s: float | None,
    *,
    as_json: bool,
) -> None:
    """Guard the link behind IFACE: all senders together fill link and queue, and no more.

    The windows that TCP receivers beyond it advertise are lowered, each in proportion to the
    flow's round-trip time (XFWA, equation 1).

    A BPF program does it in the kernel, on what leaves and enters by IFACE and nothing else, until Ctrl-C or
    SIGTERM. It is gone with this command, however that ends. Needs Linux 6.6 and root.
    """
    from bentpipe.command_line.terminal import print_json
    from bentpipe.live.emulate import Paced
    from bentpipe.live.gateway import Settings, guard

    if until_s is not None and not 0 < until_s < math.inf:
        raise InputError(f"--time: expected seconds above 0, found {until_s:g}")
    pace = Paced(_LOG_EVERY_S)

    def say(counts: "Counts") -> None:
        if pace.is_due():
            click.echo(f"live gateway: {_line(counts)}", err=True)

    settings = Settings(rate, queue, rtt, isl_delay, least, delta_factor)
    report = guard(interface, settings, until_s=until_s, seen=say)
    if as_json:
        print_json(report)
        return
    from bentpipe.live.gateway import Counts

    counts = Counts(**{name: report[name] for name in Counts.__dataclass_fields__})
    click.echo(f"{interface}: {_line(counts)}")


def _line(counts: "Counts") -> str:
    from bentpipe.show.units import counted, quantity, seconds

    parts = [
        seconds(counts.duration_s),
        f"{counted(counts.flows, 'flow')} of {seconds(counts.rtt_mean_s)}" if counts.flows else "no flow",
        f"{counts.segments_forward:,} segments out, {counts.segments_backward:,} in",
        f"{counts.windows_lowered:,} windows lowered",
    ]
    if counts.windows_lowered:
        parts.append(f"to {quantity(counts.window_mean_bytes, 'B')} in the mean")
    return ", ".join(parts)
