"""Write docs/generated/beside-linux.md: flows over kernels beside the simulator, several draws of each.

`--kernel` runs the virtual kernel first, `--real` this machine's for the controls that are BPF programs, as
root; without either what is kept in ``testbed.json`` is written beside what the simulator makes now.
"""

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kernels import Case, Kept, Told, asked_for, clusters, run_kernels, simulated

from statements import between_marks

PAGE = Path(__file__).resolve().parents[2] / "docs" / "generated" / "beside-linux.md"
KEPT = Path(__file__).with_name("testbed.json")
VIRTUAL, REAL = ("reno", "cubic", "bbr"), ("adalr", "afc")
"""The controls of the virtual kernel, and those that are BPF programs."""
DRAWS = 5
SEEDS = 40
"""Simulated runs where losses are random."""
CLOSE = 0.05
WINDOWS = {"automatic": "", "4 MiB": '\n[tcp]\nreceive_window = "4 MiB"\n'}

GEO = """
[links.satellite]
from = "server"
to = "terminal"
rate = "10 Mbit/s"
delay = "270 ms"
queue = "450 packets"
{loss}
[links.satellite.reverse]
rate = "2 Mbit/s"
[flows.download]
from = "server"
to = "terminal"
bytes = "{total}"
"""
_SHARED = """
[links.satellite]
from = "server"
to = "terminal"
rate = "10 Mbit/s"
delay = "270 ms"
queue = "450 packets"
[flows.first]
from = "server"
to = "terminal"
bytes = "8 MB"
[flows.second]
from = "server"
to = "terminal"
bytes = "8 MB"
start = "2 s"
"""
_GATEWAY = """
[links.satellite]
from = "server"
to = "terminal"
rate = "10 Mbit/s"
delay = "75 ms"
queue = "60 packets"
gateway = {{ scheme = "xfwa", isl_delay = "20 ms" }}
{flows}
"""
_FLOW = '[flows.f{number}]\nfrom = "server"\nto = "terminal"\nbytes = "4 MB"\nstart = "{start} ms"\n'


def _lossy(probability: float) -> str:
    return f'loss = {{ model = "packet", probability = {probability} }}'


SCENARIOS: Mapping[str, str] = {
    "GEO": GEO.format(loss="", total="10 MB"),
    "GEO, 0.1 % lost": GEO.format(loss=_lossy(0.001), total="5 MB"),
    "GEO, 1 % lost": GEO.format(loss=_lossy(0.01), total="1500 kB"),
    "two flows share it": _SHARED,
    "four flows behind XFWA": _GATEWAY.format(
        flows="".join(_FLOW.format(number=number, start=250 * number) for number in range(4))
    ),
}

CASES = tuple(
    Case(f"{name}, {window}", variant, text + added)
    for name, text in SCENARIOS.items()
    for window, added in WINDOWS.items()
    for variant in (*VIRTUAL, *REAL)
)


@dataclass(frozen=True)
class Row:
    """The draws of a case on both sides."""

    case: Case
    kernel: Sequence[Told]
    ours: Sequence[Told]
    among: tuple[float, float] | None
    """Where 95 of 100 simulated goodputs lie, bit/s, where losses are random."""

    @property
    def deviations(self) -> list[float]:
        """Of goodput, draw by draw."""
        pairs = zip(self.kernel, self.ours, strict=True)
        return [theirs["goodput_bps"] / ours["goodput_bps"] - 1 for theirs, ours in pairs]

    @property
    def alike(self) -> bool:
        """Each draw within 5 %, or ours between the kernel's, or these among 95 of 100 of ours."""
        if all(abs(apart) <= CLOSE for apart in self.deviations):
            return True
        kernel, ours = ([draw["goodput_bps"] for draw in side] for side in (self.kernel, self.ours))
        inner, outer = (kernel, self.among) if self.among else (ours, (min(kernel), max(kernel)))
        return bool(outer[0] <= min(inner) and max(inner) <= outer[1])

    def cells(self) -> Iterator[str]:
        """Write it for the table."""
        name, window = self.case.name.rsplit(", ", 1)
        yield from (name, window, self.case.variant)
        for side in (self.kernel, self.ours):
            goodputs = [draw["goodput_bps"] for draw in side]
            yield spread(goodputs) if self.among else several(goodputs)
        yield between(f"{apart * 100:+.1f}" for apart in (min(self.deviations), max(self.deviations)))
        yield between(f"{bound / 1e6:.3g}" for bound in self.among) if self.among else ""
        for key, scale in (("rtt_s", 1e3), ("resent", 1), ("timeouts", 1)):
            yield ", ".join(
                f"{statistics.fmean(d[key] for d in s) * scale:.0f}" for s in (self.kernel, self.ours)
            )
        yield "yes" if self.alike else "no"


def spread(goodputs: list[float]) -> str:
    """Write the goodputs of draws of which each has its own losses."""
    bounds = between(f"{bound / 1e6:.3g}" for bound in (min(goodputs), max(goodputs)))
    return f"{statistics.fmean(goodputs) / 1e6:.4g} ({bounds})"


def several(goodputs: list[float]) -> str:
    """Write the goodputs of draws that could be alike: each that came, with how often."""
    groups = clusters(goodputs)
    if len(groups) == 1:
        return f"{groups[0][0] / 1e6:.4g}"
    return ", ".join(f"{goodput / 1e6:.4g} ({count} of {len(goodputs)})" for goodput, count in groups)


def between(bounds: Iterable[str]) -> str:
    """Write two bounds, or one where they are the same."""
    return " to ".join(dict.fromkeys(bounds))


def rows(kept: Kept) -> Iterator[Row]:
    """Simulate as many draws of each case as are kept of its kernel."""
    for case in CASES:
        for release, draws in kept.of(case).items():
            # Kernels before 6.16 let the receive buffer grow to 6 MiB.
            older = release.startswith("6.12") and "automatic" in case.name
            settings = {"tcp.receive_buffer": {"kernel": "6.12"}} if older else {}
            count = SEEDS if "probability" in case.text else len(draws)
            ours = [simulated(case, seed, settings) for seed in range(1, count + 1)]
            among = None
            if count == SEEDS:
                cuts = statistics.quantiles([draw["goodput_bps"] for draw in ours], n=40, method="inclusive")
                among = cuts[0], cuts[-1]
            yield Row(case, draws, ours[: len(draws)], among)


_COLUMNS = (
    *("scenario", "window", "control", "kernel (Mbit/s)", "simulated", "kernel beside it (%)", "95 of 100"),
    *("RTT (ms)", "resent", "timeouts", "alike"),
)


def main() -> None:
    """Run what is asked for, and write the page."""
    asked = asked_for(__doc__, draws=DRAWS)
    kept = Kept(KEPT)
    if asked.kernel or asked.real:
        run_kernels(CASES, kept, asked, REAL if asked.kernel else VIRTUAL)
    found = list(rows(kept))
    alike = sum(row.alike for row in found)
    lines = [
        f"Linux {' and '.join(kept.releases())}; {alike} of {len(found)} rows are alike.",
        "",
        f"| {' | '.join(_COLUMNS)} |",
        "|" + "---|" * len(_COLUMNS),
        *(f"| {' | '.join(row.cells())} |" for row in found),
    ]
    text = "\n".join(lines) + "\n"
    PAGE.write_text(between_marks(PAGE, "tests/witness/testbed.py", text), encoding="utf-8")


if __name__ == "__main__":
    main()
