"""What the reader of a scenario should know before it is run."""

from bentpipe import _core
from bentpipe.scenario import Scenario

Ages = tuple[float, float]
"""Days from the newest and from the oldest element set to the start of a run."""

OLD_DAYS = 14.0
"""From then on a satellite is tens of km from where its element set has it."""


def ages_in_words(ages: Ages | None) -> str | None:
    """Say how old the sets are when the run begins; nothing of a shell."""
    if ages is None:
        return None
    newest, oldest = ages
    if oldest - newest < 0.1:
        return f"The element sets are {oldest:.1f} days old when it begins."
    return f"The element sets are {newest:.1f} to {oldest:.1f} days old when it begins."


def notes(scenario: Scenario) -> list[str]:
    """Give the lines: element sets are too old, delays of a trace do not fill the round of its rates."""
    has_elements = "elements" in scenario.to_dict().get("constellation", {})
    old = warning(_core.Sky(scenario.toml()).ages_days) if has_elements else None
    return [*filter(None, [old]), *scenario.notes]


def warning(ages: Ages | None) -> str | None:
    """Say how old the sets are if one is too old, or from as long after."""
    if ages is None or max(map(abs, ages)) <= OLD_DAYS:
        return None
    far = f"After {OLD_DAYS:g} days satellites are tens of km from where they are said to be."
    return f"{ages_in_words(ages)} {far}"
