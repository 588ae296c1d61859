"""A link of a page leads to a file, and to a heading where it names one."""

import os
import re
from pathlib import Path

import pytest

import reference_pages
from conftest import ROOT

MADE = {str(reference_pages.FOLDER / name): text for name, text in reference_pages.pages().items()}
"""`make docs` writes these, and pictures."""


PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
PAGES += sorted(page for page in (ROOT / "docs").glob("**/*.md") if str(page) not in MADE)


def anchors(text: str) -> set[str]:
    """Give the anchors of a page's headings."""
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    heads = re.findall(r"^#+ (.*)", prose, re.MULTILINE)
    words = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", head) for head in heads)
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in words}


def dead(page: Path) -> list[str]:
    """Give the links that lead nowhere."""
    lost = []
    whole = MADE.get(str(page)) or page.read_text(encoding="utf-8")
    for name, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)", whole):
        if re.match(r"[a-z]+:", name) or name.endswith(".svg"):
            continue
        target = Path(os.path.normpath(page.parent / name)) if name else page
        text = MADE.get(str(target)) or (target.read_text(encoding="utf-8") if target.is_file() else None)
        if (text is None and not target.is_dir()) or (anchor and anchor not in anchors(text or "")):
            lost.append(f"{name}#{anchor}")
    return lost


@pytest.mark.parametrize("page", [*PAGES, *map(Path, MADE)], ids=lambda page: str(page.relative_to(ROOT)))
def test_links_of_a_page_lead_somewhere(page: Path) -> None:
    assert dead(page) == []


def test_a_dead_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# One\n\n[a](#one), [b](#two), [c](page.md#one), [d](nowhere.md), [e](https://example.org)\n"
    )
    assert dead(page) == ["#two", "nowhere.md#"]
