"""What a reader of the report should know of each item, in our own words."""

INFERRED = (
    "Two documents, the paper (WICON 2007) and the slides of a companion (OPNETWORK 2007), judge "
    "TCP-ADaLR in "
    "OPNET. Their figures are not in the text at hand, so no point of theirs is drawn here. What was chosen:",
    "Network: 40 ms between server and gateway, and 80 % of the satellite's rate for packets. With both, the "
    "six times of table 1 follow. 50 MB are 50,000,000 bytes, and only whole segments are sent.",
    "Algorithm 2: the receive window is adjusted before each segment, on top of what stands since the last "
    "ACK, which set it to the advertised value. It gives 358 / 330 s for the published 360.6 / 333.4 s; the "
    "other readings miss at least one of them by far (item on the ablation).",
    "Algorithm 1: 'no losses have occurred' is for the life of the connection. Algorithm 3 compares "
    "snd_una > "
    "snd_recover; it must be <, a partial ACK, or it would not be in fast recovery. The paper drops '/ "
    "cwnd' from the "
    "increase in congestion avoidance, which the slides have. The documents differ in when it applies: the "
    "paper's reading is the default.",
    "Congestion: the gateway's 25 packets drop nothing of a lone flow of 44 segments, so there was cross "
    "traffic, which is not stated. Inferred: a stream of 1.26 Mbit/s that does not respond.",
    "Bit errors: on the downlink, by equation 2. The slides' error-correction threshold is less than one bit "
    "of a packet, so nothing is corrected.",
    "Pages: HTTP 1.1 keeps one connection open, and RFC 2581 begins again in slow start after the pause "
    "between pages; both are stated. That all embedded objects are asked for together over one connection is "
    "inferred.",
    "Ethernet, which figure 17 is said to be of, takes 38 bytes a frame beside 1,500 (IEEE 802.3).",
    "Fairness: each flow downloads 50 MB and all begin together. Averages are over each flow's own active "
    "time, as the printed ones must be, and over the time in which all are active.",
    "Numbers are the paper's own: two of its tables are numbered 6 (here table-6 and table-6b), and "
    "its text calls table 7 table 8.",
)
ABSTRACT = (
    "The abstract's gains are the largest of figures 9, 11, 14 and 15, with delayed ACK. They have the right "
    "order here; beside congestion ours are larger by half.",
)
NUMBERS = ("Numbers that the text states or implies, by arithmetic or from runs.",)
TABLE_1 = (
    "SACK with delayed ACK over six round trips: where the breakpoint rho = 15 comes from. The bend at "
    "250 ms is where 44 segments no longer fill the path, so it belongs to the window of 65,535 bytes.",
)
TABLE_5 = (
    "A page is a main object and 15 embedded ones, over one connection that HTTP 1.1 keeps open from page to "
    "page. After the pause between pages the sender begins again in slow start, as RFC 2581 has it, which "
    "the paper names as its congestion control. Without that a page takes 2.2 s.",
)
TABLE_6 = (
    "The download without losses. All within 1.1 %, although only table 1 went into the network. The slides "
    "swap the percentages.",
)
TABLE_6B = (
    "The pages of table 5 through a buffer of 15 packets, beside the stream inferred for table 7. Dashed: "
    "published. With delayed ACK the order is the published one, at half of the level; without it NewReno is "
    "next to ADaLR SACK. The order depends on the rate of the stream. Neither another number of "
    "connections nor downloads in place of the stream give the level together with table 5.",
)
FIGURE_7 = (
    "Pages over one connection, as in table 5. Means over 20 seeds, the same for each variant, with 95 % "
    "intervals. ADaLR is ahead at each bit error rate, as published, and by more.",
)
FIGURE_12 = (
    "The same pages beside the stream inferred for table 7, which meets the same errors. Means over 12 "
    "seeds, the same for each variant, with 95 % intervals.",
)
FIGURE_2 = (
    "Throughput in bins of 10 s. Standard TCP stands at 44 segments a round trip. ADaLR sends beyond the "
    "advertised window, more the larger cwnd has become.",
)
FIGURE_3 = (
    "The share of time in which the satellite's downlink is busy. It sends packets at 80 % of 2.048 Mbit/s: "
    "if that is what the published 80 % means, it is 100 % here.",
)
TABLE_7 = (
    "The paper states a buffer of 25 packets and nothing else. With delayed ACK or without, with ADaLR or "
    "without, its times lie within 1.6 % of each other, as those of downloads do that take what something "
    "else leaves. Left: a stream that does not respond, of several rates. Right: downloads of the same "
    "variant, which do.",
)
CONGESTED = (
    "Beside the stream inferred for table 7, which is there all the time. Utilization is the share of time "
    "in which the downlink is busy, with the stream's packets.",
)
_ERRORS = (
    "Means over 20 seeds, the same for each variant, with 95 % intervals. Seeds from which a download was "
    "given up after six retransmissions are left out. TCP-ADaLR is ahead at each bit error rate, least at "
    "1e-8: the rwnd increase, most of its gain without errors, ends with the first loss (ablation)."
)
_BOTH = (
    "Means over 12 seeds, the same for each variant, with 95 % intervals, beside the stream inferred for "
    "table 7, which meets the same errors. ADaLR is ahead from 1e-7 on."
)
ERRORS: dict[str, tuple[str, ...]] = {
    **{f"figure-{number}": (_ERRORS,) for number in (8, 9, 10, 11)},
    **{f"figure-{number}": (_BOTH,) for number in (13, 14, 15, 16)},
}
TABLE_9 = (
    "Six flows of one variant, of six round trips, over Ethernet, whose frames take 38 bytes beside 1,500. "
    "The printed throughputs add up to more than the link carries: they are over unequal active times, and "
    "so are ours.",
)
TABLE_10 = (
    "The printed indices follow from the printed throughputs. While all six flows are active, ADaLR is "
    "fairer "
    "than NewReno too, but by less than half as much.",
)
TABLE_11 = ("Three ADaLR and three NewReno flows, all of 25 ms. This table cannot be had from its network.",)
SLIDES_MIX = ("The slides mix other round trips than the paper.",)
ABLATION = (
    "The paper judges the four mechanisms together. Alone: without losses the gain is the rwnd "
    "increase's; with "
    "bit errors it is the cwnd increase's, whose part in congestion avoidance was not separated from its "
    "part in slow start. "
    "The loss recovery mechanism changes nothing that shows with SACK. Means over 20 seeds.",
)
WINDOW = (
    "The rwnd increase sends more than the receiver offers to take. In order the window slides and all of it "
    "is taken; past a hole the receiver drops what lies beyond its window, and it must be sent again.",
    "Without losses and with an endless buffer it gains 24 % at 65,535 bytes. With a buffer of 100 "
    "packets, "
    "which then drops 3 of them, half of the gain is lost; through what was not isolated. "
    "With bit errors it gains 2 % or less. With window "
    "scaling, which every system has today, it gains 1 % at 128 KiB and nothing at 1 MiB: ADaLR helps "
    "today by its faster cwnd increase, on lossy paths of a long round trip, and not by the window.",
)
