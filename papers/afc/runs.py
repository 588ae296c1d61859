"""The runs that the items share: schemes, channels, transfers, and what was measured of them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bentpipe.results import Estimate, Number, Run
from bentpipe.show.style import BLUE, ORANGE
from bentpipe_papers.common import over, plain, seeded, width
from bentpipe_papers.reproduction.readings import Reading
from bentpipe_papers.reproduction.reproduce import Context, Settings

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SCHEMES = ("tcp", "afc")
LINUX = "sack-linux-2.4"
"""The recovery of the kernel that the document states."""

CONTROLS = {"tcp": "standard", "afc": "afc"}
"""The conventional TCP of that kernel, and TCP-AFC over it."""

LABELS = {"tcp": "TCP", "afc": "TCP-AFC"}
COLOURS = {"tcp": ORANGE, "afc": BLUE}

SEEDS = 20
"""Transfers of each case."""

FEW = 10
"""The same where many settings are tried."""

PAYLOAD = 1448
"""Bytes of data in a full packet, with timestamps."""

PACKET = 1500
FILE_BYTES = 20_000_000
SEGMENTS = -(-FILE_BYTES // PAYLOAD)
"""Segments of the largest file."""

RATES_KBPS = (256, 512, 1024, 2048)
BERS = ("1e-6", "1e-5")
ALONE = "point-to-point.toml"
"""Scenario of figure 1."""

LOSS = "links.satellite.loss"


def loss_ratio(context: Context, ber: str = "1e-5") -> float:
    """Give the share of segments lost at one of the document's error rates, by its own counts.

    90 and 93 losses, each of a transfer at 1e-5, are all that is known of the channel. At 1e-6 it is taken to
    be a tenth of that.
    """
    counted = [
        float(row.published)
        for row in context.paper.published
        if (row.item, row.metric) == ("text-numbers", "losses in 20 MB")
    ]
    return sum(counted) / len(counted) / SEGMENTS * float(ber) / 1e-5


def counted_errors(context: Context, ber: str) -> Settings:
    """Give the settings of the channel whose segment losses are as counted."""
    return random_losses(loss_ratio(context, ber))


def random_losses(probability: float) -> Settings:
    """Give the settings of the channel that loses each packet with this probability."""
    return {LOSS: f'{{ model = "packet", probability = {probability:.4g} }}'}


def independent_errors(ber: str) -> Settings:
    """Give the settings of the channel whose bits are wrong independently of each other."""
    return {LOSS: f'{{ model = "ber", ber = {ber} }}'}


def bursty_errors(context: Context, packets: float) -> Settings:
    """Give the settings of the channel that loses as much at 1e-5 as was counted, in bursts of that mean."""
    lost = loss_ratio(context)
    bad_to_good = 1 / packets
    good_to_bad = bad_to_good * lost / (1 - lost)
    return {
        LOSS: f'{{ model = "gilbert-elliott", good_to_bad = {good_to_bad:.4g}, '
        f"bad_to_good = {bad_to_good:.4g} }}"
    }


def scheme(name: str) -> dict[str, str | float]:
    """Give the settings of a scheme for the transfer that is measured."""
    return {"flows.transfer.control": CONTROLS[name]}


def _without(settings: Settings) -> Settings:
    """Put conventional TCP in AFC's place."""
    return {key: CONTROLS["tcp"] if value == CONTROLS["afc"] else value for key, value in settings.items()}


WITHOUT = Reading.of_settings("without", "conventional TCP in AFC's place", _without)


def _recovered_as_today(settings: Settings) -> Settings:
    afc = settings.get("flows.transfer.control") == CONTROLS["afc"]
    return {**settings, "flows.transfer.recovery": "sack"} if afc else settings


def _credited(settings: Settings) -> Settings:
    return {**settings, "tcp.afc.growth_while_delayed": "credited"}


UDP_LOSS = 0.0014
"""Share of segments lost at 1e-5 in the tests beside UDP, were it not the one of the packet dumps."""

FEWER_LOST = Reading(
    "udp-losses",
    "Losses of the tests beside UDP: those of the packet dumps, 0.66 % at 1e-5, were inferred; here 0.14 % "
    "of the segments are lost at 1e-5, and a tenth of it at 1e-6",
    items=("text-numbers", "figure-1[12]"),
)
READINGS = (
    FEWER_LOST,
    Reading.of_settings(
        "afc-over-sack",
        "What the authors' patch did in Linux 2.4.19: AFC over that kernel's recovery, with its rate halving "
        "and moderation, was inferred; here AFC goes around them, over SACK by RFC 6675",
        _recovered_as_today,
        ("figure-[3-8]", "table-2"),
    ),
    Reading.of_settings(
        "growth-while-delayed",
        "Growth of cwnd while a reduction is delayed: none was inferred; here it is credited",
        _credited,
        ("figure-[3-9]", "figure-10", "table-2"),
    ),
)


def rate(kbps: float) -> dict[str, str | float]:
    """Give the settings of the satellite link's rate."""
    return {"links.satellite.rate": f"{kbps:g} kbit/s"}


def transfers(
    context: Context,
    settings: Mapping[str, Settings],
    scenario: str = ALONE,
    *,
    step_s: float = 0.0,
    seeds: int = SEEDS,
) -> dict[tuple[str, str], list[Run]]:
    """Run each case for both schemes, `seeds` transfers each; both schemes take the same seeds.

    With `step_s` each transfer begins so much later than the one before.
    """
    cases: dict[tuple[str, str], list[Settings]] = {
        (case, name): [
            {**changes, **scheme(name), "seed": seed, "flows.transfer.start": f"{step_s * seed:g} s"}
            for seed in range(1, seeds + 1)
        ]
        for case, changes in settings.items()
        for name in SCHEMES
    }
    return seeded(context, scenario, cases)


def flow(run: Run, name: str = "transfer") -> Mapping[str, Any]:
    """Give one flow."""
    return next(flow for flow in run["flows"] if flow["name"] == name)


def throughput(run: Run) -> float:
    """Give what the document calls throughput: volume over time, in kB/s."""
    return plain(flow(run)["goodput_bps"]) / 8e3


def throughputs(runs: Sequence[Run]) -> Estimate:
    """Give mean and interval of the throughput of several transfers, in kB/s."""
    return over(map(throughput, runs))


def paired(above: Sequence[Run], below: Sequence[Run]) -> Estimate:
    """Give the ratio of the throughputs of two cases, transfer by transfer with the same seed."""
    return over(throughput(one) / throughput(other) for one, other in zip(above, below, strict=True))


def surest(values: Iterable[Estimate]) -> Estimate:
    """Give the one that may be least: the one with the lowest end of its interval."""
    return min(values, key=lambda value: plain(value) - width(value))


def span(values: Iterable[Number], form: str = "{:.0f}") -> str:
    """Write the range of some values, for a note."""
    least, *_, most = sorted(plain(value) for value in [*values] * 2)
    return f"{form.format(least)} to {form.format(most)}"


def bars(axes: "Axes", name: str, values: Sequence[Number], label: str) -> None:
    """Draw a scheme's values with their intervals as bars, TCP's on the left; `label` formats a value."""
    offset = {"tcp": -0.2, "afc": 0.2}[name]
    drawn = axes.bar(
        [place + offset for place in range(len(values))],
        [plain(value) for value in values],
        0.38,
        yerr=[width(value) for value in values],
        error_kw={"lw": 0.8, "capsize": 2},
        color=COLOURS[name],
        label=LABELS[name],
    )
    axes.bar_label(drawn, fmt=label, fontsize=7)
