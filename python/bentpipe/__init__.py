"""A workbench for TCP over satellite links.

>>> import bentpipe as bp
>>> scenario = bp.Scenario.load("scenarios/demo.toml").with_({"flows.download.variant": "reno"})
>>> result = bp.replicate(scenario, 10)
>>> result.flows["download"]["goodput_bps"]

`Scenario` is a network and what goes over it, `run` and `replicate` simulate it, `Result` is what came out.
`Control`, `LossModel`, `Queue` and `Application` are what classes of one's own derive from.
"""

from typing import TYPE_CHECKING, Any

from bentpipe.errors import BentpipeError, InputError, Interrupted, RunError, ScenarioError

if TYPE_CHECKING:
    from bentpipe.comparison.api import compare
    from bentpipe.comparison.result import Comparison
    from bentpipe.numbers.intervals import bootstrap
    from bentpipe.own.application import Application, Connection
    from bentpipe.own.control import Ack, Control, Exit, Loss, Mark, PartialAck, Timeout, Window
    from bentpipe.own.loss import LossModel, Random, SentPacket
    from bentpipe.own.queue import Queue, QueuedPacket, QueueView
    from bentpipe.plot.page import draw_in_pyplot as draw_in_pyplot
    from bentpipe.runs.result import Result, Table
    from bentpipe.runs.runner import replicate, run
    from bentpipe.runs.statistics import Failure
    from bentpipe.runs.traces import Trace, Traces
    from bentpipe.scenario import Scenario
    from bentpipe.sweeps.api import sweep
    from bentpipe.sweeps.result import Sweep

    __version__: str

__all__ = [
    "Ack",
    "Application",
    "BentpipeError",
    "Comparison",
    "Connection",
    "Control",
    "Exit",
    "Failure",
    "InputError",
    "Interrupted",
    "Loss",
    "LossModel",
    "Mark",
    "PartialAck",
    "Queue",
    "QueueView",
    "QueuedPacket",
    "Random",
    "Result",
    "RunError",
    "Scenario",
    "ScenarioError",
    "SentPacket",
    "Sweep",
    "Table",
    "Timeout",
    "Trace",
    "Traces",
    "Window",
    "bootstrap",
    "compare",
    "replicate",
    "run",
    "sweep",
]

_HOMES = {
    "own.control": ("Ack", "Control", "Exit", "Loss", "Mark", "PartialAck", "Timeout", "Window"),
    "own.application": ("Application", "Connection"),
    "own.queue": ("Queue", "QueueView", "QueuedPacket"),
    "own.loss": ("LossModel", "Random", "SentPacket"),
    "comparison.api": ("compare",),
    "comparison.result": ("Comparison",),
    "runs.result": ("Result", "Table"),
    "plot.page": ("draw_in_pyplot",),
    "runs.runner": ("replicate", "run"),
    "scenario": ("Scenario",),
    "numbers.intervals": ("bootstrap",),
    "runs.statistics": ("Failure",),
    "sweeps.api": ("sweep",),
    "sweeps.result": ("Sweep",),
    "runs.traces": ("Trace", "Traces"),
}


if not TYPE_CHECKING:
    # Type checkers see the names above, and no others.

    def __getattr__(name: str) -> Any:
        # On first use only: `bentpipe --help` must not wait for NumPy, nor fail without the Rust module.
        if name == "__version__":
            from importlib.metadata import version

            return version("bentpipe")
        from importlib import import_module

        for module, names in _HOMES.items():
            if name in names:
                return getattr(import_module(f"bentpipe.{module}"), name)
        raise AttributeError(f"module 'bentpipe' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
