"""Figure 1b: the rates of the inter-satellite links, and the groups of flows that share them."""

from dataclasses import dataclass
from itertools import product

import numpy as np

from bentpipe_papers.reproduction.reproduce import Settings

from .runs import BUFFER_S, GROUPS, HOP_S, PAYLOAD, SEEDS, SPREAD_S, moments, rate

NUMBERS = (1, 2, 3, 4)
WORDS = {number: f"group {number}" for number in NUMBERS}
ROUND_TRIPS_S = {number: (2 * number + 2) * 2 * HOP_S for number in NUMBERS}
MEAN_ROUND_TRIP_S = sum(ROUND_TRIPS_S.values()) / len(NUMBERS)


@dataclass(frozen=True)
class LinkType:
    """One rate of the inter-satellite links, and how many flows share it (inferred)."""

    mbps: float
    flows: int
    seeds: int = SEEDS

    def windows(self) -> dict[int, float]:
        """Give the window of a flow of each group in packets, by equation 1."""
        level = self.mbps * 1e6 / 8 / self.flows * (1 + BUFFER_S / MEAN_ROUND_TRIP_S)
        return {number: level * trip / PAYLOAD for number, trip in ROUND_TRIPS_S.items()}

    def settings(self) -> Settings:
        """Give rate, buffers and flows."""
        each = self.flows // len(NUMBERS)
        return {
            **rate(GROUPS, self.mbps),
            **{
                f"{kind}{number}.count": each
                for kind, number in product(("links.up", "links.down", "flows.group"), NUMBERS)
            },
        }

    def begun(self, seed: int) -> Settings:
        """Give the settings of one run: when the flows begin."""
        random = np.random.default_rng((seed, 1))
        last = max(self.flows // len(NUMBERS) - 1, 1)
        steps = {
            f"flows.group{number}.start_step": f"{random.uniform(0.2, 1.0) * SPREAD_S / last:.6f} s"
            for number in NUMBERS
        }
        return {**self.settings(), **moments([f"group{number}" for number in NUMBERS], seed), **steps}


TYPES = {
    "T1": LinkType(1.5, 8),
    "T2": LinkType(10, 52),
    "T3": LinkType(45, 240, 5),
    "OC3": LinkType(155, 824, 6),
}
"""As many flows as leave each 187.5 kbit/s: the document fixes a number by the least fair share."""

OTHERS = {
    "375 kbit/s each": {
        "T1": LinkType(1.5, 4),
        "T2": LinkType(10, 24),
        "T3": LinkType(45, 120, 3),
    },
    "93.75 kbit/s each": {
        "T1": LinkType(1.5, 16),
        "T2": LinkType(10, 104),
        "T3": LinkType(45, 480, 3),
    },
    "few flows": {
        "T2": LinkType(10, 20),
        "T3": LinkType(45, 40, 3),
        "OC3": LinkType(155, 80, 3),
    },
}
"""Other choices of how many flows share a link."""
