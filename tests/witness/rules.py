"""Write docs/generated/beside-linux.md: a scenario for each of Linux's rules, kernels beside it.

`--kernel` runs the virtual kernel first, `--real` this machine's (root); without either what is kept in
``rules.json`` is written beside what the simulator makes now.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernels import Case, Kept, Told, asked_for, clusters, run_kernels, simulated

from statements import between_marks

PAGE = Path(__file__).resolve().parents[2] / "docs" / "generated" / "beside-linux.md"
KEPT = Path(__file__).with_name("rules.json")
CLOSE = 0.05
"""How far times and counts of packets may be apart; windows are the same, and thresholds as many."""
EXACT = ("cwnd_most", "cwnd_last", "timeouts")

PATH = """
duration = "{limit}"
[links.path]
from = "server"
to = "client"
rate = "{rate}"
delay = "{delay}"
{link}
[links.path.reverse]
{back}
[tcp]
receive_window = "{window} B"
[flows.flow]
from = "server"
to = "client"
{flow}
"""
UNBOUND = 8 << 20
"""A receive window in bytes that limits no transfer here."""


@dataclass(frozen=True)
class Rule:
    """What Linux does, a scenario that shows it, and the numbers that tell."""

    what: str
    case: Case
    shown: tuple[str, ...]


def _rule(
    name: str,
    what: str,
    shown: str,
    control: str = "cubic",
    *,
    segments: int = 0,
    pages: tuple[int, int, int] | None = None,
    lost: Sequence[int] = (),
    link: str = "",
    back: str = "",
    rate: str = "20 Mbit/s",
    delay: str = "250 ms",
    window: int = UNBOUND,
    size: int = 0,
    app: str = "",
    limit: str = "200 s",
) -> Rule:
    """Make a rule; `pages` have two answers of so many bytes, begin after so many ms, and are so many."""
    if pages:
        size, interval, count = pages
        flow = f'app = "http"\nmain_object = "{size} B"\nobjects = 1\nobject = "{size} B"\n'
        flow += f'page_interval = "{interval} ms"\npages = {count}'
    else:
        flow = app or f'bytes = "{size or segments * 1448} B"'
    if lost:
        link += f'\nloss = {{ model = "drop", packets = {list(lost)}, at_least = "100 B" }}'
    text = PATH.format(limit=limit, rate=rate, delay=delay, link=link, back=back, window=window, flow=flow)
    return Rule(what, Case(name, control, text), tuple(shown.split()))


_EVERY_TENTH = range(600, 1391, 10)
_THREE_LOSSES: dict[str, Any] = {
    "rate": "10 Mbit/s",
    "delay": "270 ms",
    "link": 'queue = "2000 packets"',
    "size": 1_500_000,
    "lost": (100, 190, 218),
}
_LATE = 'arq = { attempts = "unlimited", in_order = false }'

RULES = (
    # What opens the window.
    _rule(
        "a receive window and two losses",
        "slow start opens cwnd to twice what was in flight, under a receive window of 172 segments too",
        "s cwnd_most ssthresh",
        segments=4000,
        lost=(1000, 2000),
        window=249_056,
    ),
    _rule(
        "a receive window, no loss",
        "the same without losses",
        "s",
        segments=4000,
        window=249_056,
    ),
    _rule(
        "answers of 25 segments",
        "what limits cwnd is remembered for a window, so short answers open it",
        "responses_s",
        pages=(36_200, 1100, 4),
    ),
    _rule(
        "answers of 290 kB",
        "the same, without a pause between them",
        "responses_s",
        pages=(290_000, 1, 4),
    ),
    _rule(
        "answers of 290 kB, pauses",
        "a pause halves cwnd once for each RTO, not below the initial window, and the threshold stays at 3/4",
        "responses_s",
        pages=(290_000, 1900, 5),
    ),
    _rule(
        "a long pause",
        "the same after 10 s",
        "responses_s",
        pages=(290_000, 12_000, 3),
    ),
    _rule(
        "one ACK over SACKed data",
        "an ACK behind a timeout opens cwnd by what it newly delivers, and not beyond the threshold",
        "s cwnd_last timeouts",
        segments=400,
        lost=(300, 401),
    ),
    # The beginning.
    _rule(
        "an outage at the start",
        "four SYNs a second apart before the timer backs off",
        "s",
        size=100_000,
        link='schedule = [{ at = "0 ms", outage = "3500 ms", waiting = "lose" }]',
        back='schedule = [{ at = "0 ms", outage = "3500 ms", waiting = "lose" }]',
    ),
    _rule(
        "a round trip of 1.1 s",
        "the initial window stays 10 where the timer of the SYN was too early",
        "s",
        rate="10 Mbit/s",
        delay="550 ms",
        size=2_000_000,
    ),
    _rule(
        "a round trip of 2.3 s",
        "the same where it was so twice",
        "s",
        rate="10 Mbit/s",
        delay="1150 ms",
        size=2_000_000,
    ),
    # Little at a time.
    _rule(
        "1,000 B each 40 ms",
        "less than a segment waits while such a one is outstanding (Minshall's form of Nagle's rule)",
        "data_segments",
        app='app = "onoff"\nrate = "200 kbit/s"\nmean_off = "0 s"\nduration = "20 s"',
    ),
    # Recovery.
    _rule(
        "three losses, reno",
        "a loss of the next window that was resent before a recovery ends begins another reduction",
        "s ssthresh",
        "reno",
        **_THREE_LOSSES,
    ),
    _rule(
        "three losses, cubic",
        "the same",
        "s ssthresh",
        **_THREE_LOSSES,
    ),
    _rule(
        "every 10th of 800",
        "the same where losses go on through several windows",
        "s ssthresh",
        segments=4000,
        lost=_EVERY_TENTH,
    ),
    _rule(
        "every 7th of 1,700",
        "the same",
        "s ssthresh",
        segments=4000,
        lost=range(300, 1994, 7),
    ),
    _rule(
        "every 100th, bbr",
        "such a recovery goes on in the state Recovery, without a second packet conservation",
        "s resent",
        "bbr",
        segments=15_000,
        lost=range(100, 16_000, 100),
    ),
    _rule(
        "a loss and its resend, bbr",
        "recovery from a timeout ends at what was outstanding",
        "s timeouts",
        "bbr",
        segments=400,
        lost=(300, 401),
    ),
    _rule(
        "a path that becomes longer",
        "the least RTT is forgotten after 300 s, and with it the window for reordering",
        "s data_segments",
        rate="500 kbit/s",
        delay="10 ms",
        link=f'schedule = [{{ at = "10 s", delay = "150 ms" }}]\nqueue = "200 packets"\n{_LATE}',
        segments=25_000,
        lost=range(200, 25_000, 200),
        limit="900 s",
    ),
    _rule(
        "late packets",
        "an ACK with an older timestamp moves no RACK time, so late packets are not lost ones",
        "s resent",
        link=_LATE,
        segments=6000,
        lost=range(200, 6200, 200),
    ),
    _rule(
        "an outage that loses",
        "the probe comes no later than the timer of the first outstanding segment would",
        "s timeouts",
        segments=6000,
        link='schedule = [{ at = "5 s", outage = "2 s", waiting = "lose" }]',
    ),
    # The receiver.
    _rule(
        "ACKs past a hole",
        "selective acknowledgments are compressed: one a millisecond, or a twentieth of the RTT",
        "s packets_back",
        segments=2000,
        lost=(1000,),
    ),
    # CUBIC.
    _rule(
        "a loss behind a timeout",
        "a timeout forgets W_max, so the next loss takes no fast convergence",
        "s ssthresh timeouts",
        segments=12_000,
        lost=(600, 7000),
        link='schedule = [{ at = "5 s", outage = "1500 ms", waiting = "lose" }]',
    ),
    _rule(
        "every 100th",
        "CUBIC counts in whole segments",
        "s",
        segments=2000,
        lost=range(100, 2100, 100),
    ),
    _rule(
        "every 300th",
        "the same",
        "s",
        segments=10_000,
        lost=range(300, 10_100, 300),
    ),
    _rule(
        "a needless timeout",
        "it is undone: the threshold is at least 3/4 of cwnd, CUBIC begins its epoch anew",
        "s ssthresh cwnd_last",
        segments=12_000,
        lost=(800,),
        link='schedule = [{ at = "6 s", outage = "3 s" }]',
    ),
    # Delays.
    _rule(
        "a path that grows, vegas",
        "BaseRTT is forgotten after a pause",
        "responses_s",
        "vegas",
        rate="2 Mbit/s",
        delay="10 ms",
        link='schedule = [{ at = "5 s", delay = "50 ms" }]',
        pages=(50_000, 3000, 8),
    ),
    # The receive buffer.
    _rule(
        "bbr, 1 % lost, a fixed window",
        "a receive window of 4 MiB",
        "s resent",
        "bbr",
        rate="10 Mbit/s",
        delay="270 ms",
        link='queue = "450 packets"\nloss = { model = "packet", probability = 0.01 }',
        back='rate = "2 Mbit/s"',
        size=1_500_000,
        window=4 << 20,
    ),
)


APART = frozenset({"every 7th of 1,700"})
"""Rules of which a number is not the kernel's; the list may only shrink."""

TOO_LONG = ("a path that becomes longer",)
"""More than seven minutes in real time."""

_UNITS = {
    "s": "time (s)",
    "responses_s": "response times (s)",
    "resent": "segments resent",
    "data_segments": "data segments",
    "packets_back": "packets on the way back",
    "timeouts": "timeouts",
    "ssthresh": "thresholds, one after the other (segments)",
    "cwnd_most": "most cwnd (segments)",
    "cwnd_last": "last cwnd (segments)",
}


def apart(name: str, kernel: Any, ours: Any) -> bool:
    """Say whether a number of ours is not the kernel's."""
    if name in EXACT:
        return bool(kernel != ours)
    if name == "ssthresh":
        return len(kernel) != len(ours) or any(
            abs(theirs - mine) > 1 for theirs, mine in zip(kernel, ours, strict=True)
        )
    pairs = zip(kernel, ours, strict=True) if isinstance(kernel, list) else [(kernel, ours)]
    return any(abs(theirs - mine) > CLOSE * max(theirs, mine) for theirs, mine in pairs)


def apart_from(rule: Rule, kept: Kept, ours: Told) -> list[str]:
    """Name the numbers of ours that are those of no draw of a kernel."""
    draws = [draw for of_release in kept.of(rule.case).values() for draw in of_release]
    return [name for name in rule.shown if all(apart(name, draw[name], ours[name]) for draw in draws)]


def _written(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(_written(one) for one in value)
    return f"{value:.4g}" if isinstance(value, float) else f"{value}"


def drawn(name: str, draws: Sequence[Told]) -> str:
    """Write a number of several draws: one where they are alike, else each with how often it came."""
    values = [draw[name] for draw in draws]
    if not draws:
        return ""
    if len(draws) > 1 and name == "s" and len(values[0]) == 1:
        groups = clusters([value for (value,) in values])
        if len(groups) > 1:
            return ", ".join(f"{value:.4g} ({count} of {len(draws)})" for value, count in groups)
        return f"{groups[0][0]:.4g}"
    different = dict.fromkeys(map(_written, values))
    if name in (*EXACT, "ssthresh") and len(different) > 1:
        return "; ".join(
            f"{value} ({list(map(_written, values)).count(value)} of {len(draws)})" for value in different
        )
    return next(iter(different))


def rows(kept: Kept) -> Iterator[str]:
    """Give the table's rows: a rule has one for each number that tells."""
    for rule in RULES:
        ours, draws = simulated(rule.case), kept.of(rule.case)
        found = apart_from(rule, kept, ours)
        for place, name in enumerate(rule.shown):
            head = (rule.case.name, rule.case.variant, rule.what) if place == 0 else ("", "", "")
            beside = "apart" if name in found else ""
            kernels = [drawn(name, draws.get(release, [])) for release in kept.releases()]
            yield f"| {' | '.join([*head, _UNITS[name], *kernels, _written(ours[name]), beside])} |"


def main() -> None:
    """Run what is asked for, and write the table."""
    asked = asked_for(__doc__)
    kept = Kept(KEPT)
    if asked.kernel or asked.real:
        run_kernels([rule.case for rule in RULES], kept, asked, TOO_LONG if asked.real else ())
    kernels = [f"Linux {release}" for release in kept.releases()]
    lines = [
        f"| {' | '.join(['scenario', 'control', 'what Linux does', 'number', *kernels, 'simulated', ''])} |",
        "|" + "---|" * (len(kernels) + 6),
        *rows(kept),
    ]
    text = "\n".join(lines) + "\n"
    PAGE.write_text(between_marks(PAGE, "tests/witness/rules.py", text), encoding="utf-8")


if __name__ == "__main__":
    main()
