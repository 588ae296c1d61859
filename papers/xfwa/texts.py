"""What a reader of the report should know of each item, in our own words."""

INFERRED = (
    "The figures have no values in the text at hand, so they are held as claims. What was chosen:",
    "Buffers: the bandwidth-delay product of the bottleneck link, which the document says is composed of "
    "three hops: 60 ms, 11 packets at 1.5 Mbit/s; at up-links and down-links too, as stated. Other delays "
    "are in the tables of figures 2 to 4 and in beyond-queue.",
    "MAX, the number of flows on each link type, is fixed by a least fair share that the text does not "
    "give: 187.5 kbit/s for each flow, so 8, 52, 240 and 824 on T1, T2, T3 and OC3. Other shares are in "
    "the table of figure 5.",
    "Figure 1b: the groups have satellites of their own on both sides of the three that all pass. In a "
    "single row the groups share links before the bottleneck, their packets arrive at the pace at which it "
    "sends, and drop-tail then favours whichever comes through.",
    "TCP: NewReno of ns-2's time, an ACK a segment, 2 segments to begin with, a receive window that does "
    "not bind, packets of 1000 bytes with headers. Flows begin within 100 ms of the stated moments, at "
    "random; 10 runs of each case (fewer where said).",
    "On/off flows: shape 1.5, 500 kbit/s while on, 0 to 50 of them.",
)
SECTION_1 = (
    "What the introduction says of standard TCP: eight flows through 1.5 Mbit/s with one round trip and with "
    "four, and the flows of figure 2, two seconds before and after a change.",
)
SECTION_2 = (
    "What the document says of queues that are managed actively, and of windows by the free buffer, on the "
    "network of figure 5 at 10 Mbit/s.",
)
SECTION_3 = (
    "A flow's last packet counts when it leaves the queue, and delta is RTT_avg as stated. The table has the "
    "flows that the gateway counts so, and by the packets that arrive, of eight with one round trip that "
    "send all the time through 1.5 Mbit/s.",
    "What the windows follow is measured as in equation-1.",
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
    "All runs are drawn, one of each scheme in full colour. The slopes change with the number of flows as "
    "published. Flows that begin later are alike; the first four lose packets in their first second, where "
    "slow start meets a buffer of 11 packets.",
)
FIGURE_3 = ("All runs are drawn, one of each scheme in full colour. Dashed: the rate, the buffer.",)
FIGURE_4 = (
    "All runs are drawn, one of each scheme in full colour: two flows of each group at 1.5 Mbit/s. Windows "
    "in proportion to round trips make equal rates as long as nothing waits: with a buffer of 280 ms the "
    "long round trips get more (table).",
)
FIGURE_5 = (
    "Large dots: means of a group over the runs; small ones: the flows of one run. At 10 Mbit/s the up-links "
    "are as fast as the bottleneck, and standard TCP is most unfair there.",
)
FIGURE_6 = (
    "XFWA uses the link better and drops less, as published. That takes the stated buffers at the up-links, "
    "which are exactly as fast as the bottleneck: where they hold everything, one flow of standard TCP "
    "never finds the buffer full and keeps the link busy.",
    "The applications' rate while on is not in the text. At 100 kbit/s on/off flows hold windows that they "
    "do not use, and XFWA leaves part of the link empty (table).",
)
READINGS = (
    "Section III's table has each flow's last packet transmission time, and equation 1 shares the link and "
    "its buffer. The rows take the time at which a packet leaves the queue, and whole packets; here the time "
    "at which it comes, and data alone, are held beside them against every claim that speaks of XFWA. The "
    "picture is figure 2 with both.",
)
CONVERGENCE = (
    "Jain's index over the last second, after each change. An AQM or a window by the free buffer is fair "
    "on the mean, XFWA by its arithmetic: the flows of every run become equal, after 1.0 to 2.2 s on the "
    "mean.",
)
QUEUE = (
    "Equation 1 hands out the pipe and the buffer, so what it says on persistent queues holds only for "
    "small buffers: with room for a round trip (160 ms) 124 ms wait in the queue, more than with standard "
    "TCP. A quarter of that buffer keeps 94 % of the link busy.",
)
ESTIMATES = (
    "An estimate that is wrong by the same factor for all keeps the shares and moves the sum. Half the "
    "round trip leaves a third of the link unused; twice overflows the buffer. One value for all is unfair "
    "by round trip as TCP is, though less. The handshake is as good as TTLs.",
)
UNRESPONSIVE = (
    "Datagrams are in no table: XFWA hands out the whole link whatever they take. The sum of the windows is "
    "then too large, losses come back, and the flows are as unequal as NewReno makes them.",
)
LIMITED = (
    "Equation 1 counts flows that cannot use their share. With a buffer of 60 ms a quarter of the link stays "
    "empty; redistribution brings most of it back.",
)
LIAR = (
    "A sender that does not stop at the window takes part of what the others were given. ADaLR does so only "
    "from a round trip of 250 ms on; with its scaling held at that value it gets "
    "a tenth more than NewReno does in its place. Nothing in the scheme notices.",
)
SCHEMES = (
    "EWA, WINTRAC, RED, REM and RED with ECN on the same networks and buffers, with the options of their "
    "authors where those fit: RED from a sixth to half of the buffer, REM at half of it.",
    "None is as fair to different round trips as XFWA. RED keeps the shortest queue and leaves 14 to "
    "32 % of the link unused at this buffer.",
)
HANDOVER = (
    "Two of four flows go over to a link that has four. A gateway that meets a flow in the middle has not "
    "seen its SYN: if the hosts scale windows it must leave that flow alone, which then takes what it gets "
    "(last case); a constellation would have to hand the table over with the flow. For the other cases the "
    "hosts do not scale.",
)
CONSTELLATION = (
    "The document means networks like this one and runs three satellites that stand still; no row is held "
    "against it here. Inferred: the constellation, for it names none (Iridium's orbits), four cities, 240 s, "
    "lasers of 45 Mbit/s. Stated: up-links and down-links of 10 Mbit/s, packets, NewReno, buffers of 60 ms "
    "of the bottleneck. Each pair of a station and a satellite has a down-link of its own, so that flows "
    "over different satellites together get more than one carries.",
    "XFWA helps over real paths too. How much hangs on the delay of a hop, which the document takes for "
    "constant: it is 9.3 to 10.1 ms here on the mean, and the stated 20 ms make windows twice too large, "
    "which overflow the queue. The handshake measures instead, drops least, and keeps what it measured "
    "when the path has changed.",
    "A gateway that a flow comes to has not seen its SYN. If hosts scale windows it leaves the flow alone. "
    "Under a small window the congestion window of ns-2's TCP has grown unused, to 39 MB in one run of five: "
    "all of it is let loose at once, and 4 % of that run's segments are dropped.",
)
