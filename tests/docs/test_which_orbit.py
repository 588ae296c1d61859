"""The page that says which TCP for which orbit: who is in it, its numbers, its sentences."""

import pytest

import which_orbit
from every_scheme import variants
from every_scheme_says import numbers
from statements import DoesNotHoldError
from which_orbit import ORBITS, PAGE, compared, goodput, teaches

TEXT = PAGE.read_text(encoding="utf-8")
LOAD, FAIR = (
    "".join(f"{line}\n" for line in part.splitlines() if line.startswith("|"))
    for part in TEXT.split("\n## ")[1:]
)


def test_every_variant_stands_over_every_path() -> None:
    names = {scheme.name for scheme in variants()}
    for table in (LOAD, FAIR):
        assert set(numbers(table)) == names
        assert len(numbers(table)["cubic"]) == 2 * len(ORBITS) == 8


def test_its_sentences_are_what_its_tables_say() -> None:
    assert "".join(teaches(LOAD, FAIR)) in TEXT


@pytest.mark.parametrize("name", ["vegas", "new-vegas", "hybla", "bbr1", "reno", "adalr-newreno"])
def test_a_sentence_does_not_hold_for_another_variant(name: str) -> None:
    lines = LOAD.splitlines(keepends=True)
    (sack,) = (line for line in lines if line.startswith("| `sack`"))
    others = [
        sack.replace("`sack`", f"`{name}`") if line.startswith(f"| `{name}`") else line for line in lines
    ]
    with pytest.raises(DoesNotHoldError):
        list(teaches("".join(others), FAIR))


def test_its_numbers_come_out_again() -> None:
    names = ["newreno", "adalr-newreno"]
    found = {
        orbit: tuple(compared(orbit, names, guarded=guarded) for guarded in (False, True))
        for orbit in ("GEO in rain", "Iridium-like chain")
    }
    again = numbers(goodput({orbit: (one, other) for orbit, (one, other) in found.items()}, names))
    shown = numbers(LOAD)
    for name in names:
        assert again[name] == {head: shown[name][head] for head in again[name]}


def test_a_page_is_not_written_over_a_sentence_that_is_not_true() -> None:
    with pytest.raises(DoesNotHoldError, match="fill every one"):
        which_orbit.written(LOAD.replace("| `cubic` | 0.86", "| `cubic` | 0.50"), FAIR)
