"""The page that runs every scheme over every link: who is in it, its numbers, its sentences."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

import every_scheme
from every_scheme import LINKS, PAGE, SPLITS, elements, variants
from every_scheme_says import Numbers, numbers, teaches
from statements import DoesNotHoldError

TEXT = PAGE.read_text(encoding="utf-8")
TABLES = [
    "".join(f"{line}\n" for line in part.splitlines() if line.startswith("|"))
    for part in TEXT.split("\n## ")[1:]
]
LOAD, PAGES, MEDIA, SHARED = map(numbers, TABLES)


def test_every_variant_and_element_stands_in_every_table() -> None:
    names = {scheme.name for scheme in (*variants(), *elements())}
    assert len(names) > 40
    assert [set(table) for table in (PAGES, MEDIA, SHARED)] == [names] * 3
    assert set(LOAD) == names | {scheme.name for scheme in SPLITS}
    assert set(LOAD["cubic"]) == {link.name for link in LINKS}


def test_its_sentences_are_what_its_tables_say() -> None:
    said = list(teaches(LOAD, PAGES, MEDIA, SHARED))
    assert len(said) >= 10
    assert "".join(said) in TEXT


def without(name: str, table: Numbers) -> Numbers:
    """Give the table with the numbers of `newreno` in place of a scheme's."""
    return {key: table["newreno"] if key == name else cells for key, cells in table.items()}


@pytest.mark.parametrize(
    "name", ["xcp", "bbr1", "star", "afc", "hybla", "arq, cubic", "fec, cubic", "snoop, newreno"]
)
def test_a_sentence_does_not_hold_for_other_downloads(name: str) -> None:
    with pytest.raises(DoesNotHoldError):
        list(teaches(without(name, LOAD), PAGES, MEDIA, SHARED))


@pytest.mark.parametrize(
    ("name", "of"),
    [("spoof, cubic", "pages"), ("drr, cubic", "media"), ("vegas", "shared"), ("xcp", "shared")],
)
def test_a_sentence_does_not_hold_for_other_tables(name: str, of: str) -> None:
    tables: Mapping[str, Numbers] = {"pages": PAGES, "media": MEDIA, "shared": SHARED}
    with pytest.raises(DoesNotHoldError):
        list(teaches(LOAD, **{**tables, of: without(name, tables[of])}))


def test_its_numbers_come_out_again() -> None:
    """A few of them: one link, and schemes of each kind."""
    link = next(link for link in LINKS if link.name == "BER 1e-6")
    few = [
        scheme for scheme in (*variants(), *elements()) if scheme.name in {"newreno", "peach", "arq, cubic"}
    ]
    found = every_scheme.compared_over(link, every_scheme.DOWNLOAD, few)
    again = {variant.name: every_scheme.with_interval(variant.value, 1e6) for variant in found.variants}
    cells = {row.split(" | ")[0].strip("| `"): row for row in TABLES[0].splitlines()}
    assert len(again) == len(few) == 3
    place = 1 + [link.name for link in LINKS].index("BER 1e-6")
    assert again == {name: cells[name].split(" | ")[place].split(" (")[0] for name in again}


def test_an_element_stands_before_the_satellite_link_of_each_file() -> None:
    xfwa = next(scheme for scheme in elements() if scheme.name == "xfwa, cubic")
    assert {key for link in LINKS for key in xfwa.over(link)} == {
        "links.satellite.gateway",
        "links.isl4.gateway",
        "flows.download.variant",
    }
    six = replace(LINKS[0], flows="*")
    assert "flows.*.variant" in xfwa.over(six)
