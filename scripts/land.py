"""Makes python/bentpipe/orbit/land.json from Natural Earth's land at 1:110m.

npm pack world-atlas@2.0.2 && tar xf world-atlas-2.0.2.tgz
.venv/bin/python scripts/land.py package/land-110m.json
"""

import json
import sys
from itertools import pairwise
from math import copysign
from pathlib import Path
from typing import Any

OUT = Path(__file__).parent.parent / "python/bentpipe/orbit/land.json"
TOLERANCE_DEG = 0.12
LEAST_DEG2 = 0.4
"""Islands that are smaller are left out."""

Point = tuple[float, float]


def arcs(topology: dict[str, Any]) -> list[list[Point]]:
    """Undo the quantization: each arc is made of steps from the point before."""
    (sx, sy), (tx, ty) = topology["transform"]["scale"], topology["transform"]["translate"]
    found = []
    for arc in topology["arcs"]:
        x = y = 0
        points = []
        for dx, dy in arc:
            x, y = x + dx, y + dy
            points.append((x * sx + tx, y * sy + ty))
        found.append(points)
    return found


def rings(topology: dict[str, Any]) -> list[list[Point]]:
    """Put the arcs of each ring together."""
    lines = arcs(topology)
    (land,) = topology["objects"]["land"]["geometries"]
    found = []
    for polygon in land["arcs"]:
        for ring in polygon:
            points: list[Point] = []
            for arc in ring:
                line = lines[arc] if arc >= 0 else lines[~arc][::-1]
                points += line if not points else line[1:]
            found.append(points)
    return found


def cut(ring: list[Point]) -> list[list[Point]]:
    """Give the parts of a ring on either side of 180 degrees, closed along the edge of the map."""
    jumps = [n + 1 for n, (a, b) in enumerate(pairwise(ring)) if abs(a[0] - b[0]) > 180]
    if not jumps:
        return [ring]
    around = ring[jumps[0] : -1] + ring[: jumps[0]]
    jumps = [n + 1 for n, (a, b) in enumerate(pairwise(around)) if abs(a[0] - b[0]) > 180]
    parts = []
    for first, last in pairwise([0, *jumps, len(around)]):
        part = around[first:last]
        # To the edge of the map, where the ring has its next point beyond.
        (x, y), (u, v) = part[0], part[-1]
        part = [(copysign(180, x), y), *part, (copysign(180, u), v)]
        if abs(part[0][0] - part[-1][0]) > 180:
            # All around the globe: Antarctica has the pole in it.
            part += [(part[-1][0], -90.0), (part[0][0], -90.0)]
        parts.append([*part, part[0]])
    return parts


def simplified(line: list[Point]) -> list[Point]:
    """Leave out points that are within the tolerance of the line without them (Douglas and Peucker 1973)."""
    if len(line) < 3:
        return line
    (ax, ay), (bx, by) = line[0], line[-1]
    length = ((bx - ax) ** 2 + (by - ay) ** 2) ** 0.5

    def off(point: Point) -> float:
        x, y = point
        if length == 0:
            return float(((x - ax) ** 2 + (y - ay) ** 2) ** 0.5)
        return float(abs((bx - ax) * (y - ay) - (by - ay) * (x - ax)) / length)

    at = max(range(1, len(line) - 1), key=lambda number: off(line[number]))
    if off(line[at]) <= TOLERANCE_DEG:
        return [line[0], line[-1]]
    return simplified(line[: at + 1])[:-1] + simplified(line[at:])


def area(ring: list[Point]) -> float:
    """Give what a ring encloses on the map, in square degrees."""
    return abs(sum(ax * by - bx * ay for (ax, ay), (bx, by) in pairwise(ring))) / 2


def main() -> None:
    """Write the file."""
    topology = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    parts = [part for ring in rings(topology) for part in cut(ring)]
    kept = [simplified(part) for part in parts if area(part) >= LEAST_DEG2]
    kept.sort(key=area, reverse=True)
    told = {
        "about": "Land in degrees, rings of longitude and latitude in turn, simplified from 1:110m",
        "source": "Natural Earth 4.1.0 (naturalearthdata.com), by world-atlas 2.0.2",
        "licence": "Natural Earth is in the public domain; world-atlas is under the ISC licence",
    }
    written = ["[" + ",".join(f"{x:g},{y:g}" for x, y in rounded(ring)) + "]" for ring in kept]
    head = json.dumps(told, indent=0).removesuffix("\n}")
    OUT.write_text(head + ',\n"rings": [\n' + ",\n".join(written) + "\n]}\n", encoding="utf-8")


def rounded(ring: list[Point]) -> list[Point]:
    """Give it in tenths of a degree."""
    return [(round(x, 1) + 0.0, round(y, 1) + 0.0) for x, y in ring]


if __name__ == "__main__":
    main()
