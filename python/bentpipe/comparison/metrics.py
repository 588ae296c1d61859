"""The numbers that variants are compared by: their names, and how a table and a sentence call them."""

from dataclasses import dataclass
from typing import Literal, get_args

Metric = Literal[
    "goodput_bps",
    "response_s",
    "response_p50_s",
    "response_p95_s",
    "response_p99_s",
    "bit_rate_mean_bps",
    "startup_s",
    "stalled_s",
]
"""Goodput of all flows together in bits a second; mean or percentile of response times in seconds; of films,
their mean bit rate in bits a second, the time to the first picture, and that of all stalls, in seconds."""

METRICS: tuple[Metric, ...] = get_args(Metric)

PERCENTILES = {"response_p50_s": 50, "response_p95_s": 95, "response_p99_s": 99}
"""Which percentile of response times a number is."""


@dataclass(frozen=True)
class Words:
    """How a number is told of: as the heading of a column, and in a sentence.

    Parameters
    ----------
    heading
        Of its column.
    does
        What the best variant does, before its number.
    better, worse
        Behind a share, of the best against another; and around one, ``{}``, of the next against the best.
    """

    heading: str
    does: str
    better: str
    worse: str


OF_FILMS: dict[str, Words] = {
    "bit_rate_mean_bps": Words("bit rate", "shows the film at", "more than", "shows it at {} less"),
    "startup_s": Words("startup", "shows the first picture after", "sooner than", "takes {} longer"),
    "stalled_s": Words("stalled", "stalls for", "shorter than", "stalls {} longer"),
}
"""What is compared of films."""
