"""Which TCP for a link: tables, pictures and statements of docs/generated/which-tcp.md.

Each statement stands beside the conditions that make it true. One that does not hold ends the program, and
nothing is written.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import bentpipe as bp
from bentpipe.comparison.measure import limit_names
from bentpipe.comparison.result import Variant
from bentpipe.files.output import write_text
from bentpipe.results import mean
from bentpipe.show.units import percent, quantity
from statements import DoesNotHoldError, between_marks, more, says, whole

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "generated" / "which-tcp.md"
SCENARIOS = ROOT / "docs" / "generated" / "which-tcp"
HALVING = ("newreno", "sack", "afc", "adalr-sack")
MODELLING = ("bbr1", "bbr3")
ALL = (*HALVING, "cubic", *MODELLING)
STARTS = ("standard", "hystart", "hystart++", "search", "limited")

Found: TypeAlias = bp.Comparison
Settings: TypeAlias = Mapping[str, object]


@dataclass(frozen=True)
class Part:
    """A comparison, and what the page says of it."""

    heading: str
    about: str
    file: str
    statements: Callable[[Found], Iterable[str]]
    variants: tuple[str, ...] | Mapping[str, Settings] = ALL
    settings: Settings = field(default_factory=dict)
    runs: int = 10
    flows: tuple[str, ...] = ()
    picture: str = ""

    def compare(self) -> Found:
        """Run it."""
        scenario = bp.Scenario.load(SCENARIOS / self.file).with_(self.settings)
        return bp.compare(
            scenario, self.variants, runs=self.runs, flows=self.flows, explain=True, progress=False
        )

    def how(self) -> str:
        """Give the call that a reader may repeat."""
        if isinstance(self.variants, Mapping):
            return ""
        words = ["bentpipe", "compare", f"which-tcp/{self.file}", "--variants", ",".join(self.variants)]
        words += [word for key, value in self.settings.items() for word in ("--set", f"{key}={value}")]
        words += [word for pattern in self.flows for word in ("--flows", pattern)]
        words += [] if self.runs == 10 else ["--runs", str(self.runs)]
        return f"```console\n$ {shlex.join([*words, '--explain'])}\n```\n\n"

    def text(self, found: Found) -> str:
        """Give the part of the page, if all that it says is true of `found`."""
        text = f"## {self.heading}\n\n{self.about}\n\n{''.join(self.statements(found))}\n{self.how()}"
        if self.picture:
            text += f"![What limits each TCP: {self.heading}](which-tcp/{self.picture})\n\n"
        return f"{text}{found.markdown()}\n"


def limit(variant: Variant, *names: str) -> float:
    """Give the share of the time in which one of these limits it."""
    return sum(share["mean"] for name, share in (variant.limits or {}).items() if name in names)


def most(variant: Variant) -> str:
    """Give what limits it for most of the time."""
    limits = variant.limits or {}
    return max(limits, key=lambda name: limits[name]["mean"])


def span(variants: Iterable[Variant]) -> str:
    """Write the least and the most goodput of several."""
    values = sorted(variant.value["mean"] for variant in variants)
    return f"{values[0] / 1e6:.2f} to {values[-1] / 1e6:.2f} Mbit/s"


def clean(found: Found) -> Iterator[str]:
    """Say what comes out over a clean GEO link."""
    good, halving = [found[name] for name in ("cubic", *MODELLING)], [found[name] for name in HALVING]
    worst = min(good, key=lambda variant: variant.value["mean"])
    held, others = found["bbr3"], [found[name] for name in ("cubic", "bbr1")]
    yield says(
        f"`cubic`, `bbr1` and `bbr3` are near each other, {span(good)}: most of the time the link is full, "
        f"and the rest is the start ({whole(min(limit(v, 'slow_start') for v in good))} to "
        f"{whole(max(limit(v, 'slow_start') for v in good))} of the time), and with `bbr3` its own pacing "
        f"({whole(limit(held, 'control'))}): losses at the end of the start bound its rate and its window "
        "until it probes again.",
        all(most(variant) == "link" for variant in good),
        worst.value["mean"] > 0.94 * found.variants[0].value["mean"],
        {variant.name for variant in found.variants[:3]} == {variant.name for variant in good},
        min(limit(variant, "link", "slow_start") for variant in others) > 0.85,
        limit(held, "link", "slow_start", "control") > 0.85,
        limit(held, "control") > 2 * max(limit(variant, "control") for variant in others),
    )
    yield says(
        f"The four with RFC 5681's start reach {span(halving)}, for one reason: slow start doubles "
        f"cwnd beyond what link and queue hold, the queue drops {dropped(halving[0]):.0f} packets and "
        f"more, and the repair ends in timeouts ({whole(min(limit(v, 'timeouts') for v in halving))} of "
        "the time and more). The answer to losses itself limits none of them for more than "
        f"{whole(max(limit(v, 'loss_response') for v in halving))}.",
        all(variant.total("timeouts", ["download"]) >= 1 for variant in halving),
        min(dropped(variant) for variant in halving) == dropped(halving[0]) > 5 * dropped(found["cubic"]),
        min(limit(variant, "timeouts") for variant in halving) > 0.25,
        max(limit(variant, "loss_response") for variant in halving) < 0.05,
    )


def starts(found: Found) -> Iterator[str]:
    """Say what the end of slow start does to SACK."""
    best, plain = found["hystart"], found["standard"]
    yield says(
        'With `tcp.slow_start = "hystart"`, which `cubic` has by itself, SACK carries '
        f"{quantity(best.value, 'bit/s')} in place of {quantity(plain.value, 'bit/s')}, and resends "
        "nothing: over a clean link choose the start, not the control.",
        best.value["mean"] > 1.3 * plain.value["mean"],
        best.total("retransmitted_segments", ["download"]) == 0,
    )
    late = found["hystart++"].total("retransmitted_segments", ["download"])
    yield says(
        f"`hystart++` reaches the same with {late:.0f} segments resent. `limited` loses nothing, and is "
        "slower "
        "where the window has to become large. `search` changes nothing: its window is three and a half "
        "round trips, and the queue is full before.",
        abs(found["hystart++"].value["mean"] / best.value["mean"] - 1) < 0.01,
        0 < late < 0.1 * plain.total("retransmitted_segments", ["download"]),
        found["limited"].total("retransmitted_segments", ["download"]) == 0,
        plain.value["mean"] < found["limited"].value["mean"] < 0.97 * best.value["mean"],
        found["search"].value["mean"] < 1.02 * plain.value["mean"],
    )


def short(found: Found) -> Iterator[str]:
    """Say what limits a short download."""
    resumed, cubic = found["cubic, resumed"], found["cubic"]
    others = [variant for variant in found.variants if variant is not resumed]
    yield says(
        "A megabyte ends before the control matters: every variant is in slow start for "
        f"{whole(min(limit(v, 'slow_start') for v in others))} of the time and more, and nobody carries "
        f"more than {whole(max(v.of_link['mean'] for v in found.variants if v.of_link))} of the link.",
        all(limit(variant, "slow_start") > 0.85 for variant in others),
        all(variant.of_link is not None and variant.of_link["mean"] < 0.5 for variant in found.variants),
    )
    yield says(
        "A larger start helps. Careful Resume (RFC 9959), "
        "which knows an earlier connection's capacity, carries "
        f"{resumed.value['mean'] / cubic.value['mean']:.1f} times as much as the same `cubic` "
        "without it, an initial window of 10 segments "
        f"{found['cubic, 10 segments'].value['mean'] / cubic.value['mean']:.1f} times as much.",
        found.variants[0] is resumed,
        resumed.value["mean"] > 1.5 * cubic.value["mean"],
        found["cubic, 10 segments"].value["mean"] > 1.15 * cubic.value["mean"],
    )


def window(found: Found) -> Iterator[str]:
    """Say what a small receive window does."""
    others = [variant for variant in found.variants if variant.name != "adalr-sack"]
    yield says(
        f"With 64 KiB every variant but one carries {span(others)} of 10, and waits for the receiver's "
        f"window {whole(min(limit(v, 'receive_window') for v in others))} of the time and more. No "
        "other TCP helps: "
        "the window has to hold the bandwidth-delay product, and as much again for the "
        "queue.",
        all(most(variant) == "receive_window" for variant in others),
        max(variant.value["mean"] for variant in others) < 1.15 * min(v.value["mean"] for v in others),
        min(limit(variant, "receive_window") for variant in others) > 0.7,
    )
    brave = found["adalr-sack"]
    yield says(
        f"`adalr-sack` comes to {quantity(brave.value, 'bit/s')} because it sends beyond the advertised "
        "window by design ([adalr-afc.md](../explanation/adalr-afc.md#tcp-adalr)), so that a receiver may "
        "drop the excess. It would gain more, but its cwnd opens while half of it is used (RFC 7661): the "
        "start overflows "
        f"the queue, which drops {dropped(brave):.0f} packets, and after a loss it exceeds "
        "the window by a single segment.",
        found.variants[0] is brave,
        1.05 * others[0].value["mean"] < brave.value["mean"] < 1.2 * others[0].value["mean"],
        dropped(brave) > 100 and all(dropped(variant) == 0 for variant in others),
        most(brave) == "receive_window",
    )


def errors(found: Found) -> Iterator[str]:
    """Say what comes out over a GEO link that damages packets."""
    modelling = [found[name] for name in MODELLING]
    rest = [variant for variant in found.variants if variant.name not in MODELLING]
    times = min(v.value["mean"] for v in modelling) / rest[0].value["mean"]
    yield says(
        f"`bbr1` and `bbr3` carry {times:.1f} times as much as the next best, {span(modelling)}: they "
        "use rate and round trip, and do not "
        "take one damaged packet in 500 for a full link.",
        times > 2.5,
        all(more(one, other) for one in modelling for other in rest),
        all(most(variant) == "link" for variant in modelling),
    )
    yield says(
        "All others take each damaged packet for congestion: the answer to losses holds them back for "
        f"{whole(min(limit(v, 'loss_response') for v in rest))} of the time and more, and the link is full "
        f"for {whole(max(limit(v, 'link') for v in rest))} at most.",
        all(limit(variant, "loss_response") > 0.8 for variant in rest),
        all(limit(variant, "link") < 0.05 for variant in rest),
    )
    afc, cubic, adalr, sack = (found[name] for name in ("afc", "cubic", "adalr-sack", "sack"))
    yield says(
        "Of those, `afc`, which forgives the first loss of a window, and `cubic`, which returns to its "
        f"last window by time, carry {afc.value['mean'] / sack.value['mean']:.1f} and "
        f"{cubic.value['mean'] / sack.value['mean']:.1f} times as much as `sack`, `adalr-sack` "
        f"{adalr.value['mean'] / sack.value['mean']:.1f} times; these runs do not tell `newreno` and "
        "`sack` apart.",
        more(afc, adalr) and more(cubic, adalr) and more(adalr, sack),
        not more(sack, found["newreno"]) and not more(found["newreno"], sack),
    )
    again = [variant.total("retransmitted_segments", ["download"]) for variant in modelling]
    yield says(
        f"`bbr1` resends {again[0]:.0f} segments, `bbr3` {again[1]:.0f}: the queue drops "
        f"{dropped(modelling[0]):.0f} packets of `bbr1`, and {dropped(modelling[1]):.0f} of `bbr3`.",
        again[0] > 4 * again[1],
        dropped(modelling[0]) > 0.8 * again[0],
    )


def leo(found: Found) -> Iterator[str]:
    """Say what comes out where handovers lose what is on its way."""
    good = [found[name] for name in ("bbr1", "cubic", "bbr3", "afc")]
    sack, newreno, adalr = (found[name] for name in ("sack", "newreno", "adalr-sack"))
    yield says(
        f"`bbr1`, `cubic`, `bbr3` and `afc` carry {span(good)}, `newreno` and `sack` "
        f"{span([sack, newreno])}. A handover loses the packets in flight, and "
        "leaves the rate: the time until cwnd is back decides. `sack` is held back by its answer to "
        f"losses for {whole(limit(sack, 'loss_response'))} of the time, `cubic` for "
        f"{whole(limit(found['cubic'], 'loss_response'))}, `bbr1` for "
        f"{whole(limit(found['bbr1'], 'loss_response'))}.",
        all(more(one, other) for one in good for other in (sack, newreno)),
        all(variant.of_link is not None and variant.of_link["mean"] > 0.9 for variant in good),
        most(sack) == "loss_response",
        limit(found["cubic"], "loss_response") < 0.5 * limit(sack, "loss_response"),
        limit(found["bbr1"], "loss_response") < 0.02,
    )
    yield says(
        f"Only `newreno` needs timeouts for it, {newreno.total('timeouts', ['download']):.1f} in a run, as "
        "it repairs one hole in a round trip. `adalr-sack` is `sack` to the last bit: its growth is for "
        "round trips that LEO does not have.",
        newreno.total("timeouts", ["download"]) > 2,
        all(v.total("timeouts", ["download"]) < 1 for v in found.variants if v is not newreno),
        adalr.values == sack.values,
    )


def shared(found: Found) -> Iterator[str]:
    """Say who gets what beside a download by CUBIC."""
    cubic = found["cubic"]
    both = {variant.name: variant.value["mean"] + beside(variant) for variant in found.variants}
    yield says(
        "The link is full with every variant: both downloads together carry "
        f"{min(both.values()) / 1e6:.1f} to "
        f"{max(both.values()) / 1e6:.1f} Mbit/s. The variant decides the shares.",
        min(both.values()) > 0.94 * max(both.values()),
        all(most(variant) == "link" for variant in found.variants),
    )
    shares = {variant.name: variant.value["mean"] / both[variant.name] for variant in found.variants}
    yield says(
        f"Another `cubic` takes {whole(shares['cubic'])}. `bbr1` takes {whole(shares['bbr1'])} and `bbr3` "
        f"{whole(shares['bbr3'])}, at the other's cost, which has {beside(found['bbr1']) / 1e6:.1f} Mbit/s "
        "left beside `bbr1`.",
        0.47 < shares["cubic"] < 0.53,
        more(found["bbr1"], found["bbr3"]) and more(found["bbr3"], cubic),
    )
    yield says(
        "Variants that halve cwnd and grow by a "
        f"segment a round trip stay small beside `cubic`: `adalr-sack` {whole(shares['adalr-sack'])}, "
        f"`afc` {whole(shares['afc'])}, "
        f"`sack` {whole(shares['sack'])}, `newreno` {whole(shares['newreno'])}.",
        all(shares[name] < 0.2 for name in HALVING),
        all(more(cubic, found[name]) for name in HALVING),
        more(found["afc"], found["sack"]) and more(found["adalr-sack"], found["sack"]),
        more(found["sack"], found["newreno"]),
    )


def dropped(variant: Variant) -> float:
    """Give how many packets the queue before the satellite drops in a run."""
    (link,) = (link for link in variant.run["links"] if link["name"] == "satellite")
    return mean(link["dropped_packets"]) or 0.0


def beside(variant: Variant) -> float:
    """Give the mean goodput of the other download, in bit/s."""
    (other,) = (flow for flow in variant.run["flows"] if flow["name"] == "other")
    return mean(other["goodput_bps"]) or 0.0


def at_start(start: str) -> Settings:
    """Give what makes the download one of SACK with this slow start."""
    return {"flows.*.variant": "sack", "tcp.slow_start": start}


RESUMED = {"slow_start": "careful-resume", "careful-resume": {"saved_cwnd": "650 kB", "saved_rtt": "520 ms"}}
PARTS = (
    Part(
        "GEO, clean",
        "10 Mbit/s and a round trip of 520 ms, a queue of one bandwidth-delay product, 20 MB. Nothing "
        "here is "
        "random, so one run is enough.",
        "geo.toml", clean, runs=1, picture="geo.svg",
    ),
    Part(
        "GEO, clean: the start",
        "SACK with each slow start (`tcp.slow_start`), over the same link.",
        "geo.toml", starts, runs=1,
        variants={start: at_start(start) for start in STARTS},
    ),
    Part(
        "GEO, clean: a megabyte",
        "The same link, 1 MB. The last two are `cubic` with `tcp.initial_window = \"10 segments\"`, and "
        "with Careful Resume that has saved 650 kB and 520 ms.",
        "geo.toml", short, runs=1, settings={"flows.download.bytes": "1 MB", "title": "1 MB over clean GEO"},
        variants={
            **{name: {"flows.*.variant": name} for name in ("sack", "cubic", "bbr1", "bbr3")},
            "cubic, 10 segments": {"flows.*.variant": "cubic", "tcp.initial_window": "10 segments"},
            "cubic, resumed": {"flows.*.variant": "cubic", "flows.download.tcp": RESUMED},
        },
    ),
    Part(
        "GEO, clean: a small receive window",
        "The same link with the 64 KiB that a receiver without window scaling has.",
        "geo.toml", window, runs=1, settings={"tcp.receive_window": "64 KiB"},
    ),
    Part(
        "GEO with errors",
        "The same link where one packet in 500 is damaged.",
        "geo-errors.toml", errors, picture="geo-errors.svg",
    ),
    Part(
        "LEO with handovers",
        "50 Mbit/s, and every 15 s another satellite: the round trip changes between 50 and 70 ms, and "
        "packets in flight over "
        "the old satellite are lost.",
        "leo.toml", leo, picture="leo.svg",
    ),
    Part(
        "A shared link",
        "The GEO link with a second download, by `cubic`, beside ours for 300 s; one packet in 100,000 is "
        "damaged, so that runs differ.",
        "shared.toml", shared, flows=("download",), picture="shared.svg",
    ),
)  # fmt: skip


def in_short(found: list[tuple[Part, Found]]) -> str:
    """Give the table that answers the question at once."""
    text = "| link | carries most | of the link | `sack` carries | `sack` is limited most by |\n"
    text += "| --- | --- | --: | --: | --- |\n"
    for part, comparison in found:
        if not part.picture:
            continue
        best, sack = comparison.variants[0], comparison["sack"]
        text += (
            f"| {part.heading} | `{best.name}`, {quantity(best.value, 'bit/s')} | {percent(best.of_link)} "
        )
        why = most(sack)
        named = f"{limit_names()[why]}, {whole(limit(sack, why))} of the time"
        text += f"| {quantity(sack.value, 'bit/s')} | {named} |\n"
    return text


def compared() -> list[tuple[Part, Found]]:
    """Run all parts."""
    return [(part, part.compare()) for part in PARTS]


def written(found: list[tuple[Part, Found]]) -> str:
    """Give the page with what stands between its marks written anew.

    Raises
    ------
    DoesNotHoldError
        A statement is not true any more.
    """
    parts = "".join(part.text(comparison) for part, comparison in found)
    return between_marks(PAGE, "scripts/which_tcp.py", f"\n{in_short(found)}\n{parts}")


def main() -> None:
    """Run all, write the page and its pictures."""
    found = compared()
    try:
        page = written(found)
    except DoesNotHoldError as error:
        sys.exit(f"{PAGE.relative_to(ROOT)}: this does not hold any more: {error}")
    for part, comparison in found:
        if part.picture:
            comparison.plot(SCENARIOS / part.picture)
    write_text(PAGE, page)
    print(f"wrote {PAGE.relative_to(ROOT)}", file=sys.stderr)


if __name__ == "__main__":
    main()
