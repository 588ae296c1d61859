"""What a reader of the report should know of each item, in our own words."""

INFERRED = (
    "The figures have no values in the text at hand, so they are held as claims. What was chosen:",
    "Buffers: the bandwidth-delay product of the bottleneck link, which the document says is composed of "
    "three hops: 60 ms, 11 packets at 1.5 Mbit/s. With a buffer for the whole round trip equation 1 makes "
    "a queue that stands at the whole buffer, which is not what figure 3 is said to show (beyond-queue).",
    "delta, after which a flow that pauses is forgotten: RTT_avg, as stated. Windows leave in bursts, a "
    "round trip apart, and the round trip has the queue in it, the estimate has not; so flows that only wait "
    "for their ACKs are forgotten, the others are given too much, and the buffer overflows. Rows are held "
    "with delta as stated; what 2 RTT_avg makes of them stands in the notes.",
    "MAX, the number of flows on each link type, is not in the text: 8, 20, 40 and 80 on T1, T2, T3 and "
    "OC3 (inferred), and as a second choice as many as leave each 187.5 kbit/s.",
    "Figure 1b: the groups have satellites of their own on both sides of the three that all pass. In a "
    "single row the groups share links before the bottleneck, their packets arrive at the pace at which it "
    "sends, and drop-tail then favours whichever comes through: at 45 and 155 Mbit/s standard TCP favoured "
    "the longest round trip there.",
    "TCP: NewReno of ns-2's time, an ACK a segment, 2 segments to begin with, a receive window that does "
    "not bind, packets of 1000 bytes with headers. Flows begin within 100 ms of the stated moments, at "
    "random; 10 runs of each case (fewer where said).",
    "On/off flows: shape 1.5, 500 kbit/s while on, 0 to 50 of them.",
)
FIGURE_1 = (
    "The network, measured in runs. What the gateway makes of TTLs is worked out of the windows that it "
    "writes.",
)
EQUATION_1 = (
    "Eight flows of four groups at 10 Mbit/s, with buffers of 140 ms that have room for every window, so "
    "that what is under way is the window written: equation 1 to within whole segments.",
)
FIGURE_2 = (
    "One run of each scheme is drawn. The slopes change with the number of flows as published. Alike the "
    "flows are after their first seconds; with delta as stated forgotten flows leave a fifth between the "
    "most and the least.",
)
FIGURE_3 = (
    "One run of each scheme is drawn. Dashed: the rate, the buffer. With delta of 2 RTT_avg the link is "
    "busy for 99 % of the time.",
)
FIGURE_4 = (
    "One run of each scheme is drawn: two flows of each group at 1.5 Mbit/s. Windows in proportion to round "
    "trips make equal rates as long as nothing waits: with a buffer of 280 ms, and no flow forgotten, the "
    "long round trips get more (table).",
)
FIGURE_5 = (
    "Large dots: means of a group over the runs; small ones: the flows of one run. At 10 Mbit/s the up-links "
    "are as fast as the bottleneck, and a flow of standard TCP whose packets come at that pace is never "
    "dropped and keeps the link.",
)
FIGURE_6 = (
    "XFWA drops less, as published. It does not use the link better in the network as stated, where one "
    "flow of standard TCP keeps the link all the time: the up-links are exactly as fast as the bottleneck, "
    "so that its packets never find the buffer full. With up-links of 20 Mbit/s, which breaks that, the "
    "published order comes out: beyond the intervals from 30 flows on, with delta of 2 RTT_avg always.",
    "The applications' rate while on is not in the text. At 100 kbit/s on/off flows hold windows that they "
    "do not use, and XFWA leaves a seventh to a quarter of the link empty.",
)
CONVERGENCE = (
    "Jain's index over the last second, after each change. An AQM or a window by the free buffer is fair "
    "on the mean, XFWA by its arithmetic: with delta of 2 RTT_avg the flows "
    "of every run become equal, after 1.0 to 2.2 s on the mean.",
)
QUEUE = (
    "Equation 1 hands out the pipe and the buffer, so what it says on persistent queues holds only for "
    "small buffers: with room for a round trip (160 ms) and flows that are not forgotten 133 ms wait in "
    "the queue, more than with standard TCP. Half of that buffer and less keeps the utilization.",
)
ESTIMATES = (
    "An estimate that is wrong by the same factor for all keeps the shares and moves the sum. Half the "
    "round trip leaves a third of the link unused, once flows are not forgotten (half the estimate is half "
    "of delta too, which hides it); twice overflows the buffer. One value for all is unfair by round trip "
    "as TCP is, though less. The handshake is as good as TTLs.",
)
UNRESPONSIVE = (
    "Datagrams are in no table: XFWA hands out the whole link whatever they take. The sum of the windows is "
    "then too large, losses come back, and the flows are as unequal as NewReno makes them.",
)
LIMITED = (
    "Equation 1 counts flows that cannot use their share. With a buffer of 60 ms a quarter of the link stays "
    "empty; redistribution brings most of it back. Standard TCP fills the link, by one flow.",
)
LIAR = (
    "A sender that does not stop at the window takes part of what the others were given. ADaLR does so only "
    "from a round trip of 250 ms on; with its scaling held at that value and the accumulating reading it "
    "gets a quarter more than the others. Nothing in the scheme notices.",
)
SCHEMES = (
    "EWA, WINTRAC, RED, REM and RED with ECN on the same networks and buffers, with the options of their "
    "authors where those fit: RED from a sixth to half of the buffer, REM at half of it.",
    "None is as fair to different round trips as XFWA. RED keeps the shortest queue and leaves a fifth to "
    "a quarter of the link unused at this buffer.",
)
HANDOVER = (
    "Two of four flows go over to a link that has four. A gateway that meets a flow in the middle has not "
    "seen its SYN: if the hosts scale windows it must leave that flow alone, which then takes what it gets "
    "(last case); a constellation would have to hand the table over with the flow. For the other cases the "
    "hosts do not scale.",
)
