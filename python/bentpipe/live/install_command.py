"""``bentpipe live install|remove|status``: the schemes' congestion controls in the running kernel."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from bentpipe.command_line.options import json_option

if TYPE_CHECKING:
    from bentpipe.live.install import Installed


@click.command(short_help="Put the schemes' congestion controls into the running kernel.")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option(
    "--default",
    "is_default",
    is_flag=True,
    help="New connections of this network namespace use the first NAME, unless their program chooses.",
)
@json_option
def install(names: tuple[str, ...], *, is_default: bool, as_json: bool) -> None:
    """Register NAME, adalr or afc, with the kernel, as BPF programs; needs root.

    They stay until `bentpipe live remove` or the next start of the machine. A program chooses one by
    setsockopt(TCP_CONGESTION), a network namespace by sysctl net.ipv4.tcp_congestion_control.
    """
    from bentpipe.live.install import install as run
    from bentpipe.live.install import status as installed

    new = run(names, default=is_default)
    there = [control for control in installed() if control.name in names]
    if as_json:
        _print_json(there)
        return
    for control in there:
        word = "installed" if control.name in new else "was installed already"
        click.echo(f"{control.name} {word}{', and is the default' if control.default else ''}")


@click.command(short_help="Remove the schemes' controls from the kernel.")
@click.argument("names", nargs=-1, metavar="[NAME...]")
@json_option
def remove(names: tuple[str, ...], *, as_json: bool) -> None:
    """Take NAME, or all that bentpipe installed, out of the kernel; needs root.

    Connections that use one keep it until they end; new ones cannot choose it. Where it was the default, the
    control before it is the default again.
    """
    from bentpipe.live.install import remove as run

    gone = run(names)
    if as_json:
        _print_json(gone)
        return
    if not gone:
        click.echo("none is installed")
    for control in gone:
        users = len(control.users)
        kept = f"; {users} connection{'s keep' if users > 1 else ' keeps'} it until the end" if users else ""
        click.echo(f"{control.name} removed{kept}")
        _print_users(control)


@click.command(short_help="Show the installed controls and their connections.")
@json_option
def status(*, as_json: bool) -> None:
    """Say which of the schemes' controls the kernel has, since when, and which connections use them.

    Needs root, which alone may see the connections of others.
    """
    from bentpipe.live.install import status as run

    there = run()
    if as_json:
        _print_json(there)
        return
    if not there:
        click.echo("none is installed: bentpipe live install adalr afc installs both")
    for control in there:
        words = [f"installed {control.since.astimezone():%Y-%m-%d %H:%M}"]
        words += ["the default"] if control.default else []
        words.append(f"{len(control.users)} connection{'' if len(control.users) == 1 else 's'}")
        click.echo(f"{control.name}: {', '.join(words)}")
        _print_users(control)


def _print_users(control: "Installed") -> None:
    for user in control.users:
        words = [f"  {user.local} to {user.remote}", user.programs]
        if user.namespace_of is not None:
            words.append(f"in the network namespace of process {user.namespace_of}")
        click.echo("  ".join(word for word in words if word))


def _print_json(controls: "list[Installed]") -> None:
    from bentpipe.command_line.terminal import print_json

    rows: list[dict[str, Any]] = [asdict(control) for control in controls]
    for row in rows:
        row["since"] = row["since"].isoformat()
    print_json({"controls": rows})
