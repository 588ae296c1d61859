"""A workbench for TCP over satellite links.

>>> import bentpipe
>>> scenario = bentpipe.load("scenarios/demo.toml", {"flows.download.variant": "reno"})
>>> outcome = bentpipe.execute(scenario, bentpipe.Plan(runs=10))
>>> outcome.run["flows"][0]["goodput_bps"]["mean"]
"""

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from bentpipe.errors import BentpipeError, InputError, Interrupted, RunError, ScenarioError

if TYPE_CHECKING:
    from bentpipe._core import Scenario
    from bentpipe.runner import Outcome, Plan, execute, load
    from bentpipe.statistics import Failure
    from bentpipe.traces import Trace, Traces

__version__ = version("bentpipe")

__all__ = [
    "BentpipeError",
    "Failure",
    "InputError",
    "Interrupted",
    "Outcome",
    "Plan",
    "RunError",
    "Scenario",
    "ScenarioError",
    "Trace",
    "Traces",
    "execute",
    "load",
]

_HOMES = {
    "_core": ("Scenario",),
    "runner": ("Outcome", "Plan", "execute", "load"),
    "statistics": ("Failure",),
    "traces": ("Trace", "Traces"),
}


def __getattr__(name: str) -> Any:
    # On first use only: `bentpipe --help` must not wait for NumPy, nor fail before the Rust module is built.
    from importlib import import_module

    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"bentpipe.{module}"), name)
    raise AttributeError(f"module 'bentpipe' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
