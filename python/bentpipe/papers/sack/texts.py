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
    "through with its losses when the run ended. The second panel of each figure shows 60 s.",
    "The terrestrial path, its window of 28 packets, its limit of 8 packets, and which packets are "
    "dropped (14; 14, 26 and 28, counted from 0): the same scripts.",
    "An initial window of one segment, a clock tick of 100 ms, no limited transmit: ns-2 as it was in "
    "February 2000, the date of the document's reference for it. ns-2's file of defaults dates each later "
    "change.",
    "NewReno without a timeout in recovery: the document describes it so, and ns-2 until May 2003 "
    "restarted the timer at each partial ACK. Here the minimum of its timer is set above the length of "
    "the run, which does the same. NewReno with RFC 6582's timer is drawn dashed.",
    "Two readings were left out. The sentence that the delay varies with the window cannot be the "
    "propagation delay, since one round trip of 255.3 ms is given for all; if it were set so that each "
    "window is one product, all windows from 128 packets on would still overflow the buffer, and "
    "efficiency would fall steadily. And efficiency is goodput over link rate, as this project defines "
    "it; counting headers as data, as ns-2 then did, multiplies it by 512/472.",
)
SCHEMES = (
    "The document describes the four schemes before it compares them. These rows hold the descriptions "
    "against the terrestrial runs of section 8: who needs the timer, and how many round trips pass from "
    "the first retransmission until all of the window is acknowledged. All of it holds, except that SACK "
    "needs more than one round trip for this pattern of drops, with the rules of RFC 6675. Sequence "
    "numbers, drops repaired and SACK blocks are in the picture.",
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
    "equal to Reno and NewReno but for a shorter queue. Throughput and efficiency come out so, at each "
    "duration tried and with each buffer that does not drop packets of its own (a limit of 5 packets "
    "does). Queueing delays differ by about a millisecond, a tenth of one packet's service: their order "
    "turns on how recovery ends, and on the length of the run.",
)
FIGURE_1 = (
    "Three packets of the same window are dropped. Reno's window is halved and it then waits for the "
    "timer, which costs it half of its throughput; the other three need no timer. So the document says, "
    "and so it comes out, with Reno's longer queue in short runs. SACK and NewReno are equal to within "
    "one packet where the document has SACK ahead; with the SACK and the NewReno of ns-2 in 2000 SACK is "
    "ahead. The printed 94 % says how long the document's runs were, not how good SACK is.",
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
    "recovery. NewReno's drops do not fall at 190 packets.",
)
FIGURE_4 = (
    "The document sees efficiency fall up to 128 packets, rise at 160, fall at 190, with SACK far ahead "
    "and NewReno last. In short runs SACK is far ahead and NewReno last here too, wherever the buffer "
    "overflows; over a minute NewReno stays last, and SACK is ahead only where its recovery does not "
    "overflow the buffer a second time. The ups and downs depend on whether the burst that ends a "
    "recovery fits the buffer, and hold for some schemes and not for others.",
)
FIGURE_5 = (
    "Throughput, which counts what is sent again, is highest at 96 packets, as published, and not because "
    "96 packets are the bandwidth-delay product: it is that up to 113 packets slow start does not "
    "overflow a buffer of 49. With a larger buffer the peak moves or vanishes.",
)
WINDOW = (
    "The document multiplies its link rate by the simulated round trip to get the window that fills the "
    "link. The picture shows the same from the other side, in a buffer that never overflows: up to 96 "
    "packets efficiency grows with the window and the round trip stays; beyond, the round trip grows and "
    "efficiency stays.",
)
RECOVERY = (
    "The document argues that SACK is never slower than slow start, even if more than half of a window is "
    "lost, and that it avoids the timeout unless a retransmission is lost too. Here 40 adjacent packets "
    "of a window of 64 are dropped. The conclusions hold, the mechanism is another: RFC 6675 does not "
    "count lost packets as in the network and resends 32 of them in the first round trip. ns-2's Sack1 of "
    "the document's time does count them; it resends one, as the document says, and then needs the timer, "
    "which the document says it avoids.",
)
CONCLUSIONS = (
    "Most of the conclusions repeat what has rows above. These two do not: that SACK needs no timeout "
    "over the satellite, and that the window matters above all beyond the standard window.",
)
SENSITIVITY = (
    "Neither the duration of the runs nor the buffer is stated. Each row is a claim of figures 2 to 5, "
    "each column a duration of traffic (above) and a buffer (below, in packets; 96 are one "
    "bandwidth-delay product); the frame is the default. Robust are NewReno last, SACK ahead of Tahoe at "
    "128 and 190 packets, and the fall from 96 to 128 packets. At 72 packets and more of buffer little is "
    "dropped, the four schemes become alike, and most comparisons hold only weakly. The peak at 96 "
    "packets, and everything that sets 160 against 128 or 190, belongs to the choice of buffer.",
)
