"""Round trips that Hypatia has, from published.csv beside this file."""

import csv
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).parent / "published.csv"
SIDEREAL_DEG = 99.9678
"""How far Greenwich has turned from the equinox at Hypatia's epoch, 2000-01-01 00:00 UTC (GMST 1982)."""


@dataclass(frozen=True)
class Range:
    """The least, median and largest round trip between two cities, and over what."""

    preset: str
    revolutions: float
    altitude_km: float
    names: tuple[str, str]
    places: tuple[tuple[float, float], tuple[float, float]]
    seconds: int
    longest_km: float
    least_ms: float
    median_ms: float
    most_ms: float

    @property
    def pair(self) -> str:
        """Both cities."""
        return " – ".join(name.replace("_", " ").title() for name in self.names)

    def ends(self) -> list[tuple[str, float, float]]:
        """Give the cities where they are at the epoch, if a node of the first plane is at Greenwich."""
        return [
            (name, north, round((east + SIDEREAL_DEG + 180) % 360 - 180, 6))
            for name, (north, east) in zip(self.names, self.places, strict=True)
        ]


def ranges() -> list[Range]:
    """Read them."""
    with FILE.open(encoding="utf-8", newline="") as file:
        return [
            Range(
                row["preset"],
                float(row["revolutions"]),
                float(row["altitude_km"]),
                (row["from"], row["to"]),
                (
                    (float(row["from_north"]), float(row["from_east"])),
                    (float(row["to_north"]), float(row["to_east"])),
                ),
                int(row["seconds"]),
                float(row["longest_km"]),
                float(row["least_ms"]),
                float(row["median_ms"]),
                float(row["most_ms"]),
            )
            for row in csv.DictReader(file)
        ]
