"""Papers that can be reproduced, and how to add one.

A paper is a folder of data and a package of code:

``papers/NAME/``
    ``paper.toml`` with ``title`` and ``citation``; the scenario files; and ``published.csv``, the only place
    where anything that the paper printed is written down. Its columns:

    ========== ========================================================================================
    item       ``table-6``, ``figure-3``, ``text-…``: the item the row belongs to
    case       which of the item's cases (a scheme, a window size, …); with `metric` it names the row
    metric     what was measured
    unit       of `published`, such as ``Mbit/s``; empty for a bare number and for a claim
    published  a number for the kinds printed and read-off, a claim in the words of `bentpipe.verdicts`
    kind       ``printed`` in the text or a table, ``read-off`` from a figure, or ``claim``
    where      section, table or figure, and page or line
    comment    the paper's own words, or how the number was read off
    ========== ========================================================================================

``bentpipe/papers/NAME/``
    The package, or a module while it is small, with a tuple ``ITEMS`` of `bentpipe.reproduction.Item`, in the
    paper's order (dashes in NAME become underscores). Each item has a ``compute(context)`` that runs what it
    needs with ``context.run`` and gives a `Row` for every row of ``published.csv`` with that item, made by
    ``context.number`` and ``context.claim``, and a ``draw(context, path)`` that writes a picture, or
    ``None``. What the paper did not look at is an `Item.beyond`, without rows. What papers do alike is in
    `bentpipe.papers.common`.
    For example::

        from bentpipe.reproduction import Context, Item, Row

        SCHEMES = ("tahoe", "reno", "newreno", "sack")

        def efficiency(context: Context) -> dict[str, Number]:
            settings = [{"flows.download.variant": scheme} for scheme in SCHEMES]
            runs = context.runs("three-drops.toml", settings)
            return {scheme: run["flows"][0]["goodput_bps"] / 1.5e6 for scheme, run in zip(SCHEMES, runs)}

        def compute(context: Context) -> list[Row]:
            values = efficiency(context)
            return [
                context.number("sack", "efficiency", values["sack"]),
                context.claim("three drops", "highest efficiency", values, note="…"),
            ]

        ITEMS = (Item("figure-1", "TCP efficiency with three drops", compute, draw),)
"""

import csv
import importlib
import tomllib
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Literal, cast

from bentpipe.errors import BentpipeError

Kind = Literal["printed", "read-off", "claim"]

_COLUMNS = ("item", "case", "metric", "unit", "published", "kind", "where", "comment")


@dataclass(frozen=True)
class Published:
    """One thing that a paper printed, a row of ``published.csv``."""

    item: str
    case: str
    metric: str
    unit: str
    published: str
    kind: Kind
    where: str
    comment: str


@dataclass(frozen=True)
class Paper:
    """A paper: what it is called, where its files are, what it printed."""

    name: str
    title: str
    citation: str
    folder: Path
    published: tuple[Published, ...]

    def module(self) -> ModuleType:
        """Import the code that goes with it."""
        return importlib.import_module(f"bentpipe.papers.{self.name.replace('-', '_')}")


def folder() -> Path:
    """Give the folder of all papers: ``papers/`` of a checkout, else what came with the installed package."""
    package = Path(__file__).parent
    checkout = package.parents[2]
    return checkout / "papers" if (checkout / "pyproject.toml").is_file() else package / "data"


def all_papers() -> list[Paper]:
    """Read every paper there is, by name."""
    return [read(path.parent) for path in sorted(folder().glob("*/paper.toml"))]


def read(data: Path) -> Paper:
    """Read one paper's folder.

    Raises
    ------
    BentpipeError
        A file is missing or is not as this module's description says.
    """
    try:
        about = tomllib.loads((data / "paper.toml").read_text(encoding="utf-8"))
        with (data / "published.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, strict=True))
        return Paper(data.name, about["title"], about["citation"], data, tuple(_row(row) for row in rows))
    except (OSError, KeyError, ValueError, csv.Error) as error:
        raise BentpipeError(f"{data}: not the folder of a paper ({error!r})") from error


def _row(row: dict[str, str]) -> Published:
    if tuple(row) != _COLUMNS or None in row.values():
        raise ValueError(f"published.csv: expected the columns {', '.join(_COLUMNS)}")
    if row["kind"] not in ("printed", "read-off", "claim"):
        raise ValueError(f"published.csv: kind {row['kind']!r} is neither printed nor read-off nor claim")
    if row["kind"] != "claim":
        float(row["published"])
    return Published(
        row["item"],
        row["case"],
        row["metric"],
        row["unit"],
        row["published"],
        cast(Kind, row["kind"]),
        row["where"],
        row["comment"],
    )
