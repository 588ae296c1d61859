"""Random scenarios for kernel and simulator side by side: a link, its losses, the flows over it."""

import math
import random

COUNT = 200

_LIKE_LINUX = {
    "hybla": 'hybla = { reading = "linux", initial_window = "rho", scale_ssthresh = false }',
    "westwood": 'westwood = { reading = "linux" }',
    "veno": 'veno = { reading = "linux" }',
    "vegas": 'vegas = { reading = "linux" }',
}
"""What makes a control of ours the kernel's module."""
_CONTROLS = {
    "standard": 27,
    "cubic": 33,
    "bbr1": 25,
    "hybla": 3,
    "westwood": 3,
    "vegas": 3,
    "veno": 3,
    "illinois": 3,
}
_LOSSES = {"none": 28, "packet": 24, "ge": 14, "drop": 20, "back": 14}
_MOST_BYTES = 20e6
_MOST_S = 120


def _log_uniform(rng: random.Random, low: float, high: float) -> float:
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def _given(rng: random.Random, segments: int) -> list[int]:
    """Number the packets that are lost: early, anywhere, at the end; alone and in a row."""
    numbers: set[int] = set()
    for _ in range(rng.choice([1, 1, 2, 3, 5])):
        first = rng.choice(
            [
                rng.randint(1, min(60, segments)),
                rng.randint(1, segments),
                max(1, segments - rng.randint(0, 5)),
            ]
        )
        numbers |= set(range(first, first + rng.choice([1, 1, 1, 2, 5])))
    return sorted(numbers)


def scenario(number: int) -> str:
    """Write the scenario of this number, a file with one control."""
    rng = random.Random(f"virtual-diff {number}")  # noqa: S311 - it has to repeat
    rate = _log_uniform(rng, 0.5e6, 100e6)
    rtt_s = _log_uniform(rng, 0.020, 1.2)
    bdp = rate * rtt_s / 8
    queue = max(5, round(_log_uniform(rng, 0.1, 4) * bdp / 1500))
    (control,) = rng.choices(list(_CONTROLS), list(_CONTROLS.values()))
    (loss,) = rng.choices(list(_LOSSES), list(_LOSSES.values()))
    (flows,) = rng.choices([1, 2, 3], [72, 18, 10])
    pages = rng.random() < 0.08
    chance = {"packet": _log_uniform(rng, 1e-5, 1e-2), "ge": _log_uniform(rng, 1e-5, 1e-3)}.get(loss, 0.0)
    share = 1.0
    if chance:
        # What Reno gets of the rate, roughly, so that the transfer is over in time.
        share = min(1.0, 1.2 * 1448 * 8 / math.sqrt(chance) / rtt_s / rate) if control != "bbr1" else 0.7
    most = min(_MOST_BYTES, rate * share * _MOST_S / 8) / flows
    if rng.random() < 0.35:
        size = _log_uniform(rng, 10e3, max(20e3, most))
    else:
        size = _log_uniform(rng, most / 10, most)
    total = max(10_000, round(size))
    link = [
        f'rate = "{round(rate)} bit/s"',
        f'delay = "{round(rtt_s / 2 * 1e6)} us"',
        f'queue = "{queue} packets"',
    ]
    back = rate if rng.random() < 0.5 else max(8_000, rate / _log_uniform(rng, 10, 100))
    reverse = [f'rate = "{round(back)} bit/s"', f'queue = "{max(5, queue)} packets"']
    if loss == "packet":
        link += [f'loss = {{ model = "packet", probability = {chance:.3g} }}']
    elif loss == "ge":
        end = _log_uniform(rng, 0.05, 0.5)
        link += [
            f'loss = {{ model = "gilbert-elliott", good_to_bad = {chance:.3g}, bad_to_good = {end:.3g} }}'
        ]
    elif loss == "drop":
        numbers = _given(rng, max(2, math.ceil(total * flows / 1448)))
        link += [f'loss = {{ model = "drop", packets = {numbers}, at_least = "100 B" }}']
    elif loss == "back":
        reverse += [f'loss = {{ model = "packet", probability = {_log_uniform(rng, 1e-3, 5e-2):.3g} }}']
    event = rng.random()
    whole_s = rtt_s * 3 + total * flows * 8 / (rate * share)
    at = f'at = "{max(0.05, rng.uniform(0.1, 0.9) * whole_s) * 1e3:.0f} ms"'
    if event < 0.08:
        outage = f'outage = "{_log_uniform(rng, 100, 3000):.0f} ms"'
        link += [f'schedule = [{{ {at}, {outage}, waiting = "{rng.choice(["hold", "lose"])}" }}]']
    elif event < 0.16:
        link += [f'schedule = [{{ {at}, rate = "{round(rate * _log_uniform(rng, 0.25, 4))} bit/s" }}]']
    elif event < 0.24:
        delay = round(rtt_s / 2 * _log_uniform(rng, 0.5, 2) * 1e6)
        link += [f'schedule = [{{ {at}, delay = "{delay} us" }}]']
    tcp = ['profile = "linux"']
    if fixed := rng.random() < 0.25:
        tcp += [f'receive_window = "{max(16, round(bdp * _log_uniform(rng, 0.3, 2.5) / 1024))} KiB"']
    tcp += [_LIKE_LINUX[control]] if control in _LIKE_LINUX else []
    apart = rng.choice([0, rng.uniform(0, 3)])
    tables = []
    for flow in range(flows):
        tables += [f"[flows.f{flow}]", 'from = "server"', 'to = "client"', f'control = "{control}"']
        tables += [f'start = "{flow * apart * 1e3:.0f} ms"']
        if pages and flow == 0:
            tables += ['app = "http"', f"pages = {rng.randint(1, 4)}", f"objects = {rng.randint(1, 15)}"]
            tables += [
                f'object = "{rng.randint(1000, 60000)} B"',
                f'page_interval = "{rng.choice([2, 5, 10])} s"',
            ]
            tables += [f"connections = {rng.choice([1, 1, 2, 4])}"]
        else:
            tables += [f'bytes = "{total} B"']
    title = f"{control} {loss} {rate / 1e6:.2g} Mbit/s {rtt_s * 1e3:.0f} ms"
    title += f", queue {queue * 1500 / bdp:.1f} BDP, 1:{rate / back:.0f}, {flows} x {total / 1e3:.0f} kB"
    title += ", pages" * pages + ", fixed window" * fixed
    for bound, name in ((0.08, "outage"), (0.16, "rate step"), (0.24, "delay step")):
        if event < bound:
            title += f", {name}"
            break
    head = [f'title = "{title}"', 'duration = "240 s"', f"seed = {number}"]
    ends = ["[links.path]", 'from = "server"', 'to = "client"']
    return "\n".join([*head, *ends, *link, "[links.path.reverse]", *reverse, "[tcp]", *tcp, *tables, ""])
