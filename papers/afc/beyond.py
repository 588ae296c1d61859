"""Beyond the document: mistaken causes, what the scheme costs its neighbours, and around ADaLR."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from bentpipe.results import Estimate, Number, Run
from bentpipe.show.style import CYCLE, picture
from bentpipe_papers.common import curve, flows, link, over, plain, seeded
from bentpipe_papers.reproduction.grid import Grid
from bentpipe_papers.reproduction.reproduce import Context, Settings

from .runs import ALONE, LINUX, counted_errors, flow, independent_errors
from .shared import BESIDE_TCP, CLEAR

FOUR = "four-flows.toml"

STACKS = {
    "tahoe": ("tahoe", "standard"),
    "reno": ("reno", "standard"),
    "newreno": ("newreno", "standard"),
    "sack": (LINUX, "standard"),
    "adalr-sack": (LINUX, "adalr"),
    "afc": (LINUX, "afc"),
    "adalr+afc": (LINUX, "adalr+afc"),
}
"""Recovery and control of each variant: that of Linux 2.4 wherever SACK is used."""

VARIANTS = tuple(STACKS)
BERS = ("1e-7", "1e-6", "1e-5")
BUFFERS = ("16 packets", "64 packets", "256 packets")
CAUSE_SEEDS = 10
"""Runs of each case of the table of causes: four flows of 200 s each."""

SEEDS = 10
"""Runs of each case elsewhere."""

OURS = ("sack", "afc", "adalr-sack", "adalr+afc")
MEDIA = '{ from = "transmitter2", to = "receiver", app = "multimedia", video = "512 kbit/s" }'

CausesKey = tuple[str, str, str]
"""Variant, buffer, bit error rate."""


def _stack(flow: str, variant: str) -> dict[str, str | float]:
    recovery, control = STACKS[variant]
    return {f"flows.{flow}.recovery": recovery, f"flows.{flow}.control": control}


def _share(runs: Iterable[Run], part: str, whole: str) -> Estimate | None:
    """Give the share, in %, that one column is of another, over the flows of each run that has any."""
    shares = []
    for run in runs:
        flows: Sequence[Mapping[str, Any]] = run["flows"]
        counted = {name: sum(plain(flow[name]) for flow in flows) for name in (part, whole)}
        if counted[whole] > 0:
            shares.append(100 * counted[part] / counted[whole])
    return over(shares) if shares else None


def _mistaken_runs(context: Context) -> dict[CausesKey, list[Run]]:
    cases: dict[CausesKey, list[Settings]] = {
        (variant, buffer, ber): [
            {
                **_stack("ours", variant),
                **_stack("neighbour", variant),
                "links.satellite.queue": buffer,
                **({} if ber == CLEAR else independent_errors(ber)),
                **_moment(seed),
            }
            for seed in range(CAUSE_SEEDS)
        ]
        for variant, buffer, ber in product(VARIANTS, BUFFERS, (CLEAR, *BERS))
    }
    return seeded(context, FOUR, cases)


def _moment(seed: int) -> Settings:
    """Give the settings of one replication: seed and moment, for without errors nothing else is random."""
    return {"seed": seed + 1, "flows.ours.start": f"{0.37 * seed:g} s"}


def mistaken(context: Context) -> Grid:
    """Tabulate how often each control takes one cause of a loss for the other."""
    runs = _mistaken_runs(context)
    columns = ["variant", "buffer"]
    columns.append("clear: kept (%)")
    for ber in BERS:
        columns += [f"{ber}: cut (%)", f"{ber}: kept (%)"]
    rows = []
    for variant, buffer in product(VARIANTS, BUFFERS):
        cells: list[str | Estimate | None] = [variant, buffer]
        for ber in (CLEAR, *BERS):
            some = runs[variant, buffer, ber]
            if ber != CLEAR:
                cells.append(_share(some, "loss_cause_random_cut", "loss_cause_random"))
            cells.append(_share(some, "loss_cause_congestion_kept", "loss_cause_congestion"))
        rows.append(tuple(cells))
    return Grid(
        "Losses whose cause each control mistook, by bit error rate. cut: share of the bit errors that cost "
        "a reduction of the window; kept: share of the drops at a full buffer that did not. Four flows "
        "of one variant, 200 s, mean and 95 % interval of 10 runs",
        tuple(columns),
        tuple(rows),
    )


def draw_mistaken(context: Context, path: Path) -> None:
    """Draw the shares: of random losses over the bit error rate, of congestion losses over the buffer."""
    runs = _mistaken_runs(context)
    sizes = [int(buffer.split()[0]) for buffer in BUFFERS]
    with picture(path, (11, 4.4)) as figure:
        left, right = figure.subplots(1, 2)
        for variant, colour in zip(VARIANTS, CYCLE, strict=False):
            cut = [
                _share(runs[variant, BUFFERS[1], ber], "loss_cause_random_cut", "loss_cause_random")
                for ber in BERS
            ]
            curve(left, [float(ber) for ber in BERS], cut, color=colour, label=variant)
            kept = [
                _share(runs[variant, buffer, CLEAR], "loss_cause_congestion_kept", "loss_cause_congestion")
                for buffer in BUFFERS
            ]
            curve(right, sizes, kept, color=colour)
        left.set_xscale("log")
        left.set_xlabel("bit error rate")
        left.set_ylabel("bit errors that cost a reduction (%)")
        left.set_title(f"Random losses, buffer of {BUFFERS[1]}")
        right.set_xscale("log", base=2)
        right.set_xticks(sizes, [str(size) for size in sizes])
        right.set_xlabel("buffer (packets)")
        right.set_ylabel("drops without a reduction (%)")
        right.set_title("Congestion losses, no bit errors")
        figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=len(VARIANTS))


def _conditions(context: Context) -> dict[str, Settings]:
    channels: dict[str, Settings] = {
        "clear": {},
        "0.067 % lost": counted_errors(context, "1e-6"),
        "0.67 % lost": counted_errors(context, "1e-5"),
    }
    return {
        f"{name}{beside}": {**settings, **media}
        for beside, media in (("", {}), (", beside 576 kbit/s UDP", {"flows.stream": MEDIA}))
        for name, settings in channels.items()
    }


def neighbours(context: Context) -> Grid:
    """Tabulate what two flows of a scheme cost two TCP flows beside them, against four TCP flows."""
    cases: dict[tuple[str, str], list[Settings]] = {
        (condition, variant): [
            {**channel, **_stack("ours", variant), **_moment(seed)} for seed in range(SEEDS)
        ]
        for condition, channel in _conditions(context).items()
        for variant in OURS
    }
    runs = seeded(context, FOUR, cases)
    rows = []
    for (condition, variant), ours in runs.items():
        all_tcp = runs[condition, "sack"]
        change = [
            100 * (_goodput(run, "neighbour") / _goodput(base, "neighbour") - 1)
            for run, base in zip(ours, all_tcp, strict=True)
        ]
        rows.append(
            (
                condition,
                variant,
                over(_goodput(run, "ours") for run in ours),
                over(_goodput(run, "neighbour") for run in ours),
                "–" if variant == "sack" else over(change),
                over(plain(run["jain"]) for run in ours),
                over(100 * plain(link(run)["utilization"]) for run in ours),
            )
        )
    return Grid(
        "Two flows of a scheme beside two of TCP with SACK, 200 s through one modem of 90 packets. Change: "
        "of the neighbours' goodput against four flows of TCP, paired by seed. Mean and interval of 10 runs",
        (
            "channel",
            "ours",
            "ours (kB/s each)",
            "neighbours (kB/s each)",
            "neighbours' change (%)",
            "Jain's index",
            "link busy (%)",
        ),
        tuple(rows),
    )


def _goodput(run: Run, name: str) -> float:
    found = [plain(flow["goodput_bps"]) for flow in flows(run, name)]
    return sum(found) / len(found) / 8e3


def composition(context: Context) -> Grid:
    """Tabulate how long 20 MB take with each of the two schemes, with both, and with neither."""
    small = {"links.satellite.queue": "16 packets"}
    cases: dict[str, tuple[str, Settings]] = {
        "alone, clear": (ALONE, {}),
        "alone, clear, 16 packets": (ALONE, small),
        "alone, clear, 65,535 bytes of window": (ALONE, {"tcp.receive_window": "65535 B"}),
        **{f"alone, BER {ber}": (ALONE, independent_errors(ber)) for ber in BERS},
        "alone, 0.67 % lost": (ALONE, counted_errors(context, "1e-5")),
        "beside TCP, clear": (BESIDE_TCP, {}),
        "beside TCP, clear, 16 packets": (BESIDE_TCP, small),
        "beside TCP, 0.67 % lost": (BESIDE_TCP, counted_errors(context, "1e-5")),
    }
    rows = []
    for name, (scenario, changes) in cases.items():
        senders: dict[str, list[Settings]] = {
            variant: [
                {
                    **changes,
                    **_stack("transfer", variant),
                    "flows.transfer.start": f"{0.7 * seed:g} s",
                    "seed": seed + 1,
                }
                for seed in range(SEEDS)
            ]
            for variant in OURS
        }
        runs = seeded(context, scenario, senders)
        times = [_time([plain(flow(run)["duration_s"]) for run in some]) for some in runs.values()]
        best = min(range(len(OURS)), key=lambda index: plain(times[index]))
        rows.append((name, *times, OURS[best]))
    return Grid(
        "Time of 20 MB in s: TCP with SACK, each scheme alone, and TCP-AFC around TCP-ADaLR; mean and 95 % "
        "interval of 10 transfers",
        ("case", *OURS, "fastest"),
        tuple(rows),
    )


def _time(values: list[float]) -> Number:
    """Give mean and interval of times, or the one time where nothing is random."""
    return over(values) if max(values) - min(values) > 1e-6 else values[0]
