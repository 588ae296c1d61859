"""Taleb, Kato and Nemoto, "On Improving the Efficiency and Fairness of TCP": figures and claims."""

from bentpipe.reproduction import Item

from . import beyond, convergence, equation, groups, handover, schemes, staged, texts, web

ITEMS = (
    Item(
        "text-inferred",
        "What the document leaves open or contradicts, and what was chosen",
        lambda _: [],
        about=texts.INFERRED,
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
        staged.figure_2,
        staged.draw_figure_2,
        texts.FIGURE_2,
    ),
    Item(
        "figure-3",
        "Figure 3: throughput and queue while flows come and go",
        staged.figure_3,
        staged.draw_figure_3,
        texts.FIGURE_3,
    ),
    Item(
        "figure-4",
        "Figure 4: segment numbers of groups with different round trips, T1",
        groups.figure_4,
        groups.draw_figure_4,
        texts.FIGURE_4,
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
    Item(
        "beyond-convergence",
        "Beyond the paper: how soon the flows are equal after each change",
        lambda _: [],
        convergence.draw,
        texts.CONVERGENCE,
        convergence.measure,
    ),
    Item(
        "beyond-queue",
        "Beyond the paper: the queue that equation 1 builds",
        lambda _: [],
        beyond.draw_queue,
        texts.QUEUE,
        beyond.queue,
    ),
    Item(
        "beyond-estimates",
        "Beyond the paper: wrong estimates of the round trip",
        lambda _: [],
        about=texts.ESTIMATES,
        measure=beyond.estimates,
    ),
    Item(
        "beyond-unresponsive",
        "Beyond the paper: beside datagrams that take no notice",
        lambda _: [],
        about=texts.UNRESPONSIVE,
        measure=beyond.unresponsive,
    ),
    Item(
        "beyond-limited",
        "Beyond the paper: flows that cannot use their share",
        lambda _: [],
        about=texts.LIMITED,
        measure=beyond.limited,
    ),
    Item(
        "beyond-liar",
        "Beyond the paper: a flow that oversteps its window",
        lambda _: [],
        about=texts.LIAR,
        measure=beyond.liar,
    ),
    Item(
        "beyond-schemes",
        "Beyond the paper: XFWA beside EWA, WINTRAC, RED, REM and ECN",
        lambda _: [],
        schemes.draw,
        texts.SCHEMES,
        schemes.measure,
    ),
    Item(
        "beyond-handover",
        "Beyond the paper: a handover",
        lambda _: [],
        handover.draw,
        texts.HANDOVER,
        handover.measure,
    ),
)
