"""The names of the package, by `make types`."""

from bentpipe._core import Ack as Ack
from bentpipe._core import Connection as Connection
from bentpipe._core import Exit as Exit
from bentpipe._core import Loss as Loss
from bentpipe._core import Mark as Mark
from bentpipe._core import PartialAck as PartialAck
from bentpipe._core import QueuedPacket as QueuedPacket
from bentpipe._core import QueueView as QueueView
from bentpipe._core import Random as Random
from bentpipe._core import SentPacket as SentPacket
from bentpipe._core import Timeout as Timeout
from bentpipe._core import Window as Window
from bentpipe.comparison.api import compare as compare
from bentpipe.comparison.result import Comparison as Comparison
from bentpipe.errors import BentpipeError as BentpipeError
from bentpipe.errors import InputError as InputError
from bentpipe.errors import Interrupted as Interrupted
from bentpipe.errors import RunError as RunError
from bentpipe.errors import ScenarioError as ScenarioError
from bentpipe.numbers.intervals import bootstrap as bootstrap
from bentpipe.own.application import Application as Application
from bentpipe.own.control import Control as Control
from bentpipe.own.loss import LossModel as LossModel
from bentpipe.own.queue import Queue as Queue
from bentpipe.runs.result import Result as Result
from bentpipe.runs.result import Table as Table
from bentpipe.runs.runner import replicate as replicate
from bentpipe.runs.runner import run as run
from bentpipe.runs.statistics import Failure as Failure
from bentpipe.runs.traces import Trace as Trace
from bentpipe.runs.traces import Traces as Traces
from bentpipe.scenario import Scenario as Scenario
from bentpipe.sweeps.api import sweep as sweep
from bentpipe.sweeps.result import Sweep as Sweep

_HOMES: dict[str, tuple[str, ...]]
__all__: list[str]
__version__: str
