"""Which TCP for which orbit: writes tables and statements of docs/generated/which-orbit.md.

Four downloads of every variant share a path of each kind, with XFWA and without. A statement that
does not hold ends the program, and nothing is written.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import bentpipe as bp
from bentpipe.comparison.result import Variant
from bentpipe.files.output import write_text
from bentpipe.results import mean
from bentpipe.runs.progress import Reporter
from every_scheme import table, variants, with_interval
from every_scheme_says import column, numbers
from statements import DoesNotHoldError, between_marks, says, whole

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "generated" / "which-orbit.md"
SCENARIOS = ROOT / "docs" / "generated" / "which-orbit"
PROGRAM = "scripts/which_orbit.py"
RUNS = 3

XFWA = {"scheme": "xfwa", "rtt": "handshake", "unknown_scale": "zero"}
ORBITS: Mapping[str, tuple[str, str]] = {
    "GEO in rain": ("rain.toml", "links.satellite.gateway"),
    "Starlink-like": ("starlink-like.toml", "links.satellite.gateway"),
    "OneWeb-like star": ("oneweb.toml", "constellation.gateway"),
    "Iridium-like chain": ("iridium.toml", "constellation.gateway"),
}
"""The file of each path, and where its gateway stands."""

Found: TypeAlias = Mapping[str, tuple[bp.Comparison, bp.Comparison]]
"""By path: without XFWA and with it."""


def compared(orbit: str, names: Sequence[str], *, guarded: bool) -> bp.Comparison:
    """Run four downloads of each variant over a path."""
    file, key = ORBITS[orbit]
    scenario = bp.Scenario.load(SCENARIOS / file)
    if guarded:
        scenario = scenario.with_({key: XFWA})
    chosen = {name: {"flows.download.variant": name} for name in names}
    return bp.compare(scenario, chosen, runs=RUNS, flows=["download*"], progress=False)


def measure(names: Sequence[str]) -> Found:
    """Run everything."""
    with Reporter("which orbit") as reporter:
        found = {}
        for done, orbit in enumerate(ORBITS):
            reporter.update(done / len(ORBITS), orbit)
            found[orbit] = (compared(orbit, names, guarded=False), compared(orbit, names, guarded=True))
        return found


def goodput(found: Found, names: Sequence[str]) -> str:
    """Give the goodput of four downloads together."""
    return _shown(found, names, lambda variant: with_interval(variant.value, 1e6))


def fairness(found: Found, names: Sequence[str]) -> str:
    """Give Jain's index of the four."""
    return _shown(found, names, lambda variant: f"{mean(variant.run['jain']) or 0.0:.3f}")


def _shown(found: Found, names: Sequence[str], cell: Callable[[Variant], str]) -> str:
    """Give a table of every variant over every path, without XFWA and with it."""
    rows = ([f"`{name}`", *(cell(of[name]) for both in found.values() for of in both)] for name in names)
    heads = [head for orbit in found for head in (orbit, f"{orbit}, XFWA")]
    return table(["variant", *heads], rows)


def teaches(load: str, fair: str) -> Iterator[str]:
    """Say what the tables teach.

    Raises
    ------
    DoesNotHoldError
        One of the sentences is not true.
    """
    carried = {orbit: column(numbers(load), orbit) for orbit in ORBITS}
    guarded = {orbit: column(numbers(load), f"{orbit}, XFWA") for orbit in ORBITS}
    jain, jain_guarded = (
        {orbit: column(numbers(fair), f"{orbit}{with_}") for orbit in ORBITS} for with_ in ("", ", XFWA")
    )
    yield from said(carried, guarded, jain, jain_guarded)


Columns: TypeAlias = Mapping[str, Mapping[str, float]]


def said(carried: Columns, guarded: Columns, jain: Columns, jain_guarded: Columns) -> Iterator[str]:
    """Say it of the columns, by path."""
    rain, leo, star, chain = carried.values()
    rain_, leo_, _, chain_ = guarded.values()
    today = ("cubic", "bbr1", "bbr3")
    short = max(1 - of["cubic"] / max(of.values()) for of in carried.values())
    yield says(
        f"Four downloads fill every one of these paths with `cubic`: {rain['cubic']:.2f}, "
        f"{leo['cubic']:.0f}, "
        f"{star['cubic']:.1f} and {chain['cubic']:.2f} Mbit/s, the most or within {whole(short)} of it.",
        short < 0.1,
    )
    delays = ("vegas", "new-vegas")
    yield says(
        f"Over a Starlink-like link `vegas` carries {leo['vegas']:.0f} and `new-vegas` "
        f"{leo['new-vegas']:.0f} "
        f"Mbit/s of {leo['bbr1']:.0f}: they take jitter and longer paths for queues.",
        all(leo[name] < 0.25 * leo["bbr1"] for name in delays),
        all(star[name] > 0.9 * star["bbr1"] for name in delays),
    )
    slow, all_again = ("newreno", "adalr-newreno"), ("tahoe", "reno")
    yield says(
        f"There the recovery counts: `sack` carries {leo['sack']:.0f}, `newreno` {leo['newreno']:.0f} and "
        f"`adalr-newreno` {leo['adalr-newreno']:.0f} Mbit/s. A handover loses many packets at once, and one "
        "hole a round trip is too slow; `tahoe` and `reno` time out and send all again "
        f"({leo['tahoe']:.0f} and {leo['reno']:.0f}).",
        all(leo["sack"] > 1.05 * leo[name] for name in slow),
        all(0.95 * leo["sack"] < leo[name] < leo["sack"] for name in all_again),
    )
    yield says(
        f"`bbr1` and `bbr3` are first nowhere but there ({leo['bbr1']:.0f} and {leo['bbr3']:.0f} Mbit/s), "
        f"and "
        f"behind `cubic` by {1 - rain['bbr3'] / rain['cubic']:.0%} in rain and "
        f"{1 - chain['bbr3'] / chain['cubic']:.0%} over the chain.".replace("%", " %"),
        max(leo, key=lambda name: leo[name]) == "bbr1",
        all(rain[name] < rain["cubic"] and chain[name] < chain["cubic"] for name in today[1:]),
    )
    yield says(
        f"`hybla` as its paper has it carries {rain['hybla']:.2f} Mbit/s in rain, five sixths of `cubic`: "
        "its bursts overflow the queue. Over the chain, where the profile `linux` gives it the recovery of "
        f"Linux, it carries as much as `cubic` ({chain['hybla']:.2f}).",
        0.8 < rain["hybla"] / rain["cubic"] < 0.88,
        abs(chain["hybla"] / chain["cubic"] - 1) < 0.02,
    )
    helped = {name for name in rain if _more(rain_[name], rain[name]) or _more(chain_[name], chain[name])}
    yield says(
        "XFWA aboard helps the variants that overflow the queue most: in rain `hybla` has "
        f"{rain_['hybla']:.2f} in place of {rain['hybla']:.2f}, `adalr-newreno` "
        f"{rain_['adalr-newreno']:.2f} of {rain['adalr-newreno']:.2f}, `peach` "
        f"{rain_['peach']:.2f} of {rain['peach']:.2f} Mbit/s, over the "
        f"Starlink-like link `newreno` {leo_['newreno']:.0f} of {leo['newreno']:.0f}. It costs `cubic` "
        "and `sack` next to "
        "nothing.",
        helped == {"hybla", "adalr-newreno", "peach"},
        _more(leo_["newreno"], leo["newreno"]),
        all(
            of_[name] > 0.985 * of[name]
            for of, of_ in zip(carried.values(), guarded.values(), strict=True)
            for name in ("cubic", "sack")
        ),
    )
    fairer = [name for name in leo if jain_guarded["Starlink-like"][name] > jain["Starlink-like"][name]]
    yield says(
        f"Over the Starlink-like link, whose rate changes every 15 s, {len(fairer)} of {len(leo)} "
        f"variants share "
        f"better with it: Jain's index of `newreno` goes from {jain['Starlink-like']['newreno']:.2f} to "
        f"{jain_guarded['Starlink-like']['newreno']:.2f}, of `bbr1` from "
        f"{jain['Starlink-like']['bbr1']:.2f} to "
        f"{jain_guarded['Starlink-like']['bbr1']:.2f}.",
        len(fairer) > 0.6 * len(leo),
        {"cubic", "bbr1", "newreno"} <= set(fairer),
    )


def _more(one: float, other: float) -> bool:
    return one > 1.05 * other


def written(load: str, fair: str) -> str:
    """Give the page with what stands between its marks written anew.

    Raises
    ------
    DoesNotHoldError
        A statement is not true any more.
    """
    parts = [
        "".join(teaches(load, fair)),
        "## Goodput of four downloads together, in Mbit/s\n",
        load,
        "## How they share: Jain's index\n",
        fair,
    ]
    return between_marks(PAGE, PROGRAM, "\n" + "\n".join(parts) + "\n")


def main() -> None:
    """Run all and write the page."""
    names = [scheme.name for scheme in variants()]
    found = measure(names)
    try:
        page = written(goodput(found, names), fairness(found, names))
    except DoesNotHoldError as error:
        sys.exit(f"{PAGE.relative_to(ROOT)}: this does not hold any more: {error}")
    write_text(PAGE, page)
    print(f"wrote {PAGE.relative_to(ROOT)}", file=sys.stderr)


if __name__ == "__main__":
    main()
