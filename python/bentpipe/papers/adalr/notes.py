"""Why rows come out as they do, and where the documents contradict themselves or each other."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from bentpipe.results import Estimate

if TYPE_CHECKING:
    from .fairness import Shares

E1 = (
    "The document divides 64 KB by 500 ms. Only whole segments are sent, 44 of them (64,240 bytes), and to "
    "the 500 ms come the time that a segment takes on the links and the wait of a delayed ACK."
)
SHORT = "Below the breakpoint both do exactly the same."
STEP = "The steps are 0.97 and 1.94; the document rounds the interval."
ONE_FILE = "As long as the simulated time: there is one download."
PERSIST = "Not used: no receiver closes its window here, so no persistence timer ever runs."
EFFICIENCY = (
    "Of it, 80 % carries packets: inferred, since a 50 MB download at 2.048 Mbit/s would take 201 s at "
    "least, "
    "and table 1 has 251.9 s where the window does not limit."
)
TABLE_1 = "Propagation is the nominal round trip and 80 ms, which is inferred (see the first item)."
KNEE = "Where 44 segments no longer fill the round trip, the window limits; below, the link does."
TABLE_5 = (
    "From the request on, over one connection that stays open and begins again in slow start after a pause "
    "(RFC 2581, section 4.1)."
)
PAGES_ERRORS = (
    "660 pages each. Which BER were simulated is not stated; the size of the gain at high BER is unexplained."
)
PAGES_CONGESTED = (
    "The cross traffic is inferred (table 7: three long downloads of the same variant), so the level is not "
    "a result. Mean over eight starts."
)
PAGES_CONGESTED_ORDER = (
    f"{PAGES_CONGESTED} Tried: one to six and eight downloads, and a stream that leaves 20 to 50 % of the "
    "link (picture). None gives the published order and level together. Why ADaLR SACK is not ahead beside "
    "three downloads was not looked into."
)
NEWRENO_BOTH = (
    "Up to 1e-7 ADaLR NewReno's mean is above NewReno's, as claimed; the mean over all BER is mostly 1e-5's, "
    "where it is below. The reason that the paper supposes was not tested."
)
PAGES_BOTH = (
    "Eight starts, each with its own seed. The cross traffic is inferred (table 7), which BER were simulated "
    "is not stated."
)
PAGE_GAIN = "The printed times have two digits, so that their gains are known to about 2 points."
PAGE_SWAPPED = "The slides swap the percentages: the table gives 10.2 % with and 9.3 % without delayed ACK."
SWAPPED = (
    "The slides swap the percentages with and without delayed ACK: their own table, which is the paper's, "
    "gives 23.3 % with and 28.1 % without."
)
GOODPUT_IDEAL = (
    "Average over the download. It follows from table 6, which gives 30 % with and 39 % without delayed ACK; "
    "the slides' value must be a ratio at some moment, as throughput's is."
)
LINK_IDEAL = (
    "Ratio of the highest shares of the link in 10 s. How the authors averaged is not stated; the paper "
    "prints 53 % and 63 % for throughput and 28 % and 34 % for utilization, the slides 53 % and 66 % here."
)
HIGHEST = (
    "Highest in any 10 s, of 2.048 Mbit/s. The window limits standard TCP to 44 segments a round trip, "
    "43.8 % of the rate with headers: the printed 50 % contradicts the printed 463.5 s, which is 42 % on the "
    "average. ADaLR approaches the 80 % that carries packets and has not reached it when the download ends."
)
TABLE_7 = (
    "The cross traffic is inferred, so the level is not a result: of one to five long downloads beside it, "
    "three come nearest. Mean over eight starts. An unresponsive stream that leaves a fifth of the link "
    "gives "
    "1,270 to 1,330 s for all four variants alike."
)
COMPARABLE = (
    "Cross flows of the same variant and settings. Without delayed ACK the standard variants are some 8 % "
    "slower than ADaLR; why was not isolated. Beside a stream that does not respond, which leaves a fifth of "
    "the link, the four are within 5 %."
)
CONGESTION_ERRORS = "The cross traffic is inferred (table 7). From a BER of 1e-6 on ADaLR is ahead."
ERROR_ORDER = (
    "In the ablation the cwnd increase makes the difference, and the other mechanisms little; its slow start "
    "and its congestion avoidance were not switched off apart."
)
TABLE_11 = (
    "The printed column adds up to 17 Mbit/s over a link of 10 Mbit/s, and the six flows share it all the "
    "time, so no choice of averaging time explains it. By arithmetic, not tested: at 354 kB/s a window of 44 "
    "segments takes 181 ms, below ADaLR's breakpoint of 250 ms, so all six flows would be standard TCP; over "
    "10 Mbit/s six windows take 325 ms, and ADaLR is active. In the run it takes more."
)


def threshold(bits: float) -> str:
    """Say what the threshold amounts to."""
    return (
        f"The PER at 1e-10 is 1.2e-6; of 12,000 bits that is {bits:.4f} bit, so a packet with a single wrong "
        "bit is lost, and the threshold has no effect."
    )


def up_to(average: float) -> str:
    """Say what the average gain is."""
    return (
        f"Ratio of the highest throughputs in 10 s; averaged over the downloads it is {average:.0f} %. "
        "The documents do not say over which time they averaged, and table 6 bounds the average at 39 %."
    )


def points(relative: float) -> str:
    """Say what the gain is as a ratio."""
    return (
        f"Difference of the highest shares in 10 s, in points of 2.048 Mbit/s; as a ratio {relative:.0f} %. "
        "Neither the meaning nor the averaging time is stated; the printed value lies between the two."
    )


def at_ber(where: str, by_ber: Mapping[str, Estimate], item: str) -> str:
    """Say at which bit error rate the extreme is, the others, and what is known of the difference."""
    values = ", ".join(f"{ber}: {value['mean']:.1f}" for ber, value in by_ber.items())
    congested = item in ("figure-13", "figure-14", "figure-15", "figure-16")
    cause = (
        "The cross traffic is inferred, and which BER were simulated is not stated."
        if congested
        else "Which BER were simulated is not stated. At 1e-8 a download meets about four losses; from "
        "the first on the no-loss branches stay off. That this makes the gain least there was not tested."
    )
    return f"At {where}; % by BER: {values}. {cause} The size of the gain at 1e-6 and above is unexplained."


def table_9(common: float) -> str:
    """Give the value over common time."""
    return f"Over the flow's own active time; while all six are active {common:,.0f} bytes/s."


def common_gain(runs: Mapping[str, "Shares"]) -> str:
    """Give the same gains over common time."""
    ours, theirs = (share.common for share in runs.values())
    return (
        f"While all six are active the 500 ms flow gains {100 * (ours[-1] / theirs[-1] - 1):.0f} % and the "
        f"25 ms flow loses {100 * (1 - ours[0] / theirs[0]):.0f} %."
    )


def sums(own: float) -> str:
    """Give the sum over own active time."""
    return (
        f"While all six are active. The averages over own active times add up to {own:.2f} Mbit/s, since "
        f"they "
        "are over unequal times, as the printed ones must be."
    )


def common_jain(value: float) -> str:
    """Give Jain's index over common time."""
    return f"Of averages over unequal active times, as printed; while all flows are active it is {value:.4f}."


def slides_mix(value: float) -> str:
    """Give it over common time."""
    return (
        "The slides mix ADaLR at 300, 400 and 500 ms with NewReno at 25, 50 and 100 ms, the paper has "
        "six flows "
        f"of 25 ms: two experiments under one name. While all flows are active the index is {value:.4f}."
    )


def pages_congested(alone: float) -> str:
    """Say what the buffer alone does."""
    return f"{PAGES_CONGESTED} With the buffer of 15 packets and no cross traffic {alone:.2f} s."


def pages_congested_gain(alone: float, delayed: str) -> str:
    """Say what the gain is with the buffer alone, and what the printed table gives."""
    printed = (
        "The slides' 33 % is against SACK; their table gives 20 % against SACK and 34 % against NewReno. "
        if delayed == "enabled"
        else ""
    )
    return f"{printed}With the buffer alone {alone:.1f} %. {PAGES_CONGESTED_ORDER}"
