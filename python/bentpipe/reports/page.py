"""A page: sections of paragraphs, pictures, tables and curves, and what it takes to have it again."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from bentpipe import _core
from bentpipe.files.output import Staging

if TYPE_CHECKING:
    from jinja2 import Template

_MOST_CHOICES = 12
"""A column with so many different texts at most can be filtered by a list of them."""


@dataclass(frozen=True)
class Cell:
    """What stands in a table: a text, and the number that rows are sorted by, if it is one."""

    text: str
    number: float | None = None
    kind: str = ""
    """A class of the style sheet, as ``match``."""


@dataclass(frozen=True)
class ReportTable:
    """Rows of cells under headings; readers choose rows by the texts of the columns `chosen`."""

    name: str
    headings: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    chosen: tuple[int, ...] = ()
    caption: str = ""

    @property
    def _columns(self) -> list[tuple[Cell, ...]]:
        return list(zip(*self.rows, strict=True)) if self.rows else [()] * len(self.headings)

    @property
    def numeric(self) -> tuple[bool, ...]:
        """Which columns hold numbers, or nothing."""
        return tuple(any(cell.number is not None for cell in column) for column in self._columns)

    @property
    def choices(self) -> tuple[tuple[str, ...], ...]:
        """By column, the texts that rows can be chosen by; none where there are too many, or one."""
        found = [tuple(dict.fromkeys(cell.text for cell in column)) for column in self._columns]
        return tuple(
            texts if place in self.chosen and 1 < len(texts) <= _MOST_CHOICES else ()
            for place, texts in enumerate(found)
        )


@dataclass(frozen=True)
class Figure:
    """A picture as SVG, and what it shows in words."""

    svg: str
    about: str


@dataclass(frozen=True)
class Curves:
    """What can be drawn in the page: points with the values of keys, and measured numbers.

    Parameters
    ----------
    keys
        By name, the values of each point, as texts. A line is what has the same values of all keys but the
        one that is drawn over.
    over
        By label with its unit, what can be drawn over: the name of the key, and its values as numbers.
    numbers
        By label with its unit, the mean and the half-width of each point's 95 % interval; ``None`` where
        there is none.
    x, y
        What is drawn first.
    """

    keys: dict[str, list[str]]
    over: dict[str, tuple[str, list[float]]]
    numbers: dict[str, list[tuple[float, float] | None]]
    x: str
    y: str

    def json(self) -> str:
        """Give it as JSON that may stand in a page."""
        return json.dumps(vars(self), allow_nan=False).replace("<", "\\u003c")


@dataclass(frozen=True)
class Section:
    """A heading and what is below it."""

    heading: str
    paragraphs: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()
    curves: Curves | None = None
    tables: tuple[ReportTable, ...] = ()


@dataclass(frozen=True)
class Origin:
    """What it takes to have a page again: facts, and texts such as the scenario."""

    facts: tuple[tuple[str, str], ...] = ()
    texts: tuple[tuple[str, str], ...] = ()

    def all_facts(self) -> list[tuple[str, str]]:
        """Give the facts, with the version and the engine that made the page."""
        return [*self.facts, ("bentpipe", version("bentpipe")), ("engine", _core.engine_version())]


@dataclass(frozen=True)
class Report:
    """A page that needs nothing beside it, from nowhere."""

    title: str
    sections: tuple[Section, ...]
    about: tuple[str, ...] = ()
    origin: Origin = field(default_factory=Origin)

    def html(self) -> str:
        """Give the page."""
        template, source = environment("page.html.j2")
        drawn = any(section.curves is not None for section in self.sections)
        return template.render(page=self, source=source, drawn=drawn)

    def write(self, path: Path, option: str = "") -> None:
        """Write it to a file, or leave what is there as it was.

        Raises BentpipeError: the file cannot be written.
        """
        with Staging() as staging:
            staging.file(path, option).write_text(self.html(), encoding="utf-8")


def environment(name: str) -> tuple["Template", Callable[[str], str]]:
    """Give the template of this name, and what gives it the text of a file beside it."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("bentpipe", "templates")
    around = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return around.get_template(name), lambda file: loader.get_source(around, file)[0]


def inline(draw: Callable[[Path], Any], about: str, prefix: str) -> Figure:
    """Give what `draw` writes to an SVG file as a part of a page; its names begin with `prefix`."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "picture.svg"
        draw(path)
        text = path.read_text(encoding="utf-8")
    svg = text[text.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\bid="', f'id="{prefix}-', svg)
    svg = re.sub(r"url\(#", f"url(#{prefix}-", svg)
    svg = re.sub(r'xlink:href="#', f'xlink:href="#{prefix}-', svg)

    def sized(found: re.Match[str]) -> str:
        return f'<svg{found[1]} style="--width: {float(found[2]) * 4 / 3:.0f}px"'

    # The size is the page's to choose; the proportions are in the viewBox.
    svg = re.sub(r'^<svg([^>]*?) width="([\d.]+)pt" height="[\d.]+pt"', sized, svg, count=1, flags=re.DOTALL)
    return Figure(svg, about)
