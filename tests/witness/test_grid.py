"""A few cells of the kernel grid, which any machine is fast enough for, and the page that has them all."""

from pathlib import Path

import grid
import pytest
from grid_cells import Cell, measure, simulate, small
from grid_reasons import REASONS

from bentpipe import _core

HELD = (
    Cell("reno", 2_000_000, 100, 0.0, 1.0),
    Cell("cubic", 2_000_000, 100, 0.0, 1.0),
    Cell("reno", 2_000_000, 20, 0.0, 4.0),
)


def test_two_kernels_and_profile_linux_are_alike(tmp_path: Path) -> None:
    try:
        found = dict(measure(HELD, tmp_path, len(HELD)))
    except _core.LiveMissing as error:
        pytest.skip(str(error))
    for cell, linux in found.items():
        ours, goodputs = simulate(cell, tmp_path)
        assert grid.agrees(cell, linux.goodput_bps, goodputs), cell.name
        assert linux.timeouts == ours.timeouts == 0, cell.name
        # Segments lost at the queue, when slow start ends and each time that the window is full again.
        assert linux.retransmitted == pytest.approx(ours.retransmitted, rel=0.25, abs=8), cell.name
        (windows, _), (our_windows, _) = linux.means(), ours.means()
        assert windows == pytest.approx(our_windows, rel=0.15), cell.name


def test_the_page_has_every_cell_of_the_small_grid_and_a_reason_for_each_difference() -> None:
    rows = [line.strip("| ").split(" | ") for line in grid.PAGE.read_text().splitlines() if line[:2] == "| "]
    cells = [row for row in rows if row[0] in ("reno", "cubic", "bbr")]
    named = {(row[0], *(float(value) for value in row[1:5])) for row in cells}
    assert {"reno", "cubic"} <= {row[0] for row in cells}
    for cell in small():
        wanted = (cell.control, cell.rate_bps / 1e6, cell.rtt_ms, round(cell.loss * 100, 6), cell.buffer)
        assert wanted in named or cell.control not in {row[0] for row in cells}, cell.name
    for row in cells:
        alike, _, letters = row[-1].partition(": ")
        assert (alike == "yes") == (letters == ""), row
        assert set(letters.split()) <= set(REASONS), row
