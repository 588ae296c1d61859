"""Why rows come out as they do, and where the document contradicts itself."""

from collections.abc import Mapping, Sequence

from bentpipe.papers.common import plain
from bentpipe.results import Estimate

FREQUENCY = "Arithmetic on the other three: both ways are moved down by the same 3,050 MHz. Not simulated."
COUNTED_CHANNEL = (
    "Segments lost at random, 0.66 % at the document's 1e-5 (90 and 93 counted in 13,813) and a tenth of "
    "that at 1e-6."
)
SPREAD = (
    f"{COUNTED_CHANNEL} Over 20 transfers each with the same seeds. The channel is the same in all of them; "
    "the authors' drifted from one transfer to the next, which the spread here has nothing of."
)
SLOWEST = "From 10 s after the SYN on, mean over 20 transfers."
CUTS = "Cuts of the window by a loss or by the timer, over segments lost."
FIRST_STAGE = (
    "TCP's printed transfer met 2 losses in this stage and AFC's 4, and so do the runs. The first loss ends "
    "slow start for TCP and not for AFC."
)
THROUGHOUT = "Ratio of the mean progress of 20 transfers each, every 5 s until the first transfer ends."
IMPROVEMENT = (
    "The conclusion's 138 % does not follow from the printed transfers, which make 126 %. No other pair of "
    "printed numbers gives it; it may be an average over transfers that are not shown."
)
IMPROVEMENT_OURS = (
    "The printed transfers make 126 %. Here AFC is as fast as printed and TCP 11 % slower, which is within "
    "what the receiver's ACKs do (table 2)."
)
NO_WORSE = "At 2 Mbit/s, where the modem overflows least; the intervals meet."
POINTS = (
    "At the higher data rate both schemes lose so much of the maximum that fewer points are left between "
    "them."
)
WITHOUT_SATELLITE = (
    "The same link with 10 ms of delay and no errors: inferred, the document names no such path. Over the "
    "satellite at 1e-6 (a tenth of the counted losses) AFC is well below it."
)
UDP = (
    "Packets of 188 bytes of MPEG transport stream, 184 of them audio or video, one in a UDP datagram: "
    "inferred. With the 28 bytes of UDP and IP."
)
MEDIA = "Audio or video as a share of what the receiver of the multimedia flow got."


def largest(distance: int, window: float) -> str:
    """Say how far the second loss can be."""
    return (
        f"The farthest there is, {distance} segments of a window of {window:.1f}; equation 1 has 1 at cwnd."
    )


def shared(throughput: Estimate) -> str:
    """Say what the transfer got."""
    return f"TCP gets {plain(throughput):.1f} kB/s beside it. Mean over 20 beginnings of the transfer."


def stage(throughputs: Sequence[float], at_once: float, bursts: float) -> str:
    """Say how single transfers spread, and what the receiver and the channel make of it."""
    return (
        "Mean of 20 transfers with the counted losses of each stage at random places; single ones "
        f"{min(throughputs):,.0f} to {max(throughputs):,.0f} B/s. The printed one is a single, chosen "
        f"transfer, and where in a stage its losses lay is not known: in bursts of 3 {bursts:,.0f} B/s. With "
        f"every segment acknowledged at once {at_once:,.0f} B/s; Linux does so for a while, which is not "
        "modelled."
    )


def stage_losses(losses: Sequence[int]) -> str:
    """Say how single transfers spread."""
    return (
        "Mean of 20 transfers over a channel that loses 0.66 % of segments at random; of single transfers, "
        f"as the printed one is, {min(losses)} to {max(losses)}."
    )


def first_loss(seconds: Sequence[float]) -> str:
    """Say how single transfers spread."""
    return (
        "The place of the first loss is drawn at random within the stage, as many losses as counted; in "
        f"single transfers {min(seconds):.1f} to {max(seconds):.1f} s."
    )


def first_cut(swapped: Mapping[str, Estimate]) -> str:
    """Say what the counts have to do with it."""
    return (
        "AFC's transfer met 4 losses in the first stage and TCP's 2, so that a second loss comes early. "
        f"With each other's counts AFC's first cut is at {plain(swapped['afc']):.1f} s and TCP's at "
        f"{plain(swapped['tcp']):.1f} s."
    )


def faster_receiver(second: float, at_once: float) -> str:
    """Say what bounds the difference."""
    return (
        f"With an ACK for every second segment {second / 1e3:.1f} kB/s, with one for each "
        f"{at_once / 1e3:.1f}. Linux acknowledges at once for a while and then every second segment, which "
        "is not modelled; the printed value lies between."
    )


def independent_gain(gains: Mapping[str, float]) -> str:
    """Say what the gain is with independent bit errors."""
    words = ", ".join(f"{gain:.2f} at {ber}" for ber, gain in gains.items())
    return (
        f"{COUNTED_CHANNEL} With independent bit errors of these rates (1.2 % and 11.3 % of packets) it is "
        f"the other way round: {words}, since at 11.3 % the timer rules both."
    )


def neighbour(others: Mapping[str, Estimate], congestion: float, kept: float) -> str:
    """Say what the transfer beside it got, and how many losses AFC did not answer."""
    return (
        f"Of {congestion:.0f} segments that the modem takes from AFC {kept:.0f} cost no reduction: a full "
        "drop-tail buffer often takes one of a window. Other buffers, ACKs and options: table above. The "
        f"other TCP gets {plain(others['tcp']):.1f} kB/s beside TCP and {plain(others['afc']):.1f} kB/s "
        "beside AFC."
    )


def moderate(cells: Mapping[tuple[str, str], Estimate]) -> str:
    """Say what TCP keeps."""
    kept = 100 * plain(cells["1e-6", "tcp"]) / plain(cells["no errors", "tcp"])
    return (
        f"{COUNTED_CHANNEL} AFC gets more than without errors, since these slow the other TCP down. TCP "
        f"keeps {kept:.0f} %."
    )


def degradation(percent: float, lost: Mapping[str, Estimate]) -> str:
    """Say at which share of segments lost TCP loses as much as published."""
    ours, theirs = plain(lost["afc"]), plain(lost["tcp"])
    return (
        f"{COUNTED_CHANNEL} Of the larger throughput without errors. Which of figures 11 and 12 is meant is "
        "not said, nor what the channel lost in these tests. Of the shares tried (tables of the figures) "
        f"{percent:g} % of segments comes nearest: TCP loses {theirs:.1f} % and AFC {ours:.1f} %, a ratio of "
        f"{(100 - ours) / (100 - theirs):.2f}."
    )


def window_limited(dropped: Mapping[str, float]) -> str:
    """Say what a larger window does."""
    return (
        "The receive window that leaves a lone transfer without congestion leaves this one without it too. "
        f"With 262,140 bytes the modem drops {dropped['shared']:.0f} packets here, and "
        f"{dropped['alone']:.0f} of a lone transfer, which the document excludes."
    )
