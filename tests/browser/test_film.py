"""The film of a constellation in a real browser: nothing from outside, a slider, keys, a telephone."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from bentpipe.orbit import film
from fake_sky import BLIND, NOWHERE, PATH, SKY
from tabs import CHROMIUM, Opened, browser

__all__ = ["browser"]

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Debian's chromium is not installed")


@pytest.fixture
def made(tmp_path: Path) -> Path:
    path = tmp_path / "film.html"
    film.draw(SKY, [PATH], "<i>made</i>", path, film.times_of(10.0, 0.5), "bentpipe orbit made.toml")
    return path


def drawn(page: Opened) -> str:
    return str(page.tab.evaluate('document.querySelector(".world").toDataURL()'))


def test_the_slider_moves_the_film(browser: Browser, made: Path) -> None:
    page = Opened(browser, made)
    assert page.tab.inner_text("h1") == "<i>made</i>"
    assert page.draws() > 200
    assert page.tab.inner_text(".clock") == "0 s"
    assert page.tab.inner_text(".now") == "fiji – samoa: 2 links, 8.0 ms"
    assert page.tab.inner_text(".nodes") == "fiji · sat0 · samoa"
    before = drawn(page)
    slider = page.tab.get_by_role("slider")
    slider.fill("14")
    assert page.tab.inner_text(".clock") == "7 s"
    assert page.tab.inner_text(".now") == "fiji – samoa: 3 links, 18.5 ms"
    assert page.tab.inner_text(".nodes") == "fiji · sat0 · sat1 · samoa"
    assert drawn(page) != before
    slider.fill("8")
    assert page.tab.inner_text(".now") == "fiji – samoa: no path"
    slider.press("ArrowLeft")
    assert page.tab.inner_text(".clock") == "3.5 s"
    slider.press("End")
    assert page.tab.inner_text(".clock") == "9.5 s"
    assert slider.get_attribute("aria-valuetext") == "9.5 s"
    slider.press("Home")
    assert drawn(page) == before
    assert page.is_quiet()


def test_it_plays_and_stops_by_button_and_key(browser: Browser, made: Path) -> None:
    page = Opened(browser, made)
    page.tab.locator("body").press("ArrowRight")
    assert page.tab.inner_text(".clock") == "0.5 s"
    page.tab.select_option(".speed", "4")
    page.tab.get_by_role("button", name="Play").click()
    page.tab.wait_for_function('document.querySelector(".clock").textContent === "9.5 s"')
    page.tab.get_by_role("button", name="Play").wait_for()
    page.tab.select_option(".speed", "0.25")
    page.tab.locator("body").press(" ")
    page.tab.get_by_role("button", name="Stop").wait_for()
    assert page.tab.inner_text(".clock") == "0 s"
    page.tab.wait_for_function('document.querySelector(".clock").textContent !== "0 s"')
    page.tab.get_by_role("button", name="Stop").press("Enter")
    stopped = page.tab.inner_text(".clock")
    page.tab.wait_for_timeout(1200)
    assert page.tab.inner_text(".clock") == stopped != "9.5 s"
    assert page.is_quiet()


def test_a_click_on_the_curve_goes_there(browser: Browser, made: Path) -> None:
    page = Opened(browser, made)
    curve = page.tab.get_by_role("img", name="Round trip of fiji – samoa over time")
    box = curve.bounding_box()
    assert box is not None
    curve.click(position={"x": 64 + 0.72 * (box["width"] - 64), "y": 40})
    assert page.tab.inner_text(".clock") == "7 s"


@pytest.mark.parametrize("width", [360, 768])
def test_a_film_fits_a_telephone(browser: Browser, made: Path, width: int) -> None:
    page = Opened(browser, made, width)
    assert not page.overflows()
    assert page.draws() > 50
    assert "with 4 satellites and 3 stations at 0 s" in str(
        page.tab.locator(".world").get_attribute("aria-label")
    )


def test_a_film_without_a_path_is_quiet(browser: Browser, tmp_path: Path) -> None:
    film.draw(BLIND, [NOWHERE], "none", tmp_path / "none.html", film.times_of(10.0, 5.0))
    page = Opened(browser, tmp_path / "none.html")
    assert page.tab.inner_text(".now") == "fiji – rome: no path"
    assert page.is_quiet()
    film.draw(SKY, [], "none", tmp_path / "no-flow.html", film.times_of(10.0, 5.0))
    assert Opened(browser, tmp_path / "no-flow.html").is_quiet()
