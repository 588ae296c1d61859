"""The pictures people expect of a TCP run: time-sequence, window, round-trip time, queue; a column a run."""

from bentpipe.plot.page import Page, draw_runs, end_of
from bentpipe.plot.panels import draw_sequence
from bentpipe.plot.run import DrawnRun
from bentpipe.show.scales import label_axis

__all__ = ["DrawnRun", "Page", "draw_runs", "draw_sequence", "end_of", "label_axis"]
