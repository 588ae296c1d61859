"""The Rust side: scenarios and the simulator."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self, TypeAlias, final

from typing_extensions import disjoint_base

__all__ = [
    "HAS_BPF_LOADER",
    "Ack",
    "Connection",
    "Exit",
    "HeldControls",
    "KernelGateway",
    "LiveFailed",
    "LiveMissing",
    "Loss",
    "Mark",
    "OwnScheme",
    "PartialAck",
    "Points",
    "QueueView",
    "QueuedPacket",
    "Random",
    "RunResult",
    "Scenario",
    "SentPacket",
    "Sky",
    "StandardHooks",
    "Timeout",
    "Window",
    "bpf_gateway",
    "bpf_hold",
    "bpf_install",
    "bpf_remove",
    "check_quantity",
    "columns",
    "emulate",
    "engine_version",
    "exchange",
    "fade",
    "has_room",
    "indented",
    "interop",
    "kernel_controls",
    "kernel_release",
    "live_flow",
    "live_plan",
    "live_schema",
    "parse_size",
    "parts_of_variants",
    "places",
    "presets",
    "rain_height",
    "result_schema",
    "scenario_error_line",
    "schema",
    "schemes",
    "slant_range",
    "slant_range_at_elevation",
    "version",
]

_Progress: TypeAlias = Callable[[float, float | None, int], object]
"""Called now and then with simulated seconds, seconds in all (``None`` if nobody knows), and events.

What it raises ends the run and is raised from `Scenario.simulate`.
"""

class LiveFailed(RuntimeError):
    """A live run that began and failed; the text is one line."""

class LiveMissing(RuntimeError):
    """Something that a live run needs and this machine or user lacks; the text is one line."""

@final
class Sky:
    """The satellites and stations of a scenario, and the paths between stations, without a run."""

    def __new__(cls, text: str) -> Self:
        """Read the text of a scenario.

        Raises
        ------
        bentpipe.errors.ScenarioError
            It cannot be used, or it has no satellites.
        """

    @property
    def stations(self) -> list[tuple[str, float, float]]:
        """Name, latitude and longitude in degrees."""

    @property
    def satellites(self) -> list[str]:
        """Their names."""

    @property
    def step_s(self) -> float:
        """Time from step to step."""

    @property
    def duration_s(self) -> float | None:
        """How long the scenario runs, if it says so."""

    @property
    def outage_s(self) -> float:
        """How long nothing goes after a change of path."""

    @property
    def elevation_deg(self) -> float:
        """The least elevation at which a station uses a satellite."""

    def positions(self, at_s: float) -> list[tuple[float, float, float]]:
        """Give latitude and longitude in degrees and the height in km of each satellite at a time."""

    @property
    def ages_days(self) -> tuple[float, float] | None:
        """How old the newest and the oldest element set are when the run begins; None of a shell."""

    def visible(self, station: str, at_s: float) -> list[tuple[int, float, float, float]]:
        """Give the satellites that a station may use: number, elevation and azimuth in degrees, range in km.

        Raises
        ------
        ValueError
            There is no such station.
        """

    def passes(
        self, station: str, until_s: float, every_s: float
    ) -> list[tuple[float, float, float, tuple[int, float, float, float]]]:
        """Give when satellites rise over a station, culminate and set, in s, and where they culminate.

        They are looked at every so many seconds up to a time; what is up at the start has risen then.

        Raises
        ------
        ValueError
            There is no such station.
        """

    def follow(self, source: str, to: str, until_s: float) -> list[tuple[float, list[int], list[float]]]:
        """Give the paths from a station to another up to a time, by the scenario's rule.

        A row is from when on in s; the nodes, of which the stations have the first numbers and the satellites
        come behind, none without a path; and the propagation delay one way at each step in ms.

        Raises
        ------
        ValueError
            There is no such station.
        """

@disjoint_base
class Scenario:
    """A scenario that was read and checked: what `bentpipe.Scenario` is made of."""

    def __new__(
        cls,
        name: str,
        settings: list[tuple[str, str]],
        content: bytes | None = None,
        file: str | None = None,
        before: list[tuple[str, str]] = ...,
        read: list[Path] = ...,
        own: list[OwnScheme] = ...,
    ) -> Self:
        """Read the file `name`, or a preset as ``preset:NAME``, with ``key=value`` settings on top.

        With `content` that is the TOML text, which errors call `name`; what it extends is looked for beside
        `name`. `file` and `before` are what it was first read from, and with which settings; `read` are the
        files that have the content. It may name the schemes `own` beside the simulator's.

        Raises
        ------
        bentpipe.errors.ScenarioError
            It cannot be read or used.
        """

    @property
    def title(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def files(self) -> list[Path]:
        """The files that it was read from, with all that they extend."""
    @property
    def notes(self) -> list[str]:
        """What its reader should know before a run."""

    @property
    def file(self) -> str:
        """The file's name as it was given, or ``preset:NAME``."""

    @property
    def settings(self) -> list[tuple[str, str]]:
        """The ``key=value`` settings on top, as they were given."""

    @property
    def own(self) -> list[OwnScheme]:
        """The schemes in Python that it may name."""

    def toml(self, seed: int | None = None) -> str:
        """Give one TOML text that is this whole scenario, with its own seed or this one.

        What the file extends and the settings are in it, and it names no other file.
        """

    def trace(self, direction: str, form: str) -> str:
        """Give what a direction of a link is over the run, as the text of a trace: ``csv`` or ``mahimahi``.

        Raises
        ------
        ValueError
            There is no such link, or no such trace of it.
        """

    def is_random(self) -> bool:
        """Say whether another seed may give another run; of schemes in Python it is not known, and true."""

    def series(
        self,
    ) -> tuple[list[str], list[tuple[str, str]], list[str], list[tuple[str, str]], list[str]]:
        """Give the flows, kind and unit of their curves, the directions of links, kind and unit of theirs.

        A flow with several connections is there once for each. Kind k of flow i is curve i * kinds + k; the
        curves of the links are numbered on from there.
        """

    def carried(self, flows: list[int], from_s: float, to_s: float) -> tuple[list[str], float] | None:
        """Give the narrowest links of the ways of some flows, and the payload they carry at best, in bit/s.

        Flows are numbered as in results. The rate is an average between two times in seconds. There is none
        of a flow over UDP, and where routing is dynamic.
        """

    def along(self, flow: int, end_s: float) -> list[tuple[float, float | None, int, float]] | None:
        """Give what the way of a flow is like from each time on at which it changes, up to `end_s`.

        A row is the time; the propagation delay there and back, ``None`` while a link lets nothing through;
        the bits a second of the narrowest link of its data's way; and the share of packets of 1500 bytes that
        are lost on that way. Times are in s. There is none where routing is dynamic, and over a
        constellation.
        """

    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: object, /) -> Self: ...
    def simulate(
        self,
        *,
        seed: int | None = None,
        series: Callable[[Points], bool] | None = None,
        series_rows: int = ...,
        wanted: list[int] | None = None,
        series_limit: int = ...,
        pcap: str | None = None,
        pcap_limit: int | None = None,
        snap: int | None = None,
        limits: bool = False,
        progress: _Progress | None = None,
    ) -> RunResult:
        """Simulate, without holding the interpreter lock.

        Parameters
        ----------
        seed
            Instead of the scenario's own.
        series
            Takes points of time series, and at the end the rest. It gives whether it has room for more;
            without it the recording ends. What it raises ends the run and is raised here.
        series_rows
            How many points `series` takes at a time, to within 65,536; by default all at the end.
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
        limits
            Measure for how long what limited each flow; it stands in the result's ``recording``.
        progress
            Called a few times a second.

        Raises
        ------
        bentpipe.errors.RunError
            The run failed, or the pcapng file could not be written.
        """

@final
class OwnScheme:
    """What the simulator needs of a class in Python."""

    def __new__(
        cls,
        kind: str,
        name: str,
        summary: str,
        make: Callable[..., object],
        options: list[str],
        hooks: list[str],
    ) -> Self:
        """Take its kind, name and summary, and what makes an object of its options.

        `options` are their names; `hooks` are those that are called, and the switches that are on.
        """

    @property
    def kind(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def make(self) -> Callable[..., object]: ...

@final
class Random:
    """A random stream of the run, which depends on the seed and on the part of the scenario that draws."""

    def uniform(self) -> float:
        """Give a number from 0 up to but not including 1."""

    def exponential(self) -> float:
        """Give an exponentially distributed number with mean 1."""

    def normal(self) -> float:
        """Give a normally distributed number with mean 0 and standard deviation 1."""

    def pareto(self, shape: float) -> float:
        """Give a Pareto-distributed number with mean 1.

        Raises
        ------
        ValueError
            `shape` is not above 1.
        """

@final
class Connection:
    """The connection of a flow: what an application is told, and what it does."""

    @property
    def time_s(self) -> float:
        """Now, in seconds from the start of the run."""

    @property
    def random(self) -> Random:
        """The random numbers of the flow, which can be drawn while a hook is called."""

    def send(self, bytes: int) -> None:  # noqa: A002
        """Write so many bytes at the sender: the data of the flow.

        Raises
        ------
        ValueError
            There are none, or more than 10**12.
        """

    def request(self, bytes: int) -> None:  # noqa: A002
        """Write so many bytes at the receiver, for the sender.

        Raises
        ------
        ValueError
            There are none, or more than 10**12.
        """

    def call_in(self, delay_s: float) -> None:
        """Have ``on_time`` called in so many seconds; it takes the place of an earlier wish.

        Raises
        ------
        ValueError
            It is below 0, or later than any run.
        """

    def begin(self, bytes: int) -> None:  # noqa: A002
        """Begin an exchange, in which a user waits for so many bytes: a row of ``transactions``."""

    def end(self) -> None:
        """End the oldest exchange that has not ended: its response time is from its beginning to now."""

    def close(self) -> None:
        """Close the connection, at the host that opened it, behind all that it wrote."""

@final
class QueuedPacket:
    """A packet that comes, or that leaves next."""

    @property
    def arrived_s(self) -> float:
        """When it came, in seconds from the start of the run."""

    @property
    def bytes(self) -> int:
        """Its length with headers, in bytes."""

    @property
    def flow(self) -> int:
        """A number that all packets from one end of a connection have, and no others."""

    @property
    def traffic_class(self) -> int:
        """The ``class`` of its flow, 0 to 7; a higher one is more urgent."""

    @property
    def ecn_capable(self) -> bool:
        """Whether it may be marked (ECT, RFC 3168)."""

    @property
    def low_priority(self) -> bool:
        """Whether it gives way to all, as TCP-Peach's dummy segments do."""

@final
class QueueView:
    """A queue when it decides, without the packet that it decides about."""

    @property
    def time_s(self) -> float:
        """Now, in seconds from the start of the run."""

    @property
    def packets(self) -> int:
        """Packets that wait; the one that is being sent is not among them."""

    @property
    def bytes(self) -> int:
        """Bytes of the packets that wait."""

    @property
    def limit(self) -> int:
        """The most packets that wait."""

    @property
    def rate_bps(self) -> int:
        """Bits a second at which the link sends."""

    @property
    def idle_s(self) -> float | None:
        """For how many seconds the link has had nothing to send; ``None`` while it sends."""

    @property
    def is_full(self) -> bool:
        """Whether another packet has no room: `limit` packets wait, and the link is not idle."""

@final
class SentPacket:
    """A packet whose last bit has just been sent."""

    @property
    def time_s(self) -> float:
        """When, in seconds from the start of the run."""

    @property
    def number(self) -> int:
        """Which of the packets that this direction of the link sends, counted from 1."""

    @property
    def bytes(self) -> int:
        """Its length with headers, in bytes."""

@final
class Window:
    """The window of a connection, in bytes; fractions of a byte are kept."""

    cwnd: float
    """Congestion window."""
    ssthresh: float
    """Slow start threshold; infinite until the first loss unless it was set."""
    pacing_rate: float
    """How fast data may go out, in bytes a second; infinite for as fast as the window allows."""
    send_quantum: float
    """Bytes that pacing lets go at once; a segment goes where it is less."""

    @property
    def smss(self) -> float:
        """Sender maximum segment size, in bytes."""

    @property
    def in_slow_start(self) -> bool:
        """Whether cwnd is below ssthresh."""

    def slow_start_growth(self, acked: int) -> float:
        """Give the bytes that an ACK of `acked` bytes adds in slow start (RFC 5681, or RFC 3465 by bytes)."""

    def avoidance_growth(self, acked: int) -> float:
        """Give the bytes that an ACK of `acked` bytes adds in congestion avoidance (RFC 5681 equation 3)."""

@final
class Ack:
    """An ACK, whether it acknowledges new data, reports SACKed data, or neither."""

    @property
    def now_s(self) -> float:
        """When it arrived."""

    @property
    def acked(self) -> int:
        """Bytes that it acknowledges cumulatively for the first time."""

    @property
    def flight(self) -> int:
        """Bytes sent and not cumulatively acknowledged, after it."""

    @property
    def prior_flight(self) -> int:
        """Bytes sent and not cumulatively acknowledged, before it."""

    @property
    def rwnd(self) -> int:
        """The window that it advertises, in bytes."""

    @property
    def rtt_s(self) -> float | None:
        """Round-trip time by the newest segment that it reports first; none when that was sent twice."""

    @property
    def rtt_min_s(self) -> float | None:
        """Smallest round-trip time that the retransmission timer had."""

    @property
    def cwnd_limited(self) -> bool:
        """Whether the sender had filled cwnd."""

    @property
    def mark_echo(self) -> bool:
        """Whether it echoes a congestion mark (RFC 3168)."""

    @property
    def in_recovery(self) -> bool:
        """Whether recovery was under way."""

    @property
    def newly_delivered(self) -> int:
        """Bytes that it reports for the first time, in order or selectively."""

    @property
    def delivered(self) -> int:
        """Bytes of the connection reported so far."""

    @property
    def in_flight(self) -> int:
        """Bytes taken to be in the network after it."""

    @property
    def lost(self) -> int:
        """Bytes of the connection taken for lost so far."""

    @property
    def newly_lost(self) -> int:
        """Bytes taken for lost by it."""

    @property
    def delivery_rate(self) -> float | None:
        """Bytes a second that the network delivered; none unless the class says ``reads_rates``."""

    @property
    def app_limited(self) -> bool:
        """Whether that rate was measured where the application had no more to send."""

@final
class Loss:
    """A loss that recovery found, not the timer."""

    @property
    def now_s(self) -> float:
        """When it was found."""

    @property
    def distance(self) -> int:
        """Bytes from the first hole of this window to it; 0 for the first."""

    @property
    def flight(self) -> int:
        """Bytes sent and not cumulatively acknowledged, or what the recovery halves instead."""

@final
class Mark:
    """News that a packet was marked on its way."""

    @property
    def now_s(self) -> float:
        """When it came."""

    @property
    def flight(self) -> int:
        """Bytes sent and not cumulatively acknowledged."""

@final
class PartialAck:
    """An ACK of new data that leaves data of the loss's window outstanding."""

    @property
    def acked(self) -> int:
        """Bytes that it acknowledges."""

    @property
    def flight(self) -> int:
        """Bytes sent and not cumulatively acknowledged, after it."""

    @property
    def inflated(self) -> bool:
        """Whether duplicate ACKs have inflated cwnd (Reno, NewReno)."""

@final
class Exit:
    """The end of a recovery."""

    @property
    def flight(self) -> int:
        """Bytes sent and not cumulatively acknowledged."""

    @property
    def acked(self) -> int:
        """Bytes acknowledged from its first loss to its end."""

    @property
    def cwnd(self) -> float:
        """What the recovery's RFC has for cwnd, in bytes."""

@final
class Timeout:
    """The retransmission timer's expiry."""

    @property
    def now_s(self) -> float:
        """When it expired."""

    @property
    def flight(self) -> int:
        """Bytes sent and not cumulatively acknowledged, or what the recovery halves instead."""

    @property
    def repeated(self) -> bool:
        """Whether the oldest segment was retransmitted by the timer already."""

@final
class StandardHooks:
    """What RFC 5681 and RFC 6582 do in each hook."""

    @staticmethod
    def on_loss(w: Window, loss: Loss) -> bool: ...
    @staticmethod
    def on_congestion_mark(w: Window, mark: Mark) -> None: ...
    @staticmethod
    def on_partial_ack(w: Window, ack: PartialAck) -> None: ...
    @staticmethod
    def on_timeout(w: Window, timeout: Timeout) -> None: ...
    @staticmethod
    def restart_after_idle(w: Window, restart: float) -> None: ...

@final
class Points:
    """Points of time series, those of a curve together, in the order of their times."""

    def __len__(self) -> int: ...
    def curves(self) -> list[tuple[str, str, str, int, int]]:
        """Give subject, kind and unit of each curve with a point, its first row, the row behind its last."""

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """Give a record batch by the Arrow PyCapsule interface: subject, kind, unit, time_s, value."""

@final
class RunResult:
    """What a run measured."""

    @property
    def events(self) -> int:
        """Events that it took."""

    def json(self) -> str:
        """Give the result as JSON."""

def columns(results: Sequence[RunResult]) -> bytes | None:
    """Give the numbers of runs of one scenario in the order of their JSON, as native doubles.

    All of the first number, then all of the second; a null is NaN. ``None`` when one of the runs has a list
    that others have not, or a text.
    """

def exchange(one: str | Path, other: str | Path) -> None:
    """Let two folders of one file system change places, in one step.

    Raises
    ------
    OSError
        They cannot; both are where they were. Only Linux can, and not on every file system.
    """

def presets() -> list[tuple[str, str]]:
    """Name and summary of each ready-made link."""

def schemes(kind: str) -> list[tuple[str, str]]:
    """Name and summary of what scenarios can name of a kind, such as ``variants`` or ``queues``."""

def parts_of_variants() -> list[list[str]]:
    """Give control, recovery and slow start of each variant, and what it is beside its recovery."""

def check_quantity(kind: str, text: str) -> None:
    """Check that `text` is a ``time``, a ``rate``, a ``size`` or a ``queue``, as scenarios write it.

    Raises
    ------
    ValueError
        It is not; the text says what was expected.
    """

def scenario_error_line(message: str, file: str, line: int | None, key: str, hint: str | None) -> str:
    """Make one line of the parts of a scenario's error."""

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

def indented(compact: str) -> str:
    """Give JSON without spaces between its parts again with a line for each part, two spaces a level."""

def schema() -> str:
    """Give the JSON Schema of a scenario file."""

def result_schema() -> str:
    """Give the JSON Schema of what `RunResult.json` gives."""

def version() -> str:
    """Give the simulator's version."""

HAS_BPF_LOADER: bool
"""Whether this build loads BPF programs."""

def engine_version() -> str:
    """Give what names the engine: 16 hexadecimal digits of a hash of its sources and of what they use.

    Runs of one engine are the same to the last digit. A build of the same sources keeps it.
    """

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

def fade(request: str) -> str:
    """Give what rain does to a satellite link, in a year and in time; request and answer are JSON.

    Raises
    ------
    ValueError
        A number is one that the models are not for: ``key: expected …``.
    """

def places() -> list[tuple[str, float, float, float, float, float, float]]:
    """Give the places that have a name.

    Each with latitude and longitude in degrees, heights of ground and rain in km, the rain rate exceeded for
    0.01 % of an average year in mm/h, and the share of it in which it rains, in percent.
    """

def rain_height(latitude_deg: float) -> float:
    """Give the height of rain in km above the sea by latitude alone (ITU-R P.839-2)."""

def emulate(
    scenario: Scenario,
    seen: Callable[[str | None], bool],
    *,
    time: str | None = None,
    pcap: str | None = None,
    offloads: bool = True,
    interfaces: Sequence[tuple[str, str]] = ...,
    virtual_clock: bool = False,
) -> str:
    """Emulate the network of a scenario between kernels, for a time or until `seen` says so; give the report.

    Parameters
    ----------
    scenario
        Its nodes between which flows go become network namespaces.
    seen
        Called about twenty times a second, with how things stand as JSON or with nothing; true ends the run.
    time
        For how long, such as ``10 s``.
    pcap
        Write every packet that a host sends or receives to this file.
    offloads
        Whether hosts leave checksums and the cutting of long segments to the emulator.
    interfaces
        Hosts that are other machines, each with the interface of this one at which it is: none, or two.
    virtual_clock
        Whether the machine's clock stands still while programs work, and timers are exact.

    Raises
    ------
    ValueError
        An interface cannot be one.
    LiveMissing
        The machine or the user lacks something.
    LiveFailed
        A device failed.
    ScenarioError
        The scenario has no hosts, or too many.
    """

@final
class HeldControls:
    """Congestion controls that stay registered until `release`, and not after the process has ended."""

    def release(self) -> None:
        """Take them out of the kernel; connections keep theirs until they end."""

@final
class KernelGateway:
    """XFWA at an interface until `release`, and not after the process has ended."""

    def counts(self) -> tuple[int, int, int, int, int, float]:
        """Give segments out, in, windows lowered, their bytes, active flows, mean RTT in s."""

    def flows_remembered(self) -> int:
        """Give the flows in the table, all of whose keys are read."""

    def release(self) -> None:
        """Take it away."""

def bpf_gateway(
    object: str,  # noqa: A002
    interface: int,
    *,
    rate: str,
    queue: str,
    rtt: str,
    isl_delay: str | None,
    least: str,
    delta_factor: int,
    link_header: int,
) -> KernelGateway:
    """Put the gateway of a BPF object at the interface with this index.

    `rtt` is ``handshake``, or a time for all flows; with `isl_delay` it is by hops.

    Raises
    ------
    ValueError
        A quantity cannot be used; the text names it.
    LiveMissing
        The kernel, the user or this build lacks something.
    LiveFailed
        The kernel refuses.
    """

def bpf_hold(object: str) -> HeldControls:  # noqa: A002
    """Register the controls of a BPF object with the kernel for a while.

    Raises
    ------
    LiveMissing
        The kernel, the user or this build lacks something.
    LiveFailed
        The kernel refuses.
    """

def bpf_install(object: str, pin: str) -> None:  # noqa: A002
    """Register the congestion controls of a BPF object with the kernel, and pin them at a path of a bpffs.

    Raises
    ------
    LiveMissing
        The kernel, the user or this build lacks something.
    LiveFailed
        The kernel did not take it.
    """

def bpf_remove(pin: str) -> None:
    """Take the congestion control that is pinned at this path out of the kernel, and the pin away.

    Raises
    ------
    LiveMissing
        The user or this build lacks something.
    LiveFailed
        The kernel refuses, or no control is pinned there.
    """

def kernel_controls() -> list[str]:
    """Give the congestion controls that the running kernel has, such as ``reno``."""

def kernel_release() -> str:
    """Give the release of the running kernel, as ``uname -r`` does."""

def live_schema() -> str:
    """Give the JSON Schema of the row that `interop` gives."""

def live_plan(scenario: Scenario) -> tuple[str, float | None]:
    """Give the flows as programs on real kernels carry them, as JSON, and when the run ends, in seconds.

    Raises
    ------
    bentpipe.errors.ScenarioError
        A flow is something that no program carries.
    """

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
