"""What a station sees: when satellites rise, culminate and set."""

from collections.abc import Sequence
from typing import Any

from rich.table import Table

from bentpipe._core import Sky
from bentpipe.show.layout import MAXIMUM_ROWS, mention_rest, new_table
from bentpipe.show.units import seconds

_EVERY_S = 1.0
"""From look to look; times are as good as that."""


def passes(sky: Sky, station: str, until_s: float) -> list[dict[str, Any]]:
    """Give the passes over a station from the start up to `until_s`, in the order in which they begin.

    Each is from a satellite's first to its last sight, with where it stood highest. What is up at the start
    has risen then, and what is up at the end sets then.
    """
    return [
        {
            "satellite": sky.satellites[number],
            "rise_s": rise_s,
            "culmination_s": culmination_s,
            "set_s": set_s,
            "elevation_deg": elevation,
            "azimuth_deg": azimuth,
            "range_km": range_km,
        }
        for rise_s, culmination_s, set_s, (number, elevation, azimuth, range_km) in sky.passes(
            station, until_s, _EVERY_S
        )
    ]


def table_of(found: Sequence[dict[str, Any]], station: str) -> Table:
    """Make the table for people."""
    table = new_table(f"over {station}", "rises", "culminates", "sets", "elevation", "azimuth", "range")
    for each in found[:MAXIMUM_ROWS]:
        table.add_row(
            each["satellite"],
            *(seconds(each[key]) for key in ("rise_s", "culmination_s", "set_s")),
            f"{each['elevation_deg']:.1f}°",
            f"{each['azimuth_deg']:.1f}°",
            f"{each['range_km']:,.0f} km",
        )
    mention_rest(table, len(found))
    return table
