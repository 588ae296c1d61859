"""A matrix of transfers between our TCP and the kernel's, several at a time."""

import json
import shutil
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from bentpipe import _core
from bentpipe._core import LiveFailed, Scenario
from bentpipe.errors import InputError, Interrupted, ScenarioError
from bentpipe.live.errors import errors_of
from bentpipe.live.virtual.machine import Machine
from bentpipe.numbers.number import share
from bentpipe.runs.progress import Reporter
from bentpipe.runs.threads import Stopped

PROGRAM = (sys.executable, "-I", "-m", "bentpipe.live.program")
"""The program at a kernel's end."""

LINUX = "linux"
"""The recovery that stands for a second kernel in our end's place."""

AT_A_TIME = 8
"""Transfers under way at once unless the caller says otherwise; most of the time they wait."""

Row = dict[str, Any]


@dataclass(frozen=True)
class Over:
    """A flow of a scenario whose two ends are real; the others are not run."""

    scenario: Scenario
    facts: Mapping[str, Any]

    @classmethod
    def of(cls, scenario: Scenario, flow: str | None = None) -> "Over":
        """Choose the flow of that name, or the first bulk transfer.

        Raises InputError: there is no such flow.
        Raises ScenarioError: there is no bulk transfer at all.
        """
        with errors_of("live interop", settings=True):
            return cls(scenario, json.loads(_core.live_flow(scenario, flow)))

    @property
    def flow(self) -> str:
        """The flow's name."""
        return str(self.facts["flow"])

    @property
    def bytes(self) -> str:
        """How much data, as a size.

        Raises ScenarioError: the flow does not say it.
        """
        if self.facts["bytes"] is None:
            message = "expected how much is transferred, here or as --bytes, found none"
            raise ScenarioError(message, self.scenario.file, key=f"flows.{self.flow}.bytes")
        return f"{self.facts['bytes']} B"

    def described(self) -> Row:
        """Say what is run and what is not, for people."""
        told = ("title", "flow", "from", "to", "way", "way_back", "left_out")
        return {key: self.facts[key] for key in told}


@dataclass(frozen=True)
class Transfer:
    """One transfer: what its row says of it, and the settings as the Rust side reads them.

    Without a scenario the settings have both ways, and `loss` is that on the way of the data.
    """

    loss: str | None
    settings: Mapping[str, Any]
    over: Over | None = None

    def named(self) -> Row:
        """Give the columns that say which transfer this is."""
        named = {key: self.settings[key] for key in ("recovery", "control", "direction")}
        try:
            return {**named, "loss": None if self.loss is None else share(self.loss)}
        except ValueError:
            return {**named, "loss": self.loss}


def loss_model(text: str, option: str = "--loss") -> dict[str, Any]:
    """Read a loss as people write it: ``0.01``, ``1%``, ``bursts:0.005:0.3`` or ``drop:3+5``.

    Raises InputError: it is none of these; the message names the `option`.
    """
    kind, _, rest = text.partition(":")
    try:
        if kind == "drop":
            packets = [int(number) for number in rest.split("+")]
            if min(packets) > 0:
                return {"model": "drop", "packets": packets, "at_least": "100 B"}
        elif kind == "bursts":
            begin, end = map(share, rest.split(":"))
            if end > 0:
                return {"model": "gilbert-elliott", "good_to_bad": begin, "bad_to_good": end}
        else:
            return {"model": "packet", "probability": share(text)}
    except ValueError:
        pass
    raise InputError(
        f"{option}: expected a share such as 0.01 or 1%, bursts:0.005:0.3 or drop:3+5, found {text!r}"
    )


def combined(
    choices: Mapping[str, Sequence[str]], kernels: Sequence[str], of_path: Sequence[str] = ()
) -> Iterator[tuple[Row, tuple[str, ...]]]:
    """Give the combinations: the settings that every transfer has, and those of the path.

    Recovery ``linux`` goes with the kernel's controls, every other with ours.

    Raises InputError: a recovery has no control to go with.
    """
    pairs = _pairs(choices["recovery"], choices["control"], kernels)
    others = product(*(choices[key] for key in ("direction", *of_path, "bytes")))
    for (recovery, control), (direction, *path, count) in product(pairs, others):
        named = {"recovery": recovery, "control": control, "direction": direction, "bytes": count}
        yield named, tuple(path)


def kernel_controls() -> list[str]:
    """Give the congestion controls that the running kernel has.

    Raises InputError: it is not Linux.
    """
    with errors_of("live interop"):
        return _core.kernel_controls()


def _pairs(
    recoveries: Sequence[str], controls: Sequence[str], kernels: Sequence[str]
) -> list[tuple[str, str]]:
    if set(recoveries) == {LINUX} or LINUX not in recoveries:
        return list(product(recoveries, controls))
    kernels = kernels or kernel_controls()
    every = product(recoveries, controls)
    pairs = [pair for pair in every if (pair[0] == LINUX) == (pair[1] in kernels)]
    if alone := [name for name in recoveries if name not in dict(pairs)]:
        known = kernels if alone[0] == LINUX else [name for name, _ in _core.schemes("controls")]
        expected = f"one of {', '.join(known)} for {alone[0]}"
        raise InputError(f"--control: expected {expected} too, found {', '.join(controls)}")
    return pairs


def in_virtual_kernel(
    virtual: Machine, transfers: Sequence[Transfer], *, threads: int | None = None, pcap: Path | None = None
) -> dict[str, Any]:
    """Do as `interop` in a virtual kernel, and raise as it does."""
    with replace(virtual, who="live interop") as machine:
        within = machine.inside("capture") if pcap is not None else None
        (result,) = machine.call(interop, tuple(transfers), threads=threads, pcap=within)
        if pcap is not None:
            shutil.copyfile(machine.folder / "capture", pcap)
    found: dict[str, Any] = result
    return found


def interop(
    transfers: Sequence[Transfer],
    *,
    threads: int | None = None,
    pcap: Path | None = None,
    title: str | None = "live interop",
) -> dict[str, Any]:
    """Run `transfers` and give the kernel's release and a row for each, in their order.

    A connection that breaks is a row with an ``error``. `pcap` is for a single transfer. ``scenario`` says
    which flow the first transfer is, if it is one of a scenario.

    Raises InputError: a setting cannot be used, or the machine or the user lacks something.
    Raises Interrupted: Ctrl-C; every transfer has ended and its namespace is gone.
    """
    stop = threading.Event()
    moved = [0] * len(transfers)

    def one(number: int) -> Row:
        if stop.is_set():
            raise Stopped

        def progress(count: int) -> None:
            moved[number] = count
            if stop.is_set():
                raise Stopped

        return _run(transfers[number], str(pcap) if pcap else None, progress)

    pool = ThreadPoolExecutor(min(threads or AT_A_TIME, max(1, len(transfers))))
    try:
        with Reporter(title) as reporter:
            futures = [pool.submit(one, number) for number in range(len(transfers))]
            while (outcome := wait(futures, timeout=0.2, return_when="FIRST_EXCEPTION")).not_done:
                if any(future.exception() for future in outcome.done):
                    break
                reporter.update(
                    len(outcome.done) / len(futures),
                    f"{sum(moved) / 1e6:,.1f} MB in {len(outcome.done)} transfers and more",
                )
        with errors_of("live interop", settings=True):
            rows = [future.result() for future in futures]
        over = transfers[0].over if transfers else None
        return {
            "kernel_release": _core.kernel_release(),
            "scenario": over.described() if over else None,
            "rows": rows,
        }
    except KeyboardInterrupt:
        raise Interrupted("interrupted; nothing was written") from None
    finally:
        stop.set()
        pool.shutdown(cancel_futures=True)


def _run(transfer: Transfer, pcap: str | None, progress: Any) -> Row:
    try:
        over = transfer.over
        measured = _core.interop(
            json.dumps(transfer.settings),
            list(PROGRAM),
            scenario=over.scenario if over else None,
            flow=over.flow if over else None,
            pcap=pcap,
            progress=progress,
        )
    except LiveFailed as error:
        return {**transfer.named(), "sha256_equal": False, "error": str(error)}
    return {**transfer.named(), **json.loads(measured)}
