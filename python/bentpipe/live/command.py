"""``bentpipe live``: the commands that need the wall clock and root."""

import click
from click.core import ParameterSource

from bentpipe.command_line.options import SEED, Commands, Later, flag, option
from bentpipe.command_line.values import Whole
from bentpipe.errors import InputError

_VIRTUAL = ("testbed", "interop", "diff")
"""The commands that a virtual kernel can run."""


@click.group(cls=Commands, invoke_without_command=True)
@flag("--virtual", "Run testbed, interop or diff by a virtual kernel, in simulated time and without root.")
@option(
    "--kernel", str, "The kernel, by its release or folder; the one built last by default.", metavar="KERNEL"
)
@option("--kernel-seed", SEED, "Seed of all random numbers in it.", default=1)
@option("--time-limit", Whole(1), "End the command after so many seconds of the wall clock.")
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
    elif not virtual:
        for name in ("kernel", "kernel_seed", "time_limit"):
            if context.get_parameter_source(name) is not ParameterSource.DEFAULT:
                raise InputError(f"--{name.replace('_', '-')}: expected --virtual beside it")
    elif context.invoked_subcommand not in _VIRTUAL:
        raise InputError(
            f"live --virtual: expected {', '.join(_VIRTUAL)}, found {context.invoked_subcommand}"
        )
    else:
        from bentpipe.live.virtual.kernel import find
        from bentpipe.live.virtual.machine import Machine

        context.obj = Machine(find(kernel), kernel_seed, time_limit)


for where, what in {
    "diff_command.diff": "The first segment that Linux's TCP sends or gets otherwise than ours.",
    "commands.emulate": "A scenario's network between real kernels, by the wall clock.",
    "commands.gateway": "XFWA at an interface, in the kernel.",
    "commands.install": "Put the schemes' congestion controls into the running kernel.",
    "interop_command.interop": "Transfers between our TCP and the kernel's.",
    "commands.remove": "Remove the schemes' controls from the kernel.",
    "commands.shell": "A shell in a host of a running emulator.",
    "commands.status": "Show the installed controls and their connections.",
    "commands.testbed": "A scenario's flows over real Linux TCP, beside the simulator.",
}.items():
    live.add_command(Later(f"bentpipe.live.{where}", what))
