"""What a reader of the report should know of each item, in our own words."""

INFERRED = ()
FIGURE_1 = ()
EQUATION_1 = ()
FIGURE_2 = ()
FIGURE_3 = ()
FIGURE_4 = ()
FIGURE_5 = ()
FIGURE_6 = ()
