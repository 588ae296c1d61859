"""Leerujikul and Ahmed, "TCP over satellite link with SACK enhancement": every figure, number and claim."""

from functools import partial

from bentpipe_papers.reproduction.reproduce import Item

from . import burst, geo, satellite, terrestrial, texts, today, window
from .runs import READINGS, WITHOUT

__all__ = ["ITEMS", "READINGS", "WITHOUT"]

_OVER_WINDOW = (
    (2, "average queueing delay", partial(satellite.draw, "delay"), texts.FIGURE_2),
    (3, "dropped packets", partial(satellite.draw, "drops"), texts.FIGURE_3),
    (4, "efficiency", partial(satellite.draw, "efficiency"), texts.FIGURE_4),
    (5, "average throughput", partial(satellite.draw, "throughput"), texts.FIGURE_5),
)

ITEMS = (
    Item("text-inferred", "What the document leaves open, and what was chosen", about=texts.INFERRED),
    Item(
        "text-schemes",
        "Sections 2 to 5: what the four schemes do",
        terrestrial.schemes,
        terrestrial.draw_schemes,
        texts.SCHEMES,
    ),
    Item(
        "text-geo", "Section 6: the distance to the satellite and its delay", geo.compute, geo.draw, texts.GEO
    ),
    Item(
        "text-methodology",
        "Section 7: link rate and standard window",
        window.methodology,
        about=texts.METHODOLOGY,
    ),
    Item(
        "text-one-drop",
        "Section 8: one packet of a window dropped",
        terrestrial.one_drop,
        terrestrial.draw_one_drop,
        texts.ONE_DROP,
    ),
    Item(
        "figure-1",
        "Figure 1: efficiency with three packets of a window dropped",
        terrestrial.three_drops,
        terrestrial.draw_three_drops,
        texts.FIGURE_1,
    ),
    *(
        Item(f"figure-{number}", f"Figure {number}: {what} over window size", satellite.compute, draw, about)
        for number, what, draw, about in _OVER_WINDOW
    ),
    Item(
        "text-window",
        "Section 9: round trip, bandwidth-delay product, and the window that fits it",
        window.window,
        window.draw,
        texts.WINDOW,
    ),
    Item(
        "text-recovery",
        "Section 9: more than half of a window lost",
        burst.compute,
        burst.draw,
        texts.RECOVERY,
    ),
    Item(
        "text-conclusions", "Section 10: what the conclusions add", burst.conclusions, about=texts.CONCLUSIONS
    ),
    Item(
        "text-sensitivity",
        "Which claims of figures 2 to 5 hold at which duration and buffer",
        draw=satellite.draw_grid,
        about=texts.SENSITIVITY,
        measure=satellite.measure_grid,
    ),
    Item(
        "text-phases",
        "Which claims of figures 1 to 5 hold at which phase of the timer's tick",
        about=texts.PHASES,
        measure=satellite.measure_phases,
    ),
    Item.beyond(
        "today",
        "NewReno and SACK as the RFCs have them today",
        texts.TODAY,
        today.measure,
        today.draw,
    ),
)
