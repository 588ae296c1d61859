"""What another reading of a paper moves: every row that comes out otherwise, for better and worse."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bentpipe_papers.reproduction.readings import Reading
from bentpipe_papers.reproduction.rows import Row
from bentpipe_papers.reproduction.verdicts import Verdict

_RANK: dict[Verdict, int] = {"match": 2, "match (also without)": 2, "shape": 1}
_NEARER = 1e-3
"""A deviation has to change by so much."""


@dataclass(frozen=True)
class Moved:
    """A row of an item as it stands, and in another reading."""

    item: str
    row: Row
    other: Row

    @property
    def change(self) -> int:
        """Say whether it is better (1), worse (-1), or only another (0): by verdict, else by deviation."""
        before, after = (_RANK.get(row.verdict, 0) for row in (self.row, self.other))
        if before != after:
            return 1 if after > before else -1
        if self.row.deviation is None or self.other.deviation is None:
            return 0
        nearer = abs(self.row.deviation) - abs(self.other.deviation)
        return 0 if abs(nearer) < _NEARER else 1 if nearer > 0 else -1

    def text(self) -> str:
        """Write the row, and both of what it comes to."""
        words = f"{self.item}: {self.row.case}, {self.row.metric}: {self.row.published_text()} published, "
        words += f"{self.row.computed_text()} as it stands, {self.other.computed_text()} so"
        before, after = (row.verdict.removesuffix(" (also without)") for row in (self.row, self.other))
        return f"{words} ({before} becomes {after})" if _turned(self) else words


@dataclass(frozen=True)
class ReadOtherwise:
    """A reading, and the rows that it moves."""

    reading: Reading
    moved: tuple[Moved, ...]

    def of(self, change: int) -> list[Moved]:
        """Give those that are better (1), worse (-1) or only another (0)."""
        return [one for one in self.moved if one.change == change]

    def sentence(self) -> str:
        """Count them in one line."""
        better, worse, others = (len(self.of(change)) for change in (1, -1, 0))
        turned = [one for one in self.moved if one.row.measured and _turned(one)]
        won = sum(one.change > 0 for one in turned)
        return (
            f"{better} rows come nearer and {worse} go farther, {others} only change; "
            f"{won} verdicts are better and {len(turned) - won} worse"
        )

    def as_json(self) -> dict[str, Any]:
        """Give it as JSON."""
        rows = [
            {
                "item": one.item,
                "case": one.row.case,
                "metric": one.row.metric,
                "change": one.change,
                "computed": one.other.computed,
                "deviation": one.other.deviation,
                "verdict": one.other.verdict,
            }
            for one in self.moved
        ]
        return {"name": self.reading.name, "about": self.reading.about, "rows": rows}


def _turned(one: Moved) -> bool:
    return _RANK.get(one.row.verdict, 0) != _RANK.get(one.other.verdict, 0)


def moved(item: str, rows: Sequence[Row], others: Sequence[Row]) -> list[Moved]:
    """Pair the rows that come out otherwise."""
    by_name = {(row.case, row.metric): row for row in others}
    pairs = ((row, by_name[row.case, row.metric]) for row in rows if row.measured)
    return [Moved(item, row, other) for row, other in pairs if row.computed != other.computed]
