"""The reproduction report: one HTML page with a picture of each item beside it, and the same as JSON."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from bentpipe.output import Staging
from bentpipe.results import dump

if TYPE_CHECKING:
    from bentpipe.reproduction import Context, Reproduced


def write_report(
    results: Sequence["Reproduced"], contexts: Sequence["Context"], folder: Path
) -> list["Reproduced"]:
    """Write ``index.html``, ``result.json`` and ``PAPER-ITEM.png`` for each item that has a picture.

    Gives the results with the names of their pictures.

    Raises
    ------
    BentpipeError
        The folder cannot be written; it is as it was.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    from bentpipe.reproduction import as_json, picture_name, verdict_counts

    environment = Environment(
        loader=PackageLoader("bentpipe", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    illustrated = []
    with Staging() as staging:
        for result, context in zip(results, contexts, strict=True):
            picture = None
            if result.item.draw is not None:
                picture = picture_name(result.paper, result.item)
                result.item.draw(context, staging.file(folder / picture))
            illustrated.append(replace(result, picture=picture))
        papers = list({result.paper.name: result.paper for result in results}.values())
        page = environment.get_template("report.html.j2").render(
            papers=papers, results=illustrated, counts=verdict_counts(results)
        )
        staging.file(folder / "index.html").write_text(page, encoding="utf-8")
        staging.file(folder / "result.json").write_text(dump(as_json(illustrated)), encoding="utf-8")
    return illustrated
