"""The link that advice is for, and transfers over it by Linux's TCP."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from bentpipe.results import mean
from bentpipe.runs.runner import replicate, run
from bentpipe.scenario import Scenario

PACKET = 1500
_GROUND = 0.05
"""The share of the round trip that lies between the server and the hub."""
_RUNS = 5
_THINK_S, _ANSWERS, ANSWER = 10, 10, 100_000

Tcp = Mapping[str, Any]

INSTALLED: Tcp = {"profile": "linux", "receive_buffer": {"kernel": "6.12"}}
"""What Linux has without any setting: up to 6.15 at most 6 MiB of receive buffer."""


@dataclass(frozen=True)
class Link:
    """Rates to the clients and back in bit/s, round trip in s, share of packets lost, and who shares it."""

    down_bps: float
    up_bps: float
    rtt_s: float
    loss: float = 0.0
    users: int = 1

    @property
    def product(self) -> float:
        """Rate times round trip, in bytes."""
        return self.down_bps * self.rtt_s / 8

    def share(self) -> "Link":
        """Give what each user has while all are busy."""
        return replace(self, down_bps=self.down_bps / self.users, up_bps=self.up_bps / self.users, users=1)

    def transfer_s(self, size: int, tcp: Tcp, *, proxy: bool = False) -> float:
        """Simulate a download of so many bytes, and give its time in s.

        With `proxy` the hub ends the server's connection, which then has the settings of `INSTALLED`, and
        `tcp` is that of the satellite's part.
        """
        sent, buffer = {"from": "server", "bytes": f"{size} B"}, math.ceil(2 * self.product) + 2 * PACKET
        if not proxy:
            return self._mean({"download": {**sent, "to": "client", **_tcp(tcp)}}, "finish_s")
        relay = {"from": "hub", "to": "client", "app": "relay", "upstream": "ground", "buffer": f"{buffer} B"}
        ground = {**sent, "to": "hub", **_tcp(INSTALLED)}
        return self._mean({"ground": ground, "download": {**relay, **_tcp(tcp)}}, "finish_s")

    def answer_s(self, tcp: Tcp) -> float:
        """Give the median time of an answer of 100 kB, each after a pause, over one connection."""
        asked: dict[str, Any] = {
            "from": "server",
            "to": "client",
            "app": "transactions",
            "response": f"{ANSWER} B",
        }
        asked |= {"think": f"{_THINK_S} s", "transactions": _ANSWERS, **_tcp(tcp)}
        return self._mean({"download": asked}, "response_p50_s")

    def _mean(self, flows: Mapping[str, Any], number: str) -> float:
        ground, space = self.rtt_s / 2 * _GROUND, self.rtt_s / 2 * (1 - _GROUND)
        satellite = {
            "from": "hub",
            "to": "client",
            "rate": f"{self.down_bps} bit/s",
            "delay": f"{space} s",
            "queue": f"{max(100, round(self.product / PACKET))} packets",
            "loss": {"model": "packet", "probability": self.loss},
            "reverse": {"rate": f"{self.up_bps} bit/s"},
        }
        internet = {
            "from": "server",
            "to": "hub",
            "rate": f"{max(1e9, 10 * self.down_bps)} bit/s",
            "delay": f"{ground} s",
        }
        scenario = Scenario.from_dict(
            {"title": "advice", "links": {"internet": internet, "satellite": satellite}, "flows": flows}
        )
        return mean(_download(scenario, random=self.loss > 0)[number]) or math.inf


@cache
def _download(scenario: Scenario, *, random: bool) -> Mapping[str, Any]:
    """Simulate it, what is asked again once."""
    return (replicate(scenario, _RUNS) if random else run(scenario)).flows["download"]


def _tcp(settings: Tcp) -> dict[str, Any]:
    """Give the keys of a flow: its control stands beside its table of TCP."""
    control = {"control": settings["control"]} if "control" in settings else {}
    return {**control, "tcp": {key: value for key, value in settings.items() if key != "control"}}
