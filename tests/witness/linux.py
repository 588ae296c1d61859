"""Write the comparison with the TCP of this machine's kernel into docs/witness-linux.md; needs root."""

import sys
import tempfile
from pathlib import Path

from compare import runs
from linux_reasons import DIFFERENCES, REASONS, SENDS_ELSEWHERE
from linux_transfers import PATTERNS, RECOVERIES, Transfer, run_pairs

from bentpipe import _core

PAGE = Path(__file__).resolve().parents[2] / "docs" / "witness-linux.md"
BEGIN = "<!-- written by tests/witness/linux.py: begin -->\n"
END = "<!-- written by tests/witness/linux.py: end -->\n"


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


def main() -> None:
    """Write the page; one line and status 1 when a difference has no reason or a reason no difference."""
    with tempfile.TemporaryDirectory() as folder:
        pairs = [(recovery, pattern) for recovery in RECOVERIES for pattern in PATTERNS]
        found = run_pairs(pairs, Path(folder))
    elsewhere = {pair for pair, ways in found.items() if ways["send"].sends != ways["receive"].sends}
    before, rest = PAGE.read_text().split(BEGIN)
    PAGE.write_text(before + BEGIN + page_part(found) + END + rest.split(END)[1])
    if elsewhere != SENDS_ELSEWHERE:
        named = ", ".join(" ".join(pair) for pair in sorted(elsewhere ^ SENDS_ELSEWHERE))
        sys.exit(f"not as tests/witness/linux_reasons.py has it: {named}")


if __name__ == "__main__":
    main()
