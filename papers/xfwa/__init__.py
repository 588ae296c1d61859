"""Taleb, Kato and Nemoto, "On Improving the Efficiency and Fairness of TCP": figures and claims."""

from bentpipe_papers.reproduction.reproduce import Item

from . import (
    beyond,
    coming_and_going,
    constellation,
    convergence,
    equation,
    groups,
    handover,
    readings,
    schemes,
    sections,
    texts,
    web,
)
from .runs import READINGS, WITHOUT

__all__ = ["ITEMS", "READINGS", "WITHOUT"]

ITEMS = (
    Item(
        "text-inferred",
        "What the document leaves open or contradicts, and what was chosen",
        about=texts.INFERRED,
    ),
    Item(
        "section-1",
        "Section I: round trips that differ, flows that come and go",
        sections.section_1,
        about=texts.SECTION_1,
    ),
    Item(
        "section-2",
        "Section II: other schemes",
        sections.section_2,
        about=texts.SECTION_2,
        measure=sections.measure_section_2,
    ),
    Item(
        "section-3",
        "Section III: whom the gateway counts, and what its windows follow",
        sections.section_3,
        about=texts.SECTION_3,
        measure=sections.measure_section_3,
    ),
    Item("figure-1", "Figure 1: the network", equation.figure_1, about=texts.FIGURE_1),
    Item(
        "equation-1",
        "Section III, equation 1: the windows",
        equation.equation_1,
        equation.draw,
        texts.EQUATION_1,
    ),
    Item(
        "figure-2",
        "Figure 2: segment numbers while flows come and go",
        coming_and_going.figure_2,
        coming_and_going.draw_figure_2,
        texts.FIGURE_2,
        coming_and_going.measure,
    ),
    Item(
        "figure-3",
        "Figure 3: throughput and queue while flows come and go",
        coming_and_going.figure_3,
        coming_and_going.draw_figure_3,
        texts.FIGURE_3,
        coming_and_going.measure,
    ),
    Item(
        "figure-4",
        "Figure 4: segment numbers of groups with different round trips, T1",
        groups.figure_4,
        groups.draw_figure_4,
        texts.FIGURE_4,
        groups.measure_figure_4,
    ),
    Item(
        "figure-5",
        "Figure 5: packets of each flow, by link",
        groups.figure_5,
        groups.draw_figure_5,
        texts.FIGURE_5,
        groups.measure_figure_5,
    ),
    Item(
        "figure-6",
        "Figure 6: utilization and drops beside on/off flows",
        web.figure_6,
        web.draw,
        texts.FIGURE_6,
        web.measure,
    ),
    Item.beyond(
        "readings",
        "the other reading of the table and the windows",
        texts.READINGS,
        readings.measure,
        readings.draw,
    ),
    Item.beyond(
        "convergence",
        "how soon the flows are equal after each change",
        texts.CONVERGENCE,
        convergence.measure,
        convergence.draw,
    ),
    Item.beyond("queue", "the queue that equation 1 builds", texts.QUEUE, beyond.queue, beyond.draw_queue),
    Item.beyond("estimates", "wrong estimates of the round trip", texts.ESTIMATES, beyond.estimates),
    Item.beyond(
        "unresponsive", "beside datagrams that take no notice", texts.UNRESPONSIVE, beyond.unresponsive
    ),
    Item.beyond("limited", "flows that cannot use their share", texts.LIMITED, beyond.limited),
    Item.beyond("liar", "a flow that oversteps its window", texts.LIAR, beyond.liar),
    Item.beyond(
        "schemes", "XFWA beside EWA, WINTRAC, RED, REM and ECN", texts.SCHEMES, schemes.measure, schemes.draw
    ),
    Item.beyond("handover", "a handover", texts.HANDOVER, handover.measure, handover.draw),
    Item.beyond(
        "constellation",
        "satellites that move",
        texts.CONSTELLATION,
        constellation.measure,
    ),
)
