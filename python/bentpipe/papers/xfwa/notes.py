"""Why rows come out as they do, and where the document contradicts itself."""

FOUND = "From the windows written for a flow that is alone: window / Bw - Q_size / Bw, by equation 1."
WHOLE_PACKETS = "11,250 bytes hold 11 packets. The pipe is that of the bottleneck link, three hops of 20 ms."

EQUATION_1 = {
    "proportional to the round trip": (
        "What flows have under way from 80 to 89 s, eight flows at 10 Mbit/s with room for all."
    ),
    "equal rates, by arithmetic": (
        "Arithmetic, not simulated: feedback_i / RTT_i = Bw/N + Q/(N RTT_avg). Windows in this proportion "
        "make equal rates as long as the queue adds little to the round trips."
    ),
    "bandwidth-delay product": (
        "Equation 1 hands out the buffer on top: here half as much again, for the buffers of this item "
        "hold 140 ms; with the 60 ms of the others it would be 21 % more."
    ),
    "two gateways": (
        "isl2 at half the rate of isl1 and with half its buffer; with the gateway of isl1 alone, isl2 is as "
        "fast as isl1."
    ),
    "what the gateway asks of hosts": "A plain NewReno, as without XFWA. Over 90 s, from the first SYN on.",
}

FIGURE_3 = {
    "always near the capacity": "Least of all intervals of 100 ms after the first second.",
    "constant queue": "Means over 3 s each.",
    "no persistent queue": (
        "Equation 1 hands the buffer out too, so that a standing queue is part of the design; TCP's queue "
        "swings between empty and full."
    ),
}

FIGURE_4 = {
    "xfwa": "Windows of 5 to 13 packets: a sender rounds each down to whole segments.",
    "parallel throughout": "From 1 s on.",
}


def flows_of_type(flows: int, mbps: float, window: float) -> str:
    """Say how many flows there are, and how large the windows of group 4."""
    return (
        f"{flows} flows, a fair share of {1e3 * mbps / flows:,.0f} kbit/s: inferred. A window of group 4 is "
        f"{window:.0f} packets; halved by a loss it takes {0.2 * window:.0f} s to be there again. Other "
        "numbers of flows: table above."
    )


def wider(values: str) -> str:
    """Say what faster up-links make of it."""
    return (
        "One TCP flow keeps the link: its packets come at the pace of the up-link, which is that at which "
        f"they leave, and never find the buffer full. With up-links of 20 Mbit/s: {values}."
    )
