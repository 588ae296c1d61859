"""Write the comparison with ns-2 into docs/generated/beside-simulators.md.

The goldens are what ns-2 did when they were made; ``--update-goldens`` runs ns-2 again, which has to be
installed.
"""

import argparse
import tempfile
from pathlib import Path

from patterns import BY_NAME, PATTERNS, VARIANTS
from reasons import DIFFERENCES, REASONS
from transfers import Transfer, difference, read_golden, run_bentpipe, update_goldens

PAGE = Path(__file__).resolve().parents[2] / "docs" / "generated" / "beside-simulators.md"
BEGIN = "<!-- written by tests/witness/compare.py: begin -->\n"
END = "<!-- written by tests/witness/compare.py: end -->\n"


def runs(segments: tuple[int, ...]) -> str:
    """Write 15, 16, 17, 20 as 15–17, 20."""
    parts: list[list[int]] = []
    for segment in segments:
        if parts and segment == parts[-1][-1] + 1:
            parts[-1].append(segment)
        else:
            parts.append([segment])
    return ", ".join(str(p[0]) if len(p) == 1 else f"{p[0]}–{p[-1]}" for p in parts)


def row(variant: str, name: str, theirs: Transfer, ours: Transfer) -> str:
    """Give the table's row of one transfer."""
    found = difference(theirs, ours)
    resent = runs(theirs.resent)
    if ours.resent != theirs.resent:
        resent = f"{resent}; here {runs(ours.resent)}"
    verdict = "same"
    if found is not None:
        what = "other order" if found.kind == "what" else "other times"
        verdict = f"{what} from segment {found.segment}, {found.time_s:.2f} s"
    timeouts = (
        f"{theirs.timeouts}"
        if theirs.timeouts == ours.timeouts
        else f"{theirs.timeouts}; here {ours.timeouts}"
    )
    reasons = " ".join(DIFFERENCES.get((variant, name), ""))
    return f"| {variant} | {name} | {resent} | {timeouts} | {verdict} | {reasons} |"


def page_part() -> str:
    """Give what lies between the marks of the page."""
    lines = ["| pattern | lost: the n-th data packets on the bottleneck | what |", "|---|---|---|"]
    lines += [f"| {p.name} | {', '.join(map(str, p.drops))} | {p.what} |" for p in PATTERNS]
    lines += ["", "| variant | pattern | sent again (segments) | timeouts | against ns-2 | reasons |"]
    lines.append("|---|---|---|---|---|---|")
    counts = {"same": 0, "when": 0, "what": 0}
    with tempfile.TemporaryDirectory() as folder:
        for variant in VARIANTS:
            for name, theirs in read_golden(variant).items():
                ours = run_bentpipe(variant, BY_NAME[name], Path(folder))
                found = difference(theirs, ours)
                counts[found.kind if found else "same"] += 1
                lines.append(row(variant, name, theirs, ours))
    lines += [
        "",
        f"Of {sum(counts.values())} transfers {counts['same']} are the same segment for segment, each within "
        f"10 ms; {counts['when']} send the same segments in the same order at other times; {counts['what']} "
        "send in another order.",
        "",
        *(f"- **{letter}** {text}" for letter, text in REASONS.items()),
    ]
    return "\n".join(lines) + "\n"


def page_with(part: str) -> str:
    """Give the page with `part` between its marks."""
    before, rest = PAGE.read_text().split(BEGIN)
    return before + BEGIN + part + END + rest.split(END)[1]


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--update-goldens", action="store_true", help="run ns-2 and keep what it does")
    if parser.parse_args().update_goldens:
        update_goldens()
    PAGE.write_text(page_with(page_part()))


if __name__ == "__main__":
    main()
