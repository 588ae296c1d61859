"""How every picture of this project looks."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from bentpipe.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, ORANGE, GREEN, RED, PURPLE, SKY, YELLOW, GREY = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#d1350f",
    "#8a5a9e",
    "#56b4e9",
    "#b8a400",
    "#767676",
)
"""Told apart by colour-blind readers too (Okabe and Ito 2008, three of them darker for thin lines)."""

FORMATS = ("png", "svg", "pdf")

CYCLE = (BLUE, ORANGE, GREEN, PURPLE, SKY, RED, YELLOW, GREY)

_SHEET = Path(__file__).with_name("house.mplstyle")

# Fonts with signs that the usual one lacks, where they are installed.
_FURTHER_SCRIPTS = (
    "Noto Sans CJK JP",
    "Noto Sans CJK SC",
    "IPAGothic",
    "Hiragino Sans",
    "Yu Gothic",
    "Noto Sans Devanagari",
    "Noto Sans Thai",
)


@contextmanager
def picture(path: Path, size: tuple[float, float], about: str = "") -> Iterator["Figure"]:
    """Give a figure of so many inches to draw in, in the house style, and write it to the file.

    That is a .png, .svg or .pdf. A .png says in its metadata what it is `about`. Nothing is written if the
    drawing fails; the same figure gives the same bytes.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with house_style():
        mpl.use("agg")
        figure = Figure(figsize=size, layout="constrained")
        yield figure
        kind = picture_format(path)
        of_png = {"Software": "bentpipe", **({"Description": about} if about else {})}
        metadata = {"png": of_png, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
        figure.savefig(path, format=kind, metadata=metadata[kind])


@contextmanager
def house_style() -> Iterator[None]:
    """Have matplotlib draw in the house style meanwhile."""
    import matplotlib as mpl
    from matplotlib.font_manager import fontManager

    with mpl.rc_context(), warnings.catch_warnings():
        mpl.rcParams.update(mpl.rc_params_from_file(_SHEET, use_default_template=False))
        there = set(fontManager.get_font_names())
        mpl.rcParams["font.family"] += [name for name in _FURTHER_SCRIPTS if name in there]
        # A sign that no font has is drawn as a box, which says as much.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


@contextmanager
def house_style_of_pyplot() -> Iterator[ModuleType]:
    """Give pyplot, which draws in the house style meanwhile."""
    from matplotlib import get_backend, pyplot

    # A backend that loads within the style has its own settings undone at the end of it: a notebook would
    # show the first picture and no other.
    pyplot.switch_backend(get_backend())
    with house_style():
        yield pyplot


def legend_beside(axes: "Axes", title: str | None, *entries: Any, **how: Any) -> None:
    """Write a legend on the right of a panel: these handles and labels, or all artists that have a label."""
    place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0.0}
    legend = axes.legend(*entries, title=title, title_fontsize=8, alignment="left", **place, **how)
    legend.get_title().set_color(GREY)


def plain(text: str) -> str:
    """Give `text` so that it is drawn as it stands, and no part of it taken for a formula."""
    return text.replace("$", r"\$")


def picture_format(path: Path, formats: Sequence[str] = FORMATS) -> str:
    """Give the format that a file name asks for.

    Raises InputError: the name ends in none of these `formats`.
    """
    suffix = path.suffix.lower().removeprefix(".")
    if suffix not in formats:
        *others, last = (f".{name}" for name in formats)
        raise InputError(f"{path}: expected a file name that ends in {', '.join(others)} or {last}")
    return suffix
