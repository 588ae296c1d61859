"""Why rows come out as they do, and where the document contradicts itself."""

from collections.abc import Mapping, Sequence

from bentpipe.results import Estimate

from .runs import plain

IDENTITY = (
    "Arithmetic, not simulated: feedback_i / RTT_i = Bw/N + Q/(N RTT_avg). Windows in this proportion make "
    "equal rates as long as the queue adds little to the round trips; with Q of one bandwidth-delay product it "
    "adds as much again to each."
)
TWICE = (
    "Equation 1 hands out Bw RTT_avg + Q_size. With buffers of one bandwidth-delay product, as in section IV, "
    "that is twice the bandwidth-delay product which the conclusions speak of."
)
TWO_GATEWAYS = (
    "isl2 at half the rate of isl1 and with half its buffer; with the gateway of isl1 alone, isl2 is as fast "
    "as isl1."
)
HOSTS = "The hosts are the same as without XFWA: a plain NewReno."
FOUND = (
    "From the window of a flow that is alone: (window - Q_size) / Bw, by equation 1. Windows are whole segments."
)
SHORT = "In packets; a buffer of 30 kB holds three more when some of them are short ones of a handshake."
LASTS = "What was offered before the end is delivered a little later."
ALWAYS = "Least of all intervals of 100 ms after the first second."
CONSTANT = "Means over 3 s each."
PERSISTENT = (
    "Equation 1 hands the buffer out too: with Q_size of one bandwidth-delay product it makes a standing queue "
    "of nearly the whole buffer, more than what drop-tail TCP keeps there on the mean."
)
WHOLE_SEGMENTS = "Windows of 7 to 19 packets; a sender rounds each down to whole segments."
ANY_5_S = "From 1 s on."


def alike(runs: Sequence[object]) -> str:
    """Say of how many runs the values are."""
    return f"Mean over {len(runs)} runs; the flows begin within 100 ms of each other."


def flows_of_type(flows: int, mbps: float) -> str:
    """Say how many flows there are."""
    return f"{flows} flows, a fair share of {1e3 * mbps / flows:.0f} kbit/s: inferred."


def web(count: int, metric: str, values: Mapping[str, Estimate]) -> str:
    """Say what a row of figure 6 is."""
    return f"{plain(values['xfwa']):.3g} % with XFWA, {plain(values['tcp']):.3g} % without ({metric}, {count})."
