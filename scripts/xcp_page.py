"""XCP and P-XCP beside NewReno and CUBIC over a GEO link: writes the tables of docs/generated/xcp.md."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import bentpipe
from bentpipe.files.output import write_text
from statements import between_marks

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "generated" / "xcp.md"
PROGRAM = "scripts/xcp_page.py"
SEEDS = range(1, 6)
LOSSES = (0.0, 1e-4, 1e-3)
# What the round trips of the flows have beside the satellite's 500 ms.
EXTRA_MS = {1: (60,), 4: (20, 60, 120, 200), 6: (20, 40, 60, 120, 160, 200)}

_ROUTER = {"links.satellite.gateway": {"scheme": "xcp"}}
_P_ROUTER = {"links.satellite.gateway": {"scheme": "xcp", "limited": "scale"}}
TCPS: dict[str, dict[str, object]] = {
    "xcp": {"flows.*.variant": "xcp", **_ROUTER},
    "p-xcp": {"flows.*.variant": "xcp", "tcp.xcp.loss": "keep", **_P_ROUTER},
    "newreno": {"flows.*.variant": "newreno"},
    "cubic": {"flows.*.variant": "cubic"},
}
"""What makes each row of the scenario below."""


def scenario(flows: int, loss: float) -> bentpipe.Scenario:
    """Make a GEO link, 10 Mbit/s with a buffer of one BDP, under so many flows."""
    text = f"""\
title = "xcp"
[links.satellite]
from = "gateway"
to = "client"
rate = "10 Mbit/s"
delay = "250 ms"
queue = "500 packets"
loss = {{ model = "packet", probability = {loss} }}
[tcp]
receive_window = "8 MiB"
"""
    for number, extra_ms in enumerate(EXTRA_MS[flows]):
        text += f"""\
[links.terrestrial{number}]
from = "server{number}"
to = "gateway"
rate = "100 Mbit/s"
delay = "{extra_ms / 2} ms"
queue = "5000 packets"
[flows.f{number}]
from = "server{number}"
to = "client"
bytes = "50 MB"
"""
    return bentpipe.Scenario.from_toml(text)


def row(tcp: str, flows: int, loss: float) -> tuple[float, float, float, float]:
    """Give Mbit/s, Jain's index at the end of the first, the mean queue in ms and packets dropped."""
    carried, fair, wait, dropped = [], [], [], []
    for seed in SEEDS if loss else SEEDS[:1]:
        run = scenario(flows, loss).with_({**TCPS[tcp], "seed": seed})
        result = bentpipe.run(run)
        ends = [number(flow["finish_s"]) for flow in result.flows]
        carried.append(flows * 50e6 * 8 / max(ends) / 1e6)
        # Until the first is through, all of them share.
        first = bentpipe.run(run.with_({"duration": f"{min(ends):.3f} s"}))
        rates = [number(flow["bytes_delivered"]) for flow in first.flows]
        fair.append(sum(rates) ** 2 / (len(rates) * math.fsum(rate**2 for rate in rates)))
        link = result.links["satellite"]
        wait.append(number(link["queueing_delay_mean_s"]) * 1e3)
        dropped.append(number(link["dropped_packets"]))
    count = len(carried)
    return sum(carried) / count, sum(fair) / count, sum(wait) / count, sum(dropped) / count


def number(value: object) -> float:
    """Give a number of one run."""
    if not isinstance(value, int | float):
        raise TypeError(f"expected a number, found {value!r}")
    return float(value)


def table(loss: float) -> str:
    """Write the rows of a share of packets lost."""
    names = ["TCP", *(f"{flows} flow{'s' * (flows > 1)}: Mbit/s" for flows in EXTRA_MS)]
    names += ["Jain, 4", "Jain, 6", "mean queue, ms (1, 4, 6)", "dropped (1, 4, 6)"]
    rows = [names, ["---"] * len(names)]
    for tcp in TCPS:
        found = [row(tcp, flows, loss) for flows in EXTRA_MS]
        cells = [f"`{tcp}`", *(f"{carried:.2f}" for carried, *_ in found)]
        cells += [f"{fair:.3f}" for _, fair, *_ in found[1:]]
        cells.append(", ".join(f"{wait:.0f}" for *_, wait, _ in found))
        cells.append(", ".join(f"{dropped:.0f}" for *_, dropped in found))
        rows.append(cells)
    return "".join("| " + " | ".join(cells) + " |\n" for cells in rows) + "\n"


def main() -> None:
    """Run everything, write the page."""
    text = ""
    for loss in LOSSES:
        text += f"Packets lost on the satellite link: {loss:g}.\n\n{table(loss)}"
        print(f"loss {loss:g}", file=sys.stderr)
    write_text(PAGE, between_marks(PAGE, PROGRAM, "\n" + text))
    print(f"wrote {PAGE.relative_to(ROOT)}", file=sys.stderr)


if __name__ == "__main__":
    main()
