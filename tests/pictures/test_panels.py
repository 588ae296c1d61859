"""What the panels of a picture show, read from the axes that were drawn."""

import json
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pytest

from bentpipe.errors import InputError
from bentpipe.plot import DrawnRun, draw_runs, page
from bentpipe.plot.headings import headings as headings_of
from bentpipe.results import mean
from bentpipe.runs.traces import Trace, Traces
from bentpipe.show.style import picture
from conftest import SCENARIOS, WEB_USERS, Bentpipe

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# What matplotlib gives back has types too wide to compute with.
Axes: TypeAlias = Any
Draw = Callable[..., list[list[Axes]]]


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Draw:
    """Draw, and give the panels: a list for each row, an axes for each column."""
    figures: list[Figure] = []

    @contextmanager
    def kept(path: Path, size: tuple[float, float], about: str = "") -> Iterator["Figure"]:
        with picture(path, size, about) as figure:
            figures.append(figure)
            yield figure

    monkeypatch.setattr(page, "picture", kept)

    def draw(*subjects: DrawnRun, **options: Any) -> list[list[Axes]]:
        draw_runs(subjects, tmp_path / "drawn.png", **options)
        axes = figures[-1].axes
        return [axes[first : first + len(subjects)] for first in range(0, len(axes), len(subjects))]

    return draw


@pytest.fixture
def web(web_users: Path) -> DrawnRun:
    return DrawnRun.of(str(web_users))


def legend(row: list[Axes]) -> list[str]:
    shown = row[-1].get_legend()
    return [text.get_text() for text in shown.get_texts()] if shown else []


def highest_and_lowest(axes: Axes) -> tuple[float, float]:
    ends = [line.get_ydata() for line in axes.get_lines() if len(line.get_xdata()) > 2]
    values = np.concatenate([np.asarray(end, float) for end in ends])
    return float(np.nanmin(values)), float(np.nanmax(values))


def test_a_row_has_one_range_that_holds_every_curve_of_every_column(drawn: Draw, lossy: Path) -> None:
    # The first column has the shorter queue, the smaller window and the smaller RTT.
    small = DrawnRun.of(str(lossy))
    large = DrawnRun.of(
        str(lossy), [("links.satellite.loss.probability", "0"), ("tcp.receive_window", "1 MiB")]
    )
    for columns in ((small, large), (large, small)):
        for row in drawn(*columns):
            assert len({axes.get_ylim() for axes in row}) == 1
            low, high = row[0].get_ylim()
            for axes in row:
                least, most = highest_and_lowest(axes)
                assert low <= least <= most <= high
            # And it is not so wide that the curves are a line at the bottom.
            assert max(highest_and_lowest(axes)[1] for axes in row) > 0.8 * high


def test_an_rtt_axis_begins_near_its_values_and_says_so(drawn: Draw) -> None:
    (sequence,), _, (rtt,), _ = drawn(DrawnRun.of(str(SCENARIOS / "two-flows.toml")))
    least, most = highest_and_lowest(rtt)
    low, high = rtt.get_ylim()
    assert (most - least) / (high - low) > 0.7 or low == 0.0
    assert (rtt.get_ylabel().endswith("not from 0")) == (low != 0.0)
    assert "RTO" not in rtt.get_ylabel()
    assert sequence.get_ylim()[0] == 0.0


def test_the_timer_is_named_where_it_is_drawn(drawn: Draw, lossy: Path) -> None:
    rows = drawn(DrawnRun.of(str(lossy)))
    assert rows[2][0].get_ylabel().startswith("RTT, RTO (s)")
    assert "RTO" in legend(rows[2])


def test_legends_stand_beside_the_panels(drawn: Draw, lossy: Path, web: DrawnRun) -> None:
    for subjects in ([DrawnRun.of(str(lossy))], [web], [web, web]):
        for row in drawn(*subjects):
            assert all(axes.get_legend() is None for axes in row[:-1])
            shown = row[-1].get_legend()
            if shown is not None:
                assert shown.get_window_extent().x0 > row[-1].get_window_extent().x1
                assert shown.get_window_extent().x1 <= row[-1].get_figure().bbox.x1


def test_the_download_is_drawn_over_the_band_of_web_users(drawn: Draw, web: DrawnRun) -> None:
    sequence, window, rtt, _ = drawn(web)
    assert legend(sequence)[:2] == ["web{i}: 20 flows", "download"]
    for (axes,) in (window, rtt):
        (band,) = axes.collections
        curves = [line for line in axes.get_lines() if len(line.get_xdata()) > 2]
        assert [line.get_zorder() > band.get_zorder() for line in curves] == [True, True]
    (axes,) = sequence
    assert axes.get_ylabel() == "data acknowledged (MB)"
    # The download's bytes at the end, and the median of the users'.
    delivered = {flow["name"]: mean(flow["bytes_delivered"]) or 0.0 for flow in web.run["flows"]}
    ends = sorted(
        float(line.get_ydata()[-1]) for line in axes.get_lines() if line.get_drawstyle() != "default"
    )
    users = sorted(bytes_ for name, bytes_ in delivered.items() if name != "download")
    assert ends[0] == pytest.approx((users[9] + users[10]) / 2, rel=0.05)
    assert ends[1] == pytest.approx(delivered["download"], rel=0.05)


def test_chosen_flows_are_lines_and_the_others_bands(drawn: Draw, web: DrawnRun) -> None:
    assert legend(drawn(web, flows=["web1"])[0])[:3] == ["1 other flow", "web{i}: 20 flows", "web1"]
    assert legend(drawn(web, flows=["web{i}", "download"])[0])[:2] == ["web{i}: 20 flows", "web0"]
    with pytest.raises(InputError, match=r"--flows: expected the name of a flow \(web\{i\}, download\)"):
        drawn(web, flows=["wbe*"])


def curve(subject: str, kind: str, values: list[float]) -> Trace:
    return Trace(subject, kind, "B", np.arange(float(len(values))), np.array(values))


def test_a_band_holds_nine_of_ten_flows_and_its_median_the_half(drawn: Draw, web: DrawnRun) -> None:
    traces = [curve(f"web{i}", "cwnd", [1000.0 * i] * 60) for i in range(20)]
    _, (window,), *_ = drawn(DrawnRun("made", web.run, Traces(tuple(traces))))
    (band,) = window.collections
    assert {float(y) for y in band.get_paths()[0].vertices[:, 1]} == {1000.0, 18_000.0}
    assert {float(y) for line in window.get_lines() for y in line.get_ydata()} == {9500.0}


def test_points_that_nobody_can_tell_apart_are_left_out_and_peaks_are_kept(
    drawn: Draw, web: DrawnRun
) -> None:
    times = np.linspace(0.0, 60.0, 1_000_000)
    values = np.where(np.arange(len(times)) == 777_777, 5e6, 1e5 + np.arange(len(times)) % 7)
    cwnd = Trace("download", "cwnd", "B", times, values)
    (_,), (window,), *_ = drawn(DrawnRun("made", web.run, Traces((cwnd,))))
    (line,) = [line for line in window.get_lines() if len(line.get_xdata()) > 2]
    assert len(line.get_xdata()) < 20_000
    assert max(line.get_ydata()) == 5e6


def bbr3(*settings: tuple[str, str]) -> DrawnRun:
    return DrawnRun.of("preset:geo", [("flows.*.variant", "bbr3"), ("duration", "20 s"), *settings])


def test_rates_and_phases_are_drawn_where_a_run_has_them(drawn: Draw, lossy: Path) -> None:
    paced = bbr3()
    assert len(drawn(DrawnRun.of(str(lossy)))) == 4
    rows = drawn(paced, DrawnRun.of(str(lossy)))
    rate, phase = rows[3], rows[4]
    assert rate[0].get_ylabel() == "rate (Mbit/s)"
    assert legend(rate) == ["delivery rate", "pacing rate"]
    trace = paced.traces.get("download", "pacing_rate")
    (line,) = [line for line in rate[0].get_lines() if np.nanmax(line.get_ydata()) == trace.value.max()]
    assert set(line.get_ydata()) <= set(trace.value)
    assert phase[0].get_ylabel() == "phase"
    names = {each.name for each in paced.traces.phases("download")}
    assert set(legend(phase)) == names >= {"startup", "probe_bw_cruise", "probe_rtt"}
    # Other runs beside it have empty panels.
    assert not rate[1].get_lines()
    assert not phase[1].collections


def test_the_lanes_of_phases_are_as_long_as_the_phases(drawn: Draw) -> None:
    settings = [("flows.first.variant", "bbr3"), ("flows.second.variant", "bbr1")]
    two = DrawnRun.of(str(SCENARIOS / "two-flows.toml"), settings)
    (phase,) = drawn(two, start_s=5.0, end_s=100.0)[4]
    assert [label.get_text() for label in phase.get_yticklabels()] == ["first", "second"]
    for lane, flow in enumerate(("first", "second")):
        lengths: dict[Any, float] = {}
        for spans in phase.collections:
            for path in spans.get_paths():
                (left, bottom), (right, top) = path.get_extents().get_points()
                assert 5.0 <= left <= right <= 100.0
                if lane < (bottom + top) / 2 < lane + 1:
                    colour = tuple(spans.get_facecolor()[0])
                    lengths[colour] = lengths.get(colour, 0.0) + right - left
        expected: dict[str, float] = {}
        for each in two.traces.phases(flow):
            length = min(each.end_s, 100.0) - max(each.start_s, 5.0)
            expected[each.name] = expected.get(each.name, 0.0) + max(length, 0.0)
        expected = {name: length for name, length in expected.items() if length > 0}
        assert sorted(lengths.values()) == pytest.approx(sorted(expected.values()))


def test_handovers_are_marked_in_every_panel_with_their_name(drawn: Draw) -> None:
    rows = drawn(DrawnRun.of(str(SCENARIOS / "leo-handover.toml")))
    for (axes,) in rows:
        marks = [line for line in axes.get_lines() if list(line.get_xdata()) == [10.0, 10.0]]
        assert len(marks) == 1
    assert "handover first" in [text.get_text() for text in rows[0][0].texts]
    late = drawn(DrawnRun.of(str(SCENARIOS / "leo-handover.toml")), start_s=11.0)
    assert [text.get_text() for text in late[0][0].texts] == []


@pytest.mark.parametrize(
    ("highest", "label", "ticks"),
    [(90.0, "B", 90), (9.5e4, "kB", 95), (9.5e6, "MB", 9.5), (9.5e9, "GB", 9.5), (9.5e12, "TB", 9.5)],
)
def test_an_axis_is_in_units_that_keep_its_numbers_short(
    drawn: Draw, web: DrawnRun, highest: float, label: str, ticks: float
) -> None:
    rows = drawn(DrawnRun("made", web.run, Traces((curve("download", "cwnd", [0.0, highest, highest]),))))
    (window,) = rows[1]
    assert window.get_ylabel() == f"cwnd ({label})"
    numbers = [float(text.get_text().replace(",", "")) for text in window.get_yticklabels()]
    assert 0.7 * ticks <= max(numbers) <= 1.2 * ticks
    assert window.yaxis.get_offset_text().get_text() == ""


def headings(rows: list[list[Axes]]) -> list[str]:
    return [axes.get_title(loc="left").replace("\n", " ") for axes in rows[0]]


def test_headings_name_what_differs(
    drawn: Draw, bentpipe: Bentpipe, lossy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    bentpipe("run", lossy, "--out", "before")
    bentpipe("run", lossy, "--out", "after", "--set", "links.satellite.rate=1 Mbit/s")
    bentpipe("run", lossy, "--out", "seeds", "--seed", "3", "--set", "flows.download.variant=reno")
    before, after, seeds = (DrawnRun.of(name) for name in ("before", "after", "seeds"))
    first, second = headings(drawn(before, after))
    assert first.startswith("before: links.satellite.rate = ")
    assert second == "after: links.satellite.rate = 1 Mbit/s"
    assert headings(drawn(before, seeds)) == ["before: sack, seed 7", "seeds: reno, seed 3"]
    assert headings(drawn(before, before)) == ["before (1)", "before (2)"]


def test_a_title_is_no_formula_and_a_name_may_begin_with_an_underscore(drawn: Draw, tmp_path: Path) -> None:
    path = tmp_path / "odd.toml"
    path.write_text(
        WEB_USERS.replace('title = "20 web', r'title = "$\\frac$ 20 web').replace(
            "flows.download", "flows._d"
        )
    )
    rows = drawn(DrawnRun.of(str(path)))
    assert "_d" in [label.strip() for label in legend(rows[0])]


def places(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*path, key)
        yield from places(inner, (*path, key))


WRONG: tuple[Any, ...] = (
    None,
    True,
    -1,
    1e308,
    math.nan,
    math.inf,
    10**400,
    "text",
    "",
    [],
    {},
    {"mean": None},
    [1],
    "delete",
)


def test_a_result_with_anything_in_it_wrong_is_drawn_or_one_line(
    bentpipe: Bentpipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (
        (SCENARIOS / "leo-handover.toml")
        .read_text()
        .replace('"20 s"', '"12 s"')
        .replace("count = 4", "count = 2")
    )
    (tmp_path / "leo.toml").write_text(text)
    assert bentpipe("run", "leo.toml", "--out", "result").returncode == 0
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "result" / "result.json"
    run = json.loads(file.read_text())
    # The series stay as they are.
    series = Traces.read(tmp_path / "result" / "series.parquet")
    monkeypatch.setattr(Traces, "read", lambda _: series)
    messages = []
    for number, path in enumerate(places(run)):
        for wrong in ("delete", WRONG[number % len(WRONG)], WRONG[(number + 5) % len(WRONG)]):
            broken = json.loads(json.dumps(run))
            inner = broken
            for key in path[:-1]:
                inner = inner[key]
            if wrong == "delete":
                del inner[path[-1]]
            else:
                inner[path[-1]] = wrong
            file.write_text(json.dumps(broken))
            try:
                subject = DrawnRun.of("result")
                headings_of([subject, subject])
                # Drawing takes a while, and most keys have no part in it.
                if number % 50 == 0 and wrong == "delete":
                    draw_runs([subject], tmp_path / "p.png")
            except InputError as error:
                messages.append(str(error))
    assert len(messages) > 50
    # A changed identity is that of another run.
    expected = ("result/result.json: not the result of a run: ", "result: expected files of one run, ")
    assert [message for message in messages if not message.startswith(expected) or "\n" in message] == []
