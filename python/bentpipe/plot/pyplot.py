"""The time series of results in a figure of pyplot."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bentpipe.plot.page import Page
from bentpipe.plot.run import DrawnRun
from bentpipe.runs.result import Result
from bentpipe.show.style import house_style_of_pyplot


def draw_in_pyplot(results: Sequence[Result], **shown: Any) -> NDArray[np.object_]:
    """Draw `results` side by side, with what is `shown` as `Page` takes it; gives the axes, a row a panel."""
    subjects = [DrawnRun(result.run["scenario"], result.run, result.series) for result in results]
    page = Page(subjects, **shown)
    with house_style_of_pyplot() as pyplot:
        return page.draw(pyplot.figure(figsize=page.size_in, layout="constrained"))
