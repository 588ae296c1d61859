"""Write docs/generated/beside-linux.md: this machine's kernel beside our recoveries; needs root."""

import sys
import tempfile
from pathlib import Path

from compare import runs
from linux_goodput import CASES, Goodput, measure
from linux_reasons import DIFFERENCES, REASONS, SENDS_ELSEWHERE
from linux_transfers import PATTERNS, RECOVERIES, Transfer, run_pairs

from bentpipe import _core

PAGE = Path(__file__).resolve().parents[2] / "docs" / "generated" / "beside-linux.md"


def _marks(what: str) -> tuple[str, str]:
    begin, end = (
        f"<!-- {what}, written by tests/witness/linux.py: {side} -->\n" for side in ("begin", "end")
    )
    return begin, end


MARKS = _marks("patterns")
GOODPUT_MARKS = _marks("goodput")


def windows(transfer: Transfer) -> str:
    """Write ssthresh and cwnd after a transfer."""
    threshold = transfer.ssthresh_segments
    return f"{'none' if threshold is None else f'{threshold:.4g}'}, {transfer.cwnd_segments:.4g}"


def order(ours: Transfer, linux: Transfer) -> str:
    """Say whether both sent the same data segments in the same order."""
    if ours.sends == linux.sends:
        return "same"
    if ours.resent == linux.resent:
        return "same retransmissions, new segments elsewhere"
    return "other retransmissions"


def row(pair: tuple[str, str], ours: Transfer, linux: Transfer) -> str:
    """Give the table's row of a recovery and a pattern."""
    resent = runs(ours.resent) or "none"
    if ours.resent != linux.resent:
        resent = f"{resent}; Linux {runs(linux.resent)}"
    timeouts = (
        f"{ours.timeouts}" if ours.timeouts == linux.timeouts else f"{ours.timeouts}; Linux {linux.timeouts}"
    )
    reasons = " ".join(DIFFERENCES.get(pair, ""))
    said = [*pair, resent, order(ours, linux), timeouts, windows(ours), windows(linux), reasons]
    return f"| {' | '.join(said)} |"


def page_part(found: dict[tuple[str, str], dict[str, Transfer]]) -> str:
    """Give what lies between the marks of the page."""
    lines = [f"Linux {_core.kernel_release().split('-')[0]}.", "", "| pattern | what is lost |", "|---|---|"]
    lines += [f"| {pattern.name} | {pattern.what} |" for pattern in PATTERNS]
    lines += [
        "",
        "| recovery | pattern | sent again | order of all data segments | timeouts "
        "| ssthresh, cwnd after, ours (segments) | Linux (segments) | reasons |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [row(pair, ways["send"], ways["receive"]) for pair, ways in found.items()]
    orders = [order(ways["send"], ways["receive"]) for ways in found.values()]
    resent = sum(ways["send"].resent == ways["receive"].resent for ways in found.values())
    lines += [
        "",
        f"Of {len(orders)} pairs {orders.count('same')} send all data segments in the same order, "
        f"and {resent} the same retransmissions in the same order.",
        "",
        *(f"- **{letter}** {text}" for letter, text in REASONS.items()),
    ]
    return "\n".join(lines) + "\n"


def goodput_part(found: dict[str, Goodput]) -> str:
    """Give the table of goodputs."""
    lines = [
        "",
        "| limited by | receive window | data | simulator | our sender to Linux | Linux to our receiver "
        "| Linux to Linux | most apart |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for case in CASES:
        one = found[case.name]
        rates = (one.simulated, *one.measured)
        apart = max(rates) / min(rates) - 1
        said = [
            f"the {case.name}",
            f"{case.window_bytes:,} B",
            f"{case.total_bytes / 1000:,.0f} kB",
            *(f"{rate / 1000:.1f} kbit/s" for rate in rates),
            f"{apart:.2%}".replace("%", " %"),
        ]
        lines.append(f"| {' | '.join(said)} |")
    return "\n".join(lines) + "\n"


def put(part: str, begin: str, end: str) -> None:
    """Write `part` between the two marks of the page."""
    before, rest = PAGE.read_text().split(begin)
    PAGE.write_text(before + begin + part + end + rest.split(end)[1])


def main() -> None:
    """Write the page; one line and status 1 when a difference has no reason or a reason no difference."""
    with tempfile.TemporaryDirectory() as folder:
        pairs = [(recovery, pattern) for recovery in RECOVERIES for pattern in PATTERNS]
        found = run_pairs(pairs, Path(folder))
        goodputs = measure(Path(folder))
    elsewhere = {pair for pair, ways in found.items() if ways["send"].sends != ways["receive"].sends}
    put(page_part(found), *MARKS)
    put(goodput_part(goodputs), *GOODPUT_MARKS)
    if elsewhere != SENDS_ELSEWHERE:
        named = ", ".join(" ".join(pair) for pair in sorted(elsewhere ^ SENDS_ELSEWHERE))
        sys.exit(f"not as tests/witness/linux_reasons.py has it: {named}")


if __name__ == "__main__":
    main()
