"""Whether the matches of each paper are its scheme's: with its main rule off at least half must turn.

    python scripts/paper_mutants.py [PAPER[/ITEM] …]

A match that stands without the scheme is none of its own, and is not counted.
"""

import sys
from collections.abc import Mapping

from bentpipe_papers.reproduction.finished import Cache
from bentpipe_papers.reproduction.papers import all_papers
from bentpipe_papers.reproduction.readings import Reading, Settings
from bentpipe_papers.reproduction.reproduce import readings_of, reproduce


def added(words: str, scheme: str, settings: Mapping[str, str]) -> Reading:
    """Give the reading that adds settings to the runs of a scheme; others stay those that were finished."""

    def change(before: Settings) -> Settings:
        ours = any(str(value).startswith(scheme) for value in before.values())
        return {**before, **settings} if ours else before

    return Reading.of_settings(words, words, change)


def replaced(words: str, texts: Mapping[str, str]) -> Reading:
    """Give the reading that replaces parts of values."""

    def change(before: Settings) -> Settings:
        after = {key: str(value) for key, value in before.items()}
        for old, new in texts.items():
            after = {key: value.replace(old, new) for key, value in after.items()}
        return after

    return Reading.of_settings(words, words, change)


MUTANTS: Mapping[str, tuple[Reading, ...]] = {
    "adalr": (
        added(
            "cwnd and rwnd grow as everywhere",
            "adalr",
            {"tcp.adalr.cwnd_increase": "false", "tcp.adalr.rwnd_increase": "false"},
        ),
        added("cwnd grows as everywhere", "adalr", {"tcp.adalr.cwnd_increase": "false"}),
    ),
    "afc": (
        added("the first loss of a window reduces at once", "afc", {"tcp.afc.delayed_recovery": "false"}),
    ),
    "sack": (
        replaced(
            "SACK and NewReno repair as Reno, and Reno starts slowly as Tahoe",
            {"newreno-1999": "first", "sack-1996": "first", "reno": "tahoe", "first": "reno"},
        ),
    ),
    "xfwa": (
        replaced(
            "windows add up to ten times pipe and buffer",
            {'isl_delay = "20 ms"': 'isl_delay = "200 ms"'},
        ),
        replaced(
            "windows are equal, and not in proportion to the round trips",
            {'rtt = "ttl", isl_delay = "20 ms"': 'rtt = "told", told = "280 ms"'},
        ),
    ),
}
"""What each scheme is without its main rule; of several one must turn half, the others say what does it."""


def main() -> int:
    """Print how many of the own matches turn; 1 if it is less than half."""
    status = 0
    for what in sys.argv[1:] or [*MUTANTS]:
        name = what.partition("/")[0]
        (paper,) = (paper for paper in all_papers() if paper.name == name)
        vars(paper.module())["READINGS"] = MUTANTS[name]
        results = reproduce(what, Cache.at(None), otherwise=True)
        own = [row for result in results for row in result.rows if row.verdict == "match"]
        most = 0
        for one in readings_of(results)[name]:
            turned = [each for each in one.moved if each.row.verdict == "match" and each.change < 0]
            most = max(most, len(turned))
            print(f"{what}, {one.reading.about}: {len(turned)} of {len(own)} own matches turn")
        status |= 2 * most < len(own)
    return status


if __name__ == "__main__":
    sys.exit(main())
