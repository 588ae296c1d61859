"""Why cells of the kernel grid differ."""

from grid_cells import Cell

REASONS: dict[str, str] = {}


def reason(cell: Cell) -> str:
    """Give the letters of the reasons for a difference in this cell; empty where none is known."""
    return " ".join(letter for letter in REASONS if cell.name in _CELLS[letter])


_CELLS: dict[str, frozenset[str]] = {}
