"""Table 2 and figures 3 to 5 in real time: a kernel's Reno, and TCP-AFC as a BPF program in it."""

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from bentpipe.errors import BentpipeError
from bentpipe.live.install import held
from bentpipe.live.kernel_run import Side
from bentpipe.live.testbed import over_kernels
from bentpipe.results import Estimate
from bentpipe.runs.progress import Reporter
from bentpipe.scenario import Scenario
from bentpipe_papers.common import over
from bentpipe_papers.reproduction.reproduce import Context, Row, Settings

from .runs import ALONE, BERS, FILE_BYTES, SCHEMES, counted_errors, flow, scheme
from .series import LEVELS, SPREADS
from .stages import VOLUMES_MB, counted_losses

TRANSFERS = 4
"""Of each scheme at each error rate: a transfer takes up to ten minutes."""

AT_A_TIME = 6
"""Transfers that run beside each other, each in a network of its own."""

_TURN_S = 0.5
_STAGES = "as counted"


@dataclass(frozen=True)
class _Transfer:
    """One transfer of 20 MB under a kernel: when how much of it was acknowledged, from its SYN on."""

    time_s: np.ndarray
    acked_bytes: np.ndarray
    duration_s: float

    @classmethod
    def of(cls, side: Side) -> "_Transfer":
        about = flow(side.run)
        if about["error"] is not None or about["finish_s"] is None:
            raise BentpipeError(f"reproduce --live: a transfer did not finish: {about['error']}")
        times, acked = side.series["transfer"]["sequence"]
        return cls(times - float(about["start_s"]), acked, float(about["duration_s"]))

    def throughput(self, volume_bytes: float) -> float:
        """Give volume over time since the start, bytes/s."""
        if volume_bytes >= FILE_BYTES:
            return volume_bytes / self.duration_s
        return volume_bytes / float(np.interp(volume_bytes, self.acked_bytes, self.time_s))


_Transfers = Mapping[tuple[str, str], Sequence[_Transfer]]


def live_rows(contexts: Mapping[str, Context]) -> dict[str, list[Row]]:
    """Give the rows of these items as kernels have them, by item; all together take some minutes."""
    wanted: dict[str, list[Settings]] = {}
    some = next(iter(contexts.values()))
    if any(item.startswith("figure") for item in contexts):
        bers = BERS if "figure-5" in contexts else BERS[:1]
        wanted |= {ber: [counted_errors(some, ber)] * TRANSFERS for ber in bers}
    settings = {
        (case, name): [{**one, **scheme(name), "seed": seed} for seed, one in enumerate(each, 1)]
        for case, each in wanted.items()
        for name in SCHEMES
    }
    if "table-2" in contexts:
        settings |= {
            (_STAGES, name): [{**counted_losses(some, name, seed=1), **scheme(name), "seed": 1}]
            for name in SCHEMES
        }
    with held(["afc"], "reproduce --live"):
        found = _carry(some, settings)
    compute = {"table-2": _table_2, "figure-3": _figure_3, "figure-4": _figure_4, "figure-5": _figure_5}
    return {item: compute[item](context, found) for item, context in contexts.items()}


ITEMS = ("table-2", "figure-3", "figure-4", "figure-5")
"""Those that are run live."""


def _carry(context: Context, settings: Mapping[tuple[str, str], Sequence[Settings]]) -> _Transfers:
    """Carry a transfer for each of the settings, several at a time."""
    stop = threading.Event()

    def one(changes: Settings) -> _Transfer:
        texts = [(key, str(value)) for key, value in changes.items()]
        scenario = Scenario.load(str(context.paper.folder / ALONE), texts)
        (compared,) = over_kernels(scenario, (), progress=False, stop=stop)
        return _Transfer.of(compared.kernel)

    pool = ThreadPoolExecutor(AT_A_TIME)
    try:
        with Reporter("reproduce --live") as reporter:
            # The slowest first.
            order = sorted(settings, key=lambda case: (case[0] == "1e-6", case[1] != "tcp"))
            futures: dict[tuple[str, str], list[Future[_Transfer]]] = {
                case: [pool.submit(one, changes) for changes in settings[case]] for case in order
            }
            everything = [future for each in futures.values() for future in each]
            while not all(future.done() for future in everything):
                for future in everything:
                    if future.done():
                        future.result()
                done = sum(future.done() for future in everything)
                reporter.update(done / len(everything), f"{done} of {len(everything)} transfers")
                stop.wait(_TURN_S)
        return {case: [future.result() for future in each] for case, each in futures.items()}
    finally:
        # Nobody wants what is still under way.
        stop.set()
        pool.shutdown(cancel_futures=True)


def _table_2(context: Context, found: _Transfers) -> list[Row]:
    one = {name: found[_STAGES, name][0] for name in SCHEMES}
    rates = {(name, volume): one[name].throughput(volume * 1e6) for name in SCHEMES for volume in VOLUMES_MB}
    gains = {volume: rates["afc", volume] / rates["tcp", volume] for volume in VOLUMES_MB}
    first, last = VOLUMES_MB[0], VOLUMES_MB[-1]
    return [
        *(
            context.number(f"{name}, {volume:g} MB", "throughput", rate)
            for (name, volume), rate in rates.items()
        ),
        context.claim("0.5 MB", "throughput", {name: rates[name, first] for name in SCHEMES}),
        context.claim(
            "each stage from 1 MB on",
            "least throughput of AFC over TCP's",
            {"ratio": min(gains[volume] for volume in VOLUMES_MB[1:]), "one": 1.0},
        ),
        context.claim(
            "the difference grows",
            "throughput of AFC over TCP's",
            {f"{volume:g} MB": gains[volume] for volume in (last, first)},
        ),
    ]


def _rates(found: _Transfers, ber: str, name: str) -> list[float]:
    """Give the throughputs of the transfers, kB/s."""
    return [one.throughput(FILE_BYTES) / 1e3 for one in found[ber, name]]


def _figure_3(context: Context, found: _Transfers) -> list[Row]:
    return [
        context.claim("BER 1e-6", metric, {name: choose(_rates(found, "1e-6", name)) for name in SCHEMES})
        for metric, choose in SPREADS.items()
    ]


def _extremes(context: Context, found: _Transfers, ber: str) -> list[Row]:
    return [
        context.claim(
            f"BER {ber}",
            f"{place} throughput",
            {name: choose(_rates(found, ber, name)) for name in SCHEMES},
        )
        for place, choose in LEVELS.items()
    ]


def _figure_4(context: Context, found: _Transfers) -> list[Row]:
    return _extremes(context, found, "1e-6")


def _figure_5(context: Context, found: _Transfers) -> list[Row]:
    rates = {(ber, name): _rates(found, ber, name) for ber in BERS for name in SCHEMES}

    def paired(above: Sequence[float], below: Sequence[float]) -> Estimate:
        return over(one / other for one, other in zip(above, below, strict=True))

    gains = {ber: paired(rates[ber, "afc"], rates[ber, "tcp"]) for ber in BERS}
    lost = {
        name: over(100 * (1 - part) for part in paired(rates["1e-5", name], rates["1e-6", name])["values"])
        for name in SCHEMES
    }
    return [
        *_extremes(context, found, "1e-5"),
        context.claim("gain of AFC", "throughput of AFC over TCP's", gains),
        context.claim("TCP degrades", "average throughput", {ber: over(rates[ber, "tcp"]) for ber in BERS}),
        context.claim("share lost from BER 1e-6 to 1e-5", "share of the average throughput", lost),
    ]
