"""What pictures of constellations show: paths over time, a map, a film."""

import base64
import json
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib.image
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from bentpipe.errors import InputError, Interrupted
from bentpipe.orbit import film, map_plot, rtt_plot, world
from bentpipe.orbit.command import Pictures
from bentpipe.show.style import picture
from fake_sky import BLIND, NOWHERE, PATH, SKY, FakeSky, as_sky

LONDON, SYDNEY = (51.507, -0.128), (-33.869, 151.209)


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    found: list[Any] = []

    @contextmanager
    def kept(path: Path, size: tuple[float, float], about: str = "") -> Iterator[Any]:
        with picture(path, size, about) as figure:
            found.append(figure)
            yield figure

    for module in (rtt_plot, map_plot):
        monkeypatch.setattr(module, "picture", kept)
    return found


def test_a_course_has_its_curve_its_changes_and_its_gaps() -> None:
    times, values = PATH.curve()
    assert times.tolist() == [0, 1, 2, 3, 5, 6, 7, 8, 9, 10]
    assert (1e3 * values[:3]).tolist() == [8, 9, 10]
    assert math.isnan(values[3])
    assert (1e3 * values[4:]).tolist() == [18, 18, 18.5, 19, 19, 19]
    assert PATH.gaps() == [(3.0, 5.0)]
    # The path after the gap is another one than before it.
    assert PATH.changes() == [5.0]
    assert [len(PATH.nodes_at(at_s)) for at_s in (0.0, 2.99, 3.0, 4.9, 5.0, 10.0)] == [3, 3, 0, 0, 4, 4]
    assert 1e3 * PATH.round_trip_at(7.0) == 18.5
    assert 1e3 * PATH.round_trip_at(10.0) == 19
    assert math.isnan(PATH.round_trip_at(4.0))


def test_land_is_closed_on_the_map_and_where_land_is() -> None:
    rings = world.land()
    assert len(rings) > 50
    for ring in rings:
        assert np.array_equal(ring[0], ring[-1])
        assert len(ring) >= 4
        assert np.abs(ring[:, 0]).max() <= 180
        assert np.abs(ring[:, 1]).max() <= 90
        # No line goes across the whole map, but for the one below Antarctica.
        long = [(a, b) for a, b in pairwise(ring) if abs(a[0] - b[0]) > 60]
        assert all(a[1] == b[1] == -90 for a, b in long)
    on_land = {"Moscow": (37.6, 55.8), "Kansas": (-98, 38), "Chad": (18, 15), "the pole": (0, -89)}
    at_sea = {"Atlantic": (-40, 30), "Pacific": (-150, 0), "the other pole": (0, 89), "date line": (179, 10)}
    assert {name for name, place in on_land.items() if not inside(rings, place)} == set()
    assert {name for name, place in at_sea.items() if inside(rings, place)} == set()
    text = (Path(world.__file__).parent / "land.json").read_text()
    assert len(text) < 60_000
    assert "Natural Earth" in text
    assert "public domain" in text


def inside(rings: tuple[Any, ...], place: tuple[float, float]) -> bool:
    from matplotlib.path import Path as Outline

    return any(Outline(ring).contains_point(place) for ring in rings)


def test_a_line_over_the_date_line_goes_on_at_the_other_edge() -> None:
    line = np.array([[170.0, 0.0], [175.0, 2.0], [-175.0, 4.0], [-170.0, 4.0]])
    east, west = world.on_map(line)
    assert east.tolist() == [[170, 0], [175, 2], [185, 4], [190, 4]]
    assert west.tolist() == [[-190, 0], [-185, 2], [-175, 4], [-170, 4]]
    assert [part.tolist() for part in world.on_map(line[:2])] == [line[:2].tolist()]


def test_the_great_circle_from_fiji_to_samoa_does_not_go_around_the_world() -> None:
    parts = world.on_map(world.great_circle((-18.0, 178.0), (-14.0, -172.0)))
    assert len(parts) == 2
    for part in parts:
        assert max(abs(a[0] - b[0]) for a, b in pairwise(part)) < 10


def test_a_covered_area_is_as_wide_as_its_elevation_says() -> None:
    # At the horizon of a satellite, the angle at the centre of the Earth has the cosine R / (R + h).
    ring = world.coverage(0.0, 0.0, 550.0, 0.0)
    horizon_deg = math.degrees(math.acos(world.EARTH_KM / (world.EARTH_KM + 550)))
    assert ring[:, 0].max() == pytest.approx(horizon_deg, abs=0.01)
    assert ring[:, 1].max() == pytest.approx(horizon_deg, abs=0.01)
    # At 25 degrees it is 941 km: 8.46 degrees.
    for longitude, latitude in world.coverage(40.0, 20.0, 550.0, 25.0):
        away = world.distance_km((40.0, 20.0), (latitude, longitude)) / world.EARTH_KM
        above = math.atan2(math.cos(away) - world.EARTH_KM / (world.EARTH_KM + 550), math.sin(away))
        assert math.degrees(above) == pytest.approx(25.0, abs=0.01)


@pytest.mark.parametrize(
    ("place", "parts", "pole"),
    [((0.0, 100.0), 1, 0), ((0.0, 178.0), 2, 0), ((86.0, 30.0), 2, 90), ((-86.0, 30.0), 2, -90)],
)
def test_covered_areas_are_closed(place: tuple[float, float], parts: int, pole: int) -> None:
    rings = world.on_map(world.coverage(*place, 550.0, 25.0), area=True)
    assert len(rings) == parts
    for ring in rings:
        assert ring[0].tolist() == pytest.approx(ring[-1].tolist())
        assert set(ring[np.abs(ring[:, 1]) > 89.9, 1]) == ({pole} if pole else set())
    if pole == 0:
        inner = 179.5 if place[1] > 170 else place[1]
        assert inside(tuple(rings), (inner, 0.0))
        assert inside(tuple(rings), (-179.5, 0.0)) == (parts == 2)
    else:
        for longitude in (-150.0, 0.0, 29.0, 31.0, 150.0):
            assert inside(tuple(rings), (longitude, math.copysign(89.0, pole)))


def test_light_in_fibre_takes_as_long_as_its_index_says() -> None:
    # 16,994 km by the mean radius.
    assert world.distance_km(LONDON, SYDNEY) == pytest.approx(16_994, abs=5)
    assert world.least_rtt_s(LONDON, SYDNEY) == pytest.approx(0.11337, abs=5e-5)
    assert world.least_rtt_s(LONDON, SYDNEY, world.FIBRE_INDEX) == pytest.approx(0.11337 * 1.4682, abs=1e-4)


def test_round_trips_are_drawn_with_changes_gaps_and_light(figures: list[Any], tmp_path: Path) -> None:
    rtt_plot.draw(SKY, [PATH], "made", tmp_path / "rtt.png")
    over_time, spread = figures[0].axes
    assert over_time.get_ylabel() == "RTT (ms)\nnot from 0"
    assert over_time.get_xlabel() == "time (s)"
    curve, change = over_time.get_lines()
    assert curve.get_drawstyle() == "steps-post"
    assert np.nanmax(curve.get_ydata()) == 19.0
    assert list(change.get_xdata()) == [5.0, 5.0]
    (gap,) = over_time.patches
    assert (gap.get_x(), gap.get_width()) == (3.0, 2.0)
    assert over_time.get_title(loc="right") == (
        "8.0 to 19.0 ms, median 18.0 ms; 1 change of path, 20 % without one"
    )
    share, vacuum, fibre = spread.get_lines()
    # Half of the eight steps with a path are at 18 ms or less.
    assert list(share.get_xdata()) == [8, 8, 9, 10, 18, 18, 18.5, 19, 19]
    assert list(share.get_ydata())[5] == 5 / 8
    assert vacuum.get_xdata()[0] * world.FIBRE_INDEX == pytest.approx(fibre.get_xdata()[0])
    assert [text.get_text() for text in spread.get_legend().get_texts()] == ["vacuum 7.7 ms", "fibre 11.3 ms"]
    assert "19.0 ms, median 18.0 ms; 1 change of path, 20 % without one." in matplotlib_text(
        tmp_path / "rtt.png"
    )


def matplotlib_text(file: Path) -> str:
    with Image.open(file) as opened:
        return str(opened.info["Description"])


def test_a_pair_without_a_path_is_drawn_as_such(figures: list[Any], tmp_path: Path) -> None:
    rtt_plot.draw(BLIND, [NOWHERE], "made", tmp_path / "rtt.svg")
    over_time, _ = figures[0].axes
    assert [text.get_text() for text in over_time.texts] == ["no path"]
    (gap,) = over_time.patches
    assert (gap.get_x(), gap.get_width()) == (0.0, 10.0)
    assert rtt_plot.about([rtt_plot.Pair.of(BLIND, NOWHERE)]).endswith("fiji – rome: no path in 10 s.")
    page = rtt_plot.page([rtt_plot.Pair.of(BLIND, NOWHERE)], "made", "").html()
    assert page.count("<td") == 8


def test_a_page_has_the_numbers_of_the_picture(tmp_path: Path) -> None:
    rtt_plot.draw(SKY, [PATH], "<made>", tmp_path / "rtt.html", "bentpipe orbit <made>")
    text = (tmp_path / "rtt.html").read_text()
    assert "&lt;made&gt;" in text
    assert "<made>" not in text
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", text)
    assert cells == ["fiji – samoa", "8.0 ms", "18.0 ms", "19.0 ms", "1", "20 %", "7.7 ms", "11.3 ms"]


def test_a_map_shows_the_path_on_both_sides_of_the_date_line(figures: list[Any], tmp_path: Path) -> None:
    map_plot.draw(SKY, [PATH], "made", tmp_path / "map.svg", 6.0)
    (axes,) = figures[0].axes
    land, shade, lines = axes.collections
    assert len(land.get_paths()) == len(world.land())
    # Station, satellite at 178° W, satellite at 170° W, station: the first link crosses the date line.
    segments = lines.get_segments()
    assert len(segments) == 4
    assert segments[0][0].tolist() == pytest.approx([178.0, -18.0])
    assert segments[0][-1][0] == pytest.approx(182.0)
    assert segments[1][-1][0] == pytest.approx(-178.0)
    assert segments[-1][-1].tolist() == pytest.approx([-172.0, -14.0])
    assert all(max(abs(a[0] - b[0]) for a, b in pairwise(segment)) < 10 for segment in segments)
    # Two satellites, of which the first is seen on both sides.
    assert len(shade.get_paths()) == 3
    dots = axes.get_lines()[0]
    assert list(dots.get_xdata()) == [-178, -170, -162, -154]
    names = [text.get_text() for text in axes.texts]
    assert names == ["fiji", "samoa", "rome"]
    legend = [text.get_text() for text in axes.get_legend().get_texts()]
    assert legend[0] == "fiji – samoa: 3 links, 18.0 ms"
    assert legend[1] == "satellite (4)"
    assert "25°" in legend[2]
    assert axes.get_title(loc="left") == "made, 6 s"


def test_a_map_without_a_path_or_a_flow_is_a_map_all_the_same(figures: list[Any], tmp_path: Path) -> None:
    map_plot.draw(SKY, [PATH], "made", tmp_path / "gap.png", 4.0)
    (axes,) = figures[0].axes
    assert axes.collections[2].get_segments() == []
    assert axes.get_legend().get_texts()[0].get_text() == "fiji – samoa: no path"
    map_plot.draw(SKY, [], "made", tmp_path / "none.png", 4.0)
    (axes,) = figures[1].axes
    assert len(axes.collections) == 1
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["satellite (4)"]


def test_a_track_is_one_revolution() -> None:
    line = map_plot.ground_track(SKY, "sat2", 0.0)
    # At 550 km a revolution takes 95.5 minutes, in which this one goes 5735 degrees east.
    assert line[0].tolist() == [-168.0, 0.0]
    assert math.remainder(line[-1][0] - line[0][0] - 5735.0, 360.0) == pytest.approx(0, abs=5)
    with pytest.raises(InputError, match="--track: expected a satellite, from sat0 to sat3, found 'sat9'"):
        map_plot.ground_track(SKY, "sat9", 0.0)


def frames(number: int) -> list[NDArray[np.uint8]]:
    made = []
    for each in range(number):
        pixels = np.full((40, 60, 3), 255, np.uint8)
        pixels[5:20, 10 * each : 10 * each + 10] = (0, 114, 178)
        pixels[25:30, :] = (230, 159, 0)
        made.append(pixels)
    return made


def test_an_apng_has_all_frames_in_their_colours_and_times(tmp_path: Path) -> None:
    film.write(tmp_path / "film.png", map(Image.fromarray, frames(5)), 120, "a blue box – it moves")
    with Image.open(tmp_path / "film.png") as opened:
        opened.load()
        found: Any = opened
        assert (found.n_frames, found.info["loop"], found.size) == (5, 0, (60, 40))
        assert found.info["Description"] == "a blue box – it moves"
        for number, pixels in enumerate(frames(5)):
            found.seek(number)
            assert found.info["duration"] == 120
            assert np.array_equal(np.asarray(found.convert("RGB")), pixels)
    # Whoever knows no frames sees the first one.
    still = (matplotlib.image.imread(tmp_path / "film.png")[..., :3] * 255).round()
    assert np.array_equal(still, frames(1)[0])


def test_a_film_moves_its_satellites_its_path_and_its_cursor(tmp_path: Path) -> None:
    film.draw(SKY, [PATH], "made", tmp_path / "film.png", film.times_of(10.0, 2.0))
    with Image.open(tmp_path / "film.png") as opened:
        found: Any = opened
        assert found.n_frames == 5
        shown = []
        for number in range(5):
            found.seek(number)
            shown.append(np.asarray(found.convert("RGB"), int))
    assert all(np.any(a != b) for a, b in pairwise(shown))
    # The same film again has the same bytes.
    film.draw(SKY, [PATH], "made", tmp_path / "again.png", film.times_of(10.0, 2.0))
    assert (tmp_path / "film.png").read_bytes() == (tmp_path / "again.png").read_bytes()


def test_the_cursor_of_a_film_goes_with_its_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shown: list[NDArray[np.uint8]] = []
    monkeypatch.setattr(film, "write", lambda _, frames, *__: shown.extend(map(np.array, frames)))
    film.draw(SKY, [PATH], "made", tmp_path / "film.png", [1.0, 2.0, 4.0, 9.0])
    # A dark line from top to bottom of the panel below the map, somewhere else in each frame.
    dark = np.array([np.all(frame[-110:-70].max(axis=2) < 200, axis=0) for frame in shown])
    at = [float(np.mean(np.flatnonzero(line & ~dark.all(axis=0)))) for line in dark]
    second = (at[3] - at[0]) / 8
    assert second > 80
    assert [(place - at[0]) / second for place in at] == pytest.approx([0, 1, 3, 8], abs=0.03)


class Tilted(FakeSky):
    """Satellites up to 86 degrees north and south."""

    def positions(self, at_s: float) -> list[tuple[float, float, float]]:
        return [(86.0 - 50 * n, -170.0 + 100 * n + at_s, 780.0) for n in range(4)]


def test_places_of_a_page_are_exact_up_to_the_poles() -> None:
    text = film.page(as_sky(Tilted()), [], "made", [0.0, 5.0])
    (found,) = re.findall(r'"places":"([^"]*)"', text)
    places = np.frombuffer(base64.b64decode(found), "<i2").reshape(2, 4, 2)
    for number, at_s in enumerate((0.0, 5.0)):
        expected = np.array(Tilted().positions(at_s))[:, :2]
        assert np.abs(places[number] / 32767 * (90, 180) - expected).max() < 0.003
    assert '"latitude":90.0' in text


class Falling(FakeSky):
    """One of the satellites has come down."""

    def positions(self, at_s: float) -> list[tuple[float, float, float]]:
        *rest, _ = super().positions(at_s)
        return [*rest, (math.nan, math.nan, math.nan)]


def test_names_lie_on_no_other_name_and_no_mark(figures: list[Any], tmp_path: Path) -> None:
    # Four cities within a few degrees have a side each; a fifth, at the edge, has its left one.
    names = ["london", "paris", "brussels", "bristol", "suva"]
    places = [(0.0, 0.0), (1.5, 4.0), (-3.0, 2.0), (1.0, -3.0), (15.0, 178.0)]
    stations = [(name, *place) for name, place in zip(names, places, strict=True)]
    map_plot.draw(as_sky(FakeSky(stations)), [], "made", tmp_path / "m.png")
    (axes,) = figures[0].axes
    boxes = {text.get_text(): text.get_window_extent() for text in axes.texts}
    assert list(boxes) == names
    for name, box in boxes.items():
        assert box.count_overlaps([other for of, other in boxes.items() if of != name]) == 0
        assert not any(box.contains(*mark) for mark in axes.transData.transform([p[::-1] for p in places]))
    assert axes.texts[4].get_ha() == "right"
    map_plot.draw(as_sky(FakeSky(stations[:1])), [], "made", tmp_path / "m.png")
    assert figures[1].axes[0].texts[0].get_ha() == "left"


def test_a_satellite_that_has_come_down_is_nowhere(figures: list[Any], tmp_path: Path) -> None:
    map_plot.draw(as_sky(Falling()), [PATH], "made", tmp_path / "map.png", 6.0)
    dots = figures[0].axes[0].get_lines()[0]
    assert np.isfinite(dots.get_xdata()).tolist() == [True, True, True, False]
    with pytest.raises(InputError, match="--track: expected a satellite that flies, found sat3"):
        map_plot.ground_track(as_sky(Falling()), "sat3", 0.0)
    text = film.page(as_sky(Falling()), [PATH], "made", [0.0, 5.0])
    (found,) = re.findall(r'"places":"([^"]*)"', text)
    places = np.frombuffer(base64.b64decode(found), "<i2").reshape(2, 4, 2)
    assert (places[:, 3] == -32768).all()
    assert (places[:, :3] > -32768).all()


def test_more_paths_than_have_colours_are_counted(figures: list[Any], tmp_path: Path) -> None:
    map_plot.draw(SKY, [PATH] * 11, "made", tmp_path / "map.png", 6.0)
    assert figures[0].axes[0].get_title(loc="left") == "made (8 of 11 paths), 6 s"
    rtt_plot.draw(SKY, [PATH] * 11, "made", tmp_path / "rtt.png")
    assert figures[1].get_suptitle() == "made (8 of 11 pairs)"
    assert len(figures[1].axes) == 16


def test_a_page_has_the_places_of_each_frame() -> None:
    text = film.page(SKY, [PATH], "</script><b>", film.times_of(10.0, 0.5))
    assert "</script><b>" not in text
    (found,) = re.findall(r'<script type="application/json" id="film">(.*?)</script>', text, re.DOTALL)
    data = json.loads(found)
    assert data["times"] == [number / 2 for number in range(20)]
    places = np.frombuffer(base64.b64decode(data["places"]), "<i2").reshape(20, 4, 2)
    for number, at_s in enumerate(data["times"]):
        expected = np.array(SKY.positions(at_s))[:, :2]
        # A sixteenth of a millidegree and so on: 16 bits for the whole turn.
        assert np.abs(places[number] / 32767 * (90, 180) - expected).max() < 0.003
    (path,) = data["paths"]
    assert path["stretches"] == [[0, [0, 3, 1]], [3, []], [5, [0, 3, 4, 1]]]
    assert path["rtts"][:4] == [8, 9, 10, None]
    assert (path["changes"], path["gaps"]) == ([5], [[3, 5]])
    assert data["covers"] == pytest.approx([8.46] * 4, abs=0.01)
    assert "http" not in re.sub(r"<a [^>]*>", "", text)


def test_frames_are_about_two_hundred() -> None:
    assert film.times_of(120.0, None)[:3] == [0.0, 0.5, 1.0]
    for until_s in (0.3, 1.0, 60.0, 119.0, 200.0, 5731.0, 86_400.0):
        assert 96 <= len(film.times_of(until_s, None)) <= 240
    assert film.times_of(10.0, 4.0) == [0.0, 4.0, 8.0]
    assert film.shown_ms(240) == 83
    assert (film.shown_ms(10_000), film.shown_ms(3)) == (40, 250)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"plot": Path("rtt.gif")}, "rtt.gif: expected a file name that ends in .png, .svg, .pdf or .html"),
        ({"world": Path("map.html")}, "map.html: expected a file name that ends in .png, .svg or .pdf"),
        ({"film": Path("film.gif")}, "film.gif: expected a file name that ends in .html or .png"),
        ({"at": 3.0}, "--at needs --map FILE"),
        ({"track": "sat1", "plot": Path("rtt.png")}, "--track needs --map FILE"),
        ({"step": 1.0, "world": Path("map.png")}, "--step needs --film FILE"),
        ({"step": 0.0, "film": Path("film.html")}, "--step: expected a time above zero, found 0 s"),
    ],
)
def test_what_cannot_be_drawn_is_one_line(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        Pictures(**given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"world": "map.png", "at": 11.0}, "--at: expected a time up to the end, 10 s, found 11 s"),
        (
            {"world": "map.png", "track": "moon"},
            "--track: expected a satellite, from sat0 to sat3, found 'moon'",
        ),
        ({"film": "film.html", "step": 1e-4}, "--step: expected 10,000 frames at most, found 100,000"),
        ({"film": "film.png", "step": 5e-3}, "--step: expected 1,000 frames at most, found 2,000"),
    ],
)
def test_nothing_is_written_when_something_is_wrong(
    tmp_path: Path, given: dict[str, Any], message: str
) -> None:
    files: dict[str, Any] = {
        key: tmp_path / value if "." in str(value) and isinstance(value, str) else value
        for key, value in given.items()
    }
    pictures = Pictures(plot=tmp_path / "rtt.png", **files)
    with pytest.raises(InputError, match=re.escape(message)):
        pictures.draw(SKY, [PATH], "made", 10.0)
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_film_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = 0

    def show(*_: Any) -> None:
        nonlocal calls
        calls += 1
        if calls == 4:
            assert any(tmp_path.iterdir())
            raise KeyboardInterrupt

    monkeypatch.setattr(map_plot.Chart, "show", show)
    with pytest.raises(Interrupted, match="nothing was written"):
        Pictures(film=tmp_path / "film.png").draw(SKY, [PATH], "made", 10.0)
    assert list(tmp_path.iterdir()) == []


def test_everything_at_once(tmp_path: Path) -> None:
    pictures = Pictures(
        plot=tmp_path / "rtt.svg",
        world=tmp_path / "map.png",
        film=tmp_path / "film.html",
        at=2.0,
        track="sat1",
    )
    pictures.draw(SKY, [PATH, NOWHERE], "made", 10.0)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["film.html", "map.png", "rtt.svg"]
    assert "samoa by 2 links, 10.0 ms; fiji – rome by no path" in matplotlib_text(tmp_path / "map.png")
