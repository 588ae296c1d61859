"""What a reader of the report should know of each item, in our own words."""

INFERRED = (
    "The document studies Tahoe, Reno, NewReno and SACK in ns-2, first on a terrestrial path with one and "
    "three packets dropped, then over a geostationary satellite with advertised windows up to 190 "
    "packets. It prints few numbers and no tables, and leaves most parameters open. Its figures are not "
    "in the text at hand, so no point of theirs is drawn here. What was chosen, and why:",
    "Packets of 512 bytes: 392,140.8 bit over 95.737 packets are 4096 bit, and 65,535 bytes are 128 such "
    "packets.",
    "62.5 ms a link: 255.3 ms less 512 bytes sent twice at 1.536 Mbit/s leave 250 ms for four passages of "
    "a link. The 0.4 ms that the ACK takes was not counted. The document takes a trip up and down for a "
    "round trip; a real one is twice as long.",
    "A buffer of 49 waiting packets: ns-2's default limit of 50, whose drop-tail queue drops when it "
    "would reach the limit. The document says only that the buffer is finite. Other buffers are in the "
    "item on sensitivity.",
    "5 s of traffic, from 1 s to 6 s: as in ns-2's own scripts of Fall and Floyd's comparison, from which "
    "the document took some parameters. It must be short, since the document says that NewReno was not "
    "through with its losses when the run ended. The second panel of each figure shows up to 60 s.",
    "The terrestrial path, its window of 28 packets, its limit of 8 packets, and which packets are "
    "dropped (14; 14, 26 and 28, counted from 0): the same scripts.",
    "An initial window of one segment, slow start up to the advertised window, an RTO in whole ticks of 100 "
    "ms, no limited transmit: ns-2 as it was in February 2000, the date of the document's reference for it. "
    "ns-2's file of defaults dates each later change. It opened no connection then: the first data leaves at "
    "1 s, and the SYN a handshake earlier.",
    "Reno, NewReno and SACK of that time: Reno goes into fast retransmit for each loss of a window until a "
    "timeout, as ns-2's did until July 2003, newreno-1999 starts the timer anew at each partial ACK, as "
    "ns-2 did until May 2003, and sack-1996 has the pipe that section 9 describes, begun with cwnd as until "
    "August 2000. What the RFCs have made of the latter two is in beyond-today.",
    "Efficiency is goodput over throughput, that is, what arrives of what is sent: the document has "
    "efficiency fall from 160 to 190 packets while throughput rises, so it is not throughput over link rate. "
    "What is on its way when the run ends counts as sent only.",
    "33 packets of a window of 64 lost, the least that is more than half of it, where slow start has just "
    "filled the window, so that cwnd is as large; others are in the notes.",
    "The sentence that the delay varies with the window cannot be of the propagation delay, since one round "
    "trip of 255.3 ms is given for all. It is read as the queueing delay, which the window does change.",
    "Nothing in these runs is random: the drops are named, or are what a full buffer has no room for. Each "
    "case is one run, the same with any seed, and orders are judged on the values. How far they hang on what "
    "is not stated is in the notes and in the item on sensitivity.",
)
SCHEMES = (
    "The document describes the four schemes before it compares them. These rows hold the descriptions "
    "against the terrestrial runs of section 8: who needs the timer, how many round trips pass from the "
    "first retransmission until all of the window is acknowledged, what is resent, and what is sent before "
    "it. All of it holds but two statements: SACK needs more than one round trip for this pattern of drops, "
    "and its window is not inflated, since its pipe says what may be sent.",
)
GEO = (
    "The document computes the distance to a geostationary satellite from the central angle (law of "
    "cosines) and calls twice that distance over c the round trip. Formula and arithmetic hold. Its "
    "largest distance is not the one at the horizon, and its round trip is a single trip through the "
    "satellite: a segment and its ACK make two, so TCP sees twice as much.",
)
METHODOLOGY = (
    "Source and destination talk through a satellite over links of 1.536 Mbit/s with drop-tail buffers. "
    "These rows check that the simulated link carries what it should, and where the standard window of "
    "128 packets comes from.",
)
ONE_DROP = (
    "One packet is dropped from a window of 15. The document finds Tahoe behind in everything, and SACK "
    "equal to Reno and NewReno but for a shorter queue. So it comes out with the SACK of 1996. Queueing "
    "delays differ by less than two milliseconds, a fifth of one packet's service: their order turns on how "
    "recovery ends, and on the length of the run. Below: all durations, buffers and windows tried.",
)
FIGURE_1 = (
    "Three packets of the same window are dropped. Reno's window is halved and it then waits for the "
    "timer, which costs it half of its throughput; the other three need no timer, and SACK is ahead of all. "
    "So the document says, and so it comes out, with Reno's longer queue in short runs. The printed 94 % "
    "says how long the document's runs were, not how good SACK is.",
)
FIGURE_2 = (
    "The document plots the mean queueing delay over the advertised window and sees it grow for all four "
    "schemes. So it does here on the whole. Up to 96 packets the path holds the window and nothing waits "
    "but the bursts of slow start; from there to 113 packets a standing queue forms; beyond, the buffer "
    "overflows, and the delay says as much about the recovery as about the window.",
)
FIGURE_3 = (
    "Nothing is lost but what the buffer has no room for, and that happens at the end of slow start. Up "
    "to 113 packets there are no drops and the four schemes do exactly the same; from there on the drops "
    "of the first overflow are the same for all, since the schemes differ only in what they do next. "
    "SACK's further drops between 113 and 190 packets are a second overflow, by the burst that ends its "
    "recovery. NewReno's drops fall at 190 packets with buffers of 35 to 46 packets and 10 s of traffic, "
    "when its recovery ends within the run at 160 packets and not at 190.",
)
FIGURE_4 = (
    "The document sees efficiency fall up to 128 packets, rise at 160, fall at 190, with SACK far ahead "
    "and NewReno last. It falls from 96 to 128 and from 160 to 190 packets here too, and SACK is ahead and "
    "NewReno last wherever the buffer overflows. The rise at 160 does not come out: it depends on "
    "the duration and on whether the burst that ends a recovery fits the buffer.",
)
FIGURE_5 = (
    "Throughput, which counts what is sent again, is highest at 96 packets, as published, and not because "
    "96 packets are the bandwidth-delay product: it is that up to 113 packets slow start does not "
    "overflow a buffer of 49. With a larger buffer the peak moves or vanishes. At 190 packets throughput is "
    "above that at 160 while efficiency falls, as published.",
)
WINDOW = (
    "The document multiplies its link rate by the simulated round trip to get the window that fills the "
    "link. The picture shows the same from the other side, in a buffer that never overflows: up to 96 "
    "packets efficiency grows with the window and the round trip stays; beyond, the round trip grows and "
    "efficiency stays.",
)
RECOVERY = (
    "The document argues that SACK is never slower than slow start, even if more than half of a window is "
    "lost: one packet in the first round trip, two in the second, twice as many in each one after it, and no "
    "timeout unless a retransmission is lost too. Here 33 adjacent packets of a window of 64 are dropped, "
    "and other numbers, at the end of slow start, where cwnd is the window. The argument is right to the "
    "packet where exactly half is lost; with one packet more SACK needs a round trip more, and beyond that "
    "it needs the timer.",
)
CONCLUSIONS = (
    "Most of the conclusions repeat what has rows above. These do not: that SACK needs no timeout over the "
    "satellite, and what the window changes.",
)
SENSITIVITY = (
    "Neither the duration of the runs nor the buffer is stated. Each row is a claim of figures 2 to 5, "
    "each column a duration of traffic (above) and a buffer (below, in packets; 96 are one "
    "bandwidth-delay product); the frame is the default. What sets the schemes apart holds in short runs, "
    "where the repair is a large part of them, and with buffers that overflow. At 72 packets and more of "
    "buffer little is dropped and the four become alike. The peak at 96 packets, and everything that sets "
    "160 against 128 or 190, belongs to the choice of both.",
)
PHASES = (
    "The timer of then counts in ticks of 100 ms, and a round trip of 256 ms is two of them or three, by "
    "where in a tick its segment leaves. ns-2 draws that (boot_time_). Each row is a claim, run with its "
    "transfer begun at twenty places of a tick, with as much traffic at each; the rows of the figures are "
    "those of the first place.",
)
TODAY = (
    "The document's NewReno and SACK are of the 1990s. Today NewReno's timer is restarted by the first "
    "partial ACK only (RFC 6582), so that it expires in a long repair: NewReno is then no longer the last. "
    "SACK takes lost packets out of its pipe (RFC 6675). Over this path it does much as its forerunner; with "
    "more than half of a window lost it needs two round trips where that one needs seven, or the timer.",
)
