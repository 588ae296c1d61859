"""Why a transfer here is not the one that Linux makes: each pair that differs, with its reasons by letter."""

REASONS = {
    "P": "Linux sends by Proportional Rate Reduction (RFC 6937, in the kernel since 3.2) in every "
    "recovery: about a segment for every second ACK from the start. RFC 6675 sends nothing until pipe "
    "is below the halved cwnd and RFC 6582 nothing until the inflated window is open, and then a "
    "segment for each ACK; so new data stands elsewhere between the retransmissions, and NewReno's "
    "window has let one or two segments fewer out when the partial ACK comes.",
    "K": "Linux finds a lost retransmission with SACK by time (RACK, RFC 8985; it counts a "
    "TCPLostRetransmit), and since Linux 6.17, which took its RFC 6675 code out, tcp_recovery=0 does "
    "not change that. RFC 6675 section 5.1 leaves a lost retransmission to the timer, and its expiry "
    "sets the windows anew.",
    "J": "RFC 6675 rule 4 of NextSeg sends the highest outstanding segment once more when nothing else may "
    "go (the rescue retransmission); Linux has none.",
    "H": "Linux counts in whole segments, so half of 23 is 11; here it is 11.5 (RFC 5681 counts bytes).",
    "F": "Linux halves cwnd; RFC 5681 equation 4 halves FlightSize, which is one or two segments at the "
    "end of the data, and bounds it by two.",
    "R": "Linux leaves ssthresh alone when the timer expires in a recovery that has halved it already; RFC "
    "5681 equation 4 by the letter halves FlightSize, which counts everything from the hole on.",
    "E": "Leaving NewReno's recovery, Linux sets cwnd to ssthresh, the second option of RFC 6582 section "
    "3.2 step 3; the first is taken here, min(ssthresh, max(FlightSize, SMSS) + SMSS), and little is "
    "in flight at the end.",
    "A": "Linux opens cwnd in slow start by every segment that an ACK covers; RFC 3465 with the limit of "
    "one segment, which RFC 5681 recommends, is the default here.",
    "G": "In slow start Linux lets cwnd grow to twice the most that was in flight; here, by RFC 7661 "
    "section 4.3, to twice what was acknowledged in a round trip (`grow_only_when_limited`).",
    "C": "After the recovery cwnd grows by Linux's cubic there and by RFC 9438's here.",
}

DIFFERENCES = {
    ("sack", "one"): "H",
    ("sack", "three"): "PH",
    ("sack", "five"): "H",
    ("sack", "burst"): "H",
    ("sack", "lost-retransmission"): "KJ",
    ("sack", "last-segment"): "F",
    ("sack", "last-two"): "F",
    ("sack", "ack-run"): "AG",
    ("sack", "last-acks"): "FA",
    ("newreno", "one"): "H",
    ("newreno", "three"): "PHE",
    ("newreno", "five"): "PHE",
    ("newreno", "burst"): "PHE",
    ("newreno", "lost-retransmission"): "RA",
    ("newreno", "last-segment"): "F",
    ("newreno", "last-two"): "F",
    ("newreno", "ack-run"): "AG",
    ("newreno", "last-acks"): "FA",
    ("rack", "one"): "H",
    ("rack", "three"): "H",
    ("rack", "five"): "H",
    ("rack", "burst"): "H",
    ("rack", "lost-retransmission"): "H",
    ("rack", "last-segment"): "AG",
    ("rack", "last-two"): "AG",
    ("rack", "ack-run"): "AG",
    ("rack", "last-acks"): "AG",
    ("rack with cubic", "one"): "HC",
    ("rack with cubic", "three"): "HC",
    ("rack with cubic", "five"): "HC",
    ("rack with cubic", "burst"): "HC",
    ("rack with cubic", "lost-retransmission"): "HC",
    ("rack with cubic", "last-segment"): "AG",
    ("rack with cubic", "last-two"): "AG",
    ("rack with cubic", "ack-run"): "AG",
    ("rack with cubic", "last-acks"): "AG",
}

SENDS_ELSEWHERE = {
    pair for pair, letters in DIFFERENCES.items() if "P" in letters or pair == ("sack", "lost-retransmission")
}
"""Where the order of the data segments differs; elsewhere only the windows after it do."""
