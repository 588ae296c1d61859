"""Two flows at one bottleneck, one alone where it is hard: writes docs/generated/coexistence.md."""

from __future__ import annotations

import sys
from pathlib import Path

import bentpipe
from bentpipe.files.output import write_text
from statements import between_marks

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "generated" / "coexistence.md"
PROGRAM = "scripts/coexistence.py"
# Who is there: recovery rack under each, so that the control alone differs.
CONTROLS = ("standard", "cubic", "bbr1", "bbr3")


def known() -> list[str]:
    """Give the controls that this build has, in our order."""
    from bentpipe import _core

    names = {name for name, *_ in _core.schemes("controls")}
    return [name for name in CONTROLS if name in names]


def scenario(
    rate_mbps: float, rtt_ms: float, packets: float, loss: float, seconds: int, flows: list[str]
) -> str:
    """Write a bottleneck, and a flow of each control over it, a tenth of a second one after the other."""
    text = f"""\
title = "coexistence"
duration = "{seconds} s"
[links.path]
from = "s"
to = "d"
rate = "{rate_mbps} Mbit/s"
delay = "{rtt_ms / 2} ms"
queue = "{max(round(packets), 1)} packets"
loss = {{ model = "packet", probability = {loss} }}
[tcp]
profile = "linux"
receive_window = "64 MB"
"""
    for number, control in enumerate(flows):
        text += f"""\
[flows.f{number}]
from = "s"
to = "d"
recovery = "rack"
control = "{control}"
start = "{number / 10} s"
"""
    return text


def shares(text: str, seeds: range) -> tuple[list[float], float, float]:
    """Mean goodput of each flow in bit/s, mean wait before the link in s, share of packets dropped there."""
    goodputs: list[list[float]] = []
    wait, dropped, taken = 0.0, 0.0, 0.0
    for seed in seeds:
        result = bentpipe.run(bentpipe.Scenario.from_toml(text).with_({"seed": seed}))
        goodputs.append([number(flow["goodput_bps"]) for flow in result.flows])
        link = result.links["path"]
        wait += number(link["queueing_delay_mean_s"]) / len(seeds)
        dropped += number(link["dropped_packets"])
        taken += sum(
            number(link[key]) for key in ("dropped_packets", "delivered_packets", "corrupted_packets")
        )
    means = [sum(column) / len(seeds) for column in zip(*goodputs, strict=True)]
    return means, wait, dropped / taken


def number(value: object) -> float:
    """Give a number of one run."""
    if not isinstance(value, int | float):
        raise TypeError(f"expected a number, found {value!r}")
    return float(value)


def bdp(rate_mbps: float, rtt_ms: float) -> float:
    """Give the bandwidth-delay product in packets of 1500 bytes."""
    return rate_mbps * 1e3 * rtt_ms / 8 / 1500


def lines(head: str, rows: list[list[str]]) -> str:
    """Write a table."""
    names = [name.strip() for name in head.split("|")]
    body = [names, ["---"] * len(names), *rows]
    return "".join("| " + " | ".join(row) + " |\n" for row in body) + "\n"


def geo(controls: list[str]) -> str:
    """One download over GEO, long enough for the steady state."""
    rows = []
    for control in controls:
        text = scenario(10, 600, bdp(10, 600), 0, 300, [control])
        (goodput,), wait, dropped = shares(text, range(1, 2))
        rows.append([f"`{control}`", f"{goodput / 1e6:.2f}", f"{wait * 1e3:.0f}", f"{dropped:.2%}"])
    return lines("control | goodput, Mbit/s | mean queue, ms | dropped", rows)


def beside_cubic(controls: list[str]) -> str:
    """Each control beside one CUBIC, in buffers of several sizes, begun before it and after it."""
    rows = []
    for control in controls:
        row = [f"`{control}`"]
        for buffer in (0.5, 1, 4, 16):
            orders = []
            for place, flows in enumerate(([control, "cubic"], ["cubic", control])):
                text = scenario(50, 40, buffer * bdp(50, 40), 0, 120, flows)
                goodputs, _, _ = shares(text, range(1, 2))
                orders.append(goodputs[place] / sum(goodputs))
            row.append(" / ".join(f"{share:.0%}" for share in orders))
        rows.append(row)
    return lines("control | 0.5 BDP | 1 BDP | 4 BDP | 16 BDP", rows)


def random_loss(controls: list[str]) -> str:
    """One flow where packets are damaged."""
    rows = []
    for control in controls:
        row = [f"`{control}`"]
        for loss in (1e-4, 1e-3, 1e-2, 5e-2):
            text = scenario(100, 100, bdp(100, 100), loss, 60, [control])
            (goodput,), _, _ = shares(text, range(1, 4))
            row.append(f"{goodput / 1e6:.1f}")
        rows.append(row)
    return lines("control | 0.01 % | 0.1 % | 1 % | 5 %", rows)


def shallow(controls: list[str]) -> str:
    """One flow before a buffer far smaller than the pipe."""
    rows = []
    for control in controls:
        row = [f"`{control}`"]
        for share in (0.02, 0.1, 0.5):
            text = scenario(100, 100, share * bdp(100, 100), 0, 60, [control])
            (goodput,), _, dropped = shares(text, range(1, 2))
            row.append(f"{goodput / 1e6:.1f} ({dropped:.2%})")
        rows.append(row)
    return lines("control | 0.02 BDP | 0.1 BDP | 0.5 BDP", rows)


def bufferbloat(controls: list[str]) -> str:
    """One flow before a buffer far larger than the pipe: the wait there."""
    rows = []
    for control in controls:
        row = [f"`{control}`"]
        for share in (1, 10, 100):
            text = scenario(10, 40, share * bdp(10, 40), 0, 120, [control])
            _, wait, _ = shares(text, range(1, 2))
            row.append(f"{wait * 1e3:.0f}")
        rows.append(row)
    return lines("control | 1 BDP | 10 BDP | 100 BDP", rows)


def main() -> None:
    """Run everything, write the page."""
    controls = known()
    parts = [
        ("Alone over GEO", "10 Mbit/s, 600 ms, a buffer of one BDP (500 packets), 300 s.", geo),
        (
            "Beside CUBIC",
            "50 Mbit/s, 40 ms, 120 s: the share of goodput that the control has beside one flow of `cubic`,"
            " by the buffer: where it begins 0.1 s before CUBIC, and 0.1 s after it. Nothing is random.",
            beside_cubic,
        ),
        (
            "Random loss",
            "100 Mbit/s, 100 ms, a buffer of one BDP, 60 s: goodput in Mbit/s by the share of packets"
            " damaged; the mean of 3 seeds.",
            random_loss,
        ),
        (
            "A shallow buffer",
            "100 Mbit/s, 100 ms, 60 s: goodput in Mbit/s, and the share of packets dropped.",
            shallow,
        ),
        ("Bufferbloat", "10 Mbit/s, 40 ms, 120 s: the mean wait before the link, in ms.", bufferbloat),
    ]
    text = ""
    for title, what, run in parts:
        text += f"## {title}\n\n{what}\n\n{run(controls)}"
        print(title, file=sys.stderr)
    write_text(PAGE, between_marks(PAGE, PROGRAM, "\n" + text))
    print(f"wrote {PAGE.relative_to(ROOT)}", file=sys.stderr)


if __name__ == "__main__":
    main()
