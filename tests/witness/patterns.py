"""The drop patterns on which bentpipe's recoveries are held against ns-2's."""

from dataclasses import dataclass

VARIANTS = (
    "tahoe",
    "reno",
    "newreno",
    "sack",
    "tahoe-2000",
    "reno-2000",
    "newreno-1999",
    "newreno-2003",
    "sack-1996",
)
# Those that are a variant of bentpipe with options of its recovery.
WITH_OPTIONS = {
    "tahoe-2000": ("tahoe", "as_in_ns2 = true"),
    "reno-2000": ("reno", "as_in_ns2 = true, each_loss = true"),
    "newreno-2003": ("newreno-1999", "impatient = true, partial_deflation = true"),
}
SEGMENTS = 64
WINDOW = 28


@dataclass(frozen=True)
class Pattern:
    """Data packets that the bottleneck loses: the n-th to cross it, from 1, retransmissions counted too."""

    name: str
    drops: tuple[int, ...]
    what: str
    limited_transmit: bool = False


# As in Fall and Floyd (1996), cwnd is 15 segments when segment 14 is found lost, with segments 15 to 28
# behind it, and the next packet to cross the bottleneck, the 29th, is the retransmission of 14. Limited
# transmit sends two before it. When segment 15 is the first one lost, cwnd is 16, which has a whole half.
PATTERNS = (
    Pattern("one", (14,), "one segment of a window (Fall and Floyd, one drop)"),
    Pattern("two", (14, 28), "first and last segment of a window (Fall and Floyd, two drops)"),
    Pattern("three", (14, 26, 28), "Fall and Floyd, three drops"),
    Pattern("four", (14, 24, 26, 28), "Fall and Floyd, four drops"),
    Pattern("first-of-window", (15,), "the first segment of a round trip"),
    Pattern("burst", (14, 15, 16, 17), "four adjacent segments"),
    Pattern("half-window", (15, 16, 17, 18, 19, 20, 21, 22), "eight adjacent segments, half of a window"),
    Pattern("alternate", (15, 17, 19, 21, 23, 25, 27), "every other segment of a window"),
    Pattern("small-window", (5,), "a segment while five are in flight"),
    Pattern("first-segment", (1,), "the first data segment, with too few behind it for a fast retransmit"),
    Pattern("last-segment", (64,), "the last segment, with none behind it"),
    Pattern("last-two", (63, 64), "the last two segments"),
    Pattern("lost-retransmission", (14, 29), "a segment and its retransmission"),
    Pattern("new-in-recovery", (14, 30), "a segment, and the first new one that recovery sends"),
    Pattern("two-windows", (14, 45), "a segment, and another one after recovery"),
    Pattern("one-limited", (14,), "as one, with limited transmit", True),
    Pattern("three-limited", (14, 26, 28), "as three, with limited transmit", True),
    Pattern("burst-limited", (14, 15, 16, 17), "as burst, with limited transmit", True),
    Pattern("first-segment-limited", (1,), "as first-segment, with limited transmit", True),
    Pattern("lost-retransmission-limited", (14, 31), "as lost-retransmission, with limited transmit", True),
)
BY_NAME = {pattern.name: pattern for pattern in PATTERNS}
