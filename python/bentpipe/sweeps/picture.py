"""A sweep as a picture: a number over what was varied, a line for each value of something else."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any, TypeAlias

from bentpipe.errors import InputError
from bentpipe.numbers.number import ends
from bentpipe.results import Number, half_width, mean
from bentpipe.show.scales import unit_of
from bentpipe.show.style import CYCLE, GREY, picture, plain
from bentpipe.show.words import key_words
from bentpipe.sweeps.result import Group, Sweep, value_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_Lines: TypeAlias = dict[tuple[Any, ...], list[tuple[Any, Group]]]
"""By the values of the keys that are lines: places on the axis with what is there."""

_MOST_LINES = 12
_MOST_PANELS = 24
_LETTERS_AN_INCH = 14
_MARKERS = "osD^vP*X"
_SPREAD = 30.0
"""From so many times the smallest value on, an axis of values above zero is logarithmic."""


def draw_sweep(
    sweep: Sweep,
    path: Path,
    x: str,
    y: str,
    by: Sequence[str] = (),
    where: Mapping[str, str] | None = None,
    *,
    title: str | None = None,
    xlabel: str | None = None,
) -> None:
    """Write the picture that `draw` makes to a .png, .svg or .pdf file, and in words what it shows.

    More lines than there are colours become panels, one for each value of the first key of `by`.
    """
    lines = _lines(sweep, x, y, by, where or {}, _MOST_PANELS * len(CYCLE))
    panels: dict[Any, _Lines] = {}
    if apart := len(lines) > len(CYCLE):
        for values, line in lines.items():
            panels.setdefault(values[0], {})[values[1:]] = line
        if (most := max(len(panels), *map(len, panels.values()))) > _MOST_PANELS:
            raise InputError(
                f"{sweep.folder}: expected at most {_MOST_PANELS} panels, found {most}: --where chooses"
            )
    else:
        panels[None] = lines
    across = len(panels) if len(panels) <= 3 else math.ceil(math.sqrt(len(panels)))
    down = math.ceil(len(panels) / across)
    size = (3.4 * across + 1, 2.6 * down + 1) if apart else (6.4, 4.2)
    with picture(path, size, about=sweep.design.title) as figure:
        grid = figure.subplots(down, across, squeeze=False, sharex="all", sharey="all")
        every = list(grid.flat)
        for unused in every[len(panels) :]:
            unused.remove()
        labels: list[tuple[str, str, str]] = []
        for axes, (value, drawn) in zip(every, panels.items(), strict=False):
            labels.append(_draw(sweep, axes, drawn, x, y, by, (value,) if apart else ()))
            if apart:
                axes.set_title(plain(f"{key_words(by[0])}: {value_text(value)}"), fontsize=10)
        handles, names = every[0].get_legend_handles_labels()
        if names:
            keys = plain(", ".join(map(key_words, by[1:] if apart else by)))
            if apart:
                figure.legend(handles, names, loc="outside right upper", title=keys, title_fontsize=8)
            else:
                every[0].legend(handles, names, title=keys, title_fontsize=8)
        _fit(every[: len(panels)], lines)
        horizontal, vertical, told = labels[0]
        for number, axes in enumerate(every[: len(panels)]):
            if number + across >= len(panels):
                axes.set_xlabel(plain(xlabel or horizontal))
                axes.tick_params(labelbottom=True)
            if number % across == 0:
                axes.set_ylabel(plain(vertical + _not_from_0(axes)))
        figure.suptitle(plain(title or sweep.design.title), fontsize=12, fontweight="bold")
        shown = [f"{y} over {x}", *(f"only {key}={value}" for key, value in (where or {}).items()), told]
        caption = fill("; ".join(filter(None, shown)), int(_LETTERS_AN_INCH * size[0]))
        figure.supxlabel(plain(caption), fontsize=8, color=GREY)


def draw(
    sweep: Sweep,
    axes: "Axes",
    x: str,
    y: str,
    by: Sequence[str] = (),
    where: Mapping[str, str] | None = None,
) -> "Axes":
    """Draw the mean of `y`, with its 95 % interval over the replications, over the values of `x`.

    There is a line for each combination of the values of `by`, keys that were varied or ``name``, the flow or
    link; a sample's points are drawn by themselves. `where` chooses rows by such values.

    Raises InputError: a name is none of the sweep's, or points that differ otherwise would be mixed.
    """
    lines = _lines(sweep, x, y, by, where or {}, _MOST_LINES)
    horizontal, vertical, told = _draw(sweep, axes, lines, x, y, by)
    _fit([axes], lines)
    axes.set_xlabel(plain(horizontal))
    axes.set_ylabel(plain(vertical + _not_from_0(axes)))
    if len(lines) > 1 or any(lines):
        axes.legend()
    axes.set_title("\n".join(filter(None, (plain(sweep.design.title), told))))
    return axes


def _lines(sweep: Sweep, x: str, y: str, by: Sequence[str], where: Mapping[str, str], most: int) -> _Lines:
    sweep.require([x], sweep.keys, "--x with a key that was varied")
    sweep.require([y], sweep.metrics(), "--y with a measured number")
    sweep.require(by, ["name", *sweep.keys], "--by with a key that was varied, or name")
    if x in by:
        raise InputError(f"--by {x}: expected another key than --x")
    design = sweep.design
    mixed = {
        axis.key
        for axis in design.points.axes
        if axis.key not in (x, *by, *where) and len(set(axis.values)) > 1 and design.points.sample is None
    }
    if len(sweep.names(y)) > 1 and not {"name"} & {*by, *where}:
        mixed.add("name")
    if mixed:
        wanted = " ".join(f"--by {key}" for key in sorted(mixed))
        raise InputError(
            f"{sweep.folder}: expected a line for what differs beside --x: {wanted}, or --where KEY=VALUE"
        )
    numeric = sweep.design.numeric_column(x)
    keys = [*by, numeric, *(["point"] if design.points.sample is not None else [])]
    lines: _Lines = {}
    for group in sweep.groups(keys, [y], where):
        lines.setdefault(group.values[: len(by)], []).append((group.values[len(by)], group))
    if not lines:
        raise InputError(f"{sweep.folder}: expected rows with {y}, found none")
    if len(lines) > most:
        raise InputError(
            f"{sweep.folder}: expected at most {most} lines, found {len(lines)}: --where chooses"
        )
    return lines


def _broken(sweep: Sweep, by: Sequence[str], column: str) -> set[tuple[Any, ...]]:
    """Give where every run failed, by the values of keys that are lines and of the axis."""
    found: dict[tuple[Any, ...], list[str | None]] = {}
    keys = [*(key for key in by if key != "name"), column]
    for row in sweep.table(["kind", "error", *dict.fromkeys(keys)]).to_pylist():
        if row["kind"] == "run":
            found.setdefault(tuple(row[key] for key in keys), []).append(row["error"])
    return {at for at, errors in found.items() if all(errors)}


def _draw(
    sweep: Sweep,
    axes: "Axes",
    lines: _Lines,
    x: str,
    y: str,
    by: Sequence[str],
    panel: tuple[Any, ...] = (),
) -> tuple[str, str, str]:
    """Draw the lines; give what stands at the axes, and how sure the means are.

    `panel` holds what the lines of a panel have in common: the values of the first keys of `by`.
    """
    column = sweep.design.numeric_column(x)
    sampled = sweep.design.points.sample is not None
    numbers = [group.numbers[0] for line in lines.values() for _, group in line]
    texts = list(dict.fromkeys(value for line in lines.values() for value, _ in line))
    categories = any(isinstance(value, str) for value in texts)
    scale, unit = unit_of(y, list(map(mean, numbers)))
    broken = _broken(sweep, by, column)
    spread = False

    def across(at: Any) -> Any:
        return texts.index(at) if categories else at

    for number, (values, line) in enumerate(lines.items()):
        colour = CYCLE[number % len(CYCLE)]
        of_runs = tuple(value for key, value in zip(by, (*panel, *values), strict=True) if key != "name")
        if sampled:
            places = [(at, group.numbers[0]) for at, group in line]
        else:
            known = {at: group.numbers[0] for at, group in line if mean(group.numbers[0]) is not None}
            places = [(at, known.get(at)) for at in texts]
        if not categories:
            places.sort(key=lambda pair: pair[0])
        # A line ends where there is no result, and a point at which every run failed is no result.
        lost = [at for at, _ in places if (*of_runs, at) in broken]
        drawn = [(at, None if at in lost else value) for at, value in places]
        has_spread = any(half_width(value) is not None for _, value in drawn)
        spread |= has_spread
        reaches = [_reach(value, scale) for _, value in drawn]
        axes.errorbar(
            [across(at) for at, _ in drawn],
            [math.nan if value is None else (mean(value) or 0.0) / scale for _, value in drawn],
            yerr=list(zip(*reaches, strict=True)) if has_spread else None,
            label=plain(", ".join(value_text(value) for value in values)) or None,
            color=colour,
            marker=_MARKERS[number % len(_MARKERS)],
            markersize=4,
            linestyle="none" if sampled or categories else "-",
            capsize=3,
            elinewidth=0.9,
        )
        if lost:
            axes.plot(
                [across(at) for at in lost],
                [0.0] * len(lost),
                color=colour,
                marker="x",
                linestyle="none",
                clip_on=False,
                label="every run failed" if not number else None,
            )
    if categories:
        axes.set_xticks(range(len(texts)), [plain(str(text)) for text in texts])
        axes.margins(x=0.15)
    elif min(texts) > 0 and max(texts) > _SPREAD * min(texts):
        axes.set_xscale("log")
    elif min(texts) == 0 and max(texts) > _SPREAD * (least := min(filter(None, texts))):
        axes.set_xscale("symlog", linthresh=least, linscale=0.5)
    runs = sweep.design.runs
    told = f"means of {runs:,} runs, 95 % intervals" if spread else "single runs" if runs == 1 else ""
    name = (y.rpartition("_")[0] if unit else y).replace("_", " ")
    of_axis = key_words(x) + column.removeprefix(x)
    return of_axis, name + (f" ({unit})" if unit else ""), told


def _fit(every: Sequence["Axes"], lines: _Lines) -> None:
    """Begin at 0 where that leaves room for what is drawn."""
    low, high = every[0].get_ylim()
    if low <= high / 2:
        below = any((mean(group.numbers[0]) or 0.0) < 0 for line in lines.values() for _, group in line)
        for axes in every:
            axes.set_ylim(bottom=min(low, 0) if below else 0)


def _not_from_0(axes: "Axes") -> str:
    return ", not from 0" if axes.get_ylim()[0] > 0 else ""


def _reach(number: Number, scale: float) -> tuple[float, float]:
    """Give how far an interval goes below and above its mean."""
    if not isinstance(number, dict):
        return 0.0, 0.0
    low, high = ends(number)
    return max(0.0, number["mean"] - low) / scale, max(0.0, high - number["mean"]) / scale
