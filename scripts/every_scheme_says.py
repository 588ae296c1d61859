"""What docs/generated/every-scheme.md teaches: sentences about its tables, each beside what makes it true."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

from statements import says

Numbers: TypeAlias = Mapping[str, Mapping[str, Sequence[float]]]
"""By scheme and by the head of the column: what stands in the cell, without half-widths."""

CLEAN, BER7, BER6, BER5 = "GEO, clean", "BER 1e-7", "BER 1e-6", "BER 1e-5"


def numbers(table: str) -> Numbers:
    """Read a table of Markdown whose first column has names."""
    heads, _, *rows = ([cell.strip() for cell in line[1:-1].split("|")] for line in table.splitlines())
    return {row[0].strip("`"): dict(zip(heads[1:], map(_cell, row[1:]), strict=True)) for row in rows}


def _cell(text: str) -> Sequence[float]:
    return [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", re.sub(r" ± [\d.]+", "", text))]


def column(table: Numbers, head: str) -> dict[str, float]:
    """Give the first number of each cell below a head."""
    return {name: cells[head][0] for name, cells in table.items()}


def above(values: Mapping[str, float], least: float) -> set[str]:
    """Give the names of those that have more."""
    return {name for name, value in values.items() if value > least}


def teaches(load: Numbers, pages: Numbers, media: Numbers, shared: Numbers) -> Iterator[str]:
    """Say what the four tables teach.

    Raises
    ------
    DoesNotHoldError
        One of the sentences is not true.
    """
    yield from _about_losses(load)
    yield from _about_elements(load)
    yield from _about_others(pages, media, shared)


def _about_losses(load: Numbers) -> Iterator[str]:
    clean, ber7, ber6, ber5 = (column(load, link) for link in (CLEAN, BER7, BER6, BER5))
    yield says(
        f"Over a clean GEO link today's TCP is near the bound: `cubic` carries {clean['cubic']:.1f} "
        f"Mbit/s of 9.7. "
        f"Only an agent that acknowledges before the satellite ({clean['spoof, cubic']:.1f}) and XCP's "
        f"routers "
        f"({clean['xcp']:.1f}) carry clearly more.",
        above(clean, 1.03 * clean["cubic"]) == {"spoof, newreno", "spoof, cubic", "xcp", "p-xcp"},
    )
    good = {"bbr1", "bbr3", "p-xcp", "arq, cubic", "fec, cubic", "split, bbr3", "spoof, cubic"}
    rest = max(value for name, value in ber6.items() if name not in good)
    yield says(
        f"With one packet in 80 damaged (BER 1e-6) seven of all carry more than 5.5 Mbit/s: {_named(good)}. "
        f"They do not take a "
        f"damaged packet for congestion, or the link or an agent repairs it. The next best "
        f"carries {rest:.1f}, "
        f"`newreno` {ber6['newreno']:.1f}.",
        above(ber6, 5.5) == good,
    )
    agent, best, *others = sorted(ber5, key=lambda name: -ber5[name])
    yield says(
        f"With one packet in nine damaged (BER 1e-5) `{best}` alone of the hosts' TCPs still carries "
        f"{ber5[best]:.1f} Mbit/s, because losses never reduce its "
        f"rate; `bbr3`, which reduces from 2 % on, carries {ber5['bbr3']:.2f}. An agent that repairs by the "
        f"receiver's reports without a reduction carries more ({ber5['spoof, cubic']:.1f} with "
        f"`cubic`, whose SACK it uses; {ber5['spoof, newreno']:.1f} with `newreno`, which has none). Repair "
        f"on the link helps `cubic` to "
        f"{max(ber5['arq, cubic'], ber5['fec, cubic']):.1f}.",
        (agent, best) == ("spoof, cubic", "bbr1"),
        ber5[best] > 3 * ber5[others[0]],
        set(others[:2]) == {"arq, cubic", "fec, cubic"},
        ber5["bbr3"] < 0.1 * ber5["bbr1"],
        ber5["spoof, newreno"] < 0.2 * ber5["spoof, cubic"],
    )
    guess = ("star", "jersey", "illinois", "westwood", "veno", "hybla")
    yield says(
        "Of the older controls for lossy links, those that measure the rate of the path carry most with "
        "rare "
        f"damage: at BER 1e-7 {_with(guess, ber7)} Mbit/s, where `newreno` has "
        f"{ber7['newreno']:.2f}. At ten times as much "
        f"only `star` is above 2 ({ber6['star']:.1f}).",
        all(ber7[one] > ber7[two] for one, two in pairwise(guess)),
        ber7["veno"] > 1.5 * ber7["newreno"] > ber7["hybla"],
        above({name: ber6[name] for name in guess}, 2.0) == {"star"},
    )
    chain = column(load, "LEO chain")
    yield says(
        f"The documents' own: at BER 1e-7 `adalr-sack` carries {ber7['adalr-sack'] / ber7['sack']:.1f} "
        f"times what `sack` does, `afc` "
        f"{ber7['afc'] / ber7['sack']:.1f} times, both together {ber7['adalr+afc'] / ber7['sack']:.1f} "
        f"times; over the clean link the gain is "
        f"{clean['adalr-sack'] / clean['sack'] - 1:.0%}".replace("%", " %")
        + " and none. CUBIC, which came later, does as well as `afc` there.",
        ber7["adalr+afc"] > ber7["afc"] > ber7["adalr-sack"] > 1.3 * ber7["sack"],
        1.0 < clean["adalr-sack"] / clean["sack"] < 1.05,
        abs(clean["afc"] / clean["sack"] - 1) < 0.01,
        abs(ber7["cubic"] / ber7["afc"] - 1) < 0.1,
    )
    yield says(
        f"`hybla` as its paper has it, without an estimate of where slow start should end, carries "
        f"{chain['hybla']:.2f} Mbit/s over the LEO "
        f"chain, where all others of the hosts have "
        f"{min(v for n, v in chain.items() if n != 'hybla' and ',' not in n):.1f} and more: its steps of "
        "2^16 segments an ACK overflow short queues.",
        chain["hybla"] < 0.1,
        min(value for name, value in chain.items() if name != "hybla" and "," not in name) > 1.0,
    )


def _about_elements(load: Numbers) -> Iterator[str]:
    clean, bursts, narrow = (column(load, link) for link in (CLEAN, "bursts", "1:100"))
    yield says(
        f"FEC of 20 + 4 packets takes {1 - clean['fec, cubic'] / clean['cubic']:.0%}".replace("%", " %")
        + f" of a clean link and gives nothing where losses come in bursts of ten "
        f"({bursts['fec, cubic']:.1f} Mbit/s beside "
        f"{bursts['cubic']:.1f}); ARQ costs nothing without losses, and carries "
        f"{bursts['arq, cubic']:.1f} there.",
        clean["arq, cubic"] == clean["cubic"],
        clean["fec, cubic"] < 0.9 * clean["cubic"],
        abs(bursts["fec, cubic"] / bursts["cubic"] - 1) < 0.1,
        bursts["arq, cubic"] > 2.5 * bursts["cubic"],
    )
    yield _marked(clean)
    yield says(
        "Snoop before a satellite repairs no sooner than the sender. With `newreno` and 100 kbit/s back "
        "it carries "
        f"{narrow['snoop, newreno']:.2f} Mbit/s, without it {narrow['newreno']:.1f}; its place is a short "
        f"link ([peps.md](../explanation/peps.md)).",
        narrow["snoop, newreno"] < 0.1 * narrow["newreno"],
    )


def _marked(clean: Mapping[str, float]) -> str:
    return says(
        f"Behind RED that marks `cubic` carries {clean['red, cubic']:.1f} Mbit/s of a clean link's "
        f"{clean['cubic']:.1f}: a mark reduces cwnd gradually over a round trip, as in Linux; "
        "the mean queue stays above RED's bound for longer, and RED marks again.",
        clean["red, cubic"] < 0.75 * clean["cubic"],
    )


def _about_others(pages: Numbers, media: Numbers, shared: Numbers) -> Iterator[str]:
    page, lost = column(pages, CLEAN), column(media, CLEAN)
    quick = {"bbr1", "bbr3", "spoof, newreno", "spoof, cubic", "hybla", "xcp", "p-xcp"}
    yield says(
        f"The start decides the time of a page over GEO: "
        f"{_with(('bbr1', 'spoof, cubic', 'hybla', 'xcp'), page)} s, and {page['cubic']:.1f} s "
        "for all that begin by RFC 5681, with any answer to losses and any queue.",
        {name for name, value in page.items() if value < 3.0} == quick,
        page["newreno"] == page["cubic"] == page["sack"],
    )
    yield says(
        f"For a call beside the download the queue decides: with `cubic` it loses {lost['cubic']:.1f} % "
        f"of its datagrams, with queues a "
        f"flow (`drr`, `fq-codel`) none, nor behind an agent that fills half of the queue itself (`spoof`).",
        lost["cubic"] > 1.0,
        all(
            lost[f"{scheme}, {plain}"] == 0
            for scheme in ("drr", "fq-codel", "spoof")
            for plain in ("newreno", "cubic")
        ),
    )
    jain, newreno, cubic = (
        column(shared, head) for head in ("Jain's index", "harm to `newreno`", "harm to `cubic`")
    )
    fair = {
        "vegas",
        "spoof, newreno",
        "spoof, cubic",
        "fq-codel, cubic",
        "drr, cubic",
        "thresholds, cubic",
        "xcp",
        "p-xcp",
    }
    yield says(
        "Flows with round trips of 100 to 600 ms share equally (Jain's index above 0.99) under "
        f"{_named(fair)}; under "
        f"`bbr1` it is "
        f"{jain['bbr1']:.2f}. `cubic` takes {newreno['cubic']:.0f} % from a `newreno` beside it, `bbr1` "
        f"{cubic['bbr1']:.0f} % from a `cubic`; "
        f"`vegas` gives way to both.",
        above(jain, 0.99) == fair,
        jain["bbr1"] < 0.9,
        newreno["cubic"] > 80,
        30 < cubic["bbr1"] < 40,
        newreno["vegas"] < -50,
        cubic["vegas"] < -50,
    )


def _named(names: set[str]) -> str:
    *most, last = (f"`{name}`" for name in sorted(names))
    return f"{', '.join(most)} and {last}"


def _with(names: Sequence[str], values: Mapping[str, float]) -> str:
    *most, last = (f"`{name}` {values[name]:.1f}" for name in names)
    return f"{', '.join(most)} and {last}"
