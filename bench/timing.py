"""How fast simulators are: each is timed over at least a second of its own work, in turns with the others.

A simulator is one thread that never waits, so the time of its core, user and system, is what the wall shows
on an idle machine; on a busy one the wall shows the neighbours. What a run of next to no length takes is the
start of the process and the set-up of the scenario, and is told apart from the work.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from simulators import SETUP_BYTES, SETUP_S, Bentpipe, Run, Scenario, Simulator, spawn

LEAST_WORK_S = 1.0
ROUNDS = 5
# No further round of a simulator that has taken so long.
MOST_S = 60.0


@dataclass(frozen=True)
class Spread:
    """The median of some numbers, the lowest and the highest."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, numbers: Sequence[float]) -> Spread:
        """Give that of at least one number."""
        return cls(statistics.median(numbers), min(numbers), max(numbers))

    def __format__(self, spec: str) -> str:
        """Write the median, and how far the others are from it."""
        if self.median == 0:
            return format(self.median, spec)
        low, high = (100 * (end / self.median - 1) for end in (self.low, self.high))
        return f"{self.median:{spec}} ({low:+.0f} to {high:+.0f} %)"


@dataclass(frozen=True)
class Round:
    """The processes of a round."""

    runs: Sequence[Run]

    @property
    def result(self) -> Mapping[str, Any]:
        """Give what the last of them printed."""
        return self.runs[-1].result

    @property
    def core_s(self) -> float:
        """Add up the time of the core."""
        return sum(run.core_s for run in self.runs)

    @property
    def wall_s(self) -> float:
        """Add up the time that went by."""
        return sum(run.wall_s for run in self.runs)

    def work_s(self, start_s: float) -> float:
        """Give the time of the core without the processes' starts."""
        return max(self.core_s - len(self.runs) * start_s, 1e-3)


@dataclass
class Timed:
    """A simulator on a scenario, how often it runs that in a round, and the rounds so far.

    Bentpipe does so in one process, a peer in as many, each with a start of its own.
    """

    simulator: Simulator
    scenario: Scenario
    times: int
    start_s: float
    rounds: list[Round] = field(default_factory=list)

    @classmethod
    def planned(cls, simulator: Simulator, scenario: Scenario) -> Timed:
        """Find out how much makes a second of work."""
        short = SETUP_BYTES if scenario.unit == "bytes" else SETUP_S
        start = statistics.median(spawn(simulator.command(scenario, short)).core_s for _ in range(3))
        timed = cls(simulator, scenario, 1, start)
        timed.run()
        timed.times = math.ceil(1.1 * LEAST_WORK_S * timed.rates()[0] / timed.segments())
        if timed.times > 1:
            timed.rounds.clear()
        return timed

    def processes(self) -> list[list[str]]:
        """Give the command lines of a round."""
        command = self.simulator.command(self.scenario, self.scenario.length(self.simulator.name))
        if isinstance(self.simulator, Bentpipe):
            return [[*command, "--repeat", str(self.times)]]
        return [command] * self.times

    def run(self) -> None:
        """Run a round more, unless that takes too long."""
        spent = sum(one.wall_s for one in self.rounds)
        if not self.rounds or spent + spent / len(self.rounds) < MOST_S:
            self.rounds.append(Round([spawn(command) for command in self.processes()]))

    def segments(self) -> int:
        """Count the data segments of a round."""
        return self.times * int(self.rounds[0].result["data_segments"])

    def rates(self) -> list[float]:
        """Give the segments a second of work, for each round."""
        return [self.segments() / one.work_s(self.start_s) for one in self.rounds]


def take_turns(simulators: Sequence[Simulator], scenario: Scenario) -> list[Timed]:
    """Time simulators on a scenario, in rounds."""
    timed = [Timed.planned(simulator, scenario) for simulator in simulators]
    for number in range(ROUNDS):
        for one in timed:
            if len(one.rounds) <= number:
                one.run()
    return timed


def ratio(ours: Timed, theirs: Timed) -> Spread:
    """Give how many times faster the one is, by their rates in each round."""
    return Spread.of([a / b for a, b in zip(ours.rates(), theirs.rates(), strict=False)])
