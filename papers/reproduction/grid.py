"""Tables of our own measurements in a reproduction: nobody printed them, nothing holds them to a number."""

from dataclasses import dataclass
from typing import Any

from bentpipe.results import Number, half_width, mean

Cell = str | Number
"""Words, a number, or a mean with its 95 % interval."""


@dataclass(frozen=True)
class Grid:
    """A table: `columns` name what stands below them, with the unit; each row has as many cells."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def __post_init__(self) -> None:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError(f"{self.title}: a row that has not {len(self.columns)} cells")

    def text(self) -> list[list[str]]:
        """Write every cell for people."""
        return [[cell_text(cell) for cell in row] for row in self.rows]

    def as_json(self) -> dict[str, Any]:
        """Give the table as JSON: numbers plain, or ``{mean, ci95, n}``."""
        rows = [[_without_values(cell) for cell in row] for row in self.rows]
        return {"title": self.title, "columns": list(self.columns), "rows": rows}


def _without_values(cell: Cell) -> Any:
    if isinstance(cell, dict):
        return {key: cell[key] for key in ("mean", "ci95", "n")}
    return cell


def cell_text(cell: Cell) -> str:
    """Write one cell: four digits, the interval behind them."""
    if isinstance(cell, str):
        return cell
    value, width = mean(cell), half_width(cell)
    if value is None:
        return "–"
    interval = "" if width is None else f" ± {_short(width) if width >= 100 else format(width, '.2g')}"
    return f"{_short(value)}{interval}"


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
