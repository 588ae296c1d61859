"""Omueti and Trajković, "TCP with adaptive delay and loss response": every table, figure and claim."""

from functools import partial

from bentpipe_papers.reproduction.reproduce import Item

from . import beyond, congestion, errors, fairness, ideal, page_losses, pages, parameters, texts
from .runs import READINGS, WITHOUT

__all__ = ["ITEMS", "READINGS", "WITHOUT"]

_OVER_BER = {
    "figure-8": "Figure 8: download response time with bit errors",
    "figure-9": "Figure 9: throughput with bit errors",
    "figure-10": "Figure 10: goodput with bit errors",
    "figure-11": "Figure 11: utilization with bit errors",
    "figure-13": "Figure 13: download response time with bit errors and congestion",
    "figure-14": "Figure 14: throughput with bit errors and congestion",
    "figure-15": "Figure 15: goodput with bit errors and congestion",
    "figure-16": "Figure 16: utilization with bit errors and congestion",
}
_ERRORS = {
    name: Item(
        name,
        title,
        errors.compute,
        errors.draw,
        texts.ERRORS[name],
        undrawn=tuple(errors.TRIED[errors.FIGURES[name][1]].values()),
    )
    for name, title in _OVER_BER.items()
}

_CONGESTED = {
    "figure-4": "Figure 4: throughput over time with congestion",
    "figure-5": "Figure 5: goodput over time with congestion",
    "figure-6": "Figure 6: utilization over time with congestion",
}

ITEMS = (
    Item(
        "text-inferred",
        "What the documents leave open or contradict, and what was chosen",
        about=texts.INFERRED,
    ),
    Item("text-abstract", "Abstract: the largest gains", errors.abstract, about=texts.ABSTRACT),
    Item("text-numbers", "Sections 3 to 5: numbers of the text", parameters.numbers, about=texts.NUMBERS),
    Item(
        "table-1",
        "Table 1: download response time over the round trip",
        ideal.table_1,
        ideal.draw_table_1,
        texts.TABLE_1,
    ),
    Item("table-2", "Table 2: HTTP parameters", pages.table_2),
    Item("table-3", "Table 3: FTP parameters", parameters.table_3),
    Item("table-4", "Table 4: TCP parameters, and the links of figure 1", parameters.table_4),
    Item("table-5", "Table 5: page response time without losses", pages.table_5, about=texts.TABLE_5),
    Item("table-6", "Table 6: download response time without losses", ideal.table_6, about=texts.TABLE_6),
    Item(
        "figure-2",
        "Figure 2: throughput over time without losses",
        ideal.figure_2,
        partial(ideal.draw_over_time, what="throughput"),
        texts.FIGURE_2,
    ),
    Item(
        "figure-3",
        "Figure 3: utilization over time without losses",
        ideal.figure_3,
        partial(ideal.draw_over_time, what="utilization"),
        texts.FIGURE_3,
    ),
    Item(
        "table-6b",
        "Table 6, the second: page response time with congestion",
        pages.table_6b,
        pages.draw_table_6b,
        texts.TABLE_6B,
    ),
    Item(
        "table-7",
        "Table 7: download response time with congestion",
        congestion.table_7,
        congestion.draw_table_7,
        texts.TABLE_7,
    ),
    *(
        Item(name, title, congestion.figures, congestion.draw, texts.CONGESTED, undrawn=("download.toml",))
        for name, title in _CONGESTED.items()
    ),
    Item(
        "figure-7",
        "Figure 7: page response time with bit errors",
        page_losses.compute,
        page_losses.draw,
        texts.FIGURE_7,
        undrawn=(page_losses.FOUR,),
    ),
    *(_ERRORS[f"figure-{number}"] for number in (8, 9, 10, 11)),
    Item(
        "figure-12",
        "Figure 12: page response time with bit errors and congestion",
        page_losses.compute,
        page_losses.draw,
        texts.FIGURE_12,
    ),
    *(_ERRORS[f"figure-{number}"] for number in (13, 14, 15, 16)),
    Item(
        "table-9",
        "Table 9: average throughput of six flows of six round trips",
        fairness.table_9,
        fairness.draw_table_9,
        texts.TABLE_9,
    ),
    Item("table-10", "Table 10: Jain's fairness index", fairness.table_10, about=texts.TABLE_10),
    Item("table-11", "Table 11: average throughput of a mix", fairness.table_11, about=texts.TABLE_11),
    Item("table-12", "Table 12: friendliness", fairness.table_12),
    Item(
        "slides-friendliness",
        "Slides: friendliness of a mix of round trips",
        fairness.slides,
        about=texts.SLIDES_MIX,
    ),
    Item.beyond(
        "ablation",
        "each mechanism off alone, and the other readings",
        texts.ABLATION,
        draw=beyond.draw_ablation,
    ),
    Item.beyond(
        "window",
        "the rwnd increase against a receiver that enforces its window",
        texts.WINDOW,
        draw=beyond.draw_windows,
    ),
)
