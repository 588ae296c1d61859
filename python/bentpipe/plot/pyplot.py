"""The time series of results in a figure of pyplot."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bentpipe.plot.page import Page
from bentpipe.plot.run import DrawnRun
from bentpipe.runs.result import Result
from bentpipe.show.style import house_style_of_pyplot


def draw_in_pyplot(
    results: Sequence[Result], *, flows: Sequence[str], start_s: float | None, end_s: float | None
) -> NDArray[np.object_]:
    """Draw `results` side by side, from `start_s` to `end_s`; gives the axes, a row for each panel."""
    subjects = [DrawnRun(result.run["scenario"], result.run, result.series) for result in results]
    page = Page(subjects, flows=flows, start_s=start_s, end_s=end_s)
    with house_style_of_pyplot() as pyplot:
        return page.draw(pyplot.figure(figsize=page.size_in, layout="constrained"))
