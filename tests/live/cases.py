"""Transfers between our TCP and the kernel's: what the quick tests and the whole matrix have in common."""

from collections.abc import Iterable
from itertools import product
from typing import Any

from bentpipe import _core
from bentpipe.live.interop import Transfer

RECOVERIES = ("tahoe", "reno", "newreno", "sack", "newreno-1999", "sack-1996", "sack-linux-2.4", "rack")
# Without peach: a kernel takes its dummy segments for data.
CONTROLS = (
    "standard", "adalr", "afc", "adalr+afc", "cubic", "bbr1", "bbr3",
    "hybla", "westwood", "veno", "vegas", "illinois", "highspeed", "xcp", "jersey", "star", "new-vegas",
)  # fmt: skip
DIRECTIONS = ("send", "receive")
NEAR_THE_WRAP = 2**32 - 100_000

Settings = dict[str, Any]


def packet_loss(share: float) -> Settings:
    """Independent losses."""
    return {"loss": {"model": "packet", "probability": share}}


# Bursts of two packets. A burst goes on from packet to packet and not by time: of longer ones eight in a row
# meet a segment that its timer sends alone, and the pause becomes longer than a transfer may stand still.
BURSTS: Settings = {"loss": {"model": "gilbert-elliott", "good_to_bad": 0.005, "bad_to_good": 0.5}}
LOSS_MODELS: dict[str, Settings] = {
    "none": {"model": "none"},
    "packet": {"model": "packet", "probability": 0.01},
    "ber": {"model": "ber", "ber": 1e-6},
    "drop": {"model": "drop", "packets": [3, 40, 41, 42, 300, 304, 500], "at_least": "500 B"},
    "gilbert-elliott": BURSTS["loss"],
}
LATE: Settings = {"reorder": 0.05, "reorder_delay": "5 ms"}
TWICE: Settings = {"duplicate": 0.05}

SITUATIONS: dict[str, Settings] = {
    "plain": {},
    "lost data": {"forward": packet_loss(0.02)},
    "lost acknowledgments": {"backward": packet_loss(0.1)},
    "lost both ways": {"forward": packet_loss(0.02), "backward": packet_loss(0.02)},
    "every segment acknowledged": {"quickack": True, "forward": packet_loss(0.01)},
    "bursts": {"forward": BURSTS},
    "reordered": {"disorder": {"forward": LATE, "backward": LATE}},
    "duplicated": {"disorder": {"forward": TWICE, "backward": TWICE}},
    "a short queue": {"forward": {"queue": "20 packets"}},
    "timestamps": {"timestamps": True, "forward": packet_loss(0.01)},
    "timestamps, not the kernel": {"timestamps": True, "sysctl": {"tcp_timestamps": "0"}},
    "timestamps and duplicates": {
        "timestamps": True,
        "forward": packet_loss(0.01),
        "disorder": {"forward": TWICE, "backward": TWICE},
    },
    "no scaling": {"scaling": False},
    "scaling, not the kernel": {"sysctl": {"tcp_window_scaling": "0"}},
    "small window of the kernel": {"kernel_buffer": "16 KiB", "forward": packet_loss(0.01)},
    "small window of ours": {"window": "16 KiB", "forward": packet_loss(0.01)},
    "no sack": {"sack": False, "forward": packet_loss(0.02)},
    "sack, not the kernel": {"sysctl": {"tcp_sack": "0"}, "forward": packet_loss(0.02)},
    "mss 536": {"mss": 536, "kernel_mss": 536, "forward": packet_loss(0.01)},
    "mss 8960": {"mss": 8960, "kernel_mss": 8960, "forward": packet_loss(0.02)},
    "mss 1460, the kernel's 536": {"kernel_mss": 536},
    "mss 536, the kernel's 8960": {"mss": 536, "kernel_mss": 8960},
    "across the wrap": {
        "sequence": NEAR_THE_WRAP,
        "kernel_sequence": NEAR_THE_WRAP,
        "forward": packet_loss(0.02),
    },
    "half closed": {"answer": "200 kB", "forward": packet_loss(0.01), "backward": packet_loss(0.01)},
    "receiver closes first": {"closes_first": "receiver", "forward": packet_loss(0.01)},
    "no data at all": {"bytes": "0 B"},
    "one byte": {"bytes": "1 B", "answer": "1 B"},
    "slow reader": {"window": "64 KiB", "kernel_buffer": "64 KiB", "reading": {"bytes_per_s": 300_000}},
    "zero window": {
        "window": "64 KiB",
        "kernel_buffer": "64 KiB",
        "reading": {"pause_after": "300 kB", "pause": "3 s"},
    },
}


def transfer(settings: Settings, **also: Any) -> Transfer:
    """Make a transfer of 20 Mbit/s and 20 ms where `settings` say nothing else."""
    way = {"rate": "20 Mbit/s", "delay": "20 ms"}
    whole = {
        "recovery": "sack",
        "control": "standard",
        "direction": "send",
        "bytes": "1 MB",
        **settings,
        **also,
    }
    whole["sysctl"] = {"tcp_congestion_control": "reno", **whole.get("sysctl", {})}
    whole["forward"] = way | whole.get("forward", {})
    whole["backward"] = way | whole.get("backward", {})
    return Transfer("0", whole)


def every_variant(**settings: Any) -> dict[str, Transfer]:
    """Every recovery with every control, both ways."""
    return {
        f"{recovery} {control} {direction}": transfer(
            settings, recovery=recovery, control=control, direction=direction
        )
        for recovery, control, direction in product(RECOVERIES, CONTROLS, DIRECTIONS)
    }


def through_every_loss_model(controls: Iterable[str], **also: Any) -> dict[str, Transfer]:
    """These controls of the kernel, the data lost by each model, and by each both ways."""
    transfers = {}
    for control, (name, loss) in product(controls, LOSS_MODELS.items()):
        way = {**also.get("way", {}), "loss": loss}
        both = {"forward": way, "backward": way}
        rest = {key: value for key, value in also.items() if key != "way"}
        for ways, settings in (("data", {**both, "backward": also.get("way", {})}), ("both ways", both)):
            case = transfer({**rest, **settings}, recovery="linux", control=control)
            transfers[f"linux {control}, {name}, {ways}"] = case
    return transfers


def every_situation(**also: Any) -> dict[str, Transfer]:
    """Every situation, both ways; `also` where it says nothing of it itself."""
    return {
        f"{name}, {direction}": transfer({**also, **settings}, direction=direction)
        for name, settings in SITUATIONS.items()
        for direction in DIRECTIONS
    }


def between_kernels(**also: Any) -> dict[str, Transfer]:
    """A kernel at both ends of our path: every control that this one has, and most situations."""
    lossy = {"forward": packet_loss(0.01), **also}
    controls = {
        f"linux {control}": transfer(lossy, recovery="linux", control=control)
        for control in _core.kernel_controls()
    }
    names = (
        "plain",
        "lost both ways",
        "reordered",
        "duplicated",
        "timestamps",
        "no scaling",
        "no sack",
        "mss 536, the kernel's 8960",
        "across the wrap",
        "half closed",
        "receiver closes first",
        "no data at all",
        "zero window",
    )
    situations = {
        f"linux, {name}, {direction}": transfer(
            {**also, **SITUATIONS[name]}, recovery="linux", control="reno", direction=direction
        )
        for name in names
        for direction in DIRECTIONS
    }
    return controls | situations


def faults(row: dict[str, Any]) -> list[str]:
    """Name what went wrong in a row; nothing, if the two TCPs understood each other."""
    if "error" in row:
        return [str(row["error"])]
    columns = ("checksum_errors", "kernel_checksum_errors", "resets", "kernel_resets")
    wrong = [f"{column} is {row[column]}" for column in columns if row[column]]
    return wrong if row["sha256_equal"] else [*wrong, "hashes differ"]
