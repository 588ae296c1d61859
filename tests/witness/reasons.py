"""Why a transfer here is not the one that ns-2 makes: each pair that differs, with its reasons by letter."""

REASONS = {
    "T": "ns-2 keeps ssthresh in whole packets, so half of a window of 15 is 7; here it is 7.5 "
    "segments (RFC 5681 counts bytes), and slow start lasts one ACK longer.",
    "W": "ns-2 halves min(cwnd, window); RFC 5681 equation 4 halves FlightSize, which is all that is "
    "sent and not cumulatively acknowledged: more than cwnd while holes are open, the whole part "
    "of cwnd otherwise.",
    "M": "ns-2 lets cwnd be halved to one packet, and bounds only ssthresh by two; RFC 5681 bounds "
    "both by 2 SMSS.",
    "G": "In ns-2's Reno and NewReno the ACK that ends fast recovery opens the window as well; RFC "
    "5681 section 3.2 step 6 and RFC 6582 set cwnd and no more.",
    "E": "At the end of recovery ns-2's NewReno keeps the window that partial ACKs have left; RFC 6582 "
    "section 3.2 sets min(ssthresh, max(FlightSize, SMSS) + SMSS), which avoids a burst.",
    "R": "ns-2 restarts the retransmission timer at a fast retransmit; RFC 6298 restarts it on an ACK "
    "of new data only, and RFC 6675 section 6 leaves the choice open.",
    "H": "ns-2's Sack1 resends any hole below a SACK block; RFC 6675 waits until three segments above "
    "the hole are held (IsLost), and sends new data meanwhile.",
    "P": "ns-2's Sack1 counts its pipe down by one for each ACK, takes two off at a partial ACK, and "
    "leaves its first retransmission out; RFC 6675 takes what is lost out of the pipe as soon as "
    "it is known.",
    "B": "Until July 2003 ns-2's Reno was held back behind a timeout alone. ns-2.35 holds it back in every "
    "window, or never without `bugFix_`, as it runs here: after a timeout it takes duplicate ACKs for new "
    "losses.",
    "J": "RFC 6675 rule 4 of NextSeg resends the highest segment once when the receive window leaves "
    "no room for new data (the rescue retransmission); ns-2 has none.",
}

_TRUNCATED = (
    "one",
    "two",
    "three",
    "four",
    "burst",
    "two-windows",
    "one-limited",
    "three-limited",
    "burst-limited",
)
_TWICE_LOST = ("lost-retransmission", "lost-retransmission-limited")

DIFFERENCES = {
    **{("tahoe", pattern): "T" for pattern in _TRUNCATED},
    **{("tahoe", pattern): "RW" for pattern in _TWICE_LOST},
    **{("reno", pattern): "G" for pattern in ("one", "first-of-window", "small-window", "one-limited")},
    ("reno", "two-windows"): "GT",
    **{("reno", pattern): "T" for pattern in ("two", "three", "new-in-recovery")},
    **{
        ("reno", pattern): "W"
        for pattern in ("four", "burst", "half-window", "alternate", "three-limited", "burst-limited")
    },
    **{("reno", pattern): "RW" for pattern in _TWICE_LOST},
    ("reno", "first-segment-limited"): "M",
    **{
        ("newreno", pattern): "ET"
        for pattern in ("one", "two", "three", "four", "two-windows", "one-limited", "three-limited")
    },
    **{("newreno", pattern): "E" for pattern in ("burst", "burst-limited")},
    **{("newreno", pattern): "G" for pattern in ("first-of-window", "small-window")},
    **{("newreno", pattern): "W" for pattern in ("half-window", "alternate")},
    ("newreno", "new-in-recovery"): "T",
    **{("newreno", pattern): "RW" for pattern in _TWICE_LOST},
    ("newreno", "first-segment-limited"): "M",
    **{("sack", pattern): "HP" for pattern in ("two", "three", "four", "three-limited")},
    **{("sack", pattern): "P" for pattern in ("burst", "half-window", "alternate", "burst-limited")},
    **{("sack", pattern): "W" for pattern in ("new-in-recovery", "two-windows")},
    **{("sack", pattern): "JRW" for pattern in _TWICE_LOST},
    ("sack", "first-segment-limited"): "M",
    **{("reno-2000", pattern): "B" for pattern in ("half-window", "alternate")},
    ("reno-2000", "first-segment-limited"): "M",
    ("newreno-1999", "first-segment-limited"): "M",
    ("newreno-2003", "first-segment-limited"): "M",
    ("sack-1996", "first-segment-limited"): "M",
}
