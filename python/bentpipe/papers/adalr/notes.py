"""Why rows come out as they do, and where the documents contradict themselves or each other."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from bentpipe.results import Estimate

if TYPE_CHECKING:
    pass

PAGES_ERRORS = (
    "660 pages each. Which BER were simulated is not stated; the size of the gain at high BER is unexplained."
)
NEWRENO_BOTH = (
    "Up to 1e-7 ADaLR NewReno's mean is above NewReno's, as claimed; the mean over all BER is mostly 1e-5's, "
    "where it is below. The reason that the paper supposes was not tested."
)
PAGES_BOTH = (
    "Eight starts, each with its own seed. The cross traffic is inferred (table 7), which BER were simulated "
    "is not stated."
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
