"""The Rust side: scenarios and the simulator."""

from collections.abc import Callable
from pathlib import Path
from typing import Self, TypeAlias, final

__all__ = [
    "LiveFailed",
    "LiveMissing",
    "RunResult",
    "Scenario",
    "applications",
    "check_quantity",
    "controls",
    "exchange",
    "gateways",
    "has_room",
    "interop",
    "kernel_controls",
    "kernel_release",
    "live_flow",
    "load",
    "parse",
    "parse_bytes",
    "parse_size",
    "presets",
    "profiles",
    "queues",
    "recoveries",
    "schema",
    "slant_range",
    "slant_range_at_elevation",
    "starts",
    "variants",
    "version",
]

_Progress: TypeAlias = Callable[[float, float | None, int], object]
"""Called now and then with simulated seconds, seconds in all (``None`` if nobody knows), and events.

What it raises ends the run and is raised from `Scenario.run`.
"""

class LiveFailed(RuntimeError):
    """A live run that began and failed; the text is one line."""

class LiveMissing(RuntimeError):
    """Something that a live run needs and this machine or user lacks; the text is one line."""

@final
class Scenario:
    """A scenario that was read and checked. It does not change, and several threads may run it at once.

    Pickled, it is its whole text: it comes out again where its file is not.
    """

    @property
    def title(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def files(self) -> list[Path]:
        """The files that it was read from, with all that they extend."""

    @property
    def file(self) -> str:
        """The file's name as it was given, or ``preset:NAME``."""

    @property
    def settings(self) -> list[tuple[str, str]]:
        """The ``key=value`` settings on top, as they were given."""

    def toml(self, seed: int | None = None) -> str:
        """Give one TOML text that is this whole scenario, with its own seed or this one.

        What the file extends and the settings are in it, and it names no other file.
        """

    def series(self) -> tuple[list[str], list[tuple[str, str]], list[str], list[tuple[str, str]]]:
        """Give the flows, kind and unit of their curves, the directions of links, kind and unit of theirs.

        A flow with several connections is there once for each. Kind k of flow i is curve i * kinds + k; the
        curves of the links are numbered on from there.
        """

    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: object, /) -> Self: ...
    def run(
        self,
        *,
        seed: int | None = None,
        series: Callable[[bytes, bytes, bytes], bool] | None = None,
        wanted: list[int] | None = None,
        series_limit: int = ...,
        pcap: str | None = None,
        pcap_limit: int | None = None,
        snap: int | None = None,
        progress: _Progress | None = None,
    ) -> RunResult:
        """Simulate, without holding the interpreter lock.

        Parameters
        ----------
        seed
            Instead of the scenario's own.
        series
            Takes points of time series, at most 65,536 at a time: numbers of curves, times in seconds and
            values, as packed native 32-bit integers and 64-bit floats. It gives whether it has room for more;
            without it the recording ends. What it raises ends the run and is raised here.
        wanted
            For each flow and then each direction of a link, the kinds to record, bit k for kind k; ``None``
            for everything.
        series_limit
            Points after which their recording ends; by default none that a run reaches.
        pcap
            Write every packet to this pcapng file.
        pcap_limit
            Bytes of that file at which its recording ends; it also ends when the disk is nearly full.
        snap
            Bytes kept of each packet; all headers by default.
        progress
            Called a few times a second.

        Raises
        ------
        bentpipe.errors.RunError
            The run failed, or the pcapng file could not be written.
        """

@final
class RunResult:
    """What a run measured."""

    def json(self) -> str:
        """Give the result as JSON."""

def exchange(one: str | Path, other: str | Path) -> None:
    """Let two folders of one file system change places, in one step.

    Raises
    ------
    OSError
        They cannot; both are where they were. Only Linux can, and not on every file system.
    """

def load(path: str, overrides: list[tuple[str, str]]) -> Scenario:
    """Read a scenario file, or a preset as ``preset:NAME``, with ``key=value`` settings on top.

    Raises
    ------
    bentpipe.errors.ScenarioError
        It cannot be read or used.
    """

def parse_bytes(name: str, content: bytes, overrides: list[tuple[str, str]], read: Path | None) -> Scenario:
    """Read a scenario from `content`, which errors call `name`; `read` is the file that it came from.

    What it extends is looked for beside `name`.

    Raises
    ------
    ScenarioError
        It cannot be used.
    """

def parse(
    name: str,
    text: str,
    overrides: list[tuple[str, str]],
    file: str,
    settings: list[tuple[str, str]],
    read: Path | None,
) -> Scenario:
    """Read a scenario from TOML `text`, which errors call `name`, with ``key=value`` settings on top.

    `file` and `settings` are what it was first read from; `overrides` come behind those settings. `read` is
    the file that has the text, if one has.

    Raises
    ------
    bentpipe.errors.ScenarioError
        It cannot be used.
    """

def presets() -> list[tuple[str, str]]:
    """Name and summary of each ready-made link."""

def profiles() -> list[tuple[str, str]]:
    """Name and summary of each TCP profile."""

def variants() -> list[tuple[str, str]]:
    """Name and summary of each variant, a recovery with a control."""

def recoveries() -> list[tuple[str, str]]:
    """Name and summary of each recovery."""

def controls() -> list[tuple[str, str]]:
    """Name and summary of each control, alone and around each other."""

def starts() -> list[tuple[str, str]]:
    """Name and summary of each slow start."""

def queues() -> list[tuple[str, str]]:
    """Name and summary of each scheme that manages a queue."""

def gateways() -> list[tuple[str, str]]:
    """Name and summary of each scheme that lowers windows."""

def applications() -> list[tuple[str, str]]:
    """Name and summary of each application that a flow may carry."""

def check_quantity(kind: str, text: str) -> None:
    """Check that `text` is a ``time``, a ``rate``, a ``size`` or a ``queue``, as scenarios write it.

    Raises
    ------
    ValueError
        It is not; the text says what was expected.
    """

def parse_size(text: str) -> int:
    """Give the bytes that a size says, as scenarios write it.

    Raises
    ------
    ValueError
        It is none; the text says what was expected.
    """

def has_room(path: str, more: int) -> bool:
    """Say whether `more` bytes on the disk of `path` leave free what recordings leave free.

    That is 64 MiB, or a hundredth of the disk when it is less.

    Raises
    ------
    OSError
        The disk cannot be asked.
    """

def schema() -> str:
    """Give the JSON Schema of a scenario file."""

def version() -> str:
    """Give the simulator's version."""

def slant_range(
    model: str, latitude_deg: float, longitude_deg: float, satellite_longitude_deg: float
) -> tuple[float, float]:
    """Give distance in km and delay in s, one way, from a station to a geostationary satellite.

    `model` is ``physical``, or ``sack`` for the radii and the speed of light of that paper. Degrees east.

    Raises
    ------
    ValueError
        An angle is out of its range, or the satellite is below the horizon.
    """

def slant_range_at_elevation(model: str, elevation_deg: float) -> tuple[float, float]:
    """Give distance in km and delay in s, one way, to a geostationary satellite at that elevation."""

def kernel_controls() -> list[str]:
    """Give the congestion controls that the running kernel has, such as ``reno``."""

def kernel_release() -> str:
    """Give the release of the running kernel, as ``uname -r`` does."""

def live_flow(scenario: Scenario, flow: str | None = None) -> str:
    """Say what the flow of a scenario is that a live run would make: that `flow`, or the first bulk transfer.

    Gives JSON: ``title``, ``flow``, ``from``, ``to``, ``way``, ``way_back`` (directions of links, by name),
    ``recovery``, ``control``, ``bytes`` (null where the flow does not say it), ``left_out`` (other flows).

    Raises
    ------
    ValueError
        The flow is none, or no bulk transfer.
    ScenarioError
        The scenario has no bulk transfer.
    LiveMissing
        This is not Linux.
    """

def interop(
    settings: str,
    program: list[str],
    *,
    scenario: Scenario | None = None,
    flow: str | None = None,
    pcap: str | None = None,
    progress: Callable[[int], object] | None = None,
) -> str:
    """Run one transfer between our TCP and the kernel's, without holding the interpreter lock.

    Gives a row as JSON.

    Parameters
    ----------
    settings
        JSON, as `bentpipe.live.interop` makes it.
    program
        The socket program at the kernel's end, with its arguments; its task comes behind them.
    scenario, flow
        The links are those of this scenario, and what the settings leave open of both TCPs is as it has it.
    pcap
        Write the packets at the data's sender to this pcapng file.
    progress
        Called now and then with the bytes that have gone over; what it raises ends the run.

    Raises
    ------
    ValueError
        A setting cannot be used.
    ScenarioError
        The scenario has no bulk transfer.
    LiveMissing
        The machine or the user lacks something.
    LiveFailed
        The connection or the program failed.
    """
