"""What stands above the columns of a picture: what all runs have in common, and in what each differs."""

import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from bentpipe.plot.run import DrawnRun
from bentpipe.show.style import plain

_MAXIMUM_VARIANTS = 4
_MAXIMUM_SETTINGS = 3


def headings(subjects: Sequence[DrawnRun]) -> tuple[str, list[str]]:
    """Give the heading of all columns together, empty if there is none, and one for each of them."""
    if len(subjects) == 1:
        return "", [plain(f"{subjects[0].title} – {_variants(subjects[0])}{_replications(subjects[0])}")]
    facts = [
        {"title": subject.title, "variants": _variants(subject), "seed": f"seed {subject.run['seed']}"}
        for subject in subjects
    ]
    shared = [kind for kind in facts[0] if len({fact[kind] for fact in facts}) == 1]
    together = " – ".join(facts[0][kind] for kind in ("title", "variants") if kind in shared)
    settings = _differing_settings(subjects)
    each = []
    for subject, fact, setting in zip(subjects, facts, settings, strict=True):
        parts = [fact[kind] for kind in ("title", "variants") if kind not in shared] + setting
        parts += [fact["seed"]] if "seed" not in shared else []
        if subject.source in parts or not subject.source:
            each.append(", ".join(parts))
        else:
            each.append(f"{subject.source}: {', '.join(parts)}" if parts else subject.source)
    seen = Counter(each)
    numbered = [
        f"{heading} ({number})" if seen[heading] > 1 else heading for number, heading in enumerate(each, 1)
    ]
    replications = [_replications(subject) for subject in subjects]
    return plain(together), [plain(a + b) for a, b in zip(numbered, replications, strict=True)]


def _variants(subject: DrawnRun) -> str:
    names = list(dict.fromkeys(flow["variant"] for flow in subject.run["flows"]))
    return ", ".join(names) if len(names) <= _MAXIMUM_VARIANTS else f"{len(names)} variants"


def _replications(subject: DrawnRun) -> str:
    runs = subject.run.get("runs")
    return f" (first of {runs} replications)" if isinstance(runs, int) and runs > 1 else ""


def _differing_settings(subjects: Sequence[DrawnRun]) -> list[list[str]]:
    """Give for each run the keys of its scenario that others have with another value, as ``key = value``."""
    try:
        scenarios = [dict(_flat(tomllib.loads(subject.run["scenario_toml"]))) for subject in subjects]
    except (KeyError, TypeError, tomllib.TOMLDecodeError):
        return [[] for _ in subjects]
    keys = dict.fromkeys(key for scenario in scenarios for key in scenario)
    differing = [
        key
        for key in keys
        if key not in ("title", "seed")
        and not key.endswith((".variant", ".recovery", ".control"))
        and len({str(scenario.get(key)) for scenario in scenarios}) > 1
    ]
    rest = len(differing) - _MAXIMUM_SETTINGS
    more = [f"{rest} more settings"] if rest > 0 else []
    return [
        [f"{key} = {scenario.get(key, 'default')}" for key in differing[:_MAXIMUM_SETTINGS]] + more
        for scenario in scenarios
    ]


def _flat(table: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
