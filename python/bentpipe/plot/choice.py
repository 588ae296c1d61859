"""Which flows a picture draws as lines, and which as bands, with the same colours in every column."""

from collections.abc import Sequence
from dataclasses import dataclass

from bentpipe.plot.run import DrawnRun
from bentpipe.show.flows import MAXIMUM_FLOWS, Bundle, bundles, chosen
from bentpipe.show.style import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, YELLOW

MAXIMUM_BANDS = 4
"""Groups that have a band of their own; the others share one."""

# Red is left for what was sent again.
_COLOURS = (BLUE, ORANGE, GREEN, PURPLE, SKY, YELLOW, "#222222", "#7b4b2a")
# For bands behind as many lines as there are colours.
_PALE = ("#9e9e9e", "#c9b79c", "#a9c4b0", "#c3b1d0")


@dataclass(frozen=True)
class Drawn:
    """Flows that are drawn as one line or one band."""

    label: str
    flows: tuple[str, ...]
    colour: str


@dataclass(frozen=True)
class Choice:
    """What is drawn: flows as lines, by what they carried, and others as bands behind them."""

    lines: tuple[Drawn, ...]
    bands: tuple[Drawn, ...]
    wanted: int
    """Flows that would be lines if there were room."""

    @property
    def alone(self) -> bool:
        """Whether there is a single flow, which is then drawn with all that is known of it."""
        return len(self.lines) == 1 and not self.bands

    @classmethod
    def of(cls, subjects: Sequence[DrawnRun], patterns: Sequence[str] = ()) -> "Choice":
        """Choose the flows that fit `patterns`, or else those that have no copies; the others become bands.

        Raises InputError: no flow of any run fits a pattern.
        """
        flows = {flow["name"]: flow for subject in reversed(subjects) for flow in subject.run["flows"]}
        # In the order of the first column; a flow that only others have comes behind.
        order = dict.fromkeys(flow["name"] for subject in subjects for flow in subject.run["flows"])
        together = bundles([flows[name] for name in order])
        singles = [bundle for bundle in together if bundle.alone]
        groups = [bundle for bundle in together if not bundle.alone]
        if patterns:
            wanted = [Bundle(flow["name"], (flow,)) for flow in chosen(list(flows.values()), patterns)]
            wanted.sort(key=lambda bundle: list(order).index(bundle.name))
        else:
            wanted = singles
        lines = _most(wanted, MAXIMUM_FLOWS)
        shown = {line.name for line in lines}
        others = [bundle for bundle in singles if bundle.name not in shown]
        banded = _most(groups, MAXIMUM_BANDS)
        others += [group for group in groups if group not in banded]
        colours = iter(_COLOURS + _PALE)
        udp = {name: " (UDP)" if flow["variant"] == "udp" else "" for name, flow in flows.items()}
        drawn = tuple(Drawn(line.name + udp[line.name], (line.name,), next(colours)) for line in lines)
        bands = [
            Drawn(f"{band.name}: {len(band.flows)} flows", _names([band]), next(colours)) for band in banded
        ]
        if others:
            names = _names(others)
            label = f"{len(names)} other flow{'s' if len(names) > 1 else ''}"
            bands.insert(0, Drawn(label, names, GREY))
        return cls(drawn, tuple(bands), len(wanted))


def _most(from_: Sequence[Bundle], number: int) -> list[Bundle]:
    """Give those that carried most, in the order that they came in."""
    largest = sorted(from_, key=lambda bundle: -bundle.carried)[:number]
    return [bundle for bundle in from_ if bundle in largest]


def _names(of: Sequence[Bundle]) -> tuple[str, ...]:
    return tuple(flow["name"] for bundle in of for flow in bundle.flows)
