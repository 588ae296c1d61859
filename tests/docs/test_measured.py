"""A page that has a real network beside a number of ours says in its first lines what was measured there."""

import pytest

from conftest import ROOT

CONTRADICTED = (
    "docs/explanation/starlink-like.md",
    "docs/generated/which-orbit.md",
    "docs/generated/which-tcp.md",
)


@pytest.mark.parametrize("page", CONTRADICTED)
def test_what_measurements_contradict_says_so_first(page: str) -> None:
    first = " ".join((ROOT / page).read_text(encoding="utf-8").splitlines()[2:8])
    for number in ("108", "124", "38", "188", "Garcia", "ANRW 2025"):
        assert number in first, number


def test_the_sentence_of_the_readme_on_starlink_has_both_numbers() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    item = next(item for item in text.split("\n- ") if item.startswith("[docs/explanation/starlink-like.md]"))
    assert "contradict" in item
    assert all(number in item for number in ("108", "124", "38", "188"))


def test_no_page_says_that_the_orbit_asks_for_no_other_tcp() -> None:
    for page in [*ROOT.glob("docs/**/*.md"), ROOT / "scripts" / "which_orbit.py"]:
        assert "does not ask for another TCP" not in page.read_text(encoding="utf-8"), page


def test_a_page_that_names_a_real_network_says_what_was_measured() -> None:
    """The tables beside other programs compare no TCP, and the reference of keys has no numbers of ours."""
    said = ("measure", "Garcia")
    for page in sorted(ROOT.glob("docs/**/*.md")):
        text = page.read_text(encoding="utf-8")
        if "Starlink" in text and "Mbit/s" in text:
            assert any(word in text for word in said), page
