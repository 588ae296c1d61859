"""Other readings of what a paper does not state, and what they move: the paper without its scheme is one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

Settings = Mapping[str, str | float]
"""Changes to a scenario: ``{"flows.download.variant": "reno", "tcp.receive_window": "96 segments"}``."""


def _as_they_are(scenario: str, settings: Settings) -> tuple[str, Settings]:
    return scenario, settings


@dataclass(frozen=True)
class Reading:
    """A change to every run of a paper, or to what an item that asks for the reading makes of its runs.

    `change` gets the scenario file and the settings of a run, and gives those of the run in its place.
    `about` says what the paper leaves open, and what stands in its place.
    """

    name: str
    about: str
    change: Callable[[str, Settings], tuple[str, Settings]] = _as_they_are

    @classmethod
    def of_settings(cls, name: str, about: str, change: Callable[[Settings], Settings]) -> "Reading":
        """Give a reading that leaves the scenario files as they are."""
        return cls(name, about, lambda scenario, settings: (scenario, change(settings)))
