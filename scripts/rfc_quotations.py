"""Holds each quotation of an RFC in the sources and pages against the RFC's text.

.venv/bin/python scripts/rfc_quotations.py          the texts are in target/rfc: scripts/rfc-texts
.venv/bin/python scripts/rfc_quotations.py FOLDER   a folder with rfc5681.txt, rfc5681.txt.gz and others

A quotation stands behind its RFC (RFC 5681 section 3.1: "cwnd += min (N, SMSS)") or before it (RFC 1122). It
leaves out what "..." or "…" stands for. Between them stands no other source: a draft, a paper, Linux.
"""

import gzip
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
TEXTS = ROOT / "target" / "rfc"
PLACES = ("bpf/*.[ch]", "crates/**/*.rs", "docs/**/*.md", "tests/**/*.py")

RFC = re.compile(r"\bRFC ?(\d{3,4})\b")
SECTION = re.compile(r"\bsection (\d+(?:\.\d+)*)")
BEHIND = re.compile(r" \(RFC ?(\d{3,4})\b(?: section (\d+(?:\.\d+)*))?")
OTHERS = re.compile(r"\b(?:drafts?|Linux|ns-[23]|FreeBSD|papers?|thesis|slides|SIGCOMM|class)\b|\(\d{4}\)|\|")
"""What is quoted behind these is of somebody else."""

SHORTEST = 8
"""A quotation of less is a word."""

HEAD = re.compile(
    r"^(?: ?(?=\d+[. ])| {1,17}(?=\d+\.\d+\.\d))(\d+(?:\.\d+)*)\.? +[A-Z](?!.*\. ?\. ?\.)", re.MULTILINE
)
"""Where a section begins: a table of contents has dots, and a line of a paragraph no capital."""


@dataclass(frozen=True)
class Quotation:
    """Words that a file says are an RFC's."""

    file: Path
    line: int
    rfc: int
    section: str | None
    words: str

    def __str__(self) -> str:
        section = f" section {self.section}" if self.section else ""
        return f'{self.file}:{self.line}: RFC {self.rfc}{section}: "{self.words}"'


def paragraphs(path: Path) -> Iterator[list[tuple[int, str]]]:
    """Give the numbered lines of each block of comments, or of each paragraph of a page."""
    mark = {".md": r"()", ".py": r"\s*(#|)"}.get(path.suffix, r"\s*(//[/!]?|/?\*+|(?=\w.*\*/))")
    block: list[tuple[int, str]] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        found = re.match(mark, line)
        text = line[found.end() :].strip() if found else ""
        if text:
            block.append((number, text))
        elif block:
            yield block
            block = []
    if block:
        yield block


def quoted(text: str) -> Iterator[tuple[int, int]]:
    """Give begin and end of each quotation, which may have quotations within it."""
    depth = begin = 0
    for found in re.finditer('["“”]', text):
        at = found.start()
        opens = text[at] == "“" or (text[at] == '"' and (at == 0 or text[at - 1] in " ([|*—"))
        if opens:
            depth += 1
            if depth == 1:
                begin = at + 1
        elif depth:
            depth -= 1
            if depth == 0:
                yield begin, at


def quotations(path: Path) -> Iterator[Quotation]:
    """Give the quotations of a file that are of an RFC."""
    for block in paragraphs(path):
        text, starts = "", []
        for number, line in block:
            starts.append((len(text), number))
            text += line + " "
        rfc = section = ""
        last = 0
        for begin, end in quoted(text):
            between = text[last : begin - 1]
            last = end + 1
            if mentions := list(RFC.finditer(between)):
                rfc, section, between = mentions[-1][1], "", between[mentions[-1].end() :]
            if OTHERS.search(between):
                rfc = ""
            if places := SECTION.findall(between):
                section = places[-1]
            behind = BEHIND.match(text, last)
            of, place = (behind[1], behind[2]) if behind else (rfc, section)
            if of and end - begin >= SHORTEST:
                line_at = max(at for start, at in starts if start <= begin)
                yield Quotation(path, line_at, int(of), place or None, text[begin:end])


def plain(text: str) -> str:
    """Take out what a line break, a page break and the marks of a page change."""
    text = re.sub(r"\n[^\n]*\[Page \d+\]\s*\f?\s*\n[^\n]*\n", "\n", text)
    text = re.sub(r"[\"“”'\u2018\u2019`\\*_]|\[(?:RFC ?)?[A-Z]+\d+\w*\]", "", text)
    return re.sub(r"(?<=-) | (?=[.,;:)])", "", re.sub(r"\s+", " ", text)).casefold()


def part(text: str, section: str | None) -> str:
    """Give a section with those in it, or the whole text."""
    if section is None:
        return text
    heads = list(HEAD.finditer(text))
    begin = max((head.start() for head in heads if head[1] == section), default=len(text))
    after = (head for head in heads if head.start() > begin)
    ends = (head.start() for head in after if not head[1].startswith(f"{section}."))
    return text[begin : next(ends, len(text))]


def says(text: str, words: str) -> bool:
    """Tell whether a text has these words, with what they leave out between them."""
    text = plain(text)
    at = 0
    for piece in re.split(r"\[?(?:\.\.\.|…)\]?", words):
        sought = plain(piece).strip(" .,;:")
        found = text.find(sought, at)
        if found < 0:
            return False
        at = found + len(sought)
    return True


class Texts:
    """The texts of RFCs in a folder and the folders in it."""

    def __init__(self, folder: Path) -> None:
        self.files = {path.name.partition(".")[0]: path for path in sorted(folder.rglob("rfc*.txt*"))}
        self.read = cache(self._read)

    def _read(self, rfc: int) -> str | None:
        path = self.files.get(f"rfc{rfc}")
        if path is None:
            return None
        data = path.read_bytes()
        return (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8", "replace")


def everywhere() -> list[Quotation]:
    """Give the quotations of all files."""
    return [found for place in PLACES for path in sorted(ROOT.glob(place)) for found in quotations(path)]


def main(folder: Path) -> int:
    """Print the quotations that are not in their RFCs; give the exit status."""
    read = Texts(folder).read
    found = everywhere()
    held = [(quotation, text) for quotation in found if (text := read(quotation.rfc)) is not None]
    if not held:
        print(f"RFCs: left out: no texts in {folder}")
        return 0
    wrong = [one for one, text in held if not says(part(text, one.section), one.words)]
    for quotation in wrong:
        print(f"{quotation} is not there", file=sys.stderr)
    without = sorted({quotation.rfc for quotation in found if read(quotation.rfc) is None})
    told = f"RFCs: {len(held) - len(wrong)} of {len(held)} quotations are in the sections that they name"
    print(told + (f"; no text of {', '.join(map(str, without))}" if without else ""))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else TEXTS))
