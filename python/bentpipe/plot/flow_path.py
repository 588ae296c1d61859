"""The paths of flows through a run: what propagation takes, where a path changes, where there is none."""

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bentpipe import _core
from bentpipe.errors import InputError
from bentpipe.orbit.station_path import StationPath, Values
from bentpipe.results import Run
from bentpipe.scenario import Scenario

LOSSY = 0.1
"""Where links lose this share of the packets or more, their time is shaded."""

BIN_S = 0.1
"""A trace of deliveries is drawn as its rate in times so long."""

_Row = tuple[float, float | None, float, float]
Spans = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class PathCurves:
    """What the path of a flow is like; each value of a curve holds until the next.

    `rtt_s` is the propagation delay there and back, not a number where nothing gets through; `rate_bps` what
    the narrowest link carries, empty if it is always the same; `changes` the times of changes from one path
    over satellites to another; `without` and `lossy` from when until when nothing, or little, gets through.
    """

    time_s: Values
    rtt_s: Values
    rate_bps: Values
    changes: tuple[float, ...] = ()
    without: Spans = ()
    lossy: Spans = ()

    @property
    def moves(self) -> bool:
        """Whether it is not the same all the time."""
        values = self.rtt_s[np.isfinite(self.rtt_s)]
        spans = self.changes or self.without or self.lossy
        return bool(spans or len(self.rate_bps) or len(np.unique(values)) > 1)

    def like(self, other: "PathCurves") -> bool:
        """Whether both are drawn alike."""
        return np.array_equal(self.time_s, other.time_s) and np.array_equal(
            self.rtt_s, other.rtt_s, equal_nan=True
        )


def path_curves(run: Run, flows: Sequence[str], end_s: float) -> dict[str, PathCurves]:
    """Give the paths of these flows up to `end_s` by their names, where they are known and move.

    They are made again from the scenario that the result holds; one with a control of its reader's own, or
    one that was changed by hand, cannot be read any more.
    """
    text = run.get("scenario_toml")
    if not isinstance(text, str):
        return {}
    try:
        scenario = Scenario.from_toml(text)
        tables = tomllib.loads(text)
        if "constellation" in tables:
            paths = _over_satellites(scenario, run, flows, end_s)
        else:
            # A link that follows a trace has standstills that are part of its rate.
            links = tables.get("links", {}).values()
            ways = (way for link in links for way in (link, link.get("reverse", {})))
            paths = _over_links(scenario, run, flows, end_s, traced=any("trace" in way for way in ways))
    except (InputError, ValueError, KeyError):
        return {}
    return {flow: path for flow, path in paths.items() if path.moves}


def _over_links(
    scenario: Scenario, run: Run, flows: Sequence[str], end_s: float, *, traced: bool
) -> dict[str, PathCurves]:
    paths = {}
    for number, flow in enumerate(run["flows"]):
        rows = scenario.along(number, end_s) if flow["name"] in flows else None
        if not rows:
            continue
        drawn = _without_standstills(rows, end_s) if traced else rows
        times, delays, rates, losses = zip(*drawn, strict=True)
        spans = list(zip(times, (*times[1:], end_s), strict=True))
        rate = np.array(rates, float)
        paths[flow["name"]] = PathCurves(
            np.array([*times, end_s], float),
            np.array([*delays, delays[-1]], float),
            np.append(rate, rate[-1]) if len(np.unique(rate)) > 1 else np.empty(0),
            without=joined(span for span, delay in zip(spans, delays, strict=True) if delay is None),
            lossy=joined(span for span, loss in zip(spans, losses, strict=True) if loss >= LOSSY),
        )
    return paths


def _without_standstills(rows: Sequence[_Row], end_s: float) -> Sequence[_Row]:
    """Give the rates of `BIN_S` each in the place of standstills that are shorter.

    A trace of deliveries stands still between any two of them: that is its rate, and no outage.
    """
    starts = np.array([at_s for at_s, *_ in rows])
    lengths = np.diff([*starts, end_s])
    still = np.array([delay_s is None for _, delay_s, *_ in rows])
    if not np.any(still & (lengths < BIN_S)):
        return rows
    carried = np.cumsum([0.0, *np.where(still, 0.0, [rate_bps for _, _, rate_bps, _ in rows]) * lengths])
    edges = np.arange(0.0, end_s + BIN_S, BIN_S)
    rates = np.diff(np.interp(edges, [*starts, end_s], carried)) / BIN_S
    # What holds besides, at the last row that is up before the bin ends.
    up = np.flatnonzero(~still)
    places = np.searchsorted(starts[up], edges[1:], side="left") - 1
    found: list[_Row] = []
    for edge, rate, place in zip(edges, rates, places, strict=False):
        _, delay_s, _, loss = rows[up[max(place, 0)]] if len(up) else rows[0]
        found.append((float(edge), delay_s if rate > 0 else None, float(rate), loss))
    return [row for row in found if row[0] < end_s]


def _over_satellites(
    scenario: Scenario, run: Run, flows: Sequence[str], end_s: float
) -> dict[str, PathCurves]:
    sky = _core.Sky(scenario.toml())
    tables: dict[str, Any] = scenario.to_dict()["flows"]
    paths: dict[str, PathCurves] = {}
    known: dict[frozenset[str], PathCurves] = {}
    for flow in run["flows"]:
        table = tables[flow.get("group") or flow["name"]]
        ends = frozenset((table["from"], table["to"]))
        if flow["name"] not in flows:
            continue
        if ends not in known:
            path = StationPath.of(sky, table["from"], table["to"], end_s)
            without = _without(path, sky.outage_s)
            known[ends] = PathCurves(*path.curve(), np.empty(0), tuple(path.changes()), without)
        paths[flow["name"]] = known[ends]
    return paths


def _without(path: StationPath, outage_s: float) -> Spans:
    """Give when there is no path, and the outages when one is taken that is not the first."""
    taken = [stretch.start_s for stretch in path.stretches if stretch.nodes][1:]
    return joined([*path.gaps(), *((at_s, min(at_s + outage_s, path.until_s)) for at_s in taken)])


def joined(spans: Iterable[tuple[float, float]], gap: float = 0.0) -> Spans:
    """Put together spans that overlap, or between which there is no more than a `gap`."""
    found: list[tuple[float, float]] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1] + gap:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        elif start < end:
            found.append((start, end))
    return tuple(found)
