"""Kothari, Gambhava and Dasgupta, "Performance analysis of TCP-AFC": tables, figures, numbers, claims."""

from functools import partial

from bentpipe_papers.reproduction.reproduce import Item

from . import bed, beyond, channels, dumps, equation, multimedia, numbers, series, shared, texts
from .runs import READINGS, WITHOUT

__all__ = ["ITEMS", "READINGS", "WITHOUT"]

ITEMS = (
    Item(
        "text-inferred",
        "What the document leaves open or contradicts, and what was chosen",
        about=texts.INFERRED,
    ),
    Item(
        "equation-1",
        "Section 2 and equation 1: one loss, two losses and their distance",
        equation.compute,
        equation.draw,
        texts.EQUATION_1,
    ),
    Item("table-1", "Table 1: the test bed", bed.table_1, about=texts.TABLE_1),
    Item("figure-1", "Figure 1: the dedicated satellite link", bed.figure_1, about=texts.FIGURE_1),
    Item("figure-2", "Figure 2: the shared satellite link", bed.figure_2, about=texts.FIGURE_2),
    Item(
        "figure-3",
        "Figure 3: throughput in a series of file transfers, BER 1e-6",
        series.figure_3,
        series.draw_series,
        texts.FIGURE_3,
    ),
    Item(
        "figure-4",
        "Figure 4: minimum, average and maximum, BER 1e-6",
        series.figure_4,
        series.draw_extremes,
        texts.FIGURE_4,
    ),
    Item(
        "figure-5",
        "Figure 5: minimum, average and maximum, BER 1e-5",
        series.figure_5,
        series.draw_extremes,
        texts.FIGURE_5,
    ),
    Item("text-numbers", "Sections 4 and 5: numbers of the text", numbers.compute, about=texts.NUMBERS),
    Item(
        "table-2",
        "Table 2: throughput and losses at the stages of one transfer",
        dumps.table_2,
        dumps.draw_table_2,
        texts.TABLE_2,
    ),
    Item(
        "figure-6",
        "Figure 6: sequence number over time",
        dumps.figure_6,
        partial(dumps.draw_over_time, what="sequence"),
        texts.FIGURE_6,
    ),
    Item(
        "figure-7",
        "Figure 7: throughput over time",
        dumps.figure_7,
        partial(dumps.draw_over_time, what="throughput"),
        texts.FIGURE_7,
    ),
    Item(
        "figure-8",
        "Figure 8: throughput over time, the first 1 MB",
        dumps.figure_8,
        partial(dumps.draw_over_time, what="start"),
        texts.FIGURE_8,
    ),
    Item(
        "figure-9",
        "Figure 9: beside another TCP transfer, without errors",
        shared.figure_9,
        shared.draw_figure_9,
        texts.FIGURE_9,
        shared.measure_figure_9,
    ),
    Item(
        "figure-10",
        "Figure 10: beside another TCP transfer, with errors",
        shared.figure_10,
        shared.draw_figure_10,
        texts.FIGURE_10,
    ),
    Item(
        "figure-11",
        "Figure 11: beside multimedia, 1 Mbit/s and 512 kbit/s video",
        multimedia.figures,
        multimedia.draw,
        texts.FIGURE_11,
        multimedia.measure,
    ),
    Item(
        "figure-12",
        "Figure 12: beside multimedia, 2 Mbit/s and 128 kbit/s video",
        multimedia.figures,
        multimedia.draw,
        texts.FIGURE_12,
        multimedia.measure,
    ),
    Item.beyond(
        "combinations",
        "each file size, data rate and error rate of section 4.1",
        texts.COMBINATIONS,
        series.combinations,
        series.draw_combinations,
    ),
    Item.beyond(
        "channels",
        "the same transfer over other channels of these error rates",
        texts.CHANNELS,
        channels.measure,
        channels.draw,
    ),
    Item.beyond(
        "bursts", "the same losses in bursts", texts.BURSTS, channels.measure_bursts, channels.draw_bursts
    ),
    Item.beyond(
        "causes",
        "how often each control mistakes the cause of a loss",
        texts.CAUSES,
        beyond.mistaken,
        beyond.draw_mistaken,
    ),
    Item.beyond("neighbours", "what the scheme costs the TCP beside it", texts.NEIGHBOURS, beyond.neighbours),
    Item.beyond("composition", "TCP-AFC around TCP-ADaLR", texts.COMPOSITION, beyond.composition),
)
