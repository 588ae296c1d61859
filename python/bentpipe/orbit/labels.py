"""Where names stand beside their places, so that none lies on another."""

from collections.abc import Sequence
from dataclasses import dataclass

_LETTER_PT, _LINE_PT, _MARK_PT = 5.6, 10.0, 4.0

_Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Beside:
    """From a place to its name, in points, and which side of the name is there."""

    x: float
    y: float
    align: str


_SIDES = (
    *(Beside(x, y, "left" if x > 0 else "right") for y in (4.0, -14.0) for x in (6.0, -6.0)),
    *(Beside(0.0, y, "center") for y in (7.0, -17.0)),
    *(Beside(x, y, "left" if x > 0 else "right") for y in (15.0, -25.0) for x in (6.0, -6.0)),
)


def beside(
    names: Sequence[str],
    places: Sequence[tuple[float, float]],
    marks: Sequence[tuple[float, float]],
    edges: tuple[float, float],
) -> list[Beside]:
    """Give for each name at a place the first side on which it covers no mark and no name before it.

    Places, `marks` and the left and right `edges` of what is shown are in points; a name that is free
    nowhere stands on its upper right.
    """
    taken = [(x - _MARK_PT, y - _MARK_PT, x + _MARK_PT, y + _MARK_PT) for x, y in marks]
    found = []
    for name, (x, y) in zip(names, places, strict=True):
        boxes = ((side, _box(name, x, y, side)) for side in _SIDES)
        free = (
            (side, box)
            for side, box in boxes
            if edges[0] <= box[0] and box[2] <= edges[1] and not any(_meet(box, other) for other in taken)
        )
        side, box = next(free, (_SIDES[0], _box(name, x, y, _SIDES[0])))
        taken.append(box)
        found.append(side)
    return found


def _box(name: str, x: float, y: float, side: Beside) -> _Box:
    width = _LETTER_PT * len(name)
    left = x + side.x - {"left": 0.0, "center": width / 2, "right": width}[side.align]
    return left, y + side.y, left + width, y + side.y + _LINE_PT


def _meet(one: _Box, other: _Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
