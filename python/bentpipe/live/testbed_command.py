"""``bentpipe live testbed``: a scenario's flows over the kernel's TCP, beside the simulator."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from bentpipe.command_line.completion import scenarios
from bentpipe.command_line.options import File, json_option, set_option

if TYPE_CHECKING:
    from bentpipe.live.virtual.machine import Virtual


@click.command(short_help="A scenario's flows over real Linux TCP, beside the simulator.")
@click.argument("scenario", shell_complete=scenarios)
@set_option
@click.option(
    "--variants",
    metavar="NAME,...",
    help="Controls of the kernel, a run with each: reno, cubic, bbr, and adalr, afc; by default each flow's.",
)
@click.option("--both", is_flag=True, help="Simulate each too, and print both side by side.")
@click.option(
    "--plot",
    type=File(),
    help="Draw cwnd, RTT and sequence of both to this file (.png or .svg).",
)
@json_option
@click.pass_obj
def testbed(
    virtual: "Virtual | None",
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
    from bentpipe import _core
    from bentpipe.command_line.terminal import print_json, say
    from bentpipe.errors import InputError
    from bentpipe.files.output import Staging
    from bentpipe.live.testbed import in_virtual_kernel, over_kernels
    from bentpipe.live.testbed_plot import draw
    from bentpipe.live.testbed_table import print_compared
    from bentpipe.live.virtual.machine import stated
    from bentpipe.scenario import Scenario
    from bentpipe.show.style import picture_format
    from bentpipe.show.table import console

    names = [] if variants is None else [name.strip() for name in variants.split(",")]
    if variants is not None and not all(names):
        raise InputError(f"--variants: expected names with commas between them, found {variants!r}")
    if twice := next((name for place, name in enumerate(names) if name in names[:place]), None):
        raise InputError(f"--variants: expected each variant once, found {twice!r} twice")
    if plot is not None:
        picture_format(plot)
    loaded = Scenario.load(scenario, settings)
    release = _core.kernel_release() if virtual is None else virtual.kernel.release
    with Staging(loaded.files) as staging:
        picture = staging.file(plot, "--plot") if plot is not None else None
        compared = []
        if virtual is None:
            found = over_kernels(loaded, names, both=both)
        else:
            found = in_virtual_kernel(virtual, loaded, names, both=both)
        for one in found:
            compared.append(one)
            if not as_json:
                print_compared(one, release, console())
        if picture is not None:
            draw(compared, release, picture)
    if as_json:
        print_json({**stated(release, virtual), "variants": [one.to_dict() for one in compared]})
    errors = [
        f"{one.variant}: {flow['name']}: {flow['error']}"
        for one in compared
        for flow in one.kernel.run["flows"]
        if flow["error"] is not None
    ]
    for error in errors:
        say(error)
    if errors:
        raise click.exceptions.Exit(1)
