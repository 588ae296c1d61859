"""What a reader of the report should know of each item, in our own words."""

INFERRED = (
    "The document judges TCP-AFC on the air: GSAT-3, 2 Mbit/s, an attenuator for errors. Its figures have "
    "no values in the text at hand, so they are held as claims. What was chosen:",
    "Round trip: 243 ms one way, from the orbital position of GSAT-3 (74 degrees east) and Ahmedabad. "
    "Nothing is added for modems.",
    "Hosts: Linux 2.4.19 is stated, so both ends are the profile linux-2.4 and its recovery "
    "(docs/explanation/linux.md), with AFC over it. A slow-start threshold left by the transfer before, "
    "which that kernel keeps, is not in the text, which has slow start last until the first loss.",
    "Receive window and modem: 174,760 bytes and 90 packets. The document's sentences about overflow choose "
    "them, before any throughput: a lone transfer loses nothing in the modem, one beside another transfer or "
    "beside the video does. They leave 150 to 200 kB with 70 to 110 packets; 174,760 bytes are the kernel's "
    "largest receive buffer.",
    "Channel: 90 and 93 losses were counted in 13,813 segments, 0.66 %; independent bit errors at 1e-5 "
    "would lose 11.3 %. Errors behind a decoder come in bursts: the counts and the rate agree if an event "
    "spoils 18 bits. So the document's 1e-5 stands for 0.66 % of segments here, and its 1e-6 for a tenth of "
    "that (inferred). Independent bit errors and bursts of whole packets are items of their own.",
    "Table 2: as many segments are lost in each stage as were counted, in 40 transfers, so that the "
    "throughputs can be compared; the losses are input then. The first is found at the time that the text "
    "gives (4 s with AFC, 4.5 s with TCP), the others lie at random places of their stages.",
    "What the document calls losses were marked R in its plots, which is how the usual tool marks "
    "retransmissions. Here the two are the same but for a few in a thousand.",
)
EQUATION_1 = (
    "One packet, or two of a window of some 46 segments, are lost, and the window is looked at when all of "
    "it is acknowledged. Up to half a window apart the cut is the conventional one; from there on it "
    "shrinks to nothing. Linux takes the cut off a segment at every second ACK, down to what equation 1 "
    "leaves.",
)
TABLE_1 = (
    "Parameters, measured in runs. Modulation and coding are in the error rate; the frequencies are "
    "arithmetic.",
)
FIGURE_1 = (
    "A lone transfer: the receive window fills the link and leaves the rest to wait in the modem. The most "
    "that 20 transfers lost there, without errors and at both error rates.",
)
FIGURE_2 = ("Transmitter 2 shares the modem. Mean over 20 beginnings of the measured transfer.",)
FIGURE_3 = (
    "Twenty series of ten transfers of 20 MB at 2 Mbit/s by each scheme, with the same seeds; one series is "
    "strong.",
)
FIGURE_4 = (
    "Least, mean and largest throughput of ten transfers at 1e-6: means and intervals of 20 such series.",
)
FIGURE_5 = (
    "The same at 1e-5, and against 1e-6. That the gain rises with the error rate holds for the counted "
    "losses; with independent bit errors at 1e-5 it falls again: the timer then makes most of the repairs.",
)
NUMBERS = (
    "Times and throughputs are those of table 2's last row. The improvement of 138 % does not follow from "
    "them. The losses beside UDP are of a channel with 0.66 % of segments lost.",
)
TABLE_2 = (
    "Volume over time at seven stages of a transfer. Crosses: published, one transfer each. Where within a "
    "stage the losses fell is not known, but for the first, and matters most in the first stages: the thin "
    "lines are other readings.",
)
FIGURE_6 = ("All transfers with the counted losses; one of each scheme strong, with its retransmissions.",)
FIGURE_7 = ("The same transfers: volume over time since the SYN.",)
FIGURE_8 = ("The same, the first 1 MB. Until a loss the two schemes are the same to the byte.",)
FIGURE_9 = (
    "Left the measured transfer, by TCP and by AFC in turn; then the TCP transfer beside it; right the "
    "settings that were tried. At 1 and 2 Mbit/s the schemes are within 5 % of each other; below, AFC has a "
    "fifth more: a buffer that overflows now and then often takes one packet of a window, which AFC does not "
    "answer.",
)
FIGURE_10 = (
    "The same with the counted losses. Both transfers meet the errors, so that AFC profits at 1e-6 from "
    "what the other TCP leaves.",
)
_MEDIA = (
    "Throughput beside audio and video over UDP, as a share of the larger throughput without errors. "
    "Packets of "
    "188 bytes, one in a datagram, give the published UDP throughputs within 2 %. "
)
FIGURE_11 = (
    f"{_MEDIA}UDP takes two thirds of the link; what is left needs a small window, so the counted losses "
    "cost AFC little. The table looks for the degradations of the conclusions (63.1 and 25.2 %): "
    "3 % of segments lost comes nearest. Even without errors TCP stands below AFC: the bursts "
    "of the video overflow the modem.",
)
FIGURE_12 = (
    f"{_MEDIA}The rest of the link is wide, and the counted losses cost both schemes most of it; here 0.2 % "
    "of segments comes nearest to the degradations of the conclusions.",
)
COMBINATIONS = (
    "Section 4.1 measured files of 5, 10 and 20 MB at 1 and 2 Mbit/s with both error rates, and shows 20 MB "
    "at 2 Mbit/s alone. These are all twelve, over the channel of the counted losses.",
)
CHANNELS = (
    "Dashed: published. Losses as counted and 0.66 % at random give the same, and luck plays little part: "
    "with each other's counts the schemes hardly change. Independent bit errors at 1e-5 are far from the "
    "measurement: a fifth of TCP's throughput. In bursts of whole packets TCP does better and AFC worse, "
    "and little of its lead is left.",
)
BURSTS = (
    "The counted losses of table 2, but so many segments in a row. AFC's lead is one of single losses: two "
    "segments in a row are two losses at distance 1, which it answers as TCP does. The published ratio of "
    "2.26 needs single losses.",
)

CAUSES = (
    "In a simulation the cause of each loss is known. Four transfers of one variant share the link of "
    "figure 2; what is lost to bit errors should cost no reduction of the window, and what a full queue "
    "drops should. The columns loss_cause_* that every run has (docs/reference/results.md) are the count.",
    "The conventional controls reduce after every loss, whatever its cause: never wrong about congestion, "
    "always wrong about errors. AFC spares three quarters of the bit errors at 1e-7 and a third at "
    "1e-5, where a window has two of them. The price stands in the other columns: a drop-tail buffer that "
    "overflows for a moment takes one packet of a window, and AFC passes over a third to two thirds of the "
    "drops, the more the smaller the buffer.",
)

NEIGHBOURS = (
    "The authors found that AFC retains conventional behaviour in congestion. Over a drop-tail buffer it "
    "does not: without errors two flows of AFC take a third of what their two neighbours have among "
    "four of TCP, and so do two of ADaLR. With 0.67 % of the segments lost AFC takes mostly what TCP "
    "leaves unused: more than twice its own share, for a fifteenth of the neighbours' (a quarter when a "
    "stream leaves less unused).",
)

COMPOSITION = (
    "AFC decides whether a loss counts, ADaLR how fast the windows grow: two controls, one around the "
    "other. Where losses are random the two gains multiply, nearly: 3.2 times as fast as TCP with SACK at "
    "1e-6, where AFC alone is 2.4 and ADaLR 1.5 times as fast. Without losses there is nothing to gain: "
    "ADaLR overruns the buffer once, and AFC is TCP.",
)
