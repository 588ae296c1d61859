"""No circle of imports among more than four files of a room."""

from circles import ROOT, circles

MOST = 4
"""Files that may use each other."""


def test_no_room_has_a_larger_circle_of_files() -> None:
    found = {
        crate.name: [circle for circle in circles(crate / "src") if len(circle) > MOST]
        for crate in sorted((ROOT / "crates").iterdir())
    }
    assert {name: those for name, those in found.items() if those} == {}
