"""A scenario's flows over real Linux TCP: each host a network namespace, the network in real time."""

import json
import os
import queue
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from bentpipe import _core
from bentpipe.errors import BentpipeError, InputError, Interrupted
from bentpipe.live.errors import errors_of
from bentpipe.live.install import CONTROLS, available, held
from bentpipe.live.interop import PROGRAM
from bentpipe.live.kernel_run import Series, Side, kernel_run
from bentpipe.live.virtual.machine import Machine
from bentpipe.results import Run, mean
from bentpipe.runs.progress import Reporter
from bentpipe.runs.runner import run
from bentpipe.scenario import Scenario

_RENAMED = {"standard": "reno", "bbr1": "bbr"}
"""Controls that the kernel calls by another name than the simulator; every other has one name."""

SIMULATED: Mapping[str, Mapping[str, object]] = {
    "adalr": {"tcp.adalr.rwnd_increase": False, "tcp.adalr.loss_recovery": False},
    "hybla": {
        "tcp.hybla.reading": "linux",
        "tcp.hybla.initial_window": "rho",
        "tcp.hybla.scale_ssthresh": False,
    },
    **{name: {f"tcp.{name}.reading": "linux"} for name in ("westwood", "veno", "vegas")},
}
"""How the simulator's control is set for a variant: what a kernel's cannot do is off, and what Linux reads
otherwise than its document is read as Linux does."""

AS_WRITTEN = "as written"
"""Each flow with the control that the scenario gives it."""

_SYSCTL = {"tcp_no_metrics_save": "1"}
_FIRST_PORT = 5001
_READY_S = 30.0
_ENDS = (("sender", "from", "to"), ("receiver", "to", "from"))
"""Each end, the flow's key of its host, and that of the other's."""
_END_S = 5.0


@dataclass(frozen=True)
class Compared:
    """A variant over the kernels, and in the simulator where that was asked for."""

    variant: str
    kernel: Side
    simulator: Side | None

    @property
    def goodput_deviation(self) -> float | None:
        """The kernels' goodput over the simulator's, of all flows together, less 1."""
        if self.simulator is None:
            return None
        kernel, simulated = (
            sum(mean(flow["goodput_bps"]) or 0.0 for flow in side.run["flows"])
            for side in (self.kernel, self.simulator)
        )
        return kernel / simulated - 1 if simulated else None

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON has it."""
        return {
            "variant": self.variant,
            "kernel": self.kernel.run,
            "simulator": None if self.simulator is None else self.simulator.run,
            "goodput_deviation": self.goodput_deviation,
        }


def over_kernels(
    scenario: Scenario,
    variants: Sequence[str] = (),
    *,
    both: bool = False,
    progress: bool = True,
    stop: threading.Event | None = None,
    virtual_clock: bool = False,
    pcap: str | None = None,
) -> Iterator[Compared]:
    """Carry the flows of `scenario` over the kernel's TCP, once with each of its controls `variants`.

    Without any the flows have the controls that the scenario gives them. With `both` each is simulated too,
    with the profile linux. A scheme that is a BPF program is installed for as long as this takes. Another
    thread ends it by setting `stop`. With `virtual_clock` the clock stands still while programs work.
    What the hosts send and receive goes to the file `pcap`, that of the last variant.

    Raises InputError: a variant, the scenario, the machine or the user does not allow it.
    Raises BentpipeError: a program or a device failed.
    Raises Interrupted: somebody ended it.
    """
    installable = () if virtual_clock else CONTROLS
    for variant in variants if both else ():
        if our_name(variant) is None:
            raise InputError(f"--both: expected controls that the simulator has too, found {variant!r}")
    with held(_needed(scenario, variants, [*available(), *installable]) & set(installable), "live testbed"):
        for variant in variants or (AS_WRITTEN,):
            chosen = with_the_kernels_tcp(scenario, variant)
            ended = stop or threading.Event()
            options = {"virtual_clock": virtual_clock, "pcap": pcap}
            kernel = _on_kernels(chosen, variant, ended, progress=progress, **options)
            yield Compared(variant, kernel, in_simulator(chosen, progress=progress) if both else None)


def in_virtual_kernel(
    virtual: Machine, scenario: Scenario, variants: Sequence[str] = (), *, both: bool = False
) -> Iterator[Compared]:
    """Do as `over_kernels` in a virtual kernel, and raise as it does."""
    with replace(virtual, who="live testbed") as machine:
        yield from machine.call(over_kernels, scenario, tuple(variants), both=both, virtual_clock=True)


def _needed(scenario: Scenario, variants: Sequence[str], known: Sequence[str]) -> set[str]:
    """Give the kernel's controls that the flows need, of those `known`: a variant's, or each flow's own."""
    for name in variants:
        if name not in known:
            raise InputError(f"--variants: expected of {', '.join(dict.fromkeys(known))}, found {name!r}")
    if variants:
        return set(variants)
    needed = set()
    for flow in plan_of(with_the_kernels_tcp(scenario)):
        if flow["tcp"] is None:
            continue
        if (name := kernels_name(flow["control"])) not in known:
            ours = (our_name(control) for control in dict.fromkeys(known))
            raise InputError(
                f"flows.{flow['name']}.control: expected a kernel's, {', '.join(filter(None, ours))}, "
                f"found {flow['control']!r}"
            )
        needed.add(name)
    return needed


def plan_of(scenario: Scenario) -> list[dict[str, Any]]:
    """Give what programs have to know of each flow."""
    plan: list[dict[str, Any]] = json.loads(_core.live_plan(scenario)[0])
    return plan


def kernels_name(control: str) -> str:
    """Give the kernel's name of a control of the simulator."""
    return _RENAMED.get(control, control)


def our_name(control: str) -> str | None:
    """Give the simulator's name of a control of the kernel, if it has it."""
    ours = {kernels: ours for ours, kernels in _RENAMED.items()}.get(control, control)
    return ours if ours in dict(_core.schemes("controls")) else None


def with_the_kernels_tcp(scenario: Scenario, variant: str = AS_WRITTEN) -> Scenario:
    """Give the scenario with the TCP of the kernels, and the control of a variant."""
    settings: dict[str, object] = {"tcp.profile": "linux"}
    if variant != AS_WRITTEN:
        settings |= {"flows.*.control": our_name(variant) or "standard", **SIMULATED.get(variant, {})}
    else:
        # Where a recovery is set, a flow's variant is not looked at, nor the control that it names.
        flows = plan_of(scenario.with_(settings))
        of_tcp = [flow for flow in flows if flow["tcp"] is not None]
        settings |= {f"flows.{flow['group'] or flow['name']}.control": flow["control"] for flow in of_tcp}
    return scenario.with_({**settings, "flows.*.recovery": "rack"})


def in_simulator(scenario: Scenario, *, progress: bool) -> Side:
    """Simulate it, with the curves that a kernel's side has."""
    result = run(scenario, series=["*:cwnd,ssthresh,rtt,rto,acked"], progress=progress)
    series: dict[str, Series] = {}
    found = result.series
    subjects = {trace.subject for trace in found}
    for flow in result.flows:
        if flow["variant"] == "udp":
            continue
        # Of several connections the first.
        subject = flow["name"] if flow["name"] in subjects else f"{flow['name']}/1"
        curves = series[flow["name"]] = {}
        for name in ("cwnd", "ssthresh", "rtt", "rto", "acked"):
            curve = found.get(subject, name)
            values = np.asarray(curve.time_s, float), np.asarray(curve.value, float)
            curves["sequence" if name == "acked" else name] = values
    # The curves are for the picture alone.
    simulated = {key: value for key, value in result.run.items() if key != "recording"}
    return Side(cast(Run, simulated), series)


def _on_kernels(
    scenario: Scenario, variant: str, stop: threading.Event, *, progress: bool, **options: Any
) -> Side:
    text, duration_s = _core.live_plan(scenario)
    plan = json.loads(text)
    for flow in plan:
        if flow["tcp"] is not None and variant != AS_WRITTEN and our_name(variant) is None:
            flow["control"] = variant
    began = time.monotonic()
    with (
        Reporter(f"live testbed, {variant}" if progress else None) as reporter,
        closing(_Hosts(plan)) as hosts,
    ):
        first: list[str] = []

        def look(text: str | None) -> bool:
            if stop.is_set():
                raise Interrupted("live testbed: stopped")
            if not first:
                # Until the first snapshot, namespaces are being made.
                if text is not None:
                    first.append(text)
                    hosts.start(json.loads(text))
                return False
            hosts.check()
            elapsed_s = time.monotonic() - began
            if text is not None:
                arrived = sum(host["received_bytes"] for host in json.loads(text)["report"]["hosts"])
                share = None if duration_s is None else min(1.0, elapsed_s / duration_s)
                reporter.update(share, f"{elapsed_s:.0f} s, {arrived / 1e6:.1f} MB arrived")
            return hosts.over(duration_s)

        try:
            with errors_of("live testbed"):
                # A segment at a time, as the simulator has it.
                report = json.loads(_core.emulate(scenario, look, offloads=False, **options))
        except KeyboardInterrupt as error:
            raise Interrupted("live testbed: interrupted") from error
        return kernel_run(scenario, plan, hosts.reports, report, time.monotonic() - began)


class _Hosts:
    """The programs in the hosts' namespaces."""

    def __init__(self, plan: Sequence[Mapping[str, Any]]) -> None:
        self._plan = plan
        self._agents: dict[str, subprocess.Popen[str]] = {}
        self._said: queue.Queue[tuple[str, str]] = queue.Queue()
        self._zero = 0.0
        self._told: set[str] = set()
        self.reports: dict[tuple[str, str], dict[str, Any]] = {}
        """By the flow's name, and ``sender`` or ``receiver``."""

    def start(self, snapshot: Mapping[str, Any]) -> None:
        """Start them, and begin the run when all are ready."""
        addresses = {host["name"]: host["address"] for host in snapshot["report"]["hosts"]}
        for host, descriptor in zip(snapshot["report"]["hosts"], snapshot["namespaces"], strict=True):
            task = self._task(host["name"], addresses)
            if not task["ends"]:
                continue
            enter = ["nsenter", f"--net=/proc/{os.getpid()}/fd/{descriptor}"]
            agent = subprocess.Popen(
                [*enter, *PROGRAM],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                # A signal of the terminal's is for us, who then end them.
                start_new_session=True,
            )
            self._agents[host["name"]] = agent
            self._tell(host["name"], json.dumps(task))
            threading.Thread(target=self._listen, args=(host["name"], agent), daemon=True).start()
        waiting = set(self._agents)
        while waiting:
            try:
                name, line = self._said.get(timeout=_READY_S)
            except queue.Empty:
                raise BentpipeError(
                    f"live testbed: the programs of {', '.join(waiting)} do not start"
                ) from None
            if json.loads(line or '""') != "ready":
                raise BentpipeError(f"live testbed: {name}: {self._last_words(name)}")
            waiting.discard(name)
        self._zero = time.monotonic()
        for name in self._agents:
            self._tell(name, str(int(self._zero * 1e9)))

    def _task(self, host: str, addresses: Mapping[str, str]) -> dict[str, Any]:
        ends = []
        sysctl = dict(_SYSCTL)
        for number, flow in enumerate(self._plan):
            for end, own, other in _ENDS:
                if flow[own] != host:
                    continue
                control = "reno" if flow["tcp"] is None else kernels_name(flow["control"])
                at = {"own": addresses[host], "other": addresses[flow[other]], "port": _FIRST_PORT + number}
                ends.append({**flow, **at, "end": end, "kernel_control": control, "every_s": 0.02})
                for name, value in _sysctl(flow["tcp"]).items() if flow["tcp"] else ():
                    if sysctl.setdefault(name, value) != value:
                        raise InputError(
                            f"flows.{flow['name']}.tcp: expected the {name} of the others at {host}: "
                            f"its kernel has one for all"
                        )
        return {"ends": ends, "sysctl": sysctl}

    def _tell(self, name: str, line: str) -> None:
        try:
            # It is a pipe.
            print(line, file=self._agents[name].stdin, flush=True)
        except BrokenPipeError:
            raise BentpipeError(f"live testbed: {name}: {self._last_words(name)}") from None

    def _listen(self, name: str, agent: "subprocess.Popen[str]") -> None:
        for line in agent.stdout or ():
            self._said.put((name, line))
        self._said.put((name, ""))

    def _last_words(self, name: str) -> str:
        agent = self._agents[name]
        agent.kill()
        _, stderr = agent.communicate()
        return (stderr.strip().splitlines() or ["its program has ended"])[-1]

    def check(self) -> None:
        """Take what they have said."""
        while True:
            try:
                name, line = self._said.get_nowait()
            except queue.Empty:
                return
            if line:
                report = json.loads(line)
                self.reports[report["flow"], report["end"]] = report
            elif self._left(name):
                raise BentpipeError(f"live testbed: {name}: {self._last_words(name)}")

    def _left(self, host: str | None = None) -> set[tuple[str, str]]:
        """Give the ends, of this host or of all, that have not reported."""
        ends = ((flow, end) for flow in self._plan for end, own, _ in _ENDS if host in (None, flow[own]))
        return {(flow["name"], end) for flow, end in ends} - set(self.reports)

    def over(self, duration_s: float | None) -> bool:
        """Whether every end has reported; says when it is time to."""
        elapsed_s = time.monotonic() - self._zero
        if not (left := self._left()):
            return True
        if duration_s is not None and elapsed_s >= duration_s:
            self._tell_all("stop")
            if elapsed_s > duration_s + _END_S:
                raise BentpipeError("live testbed: the programs do not end")
        if left <= {(flow["name"], "receiver") for flow in self._plan if flow["app"] == "udp"}:
            self._tell_all("drain")
        return False

    def _tell_all(self, line: str) -> None:
        if line not in self._told:
            self._told.add(line)
            for name in self._agents:
                self._tell(name, line)

    def close(self) -> None:
        """End them, however far they are."""
        for agent in self._agents.values():
            agent.kill()
            agent.communicate()


def _sysctl(tcp: Mapping[str, Any]) -> dict[str, str]:
    return {
        "tcp_timestamps": str(int(tcp["timestamps"])),
        "tcp_sack": str(int(tcp["sack"])),
        "tcp_window_scaling": str(int(tcp["window_scaling"])),
        "tcp_ecn": "1" if tcp["ecn"] else "2",
        # 64 MiB does not limit.
        "tcp_wmem": f"4096 16384 {tcp['send_buffer'] or 64 << 20}",
    }
