"""Beyond the document: two of four flows are handed over to a link that has four flows already."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bentpipe.plot import DrawnRun
from bentpipe.show.style import picture
from bentpipe_papers.common import over
from bentpipe_papers.reproduction.grid import Grid
from bentpipe_papers.reproduction.reproduce import Context, Settings

from .convergence import draw_indices, fairness, settles, time_cell
from .over_time import Bottleneck, Series, acked
from .runs import GATEWAY, SEEDS, TTL, moments
from .staged import END_S, RATE_BPS

HANDOVER = "handover.toml"
AT_S = 10.0
FIRST = ("first1", "first2")
MOVED = ("moved1", "moved2")
SECOND = ("second1", "second2", "second3", "second4")

_LOSE: Settings = {"handovers.moved.in_flight": "lose"}
_UNSCALED: Settings = {"tcp.window_scaling": "false", "tcp.receive_window": "65535 B"}


def _gateways(options: str) -> Settings:
    """Put XFWA on the inter-satellite links of both rows."""
    gateway = f"{{ {GATEWAY}, {options} }}"
    return {f"links.isl{hop}-{row}.gateway": gateway for hop in (1, 2) for row in "ab"}


_ZERO = 'unknown_scale = "zero"'
CASES: Mapping[str, Settings] = {
    "standard TCP": _UNSCALED,
    "standard TCP, packets under way lost": {**_UNSCALED, **_LOSE},
    "XFWA": {**_UNSCALED, **_gateways(f"{TTL}, {_ZERO}")},
    "XFWA, packets under way lost": {**_UNSCALED, **_gateways(f"{TTL}, {_ZERO}"), **_LOSE},
    "XFWA, scale of moved flows unknown": _gateways(TTL),
}
"""The hosts scale no windows, which the gateways are told, but in the last case."""


@dataclass(frozen=True)
class Handover:
    """One run with its series."""

    subject: DrawnRun

    def index(self) -> tuple[Series, Series]:
        """Give Jain's index over time of the flows on the second row."""

        def there(moment: float) -> list[str]:
            return [*SECOND, *MOVED] if moment > AT_S else list(SECOND)

        return fairness(lambda name, times: acked(self.subject, name, times), there)

    def wait_ms(self, row: str, start_s: float, end_s: float) -> float:
        """Give the mean wait in the queue of a row."""
        bottleneck = Bottleneck.of(self.subject, f"isl1-{row}", RATE_BPS)
        return float(bottleneck.queue(np.arange(start_s, end_s, 0.01)).mean()) * bottleneck.service_s * 1e3

    def busy(self, row: str, start_s: float, end_s: float) -> float:
        """Give the share of the time, in %, in which the link of a row was sending."""
        bottleneck = Bottleneck.of(self.subject, f"isl1-{row}", RATE_BPS)
        return 100 * float(bottleneck.utilization(np.array([start_s, end_s]))[0])

    def dropped(self) -> float:
        """Give the segments that found no room from the handover on."""
        times = (self.subject.traces.get(name, "dropped").time_s for name in (*FIRST, *MOVED, *SECOND))
        return float(sum((some > AT_S).sum() for some in times))

    def pause_s(self) -> float:
        """Give the longest time, of the two, that a moved flow made no progress after the handover."""
        longest = 0.0
        for name in MOVED:
            times = self.subject.traces.get(name, "acked").time_s
            after = np.concatenate([[AT_S], times[times > AT_S], [END_S]])
            longest = max(longest, float(np.diff(after).max()))
        return longest


def handovers(context: Context, case: str, seeds: int = SEEDS) -> list[Handover]:
    """Run a case so often, each time beginning at other moments."""
    names = [*FIRST, *MOVED, *SECOND]
    return [
        Handover(context.trace(HANDOVER, {**CASES[case], **moments(names, seed)}, title=case))
        for seed in range(1, seeds + 1)
    ]


def measure(context: Context) -> Grid:
    """Tabulate what follows the handover."""
    rows = []
    for case in CASES:
        runs = handovers(context, case)
        found = [one.index() for one in runs]
        last = over(float(index[times > END_S - 4.0].mean()) for times, index in found)
        soon = [settles(times, index, AT_S, END_S) for times, index in found]
        rows.append(
            (
                case,
                last,
                time_cell(soon),
                over(one.pause_s() for one in runs),
                over(one.dropped() for one in runs),
                over(one.busy("a", AT_S + 1.0, END_S) for one in runs),
                over(one.busy("b", AT_S + 1.0, END_S) for one in runs),
                over(one.wait_ms("b", AT_S + 1.0, END_S) for one in runs),
            )
        )
    return Grid(
        "Two of four flows go over to a link that has four; the ten seconds after it. Mean and 95 % interval "
        f"of {SEEDS} runs",
        (
            "case",
            "Jain's index on the new link, last 4 s",
            "equal after (s)",
            "longest pause of a moved flow (s)",
            "packets dropped",
            "old link busy (%)",
            "new link busy (%)",
            "wait on the new link (ms)",
        ),
        tuple(rows),
    )


def draw(context: Context, path: Path) -> None:
    """Draw Jain's index on the new link over time, mean of the runs."""
    with picture(path, (9, 4.2)) as figure:
        axes = figure.subplots()
        found = {case: [one.index() for one in handovers(context, case)] for case in CASES}
        draw_indices(axes, found, [AT_S])
        axes.set_ylabel("Jain's index on the new link, last second")
        axes.set_xlim(5, END_S)
        figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=2)
