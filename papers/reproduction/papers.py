"""Papers that can be reproduced, and how to add one.

A paper is one folder, ``papers/NAME/``, of data and code:

data
    ``paper.toml`` with ``title`` and ``citation``; the scenario files; and ``published.csv``, the only place
    where anything that the paper printed is written down. Its columns:

    ========== ========================================================================================
    item       ``table-6``, ``figure-3``, ``text-…``: the item the row belongs to
    case       which of the item's cases (a scheme, a window size, …); with `metric` it names the row
    metric     what was measured
    unit       of `published`, such as ``Mbit/s``; empty for a bare number and for a claim
    published  a number for the kinds printed and read-off, a claim in the words of `verdicts`
    kind       ``printed`` in the text or a table, ``read-off`` from a figure, or ``claim``
    input      empty for what is measured; else why it is none: an ``echo`` of a parameter, ``arithmetic`` on
               printed numbers, a ``duplicate`` of another row, or true by ``construction`` of the run
    where      section, table or figure, and page or line; several places separated by ``; ``
    comment    the paper's own words, or how the number was read off
    ========== ========================================================================================

    ``notes.csv`` explains rows: ``item``, ``case`` and ``metric`` (``*`` stands for anything; the first line
    that fits is taken), ``cause`` and ``note``. A row that differs has a cause: ``contradiction`` (the paper
    contradicts itself), ``not stated`` (with the range that was tried, and what it gives) or ``open`` (a
    question of ours). A note has three sentences at most; ``{name}`` is what the item gave as
    ``context.fact("name", …)``.

    ``elsewhere.csv`` and the ``[outline]`` of ``paper.toml`` are described in `coverage`.

code
    The folder is a package, whose ``__init__.py`` has a tuple ``ITEMS`` of `reproduce.Item`, in the paper's
    order, the `readings.Reading` ``WITHOUT`` that takes the scheme out of every run, and other ``READINGS``
    of what the paper leaves open. Each item has a ``compute(context)`` that runs what it
    needs with ``context.run`` and gives a `Row` for every row of ``published.csv`` with that item, made by
    ``context.number`` and ``context.claim``, and a ``draw(context, path)`` that writes a picture, or
    ``None``. What the paper did not look at is an `Item.beyond`, without rows. What papers do alike is in
    `bentpipe_papers.common`.
    For example::

        from bentpipe_papers.reproduction.reproduce import Context, Item, Row

        SCHEMES = ("tahoe", "reno", "newreno", "sack")

        def efficiency(context: Context) -> dict[str, Number]:
            settings = [{"flows.download.variant": scheme} for scheme in SCHEMES]
            runs = context.runs("three-drops.toml", settings)
            return {scheme: run["flows"][0]["goodput_bps"] / 1.5e6 for scheme, run in zip(SCHEMES, runs)}

        def compute(context: Context) -> list[Row]:
            values = efficiency(context)
            return [
                context.number("sack", "efficiency", values["sack"]),
                context.claim("three drops", "highest efficiency", values),
            ]

        ITEMS = (Item("figure-1", "TCP efficiency with three drops", compute, draw),)
"""

import csv
import importlib
import importlib.util
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from types import ModuleType
from typing import Literal, cast, get_args

from bentpipe.errors import BentpipeError

Kind = Literal["printed", "read-off", "claim"]
Input = Literal["", "echo", "arithmetic", "duplicate", "construction"]
Cause = Literal["contradiction", "not stated", "open"]

_COLUMNS = ("item", "case", "metric", "unit", "published", "kind", "input", "where", "comment")
_NOTE_COLUMNS = ("item", "case", "metric", "cause", "note")


@dataclass(frozen=True)
class Published:
    """One thing that a paper printed, a row of ``published.csv``."""

    item: str
    case: str
    metric: str
    unit: str
    published: str
    kind: Kind
    input: Input
    where: str
    comment: str


@dataclass(frozen=True)
class Note:
    """Why some rows are as they are, a line of ``notes.csv``."""

    item: str
    case: str
    metric: str
    cause: Cause | None
    text: str

    def fits(self, item: str, case: str, metric: str) -> bool:
        """Say whether it speaks of a row."""
        names = ((item, self.item), (case, self.case), (metric, self.metric))
        return all(fnmatchcase(name, wanted.replace("[", "[[]")) for name, wanted in names)


@dataclass(frozen=True)
class Paper:
    """A paper: what it is called, where its files are, what it printed."""

    name: str
    title: str
    citation: str
    folder: Path
    published: tuple[Published, ...]
    notes: tuple[Note, ...] = ()

    def module(self) -> ModuleType:
        """Import the code that goes with it."""
        return importlib.import_module(f"bentpipe_papers.{self.name}")

    def live(self) -> ModuleType | None:
        """Import the code that runs its items in real time under a kernel's TCP, if there is any."""
        name = f"{self.module().__name__}.live"
        return importlib.import_module(name) if importlib.util.find_spec(name) else None


def folder() -> Path:
    """Give the folder of all papers: ``papers/`` of a checkout, or where ``bentpipe-papers`` is installed."""
    return Path(__file__).resolve().parents[1]


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
        published = [_row(row) for row in table(data / "published.csv", _COLUMNS)]
        notes = [_note(row) for row in table(data / "notes.csv", _NOTE_COLUMNS)]
        return Paper(data.name, about["title"], about["citation"], data, tuple(published), tuple(notes))
    except (OSError, KeyError, ValueError, csv.Error) as error:
        raise BentpipeError(f"{data}: not the folder of a paper ({error!r})") from error


def table(path: Path, columns: Sequence[str]) -> list[dict[str, str]]:
    """Read the rows of a table with exactly these columns.

    Raises
    ------
    OSError, ValueError, csv.Error
        There is no such file, or it is no such table.
    """
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file, strict=True)
        rows = list(reader)
    if reader.fieldnames != list(columns) or any(None in row or None in row.values() for row in rows):
        raise ValueError(f"{path.name}: expected the columns {', '.join(columns)}")
    return rows


def _row(row: dict[str, str]) -> Published:
    for column, known in (("kind", get_args(Kind)), ("input", get_args(Input))):
        if row[column] not in known:
            raise ValueError(
                f"published.csv: {column} {row[column]!r} is none of {', '.join(filter(None, known))}"
            )
    if row["kind"] != "claim":
        float(row["published"])
    kind, reason = cast(Kind, row.pop("kind")), cast(Input, row.pop("input"))
    return Published(**row, kind=kind, input=reason)


def _note(row: dict[str, str]) -> Note:
    if row["cause"] not in ("", *get_args(Cause)):
        raise ValueError(f"notes.csv: cause {row['cause']!r} is none of {', '.join(get_args(Cause))}")
    cause = cast(Cause, row["cause"]) if row["cause"] else None
    return Note(row["item"], row["case"], row["metric"], cause, row["note"])
