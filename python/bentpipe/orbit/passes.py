"""What a station sees: when satellites rise, culminate and set."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.table import Table

from bentpipe._core import Sky
from bentpipe.show.layout import MAXIMUM_ROWS, mention_rest, new_table
from bentpipe.show.units import seconds

_EVERY_S = 1.0
"""From look to look; times are as good as that."""


@dataclass(frozen=True)
class Pass:
    """A satellite's time over a station, from its first to its last sight, and where it stood highest."""

    satellite: str
    rise_s: float
    culmination_s: float
    set_s: float
    elevation_deg: float
    azimuth_deg: float
    range_km: float

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON has it."""
        return asdict(self)


def passes(sky: Sky, station: str, until_s: float) -> list[Pass]:
    """Give the passes over a station from the start up to `until_s`, in the order in which they begin.

    What is up at the start has risen then, and what is up at the end sets then.
    """
    names = sky.satellites
    return [
        Pass(names[number], rise, culmination, last, elevation, azimuth, range_km)
        for rise, culmination, last, (number, elevation, azimuth, range_km) in sky.passes(
            station, until_s, _EVERY_S
        )
    ]


def table_of(found: Sequence[Pass], station: str) -> Table:
    """Make the table for people."""
    table = new_table(f"over {station}", "rises", "culminates", "sets", "elevation", "azimuth", "range")
    for each in found[:MAXIMUM_ROWS]:
        table.add_row(
            each.satellite,
            *(seconds(time) for time in (each.rise_s, each.culmination_s, each.set_s)),
            f"{each.elevation_deg:.1f}°",
            f"{each.azimuth_deg:.1f}°",
            f"{each.range_km:,.0f} km",
        )
    mention_rest(table, len(found))
    return table
