"""A workbench for TCP over satellite links.

>>> import bentpipe as bp
>>> scenario = bp.Scenario.load("scenarios/demo.toml").with_({"flows.download.variant": "reno"})
>>> result = bp.replicate(scenario, 10)
>>> result.flows["download"]["goodput_bps"]

`Scenario` is a network and what goes over it, `run` and `replicate` simulate it, `Result` is what came out.
`Control`, `LossModel`, `Queue` and `Application` are what classes of one's own derive from.
"""

from importlib import import_module
from typing import Any

_HOMES = {
    "_core": (
        *("Ack", "Connection", "Exit", "Loss", "Mark", "PartialAck", "QueuedPacket", "QueueView", "Random"),
        *("SentPacket", "Timeout", "Window"),
    ),
    "comparison.api": ("compare",),
    "comparison.result": ("Comparison",),
    "errors": ("BentpipeError", "InputError", "Interrupted", "RunError", "ScenarioError"),
    "numbers.intervals": ("bootstrap",),
    "own.application": ("Application",),
    "own.control": ("Control",),
    "own.loss": ("LossModel",),
    "own.queue": ("Queue",),
    "runs.result": ("Result", "Table"),
    "runs.runner": ("replicate", "run"),
    "runs.statistics": ("Failure",),
    "runs.traces": ("Trace", "Traces"),
    "scenario": ("Scenario",),
    "sweeps.api": ("sweep",),
    "sweeps.result": ("Sweep",),
}
"""The names by the modules that they are in. Type checkers have them from the stub, by `make types`."""

__all__ = sorted(name for names in _HOMES.values() for name in names)


def __getattr__(name: str) -> Any:
    # On first use only: `bentpipe --help` must not wait for NumPy, nor fail without the Rust module.
    if name == "__version__":
        from importlib.metadata import version

        return version("bentpipe")
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"bentpipe.{module}"), name)
    raise AttributeError(f"module 'bentpipe' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
