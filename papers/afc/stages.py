"""A transfer looked at while it runs: time, throughput and losses at each stage of its volume."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bentpipe.plot import DrawnRun
from bentpipe.results import Estimate
from bentpipe_papers.common import over, plain
from bentpipe_papers.reproduction.reproduce import Context, Settings

from .runs import ALONE, FILE_BYTES, LOSS, PAYLOAD, SCHEMES, SEEDS, flow, scheme

VOLUMES_MB = (0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 20.0)
"""Volumes of table 2."""

Series = NDArray[np.float64]


@dataclass(frozen=True)
class Transfer:
    """One transfer of 20 MB from its SYN on: what was acknowledged by when, what was lost, what was cut.

    `lost_bytes` is where in the file each loss lies, `resent_s` when a loss was found: what a dump at the
    sender shows of it. The first cut is the end of the first slow start.
    """

    time_s: Series
    acked_bytes: Series
    lost_s: Series
    lost_bytes: Series
    resent_s: Series
    resent: float
    timeouts: float
    cuts: float
    first_cut_s: float

    @classmethod
    def of(cls, subject: DrawnRun) -> "Transfer":
        """Take it from a run with its series."""
        acked, lost, resent, ssthresh = (
            subject.traces.get("transfer", kind) for kind in ("acked", "damaged", "resent", "ssthresh")
        )
        about = flow(subject.run)
        start = plain(about["start_s"])
        return cls(
            acked.time_s - start,
            acked.value,
            lost.time_s - start,
            lost.value,
            resent.time_s - start,
            plain(about["retransmitted_segments"]),
            plain(about["timeouts"]),
            plain(about["loss_cause_cuts"]),
            float(ssthresh.time_s[0]) - start,
        )

    def time_of(self, volume_bytes: float) -> float:
        """Give the time in s at which so much was acknowledged."""
        return float(self.time_s[np.searchsorted(self.acked_bytes, volume_bytes)])

    def throughput(self, volume_bytes: float) -> float:
        """Give volume over time since the start, in bytes/s."""
        return volume_bytes / self.time_of(volume_bytes)

    def losses(self, volume_bytes: float) -> int:
        """Give the losses among the first so many bytes of the file."""
        return int(np.count_nonzero(self.lost_bytes < volume_bytes))

    def acked_at(self, times_s: Series | Sequence[float]) -> Series:
        """Give the bytes acknowledged at each time."""
        places = np.searchsorted(self.time_s, times_s, side="right") - 1
        reached: Series = np.where(places >= 0, self.acked_bytes[np.maximum(places, 0)], 0.0)
        return reached


def transfer(context: Context, name: str, channel: Settings, seed: int) -> Transfer:
    """Run one transfer over a channel."""
    return Transfer.of(context.trace(ALONE, {**scheme(name), **channel}, seed=seed, title=name))


def over_channel(context: Context, channel: Settings) -> dict[str, list[Transfer]]:
    """Run `SEEDS` transfers of each scheme over a channel, with the same seeds."""
    return {
        name: [transfer(context, name, channel, seed) for seed in range(1, SEEDS + 1)] for name in SCHEMES
    }


def counts(context: Context, name: str) -> list[int]:
    """Give the losses that table 2 counts up to each of its volumes."""
    rows = {
        row.case: int(row.published)
        for row in context.paper.published
        if (row.item, row.metric) == ("table-2", "losses")
    }
    return [rows[f"{name}, {volume:g} MB"] for volume in VOLUMES_MB]


@dataclass(frozen=True)
class Reading:
    """How the counted losses are laid into a transfer.

    `counted` says whose counts a scheme meets, its own if not given; `burst` how many segments in a row are
    lost at each place; `first` what of the first loss is at the stated time: it is ``found`` (and resent), or
    it is ``sent``; `where` from which to which share of a stage they lie; `extra` are further settings;
    `transfers` are so many of each scheme.
    """

    counted: Mapping[str, str] = field(default_factory=dict)
    burst: int = 1
    first: str = "found"
    where: tuple[float, float] = (0.0, 1.0)
    extra: Settings = field(default_factory=dict)
    transfers: int = SEEDS


STATED = Reading(transfers=40)
"""Single losses, each scheme its own, and the first resent at the time that the text gives."""

FIRST_LOSS_S = {"afc": 4.0, "tcp": 4.5}
"""When the first loss occurs in figure 8, by its text."""


MARGIN = 10
"""Segments at both ends of a stage that are spared.

The link counts packets, and what goes again in between moves a loss by a few segments.
"""


def with_counted_losses(context: Context, reading: Reading = STATED) -> dict[str, list[Transfer]]:
    """Run the transfer with as many losses in each stage as table 2 counts.

    The first is where the text has it, the others are at random places of their stages.
    """
    found: dict[str, list[Transfer]] = {}
    for name in SCHEMES:
        counted = counts(context, reading.counted.get(name, name))
        first = _first_lost(context, name, reading)
        found[name] = [
            transfer(context, name, {**_drops(counted, seed, first, reading), **reading.extra}, seed)
            for seed in range(1, reading.transfers + 1)
        ]
    return found


def counted_losses(context: Context, name: str, *, seed: int) -> Settings:
    """Give the settings of one transfer's channel with as many losses in each stage as table 2 counts."""
    return _drops(counts(context, name), seed, _first_lost(context, name, STATED), STATED)


def _first_lost(context: Context, name: str, reading: Reading) -> int:
    """Find the packet that is sent, or whose loss is found, nearest to the time of the first loss."""
    low, high = 1, round(VOLUMES_MB[0] * 1e6 / PAYLOAD) - 2 * MARGIN
    settings = {**scheme(name), **reading.extra, "flows.transfer.bytes": "1 MB"}
    moments: dict[int, float] = {}

    def moment(packet: int) -> float:
        if packet not in moments:
            traces = context.trace(ALONE, {**settings, **_lost([packet])}, seed=1, title=name).traces
            if reading.first == "sent":
                moments[packet] = float(traces.get("transfer", "sent").time_s[packet - 1])
            else:
                moments[packet] = float(traces.get("transfer", "resent").time_s[0])
        return moments[packet]

    while high - low > 1:
        middle = (low + high) // 2
        if moment(middle) < FIRST_LOSS_S[name]:
            low = middle
        else:
            high = middle
    return min((low, high), key=lambda packet: abs(moment(packet) - FIRST_LOSS_S[name]))


def _drops(counted: Sequence[int], seed: int, first: int, reading: Reading) -> Settings:
    """Draw the packets that are lost: the first, then within each stage, in bursts, as many as counted."""
    random = np.random.default_rng(seed)
    burst, (low, high) = reading.burst, reading.where
    segments: set[int] = set(range(first - 1, first - 1 + min(burst, counted[0])))
    begin = first
    for volume, losses in zip(VOLUMES_MB, counted, strict=True):
        end = round(volume * 1e6 / PAYLOAD) - MARGIN
        from_, to = (begin + round(share * (end - begin)) for share in (low, high))
        while len(segments) < losses:
            place = int(random.integers(from_, to))
            missing = losses - len(segments)
            segments.update(range(place, min(place + min(burst, missing), to)))
        begin = end + 2 * MARGIN
    # The link counts what goes again, too.
    return _lost([segment + 1 + earlier for earlier, segment in enumerate(sorted(segments))])


def _lost(packets: Sequence[int]) -> Settings:
    return {LOSS: f'{{ model = "drop", packets = {list(packets)}, at_least = "1000 B" }}'}


def mean_throughput(transfers: Sequence[Transfer], volume_mb: float) -> Estimate:
    """Give mean and interval of the throughput up to a volume, in bytes/s."""
    return over(transfer.throughput(volume_mb * 1e6) for transfer in transfers)


def kilo(value: Estimate) -> Estimate:
    """Give kB/s for bytes/s."""
    return over(part / 1e3 for part in value["values"])


def gain(transfers: Mapping[str, Sequence[Transfer]], volume_mb: float = VOLUMES_MB[-1]) -> Estimate:
    """Give AFC's throughput up to a volume over TCP's, transfer by transfer."""
    return over(
        ours.throughput(volume_mb * 1e6) / theirs.throughput(volume_mb * 1e6)
        for ours, theirs in zip(transfers["afc"], transfers["tcp"], strict=True)
    )


def mean_time(transfers: Sequence[Transfer]) -> Estimate:
    """Give mean and interval of the time of the whole file, in s."""
    return over(transfer.time_of(FILE_BYTES) for transfer in transfers)
