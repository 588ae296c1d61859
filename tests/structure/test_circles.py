"""No circle of imports among more than four files of a room, but for those that are still to be cut."""

from circles import ROOT, circles

MOST = 4
"""Files that may use each other."""

STILL = {"scenario": [17]}
"""Sizes of larger circles, a crate each: they only shrink."""


def test_no_room_has_a_larger_circle_of_files_than_it_had() -> None:
    found = {
        crate.name: [circle for circle in circles(crate / "src") if len(circle) > MOST]
        for crate in sorted((ROOT / "crates").iterdir())
    }
    larger = {name: those for name, those in found.items() if those}
    assert {name: [len(circle) for circle in those] for name, those in larger.items()} == STILL, larger
