"""What programs on real kernels reported of a scenario's flows, as the JSON of a run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from bentpipe.numbers.declared import quantiles, tables
from bentpipe.results import Run
from bentpipe.runs.provenance import stated
from bentpipe.runs.runner import Plan
from bentpipe.runs.statistics import jain
from bentpipe.scenario import Scenario

Series = dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]
"""Curves by name, each of times in s and values: ``cwnd``, ``ssthresh``, ``sequence`` in bytes, ``rtt``,
``rto`` in s. A threshold that is not set is no number in the kernel's and infinite in the simulator's."""

_Reports = Mapping[tuple[str, str], Mapping[str, Any]]


@dataclass(frozen=True)
class Side:
    """A run of one side, and the curves of each flow over TCP."""

    run: Run
    series: Mapping[str, Series]


def kernel_run(
    scenario: Scenario,
    plan: Sequence[Mapping[str, Any]],
    reports: _Reports,
    emulated: Mapping[str, Any],
    wall_s: float,
) -> Side:
    """Give the run that `reports`, one of each end of the flows of `plan`, and the emulator's come to.

    What a kernel does not tell is None.
    """
    end_s = float(emulated["duration_s"])
    flows = [_flow(flow, reports, end_s) for flow in plan]
    pages = [
        {"flow": flow["name"], "page": number, **page}
        for flow in plan
        if flow["app"] == "http"
        for number, page in enumerate(reports[flow["name"], "receiver"].get("pages", []), 1)
    ]
    for flow in flows:
        responses = [page["response_s"] for page in pages if page["flow"] == flow["name"]]
        came = [response for response in responses if response is not None]
        for key, share in quantiles().items() if came else ():
            flow[key] = float(np.quantile(came, share))
    alike = [flow["goodput_bps"] for flow in flows if flow["variant"] != "udp"]
    found = {
        "scenario": scenario.title,
        "seed": scenario.seed,
        "duration_s": end_s,
        "warm_up_s": 0.0,
        **{table: emulated.get(table, []) for table in tables()},
        "flows": flows,
        "pages": pages,
        "jain": jain(alike) if alike else None,
        "jain_flows": len(alike),
        "engine": {
            "events": emulated["emulator"]["packets"],
            "data_segments": sum(flow["data_segments_sent"] or 0 for flow in flows),
            "wall_s": wall_s,
        },
        "emulator": emulated["emulator"],
    }
    series: dict[str, Series] = {}
    for planned in plan:
        if planned["tcp"] is not None:
            samples = reports[planned["name"], "sender"].get("samples", [])
            times, *curves = np.array(samples, dtype=float).reshape(-1, 6).T
            names = ("cwnd", "ssthresh", "rtt", "rto", "sequence")
            series[planned["name"]] = {
                name: (times, curve) for name, curve in zip(names, curves, strict=True)
            }
    return Side(stated(cast(Run, found), scenario, Plan()), series)


def _flow(flow: Mapping[str, Any], reports: _Reports, end_s: float) -> dict[str, Any]:
    sender, receiver = reports[flow["name"], "sender"], reports[flow["name"], "receiver"]
    start_s = float((receiver if flow["app"] == "http" else sender).get("start_s", flow["start_s"]))
    delivered = receiver.get("bytes", 0)
    error = sender["error"] or receiver["error"]
    if (
        error is None
        and flow["app"] in {"ftp", "onoff"}
        and receiver["finished"]
        and sender["sha256"] != receiver["sha256"]
    ):
        error = "the bytes that arrived are others than those that were sent"
    end_s = receiver.get("ended_s", end_s)
    last_s = receiver.get("last_byte_s")
    whole = bool(receiver.get("finished")) and error is None
    duration_s = (last_s if whole and last_s is not None else end_s) - start_s
    # What a kernel does not tell is None; of responses, until the pages are known.
    # The kernel's release stands once, beside all runs.
    told: dict[str, Any] = {key: None for key in tables()["flows"] if key != "kernel_release"} | {
        "name": flow["name"],
        "group": flow["group"],
        "variant": "udp" if flow["tcp"] is None else flow["control"],
        "bytes_delivered": delivered,
        "start_s": start_s,
        "finish_s": last_s if whole else None,
        "duration_s": duration_s,
        "goodput_bps": 8 * delivered / duration_s if duration_s > 0 else 0.0,
        "error": error,
    }
    if flow["tcp"] is None:
        sent = sender.get("sent", 0)
        bits = 8 * sender.get("sent_bytes", 0)
        return told | {
            "throughput_bps": bits / duration_s if duration_s > 0 else 0.0,
            "retransmitted_segments": 0,
            "timeouts": 0,
            "data_segments_sent": sent,
            "datagrams_sent": sent,
            "datagrams_lost": sent - receiver.get("received", 0),
        }
    info = sender.get("info", {})
    again = info.get("retransmitted_segments") or 0
    segments = info.get("data_segments") or 0
    # The kernel counts segments: those sent again are as large as the others are on average.
    throughput = told["goodput_bps"] * (segments / (segments - again) if segments > again else 1.0)
    return told | {
        "throughput_bps": throughput,
        "retransmitted_segments": again,
        "timeouts": info.get("timeouts"),
        **_round_trips(sender.get("samples", [])),
        "data_segments_sent": segments,
        "datagrams_sent": 0,
        "datagrams_lost": 0,
    }


def _round_trips(samples: Sequence[Sequence[float]]) -> dict[str, float]:
    """Give mean and quantiles of the smoothed RTT, each by the bytes that were acknowledged meanwhile."""
    rows = np.array([[row[3], row[5]] for row in samples], dtype=float).reshape(-1, 2)
    round_trips, weights = rows[1:, 0], np.diff(rows[:, 1])
    if weights.sum() <= 0:
        return {}
    order = np.argsort(round_trips)
    below = np.cumsum(weights[order])
    found = {"rtt_mean_s": float(np.average(round_trips, weights=weights))}
    for percent in (50, 95, 99):
        at = np.searchsorted(below, percent / 100 * below[-1])
        found[f"rtt_p{percent}_s"] = float(round_trips[order][min(at, len(order) - 1)])
    return found
