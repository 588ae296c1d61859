"""The numbers that variants are compared by, and how a sentence tells of them."""

from dataclasses import dataclass

from bentpipe.numbers.declared import Columns, Declared, tables


def metrics(*what: str) -> Columns:
    """Give the numbers of these tables of which one may be better than another: of flows, pages and films."""
    parts = [tables()[table].values() for table in what or ("flows", "pages", "videos")]
    return {one.key: one for columns in parts for one in columns if one.better}


@dataclass(frozen=True)
class Words:
    """How a number is told of in a sentence.

    Parameters
    ----------
    does
        What the best variant does, before its number.
    better, worse
        Behind a share, of the best against another; and around one, ``{}``, of the next against the best.
    """

    does: str
    better: str
    worse: str

    @classmethod
    def of(cls, metric: Declared) -> "Words":
        """Give the words for a number, of which most say no more than which of two is larger."""
        more = metric.better == "more"
        plain = cls(
            f"has a {metric.heading} of",
            "more than" if more else "less than",
            "has {} less" if more else "has {} more",
        )
        return _SAID.get(metric.key, plain)


_SAID = {
    "goodput_bps": Words("carries", "more than", "carries {} less"),
    "bit_rate_mean_bps": Words("shows the film at", "more than", "shows it at {} less"),
    "startup_s": Words("shows the first picture after", "sooner than", "takes {} longer"),
    "stalled_s": Words("stalls for", "shorter than", "stalls {} longer"),
}
