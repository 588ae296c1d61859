"""Other readings of what a paper does not state, and what they move: the paper without its scheme is one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

Settings = Mapping[str, str | float]
"""Changes to a scenario: ``{"flows.download.variant": "reno", "tcp.receive_window": "96 segments"}``."""


def _as_they_are(scenario: str, settings: Settings) -> tuple[str, Settings]:
    return scenario, settings


@dataclass(frozen=True)
class Reading:
    """A change to every run of a paper, or to what an item that asks for the reading makes of its runs.

    `about` says what the paper leaves open, and what is put in the place of what was inferred. `change` gets
    the scenario file and the settings of a run, and gives those of the run in its place. Only the `items` of
    these names can move.
    """

    name: str
    about: str
    change: Callable[[str, Settings], tuple[str, Settings]] = _as_they_are
    items: tuple[str, ...] = ("*",)

    @classmethod
    def of_settings(
        cls,
        name: str,
        about: str,
        change: Callable[[Settings], Settings],
        items: tuple[str, ...] = ("*",),
    ) -> "Reading":
        """Give a reading that leaves the scenario files as they are."""
        return cls(name, about, lambda scenario, settings: (scenario, change(settings)), items)

    def moves(self, item: str) -> bool:
        """Say whether an item can come out otherwise."""
        return any(fnmatchcase(item, name) for name in self.items)
