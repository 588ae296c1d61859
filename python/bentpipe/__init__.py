"""A workbench for TCP over satellite links.

>>> import bentpipe as bp
>>> scenario = bp.Scenario.load("scenarios/demo.toml").with_({"flows.download.variant": "reno"})
>>> result = bp.replicate(scenario, 10)
>>> result.flows["download"]["goodput_bps"]

`Scenario` is a network and what goes over it, `run` and `replicate` simulate it, `Result` is what came out.
`Control` is what a congestion control of one's own derives from.
"""

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from bentpipe.errors import BentpipeError, InputError, Interrupted, RunError, ScenarioError

if TYPE_CHECKING:
    from bentpipe.comparison.api import compare
    from bentpipe.comparison.result import Comparison
    from bentpipe.control import Ack, Control, Exit, Loss, Mark, PartialAck, Timeout, Window
    from bentpipe.intervals import bootstrap
    from bentpipe.measured import Result, Table
    from bentpipe.runner import replicate, run
    from bentpipe.scenario import Scenario
    from bentpipe.statistics import Failure
    from bentpipe.sweeps.api import sweep
    from bentpipe.sweeps.result import Sweep
    from bentpipe.traces import Trace, Traces

__version__ = version("bentpipe")

__all__ = [
    "Ack",
    "BentpipeError",
    "Comparison",
    "Control",
    "Exit",
    "Failure",
    "InputError",
    "Interrupted",
    "Loss",
    "Mark",
    "PartialAck",
    "Result",
    "RunError",
    "Scenario",
    "ScenarioError",
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
    "control": ("Ack", "Control", "Exit", "Loss", "Mark", "PartialAck", "Timeout", "Window"),
    "comparison.api": ("compare",),
    "comparison.result": ("Comparison",),
    "measured": ("Result", "Table"),
    "runner": ("replicate", "run"),
    "scenario": ("Scenario",),
    "intervals": ("bootstrap",),
    "statistics": ("Failure",),
    "sweeps.api": ("sweep",),
    "sweeps.result": ("Sweep",),
    "traces": ("Trace", "Traces"),
}


if not TYPE_CHECKING:
    # Type checkers see the names above, and no others.

    def __getattr__(name: str) -> Any:
        # On first use only: `bentpipe --help` must not wait for NumPy, nor fail without the Rust module.
        from importlib import import_module

        for module, names in _HOMES.items():
            if name in names:
                return getattr(import_module(f"bentpipe.{module}"), name)
        raise AttributeError(f"module 'bentpipe' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
