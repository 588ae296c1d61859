"""`bentpipe advise`: a Linux server behind a satellite link, as a shell script with the gain of each line."""

import math
import re
from dataclasses import asdict

import click

from bentpipe.advise.link import Link
from bentpipe.command_line.options import Command, json_option, option
from bentpipe.command_line.terminal import print_json
from bentpipe.command_line.values import Value, Whole, number
from bentpipe.show.units import percent, quantity, seconds

_TIMES = {"ms": 1e-3, "s": 1.0}
_LEAST_BPS, _MOST_BPS = 1e4, 1e10


def _rates(text: str) -> tuple[float, float]:
    found = re.fullmatch(r"\s*([\d.]+)\s*/\s*([\d.]+)\s*(?:Mbit/s)?\s*", text)
    rates = [1e6 * number(part) for part in found.groups()] if found else []
    if not rates or not all(_LEAST_BPS <= rate <= _MOST_BPS for rate in rates):
        expected = "expected Mbit/s to the clients and back, 0.01 to 10,000, such as 60/3"
        raise ValueError(f"{expected}, found {text!r}")
    return rates[0], rates[1]


def _time(text: str) -> float:
    found = re.fullmatch(r"\s*([\d.]+)\s*(ms|s)\s*", text)
    time = number(found[1]) * _TIMES[found[2]] if found else math.nan
    if not 1e-3 <= time <= 10:
        raise ValueError(f"expected a time from 1 ms to 10 s, such as 600ms, found {text!r}")
    return time


def _share(text: str) -> float:
    if not 0 <= (share := number(text)) < 0.5:
        raise ValueError(f"expected a share from 0 to below 0.5, such as 1e-4, found {text!r}")
    return share


@click.command(cls=Command)
@option("--rate", Value("rates", _rates), "Mbit/s to the clients and back, as 60/3.", required=True)
@option("--rtt", Value("time", _time), "Round trip on an idle link, as 600ms.", required=True)
@option("--loss", Value("share", _share), "Share of packets that are lost at random.", default="0")
@option("--users", Whole(1, 1_000_000), "How many share the link.", default=1)
@option(
    "--encryption",
    click.Choice(["none", "tls", "quic", "vpn"]),
    "What hides the transfers; a proxy can end TCP with TLS in it, and neither QUIC nor a VPN.",
    default="tls",
)
@json_option
def advise(
    rate: tuple[float, float], rtt: float, loss: float, users: int, encryption: str, as_json: bool
) -> None:
    """Print the settings of a Linux server behind a satellite link, to paste, with what each brings there.

    Times are those of downloads over the link, simulated with Linux's TCP; a setting that saves less than 1 %
    there stands behind a #.
    """
    from bentpipe.advise.settings import UNREADABLE, advice, careful_resume, proxies

    link = Link(*rate, rtt, loss, users)
    found, server, clients = advice(link)
    resumed = careful_resume(link)
    links = [("One user", link), *([(f"Each of {users:,} busy users", link.share())] if users > 1 else [])]
    tables = [(name, list(proxies(one, server, clients))) for name, one in links]
    readable = encryption not in UNREADABLE
    if as_json:
        keys = ("installed_s", "settings_s", "proxy_s")
        files = [
            {
                "who": who,
                "size": size,
                **dict(zip(keys, times, strict=True)),
                "proxy": proxy if readable else "no",
            }
            for who, table in tables
            for size, times, proxy in table
        ]
        print_json({"settings": [asdict(one) for one in found], "careful_resume": resumed, "files": files})
        return
    click.echo(
        f"# {quantity(rate[0], 'bit/s')} to the clients, {quantity(rate[1], 'bit/s')} back, "
        f"round trip {seconds(rtt)}, {percent(loss)} lost: rate x round trip {quantity(link.product, 'B')}.\n"
        "# Times are of downloads, simulated with the TCP of Linux 6.12; each line adds to those above it."
    )
    for where, title in (("server", "On the server, as root"), ("clients", "On clients that are yours")):
        click.echo(f"\n# {title}")
        for one in found:
            if one.where == where:
                click.echo(f"# {one.gain}\n{'' if one.worth else '# no gain here: '}{one.line}")
    click.echo(f"\n# Careful Resume (RFC 9959), which Linux does not have\n# {resumed}")
    if not readable:
        click.echo(f"\n# A proxy (PEP): no, for it cannot end connections inside {encryption.upper()}.")
    for who, table in tables:
        click.echo(f"\n# {who}: as installed; with the server's lines; with proxies (PEP) at both ends")
        for size, times, proxy in table:
            verdict = f"  proxy: {proxy}" if readable else ""
            click.echo(f"# {size:>7} {''.join(f'{seconds(time):>11}' for time in times)}{verdict}")
