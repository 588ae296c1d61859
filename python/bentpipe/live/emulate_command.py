"""``bentpipe live emulate`` and ``bentpipe live shell``."""

from pathlib import Path

import click

from bentpipe.command_line.completion import scenarios
from bentpipe.command_line.options import File, json_option, set_option
from bentpipe.command_line.values import Value, Whole, quantity


def _at(text: str) -> tuple[str, str]:
    # No name of an interface has an equals sign.
    host, sign, interface = text.rpartition("=")
    if not (host and sign and interface):
        raise ValueError(f"expected a host and an interface, as server=eth1, found {text!r}")
    return host, interface


@click.command(short_help="A scenario's network between real kernels, by the wall clock.")
@click.argument("scenario", shell_complete=scenarios)
@set_option
@click.option("--time", type=quantity("time"), help="For how long; until Ctrl-C or SIGTERM by default.")
@click.option(
    "--pcap",
    type=File(),
    help="Write the packets that hosts send and receive to this pcapng file.",
)
@click.option(
    "--interface",
    "interfaces",
    type=Value("HOST=NAME", _at),
    multiple=True,
    help="A host that is another machine, and the interface of this one that leads to it; twice.",
)
@click.option("--no-offloads", is_flag=True, help="Each packet is one for the hosts' kernels too.")
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
    from bentpipe.command_line.terminal import print_json
    from bentpipe.files.output import Staging
    from bentpipe.live.emulate import emulate as run
    from bentpipe.live.emulate import named
    from bentpipe.live.emulator_table import print_emulated, shown
    from bentpipe.scenario import Scenario
    from bentpipe.show.table import console

    loaded = Scenario.load(scenario, settings)
    with Staging(loaded.files) as staging:
        file = staging.file(pcap, "--pcap") if pcap is not None else None
        with shown() as seen:
            report = run(
                loaded,
                named(scenario),
                until=time,
                pcap=file,
                offloads=not no_offloads,
                interfaces=interfaces,
                seen=seen,
            )
    if as_json:
        print_json(report)
    else:
        print_emulated(report, console())


@click.command(
    short_help="A shell in a host of a running emulator.",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.argument("scenario", shell_complete=scenarios)
@click.argument("host")
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@click.option("--process", type=Whole(1), help="Which emulator of SCENARIO, where several run.")
def shell(scenario: str, host: str, command: tuple[str, ...], process: int | None) -> None:
    """Open a shell, or run COMMAND, in the network of HOST.

    `bentpipe live emulate SCENARIO` must be running, by the same user.
    """
    import os

    from bentpipe.errors import InputError
    from bentpipe.live.emulate import enter, place

    if host.startswith("-"):
        raise InputError(
            f"live shell: expected SCENARIO and HOST, found {host!r}; --process N stands before SCENARIO"
        )
    there = place(scenario, host, process)
    enter(there, list(command) or [os.environ.get("SHELL") or "/bin/sh"])
