"""``bentpipe live --virtual diff``: a scenario over Linux's TCP and ours, to the first difference."""

import click

from bentpipe.command_line.options import Command, json_option, scenario_argument, set_option
from bentpipe.command_line.terminal import print_json
from bentpipe.errors import InputError
from bentpipe.live.difference import STATE, Difference, Side, first_difference, sides_of
from bentpipe.live.packets import Packet
from bentpipe.live.virtual.machine import Machine
from bentpipe.runs.subjects import Subjects
from bentpipe.scenario import Scenario
from bentpipe.show.layout import new_table, print_whole
from bentpipe.show.table import console
from bentpipe.show.units import quantity, seconds


@click.command(cls=Command)
@scenario_argument
@set_option
@json_option
@click.pass_obj
def diff(
    virtual: Machine | None, scenario: str, settings: tuple[tuple[str, str], ...], *, as_json: bool
) -> None:
    """Run SCENARIO over Linux's TCP and over ours, with the same losses, and print the first difference.

    A flow's variant linux:NAME names the control of Linux; without one it is the flow's own. Our TCP has the
    profile linux and the same control. Compared are the segments at the host that data comes from, sent and
    received: numbers, lengths, flags and SACK blocks, not times and windows. The exit status is 1 where they
    differ.
    """
    if virtual is None:
        raise InputError("live diff: expected --virtual before it: it is about a virtual kernel")
    if virtual.limit_s is not None:
        raise InputError("--time-limit: expected no limit before diff: its kernel has the simulator's clock")
    loaded = Scenario.load(scenario, settings)
    of_kernel, of_ours, release = sides_of(loaded, virtual.kernel.release)
    kernel, ours = Side.of(of_kernel, progress=True), Side.of(of_ours, progress=True)
    found = first_difference(Subjects.of(loaded).flows, kernel, ours)
    if as_json:
        counts = {"kernel_segments": len(kernel.packets), "simulator_segments": len(ours.packets)}
        head = {"scenario": loaded.title, "kernel_release": release}
        print_json({**head, **counts, "difference": found and found.to_dict()})
    elif found is None:
        click.echo(f"all {len(ours.packets):,} segments at the sender are those of Linux {release}")
    else:
        _print(found, release)
    if found is not None:
        click.get_current_context().exit(1)


def _print(found: Difference, release: str) -> None:
    to = console()
    kind = "sent" if found.sent else "received"
    to.print(f"[bold]{found.flow}: segment {found.number:,} {kind} differs[/bold]", highlight=False)
    heads = ("time (s)", "seq", "length (B)", "flags", "ACK", "window (B)", "SACK")
    table = new_table("segment", "TCP", *heads)
    for number, pair in enumerate(found.pairs, found.number - len(found.pairs) + 1):
        for name, packet in zip((f"Linux {release}", "simulated"), pair, strict=True):
            table.add_row(f"{number:,}", name, *_cells(packet))
    print_whole(table, to)
    states = new_table("state", f"Linux {release}", "simulated")
    for kind, unit in STATE.items():
        cells = ("–" if (value := side[kind]) is None else _shown(value, unit) for side in found.states)
        states.add_row(kind, *cells)
    print_whole(states, to)


def _shown(value: float, unit: str) -> str:
    return seconds(value) if unit == "s" else quantity(value, unit)


def _cells(packet: Packet | None) -> list[str]:
    if packet is None:
        return ["no more", *[""] * 6]
    blocks = " ".join(f"{first}-{last}" for first, last in packet.sack)
    told = (packet.seq, packet.length, packet.flags, packet.ack, packet.window, blocks)
    return [f"{packet.at_s:.6f}", *map(str, told)]
