"""A transfer looked at while it runs: time, throughput and losses at each stage of its volume."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bentpipe.papers.common import over, plain, width
from bentpipe.plot import Subject
from bentpipe.reproduction import Context, Settings
from bentpipe.results import Estimate

from .runs import ALONE, FILE_BYTES, LOSS, PAYLOAD, SCHEMES, SEEDS, flow, ratio, scheme

VOLUMES_MB = (0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 20.0)
"""Volumes of table 2."""

Series = NDArray[np.float64]


@dataclass(frozen=True)
class Transfer:
    """One transfer of 20 MB from its SYN on: what was acknowledged by when, what was lost, what was cut.

    The first cut is the end of the first slow start.
    """

    time_s: Series
    acked_bytes: Series
    lost_s: Series
    resent: float
    timeouts: float
    cuts: float
    first_cut_s: float

    @classmethod
    def of(cls, subject: Subject) -> "Transfer":
        """Take it from a run with its series."""
        acked, lost, ssthresh = (
            subject.traces.get("transfer", kind) for kind in ("acked", "damaged", "ssthresh")
        )
        about = flow(subject.run)
        start = plain(about["start_s"])
        return cls(
            acked.time_s - start,
            acked.value,
            lost.time_s - start,
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
        """Give the segments lost until so much was acknowledged."""
        return int(np.searchsorted(self.lost_s, self.time_of(volume_bytes), side="right"))

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


def with_counted_losses(
    context: Context,
    counted: Mapping[str, str] | None = None,
    *,
    burst: int = 1,
    extra: Settings | None = None,
) -> dict[str, list[Transfer]]:
    """Run the transfer with as many losses in each stage as table 2 counts, at random places in it.

    `counted` says whose counts a scheme meets, its own if not given; `burst` how many segments in a row are
    lost at each place; `extra` are further settings.
    """
    whose = counted or {name: name for name in SCHEMES}
    return {
        name: [
            transfer(
                context, name, {**_drops(counts(context, whose[name]), seed, burst), **(extra or {})}, seed
            )
            for seed in range(1, SEEDS + 1)
        ]
        for name in SCHEMES
    }


def _drops(counted: Sequence[int], seed: int, burst: int) -> Settings:
    """Draw the packets that are lost: within each stage, in bursts of that length, as many as counted."""
    random = np.random.default_rng(seed)
    packets: set[int] = set()
    begin = 0
    for volume, losses in zip(VOLUMES_MB, counted, strict=True):
        end = round(volume * 1e6 / PAYLOAD)
        while len(packets) < losses:
            place = int(random.integers(begin, end))
            missing = losses - len(packets)
            packets.update(range(place + 1, min(place + min(burst, missing), end) + 1))
        begin = end
    return {LOSS: f'{{ model = "drop", packets = {sorted(packets)}, at_least = "1000 B" }}'}


def mean_throughput(transfers: Sequence[Transfer], volume_mb: float) -> Estimate:
    """Give mean and interval of the throughput up to a volume, in bytes/s."""
    return over(transfer.throughput(volume_mb * 1e6) for transfer in transfers)


def kilo(value: Estimate) -> Estimate:
    """Give kB/s for bytes/s."""
    return {"mean": value["mean"] / 1e3, "ci95": width(value) / 1e3, "n": value["n"]}


def gain(transfers: Mapping[str, Sequence[Transfer]], volume_mb: float = VOLUMES_MB[-1]) -> Estimate:
    """Give AFC's mean throughput up to a volume over TCP's."""
    return ratio(*(mean_throughput(transfers[name], volume_mb) for name in ("afc", "tcp")))


def mean_time(transfers: Sequence[Transfer]) -> Estimate:
    """Give mean and interval of the time of the whole file, in s."""
    return over(transfer.time_of(FILE_BYTES) for transfer in transfers)
