"""Every scheme over every link: writes tables and statements of docs/generated/every-scheme.md.

Each statement stands beside the conditions that make it true. One that does not hold ends the program, and
nothing is written.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

import bentpipe as bp
from bentpipe.catalogue import entries
from bentpipe.comparison.result import Variant
from bentpipe.files.output import write_text
from bentpipe.numbers.number import Estimate
from bentpipe.results import mean
from bentpipe.runs.progress import Reporter
from every_scheme_says import numbers, teaches
from statements import DoesNotHoldError, between_marks

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "generated" / "every-scheme.md"
SCENARIOS = ROOT / "docs" / "generated" / "every-scheme"
PROGRAM = "scripts/every_scheme.py"
RUNS = 5

Settings: TypeAlias = Mapping[str, object]

PLAIN = ("newreno", "cubic")
"""What the hosts have beside elements of the network, and what others are held against."""

LEFT_OUT = ("newreno-1999", "sack-1996", "sack-linux-2.4", "xcp")
"""Recoveries as they were, which have a page of their own; and the hosts of XCP without its routers."""


@dataclass(frozen=True)
class Link:
    """What a scheme has to carry data over: a file, what is other there, the flows that are looked at."""

    name: str
    file: str
    settings: Settings
    satellite: str = "satellite"
    flows: str = "download"
    halfway: str = "gateway"
    """The node before the satellites' part, where a connection is split."""


def _geo(name: str, **satellite: object) -> Link:
    return Link(name, "terminal.toml", {f"links.satellite.{key}": value for key, value in satellite.items()})


LINKS = (
    _geo("GEO, clean"),
    _geo("BER 1e-7", loss={"model": "ber", "ber": 1e-7}),
    _geo("BER 1e-6", loss={"model": "ber", "ber": 1e-6}),
    _geo("BER 1e-5", loss={"model": "ber", "ber": 1e-5}),
    # As many packets are lost as at a BER of 1e-6, in bursts of ten in the mean.
    _geo("bursts", loss={"model": "gilbert-elliott", "good_to_bad": 0.0012, "bad_to_good": 0.1}),
    _geo("1:8", reverse={"rate": "1.25 Mbit/s"}),
    _geo("1:100", reverse={"rate": "100 kbit/s"}),
    Link("LEO chain", "chain.toml", {}, satellite="isl4", halfway="satellite5"),
)

DOWNLOAD: Settings = {"flows.download.bytes": "50 MB"}
PAGES: Settings = {"flows.download.app": "http", "duration": "600 s"}
BESIDE: Settings = {"duration": "120 s"}


@dataclass(frozen=True)
class Scheme:
    """A variant, or an element of the network with what its hosts have."""

    name: str
    settings: Settings
    """With ``LINK`` for the link that an element is before, and ``FLOWS`` for the flows that use it."""

    def over(self, link: Link) -> Settings:
        """Give what it sets."""
        return {
            key.replace("LINK", link.satellite).replace("FLOWS", link.flows): value
            for key, value in self.settings.items()
        }


@dataclass(frozen=True)
class Split(Scheme):
    """A download over two connections, with a relay between them and `settings` for the second."""

    first: str
    """The variant of the server."""

    def over(self, link: Link) -> Settings:
        """Give what it sets."""
        server, client = ("source4", "destination4") if link.file == "chain.toml" else ("server", "client")
        ground = {"from": server, "to": link.halfway, "bytes": "50 MB", "variant": self.first}
        relay = {"from": link.halfway, "to": client, "app": "relay", "upstream": "ground", "buffer": "4 MiB"}
        download = {f"flows.{link.flows}": {**relay, **self.settings}}
        return {"flows.ground": ground, **download}


def variants() -> tuple[Scheme, ...]:
    """Give every variant."""
    names = (entry.name for entry in entries("variants"))
    return tuple(Scheme(name, {"flows.FLOWS.variant": name}) for name in names if name not in LEFT_OUT)


def _queue(scheme: str, **options: object) -> Settings:
    return {"links.LINK.queue": {"scheme": scheme, "limit": "433 packets", **options}}


ELEMENTS: Mapping[str, Settings] = {
    "xfwa": {"links.LINK.gateway": {"scheme": "xfwa", "rtt": "handshake"}},
    "ewa": {"links.LINK.gateway": {"scheme": "ewa"}},
    "wintrac": {"links.LINK.gateway": {"scheme": "wintrac"}},
    "snoop": {"links.LINK.gateway": {"scheme": "snoop", "cache": "4 MiB"}},
    "spoof": {"links.LINK.gateway": {"scheme": "spoof", "buffer": "4 MiB"}},
    "arq": {"links.LINK.arq": {"attempts": 3}},
    "fec": {"links.LINK.fec": {"model": "packets", "data": 20, "parity": 4}},
    "red": {**_queue("red", min="40 packets", max="120 packets", ecn=True), "tcp.ecn": True},
    "rem": {**_queue("rem", ecn=True), "tcp.ecn": True},
    "codel": _queue("codel"),
    "fq-codel": _queue("fq-codel"),
    "drr": _queue("drr"),
    "thresholds": _queue("drr", alpha=1.0),
}
"""What stands before or on the satellite link, by name."""

WITH_HOSTS = (
    Scheme("peach, priorities", {**_queue("priority"), "flows.FLOWS.variant": "peach"}),
    Scheme("xcp", {"links.LINK.gateway": {"scheme": "xcp"}, "flows.FLOWS.variant": "xcp"}),
    Scheme(
        "p-xcp",
        {
            "links.LINK.gateway": {"scheme": "xcp", "limited": "scale"},
            "flows.FLOWS.variant": "xcp",
            "tcp.xcp": {"loss": "keep"},
        },
    ),
)
"""Elements that need hosts of their own."""

SPLITS = (
    Split("split, newreno", {"variant": "newreno"}, "newreno"),
    Split("split, cubic", {"variant": "cubic"}, "cubic"),
    Split("split, hybla", {"variant": "hybla"}, "cubic"),
    Split("split, bbr3", {"variant": "bbr3"}, "cubic"),
)
"""Downloads alone: what a relay sends on is one stream of data."""


def elements() -> tuple[Scheme, ...]:
    """Give every element with each of the plain variants at the hosts, or with hosts of its own."""
    plain = (
        Scheme(f"{name}, {plain}", {**settings, "flows.FLOWS.variant": plain})
        for name, settings in ELEMENTS.items()
        for plain in PLAIN
    )
    return (*plain, *WITH_HOSTS)


@dataclass
class Measured:
    """All that the page is made of."""

    schemes: tuple[str, ...]
    download: dict[str, bp.Comparison]
    """By the name of the link."""
    split: dict[str, bp.Comparison]
    """Downloads over split connections."""
    pages: dict[str, bp.Comparison]
    beside: dict[str, bp.Comparison]
    six: bp.Comparison
    harm: dict[str, bp.Comparison]
    """By the plain variant that the other download has."""

    @cached_property
    def goodput(self) -> dict[tuple[str, str], Variant]:
        """Downloads, by scheme and link."""
        both = [*self.download.items(), *self.split.items()]
        return {(v.name, link): v for link, found in both for v in found.variants}


def compared_over(link: Link, app: Settings, schemes: Sequence[Scheme]) -> bp.Comparison:
    """Run the schemes over a link."""
    scenario = bp.Scenario.load(SCENARIOS / link.file).with_({**link.settings, **app})
    chosen = {scheme.name: scheme.over(link) for scheme in schemes}
    return bp.compare(scenario, chosen, runs=RUNS, flows=[link.flows], progress=False)


def _media(link: Link) -> Settings:
    ends = ("source4", "destination4") if link.file == "chain.toml" else ("server", "client")
    return {"flows.media": {"from": ends[0], "to": ends[1], "app": "multimedia"}}


def _beside(plain: str) -> Settings:
    other = {"from": "server", "to": "client", "variant": plain}
    return {"duration": "300 s", "flows.other": other}


def measure(only: Sequence[str] = ()) -> Measured:
    """Run everything, or the schemes named `only`."""
    schemes = [scheme for scheme in (*variants(), *elements()) if not only or scheme.name in only]
    splits = [scheme for scheme in SPLITS if not only or scheme.name in only]
    shared = _geo("shared", loss={"model": "packet", "probability": 1e-5})
    six = Link("six round-trip times", "six.toml", {}, flows="*")
    with Reporter("every scheme") as reporter:
        done, all_of_them = 0, 4 * len(LINKS) + 1 + len(PLAIN)

        def compared(link: Link, app: Settings, these: Sequence[Scheme] = schemes) -> bp.Comparison:
            nonlocal done
            reporter.update(done / all_of_them, link.name)
            done += 1
            return compared_over(link, app, these)

        return Measured(
            tuple(scheme.name for scheme in schemes),
            {link.name: compared(link, DOWNLOAD) for link in LINKS},
            {link.name: compared(link, {}, splits) for link in LINKS},
            {link.name: compared(link, PAGES) for link in LINKS},
            {link.name: compared(link, {**BESIDE, **_media(link)}) for link in LINKS},
            compared(six, {}),
            {plain: compared(shared, _beside(plain)) for plain in PLAIN},
        )


def with_interval(value: Estimate, unit: float = 1.0, digits: int = 2) -> str:
    """Write a mean and, where runs differ, the half-width of its interval."""
    text = f"{value['mean'] / unit:.{digits}f}"
    half = (value["ci95"] or 0.0) / unit
    return f"{text} ± {half:.{digits}f}" if round(half, digits) else text


def table(heads: Sequence[str], rows: Iterator[Sequence[str]]) -> str:
    """Give a table as Markdown, the first column to the left."""
    lines = [heads, ["---", *["--:"] * (len(heads) - 1)], *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def downloads(found: Measured) -> str:
    """Give the goodput of each scheme over each link, and its share of what the link could carry."""
    rows = (
        [
            f"`{name}`",
            *(
                f"{with_interval(v.value, 1e6)} ({v.of_link['mean']:.0%})".replace("%", " %")
                if (v := found.goodput[name, link]).of_link
                else with_interval(v.value, 1e6)
                for link in found.download
            ),
        ]
        for name in dict.fromkeys(name for name, _ in found.goodput)
    )
    return table(["scheme", *found.download], rows)


def responses(found: Measured) -> str:
    """Give the mean response time of a page with each scheme over each link."""
    rows = (
        [f"`{name}`", *(with_interval(of[name].value) for of in found.pages.values())]
        for name in found.schemes
    )
    return table(["scheme", *found.pages], rows)


def lost(variant: Variant) -> Estimate:
    """Give the share of the datagrams of audio and video that were lost."""
    (media,) = (flow for flow in variant.run["flows"] if flow["name"] == "media")
    sent, gone = mean(media["datagrams_sent"]) or 0.0, mean(media["datagrams_lost"]) or 0.0
    return {"mean": gone / sent if sent else 0.0, "ci95": None, "n": RUNS}


def multimedia(found: Measured) -> str:
    """Give what is lost of audio and video beside each scheme, and what the download carries beside them."""
    rows = (
        [
            f"`{name}`",
            *(
                f"{lost(of[name])['mean']:.2%}, {with_interval(of[name].value, 1e6)}".replace("%", " %")
                for of in found.beside.values()
            ),
        ]
        for name in found.schemes
    )
    return table(["scheme", *found.beside], rows)


def other(variant: Variant) -> float:
    """Give the mean goodput of the other download, in bit/s."""
    (flow,) = (flow for flow in variant.run["flows"] if flow["name"] == "other")
    return mean(flow["goodput_bps"]) or 0.0


def harm(found: Measured, name: str, plain: str) -> float:
    """Give the harm done to a download by `plain`: the share of what it has beside its like that it loses."""
    beside = found.harm[plain]
    return 1 - other(beside[name]) / other(beside[plain])


def sharing(found: Measured) -> str:
    """Give how each scheme shares a link, with itself and with what hosts have."""
    rows = (
        [
            f"`{name}`",
            f"{mean(found.six[name].run['jain']) or 0.0:.3f}",
            with_interval(found.six[name].value, 1e6),
            *(f"{harm(found, name, plain):.0%}".replace("%", " %") for plain in PLAIN),
        ]
        for name in found.schemes
    )
    heads = ["scheme", "Jain's index", "all six, Mbit/s", *(f"harm to `{plain}`" for plain in PLAIN)]
    return table(heads, rows)


def written(found: Measured) -> str:
    """Give the page with what stands between its marks written anew.

    Raises
    ------
    DoesNotHoldError
        A statement is not true any more.
    """
    tables = (downloads(found), responses(found), multimedia(found), sharing(found))
    parts = [
        "".join(teaches(*map(numbers, tables))),
        "## A download of 50 MB\n",
        "Goodput in Mbit/s, and its share of what the narrowest link could carry of payload.\n",
        tables[0],
        "## A web page\n",
        "Mean response time in s of a page, opened every 30 s for ten minutes.\n",
        tables[1],
        "## Audio and video beside a download\n",
        "The share of their datagrams that is lost, and the goodput of the download beside them in Mbit/s.\n",
        tables[2],
        "## A shared link\n",
        "Six downloads with round trips of 100 to 600 ms; and the harm to one other download.\n",
        tables[3],
    ]
    return between_marks(PAGE, PROGRAM, "\n" + "\n".join(parts) + "\n")


def main() -> None:
    """Run all and write the page."""
    try:
        page = written(measure())
    except DoesNotHoldError as error:
        sys.exit(f"{PAGE.relative_to(ROOT)}: this does not hold any more: {error}")
    write_text(PAGE, page)
    print(f"wrote {PAGE.relative_to(ROOT)}", file=sys.stderr)


if __name__ == "__main__":
    main()
