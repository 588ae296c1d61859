"""Write scenarios/starlink-like.csv: two minutes of a link over Starlink, by published measurements.

Each number that shapes it has a source in docs/explanation/starlink-like.md.
"""

import random
from pathlib import Path
from statistics import NormalDist

FILE = Path(__file__).resolve().parent.parent / "scenarios" / "starlink-like.csv"

SEED = 15
SLOTS, SLOT_S, STEP_S = 8, 15.0, 0.1
MEDIAN_RTT_S, QUARTILE_S = 0.050, 0.010
LEAST_RTT_S, MOST_RTT_S = 0.030, 0.080
JITTER_S = 0.0067
ELSEWHERE_S = 0.020
LEAST_BPS, MOST_BPS = 100e6, 200e6
LOSS, LOSS_AT_HANDOVER = 0.01, 0.5
"""The mean over all time, and as long as packets are lost behind a handover."""

# A normal distribution has its quartiles 0.6745 deviations from the middle; two draws differ by 2/√π.
SPREAD_S = QUARTILE_S / 0.6745
DEVIATION_S = JITTER_S / 1.1284


def within(least: float, value: float, most: float) -> float:
    """Hold a value between two others."""
    return max(least, min(value, most))


def rows() -> list[str]:
    """Give the rows of the trace: time, delay, rate and loss."""
    chance = random.Random(SEED)  # noqa: S311, a path and no secret
    found = []
    # Of each eighth of the distribution one slot, in any order.
    path = NormalDist(MEDIAN_RTT_S, SPREAD_S)
    bases = [within(LEAST_RTT_S, path.inv_cdf((slot + 0.5) / SLOTS), MOST_RTT_S) for slot in range(SLOTS)]
    chance.shuffle(bases)
    handover_steps = round(SLOT_S * LOSS / LOSS_AT_HANDOVER / STEP_S)
    for slot, base in enumerate(bases):
        rate = round(chance.uniform(LEAST_BPS, MOST_BPS) / 1e6) * 1_000_000
        for step in range(round(SLOT_S / STEP_S)):
            time = slot * SLOT_S + step * STEP_S
            rtt = max(LEAST_RTT_S, base + chance.gauss(0.0, DEVIATION_S))
            loss = LOSS_AT_HANDOVER if step < handover_steps else 0
            found.append(f"{time:.1f},{rtt - ELSEWHERE_S:.4f},{rate},{loss}")
    end = SLOTS * SLOT_S
    return [*found, f"{end:.1f}" + found[0].removeprefix("0.0")]


def main() -> None:
    """Write the file."""
    text = "\n".join(["# made by scripts/starlink_like.py", "time_s,delay_s,rate_bps,loss", *rows()])
    FILE.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
