"""Why rows come out as they do.

Each cause was found by an experiment, here or with ns-2 (``papers/sack/ns2.tcl``); the paper's page in
``docs`` lists the commands. "ns-2 of 2000" is ns-2.35 with the defaults that it had in February 2000.
"""

from .runs import SCHEMES

DELAY = (
    "Without drops the queue is what the window exceeds the bandwidth-delay product by. Once the buffer "
    "overflows, the mean is over the packets that pass: the more of them pass after the overflow, through "
    "a short queue, the smaller it gets."
)
DELAY_ALIKE = (
    "The curves have one shape, the values are apart: SACK passes far more packets after the overflow, "
    "through a short queue. The four are equal only where nothing is dropped."
)
DROPS = (
    "Up to 113 packets nothing is dropped: the last doubling of slow start, from 64 packets, overruns the "
    "link by the window less 64, and 49 packets may wait."
)
NEWRENO_DROPS = (
    "The overflow of slow start drops more at 190 than at 160 packets, and NewReno's recovery comes after "
    "it: cutting it short (next row) cannot lower the count. The count could fall only if the run at 160 "
    "overflowed a second time and the run at 190 did not. ns-2 of 2000 comes near that from 7 to 14 s of "
    "traffic: 46 drops at both."
)
UNREPAIRED = "The document's reason holds, though what it is to explain does not."

_TO_128 = (
    "At 128 packets slow start overflows the buffer, at 96 it does not. Below 96 efficiency rises with the "
    "window: only from 96 on does a larger window cost."
)
_SECOND = (
    "SACK overflows the buffer a second time at 160 packets. Until its first hole is repaired the "
    "advertised window stops new data; the ACK that fills it then releases 52 packets at once, where 49 "
    "may wait, and the window is halved again. At 128 packets 42 are released, and fit. ns-2's Sack1 "
    "drops the same 31 packets."
)
_FITS = (
    "SACK gains: at 190 packets more retransmissions are still under way when the ACK comes that fills "
    "the first hole. They take up window, 42 packets are released, fit the buffer, and no second overflow "
    "follows (see 160 against 128 packets)."
)
_NEWRENO_HOLES = "NewReno repairs the same number of holes in 5 s, one a round trip, at either window."
EFFICIENCY = {
    "lower at 128 than at 96 packets": dict.fromkeys(SCHEMES, _TO_128),
    "higher at 160 than at 128 packets": {
        "tahoe": (
            "Both windows lose 15 or 16 packets in slow start, which takes up most of the 5 s; from 10 s "
            "on, the larger window is ahead."
        ),
        "reno": "Both windows lose 15 or 16 packets in slow start; the larger one then lets more through.",
        "newreno": _NEWRENO_HOLES,
        "sack": _SECOND,
    },
    "lower at 190 than at 160 packets": {
        "tahoe": "At 190 packets slow start drops 46 packets, at 160 it drops 16.",
        "reno": "At 190 packets slow start drops 46 packets, at 160 it drops 16.",
        "newreno": _NEWRENO_HOLES,
        "sack": _FITS,
    },
}

_AHEAD = (
    "In long runs SACK stays ahead only at windows where its recovery does not end in a second overflow "
    "of the buffer, which halves its window again (see figure 4, 160 packets)."
)
SACK_AHEAD = {
    96: "Nothing is dropped at this window, so the four do the same.",
    128: _AHEAD,
    160: _AHEAD,
    190: _AHEAD,
}
NEWRENO_WORST = (
    "So it is with the NewReno that the document describes, which repairs a hole a round trip without "
    "ever timing out. With the timer of RFC 6582 (dashed) the timer expires, slow start repairs the rest, "
    "and NewReno does about as Reno."
)
PEAK = (
    "Of these windows. Between them, up to 113 packets, goodput is that of 96, and throughput slightly "
    "higher, since what waits in the buffer counts as sent. The peak is at 96 because it is the last of "
    "these that does not overflow the buffer; with one bandwidth-delay product of buffer throughput never "
    "falls."
)
FALLS = (
    "It falls steeply once slow start overflows the buffer and then changes little; some of it rises, "
    "since dropped and resent packets count as sent."
)
HIGHER_AT_190 = (
    "The document has efficiency fall from 160 to 190 packets and throughput rise. The two would be "
    "proportional if both counted goodput; they can differ if throughput counts dropped and resent "
    "packets, as it does here."
)
NEWRENO_LOWEST = (
    "Goodput is the same at 128, 160 and 190 packets, a hole a round trip; throughput, which counts the "
    "dropped packets as sent, therefore grows with the window. In runs of 10 s and more NewReno is lowest "
    "at 190."
)
NOT_BEHIND = (
    "At 160 packets and from 10 s on, Tahoe is ahead of SACK, which halved its window twice (see figure 4)."
)

ONE_TAHOE_DELAY = (
    "Only in short runs: a window of 28 packets keeps a standing queue of 7 on this path, and the scheme "
    "that has it longest has the longest mean."
)
ONE_SACK_DELAY = (
    "Reno and SACK do the same here. NewReno ends recovery with the window that RFC 6582 sets to what is "
    "in flight, and so sends no burst into the queue. ns-2 of 2000, where it ends with half the window as "
    "Reno does, gives the document's order: 6.4, 5.0, 5.0 and 4.6 ms."
)
ONE_NO_BETTER = "Against Reno and NewReno it holds; Tahoe is behind, as the document's own rows above say."
ONE_FIRST = (
    "All four resend at the third duplicate ACK. SACK's is 0.2 ms later here, since ACKs with SACK blocks "
    "are larger; the option cannot make the first retransmission earlier."
)
ONE_GROWTH = (
    "Tahoe starts with slow start, which doubles the window each round trip up to half of its old size: "
    "1, 1, 2, 4 segments, the first round trip being that of the retransmission. Only then does it grow "
    "by one segment a round trip."
)

THREE_RENO_DELAY = (
    "In runs of 5 s. Later the standing queue of a window above the bandwidth-delay product rules the "
    "mean, and Reno, which reaches it last, has the shortest."
)
THREE_SACK = (
    "NewReno is ahead by one packet in 245. RFC 6675 resends a hole once three segments beyond it are "
    "known to have arrived, which for the last two drops takes a round trip; ns-2's Sack1 resends any "
    "hole as soon as its window has room. ns-2 of 2000, whose NewReno also lacks RFC 6582's partial "
    "deflation, gives SACK 50.8 % and NewReno 46.6 % of the link."
)
THREE_SACK_DELAY = "In short runs; see the row on Reno's queue."

NEWRENO_ROUNDS = (
    "Three drops, three round trips, from the first retransmission to the ACK of the whole window."
)
SACK_ROUNDS = (
    "A round trip and a half more than the least possible: two of the three drops are the last but two "
    "and the last of the window, and RFC 6675 takes them for lost only when three later segments have "
    "been acknowledged. Still fewer than NewReno's."
)

RATE = (
    "Computed: bits that passed over the time the link was busy; what was under way at the end of the run "
    "is not counted."
)
STANDARD_WINDOW = (
    "Computed: 65,535 bytes, the most that TCP advertises without window scaling, in packets of 512 "
    "bytes. It follows from the packet size, not from the capacity of the link."
)
ROUND_TRIP = (
    "250 ms of propagation and 512 bytes sent twice at 1.536 Mbit/s are the document's 255.3 ms exactly; "
    "the 40-byte ACKs, which it did not count, add 0.4 ms. A real geostationary round trip is about twice "
    "as long (see text-geo)."
)
PRODUCT = (
    "Computed with the measured round trip. The printed packets are the printed bits over 4096, 512 bytes."
)
FILLING = (
    "Computed: the smallest window within 0.05 % of the goodput of the largest, in a buffer that never "
    "overflows."
)

BURST_FIRST = (
    "RFC 6675 takes lost packets out of pipe, so 40 losses make room at once. The algorithm of 1996, "
    "which the document describes, keeps them in: ns-2's Sack1 resends one packet in this round trip, as "
    "the document says, and then times out."
)
BURST_SECOND = "What the first round trip left: 40 in all (see the row above)."
BURST_TIMEOUT = "ns-2's Sack1, which the document used, times out once in this case."
NO_TIMEOUT = (
    "With a clock tick of 10 ms, ns-2's default since 2002, the timer does expire at most windows beyond "
    "113 packets: the round trip through the queue that slow start builds is longer than the timer has "
    "seen."
)


def efficiency_94(reached_s: float, payload_s: float) -> str:
    """Say which duration would give the printed efficiency."""
    return (
        "Efficiency depends on how long the run is, and the document does not say. 94 % would take "
        f"{reached_s:.0f} s of traffic with headers counted as data (next row), {payload_s:.0f} s without."
    )


def whole_packets_94(lost_s: float, reached_s: float) -> str:
    """Say what the printed efficiency tells of the run behind it."""
    return (
        f"ns-2 counted whole packets until November 2001. Start and repair cost SACK {lost_s:.2f} s of "
        f"full rate, once, so that 94 % takes {reached_s:.0f} s of traffic (ns-2 of 2000 gives 94.3 % at "
        "43 s), as the picture shows on the right. At that length Reno no longer has the longest queue: "
        "the document's two statements do not come from one run with this window."
    )


def burst(newreno: float) -> str:
    """Say what the others need."""
    return f"NewReno needs {newreno:.0f} round trips, one for each of the 40 losses."


def matters(within: float, beyond: float) -> str:
    """Say how efficiency changes with the window on either side of the standard window."""
    return (
        f"SACK's mean efficiency is {within:.0f} % from 64 to 128 packets and {beyond:.0f} % from 128 to "
        "200. The largest change is where the window outgrows link and buffer, between 113 and 120 "
        "packets; 65,535 bytes have no part in it."
    )
