"""Every kind of page at the width of a telephone, a laptop and a desk: no table or picture is cut."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

import bentpipe as bp
from bentpipe.orbit import film
from bentpipe.reports.page import Cell, Report, ReportTable, Section
from bentpipe_papers.reproduction import papers
from bentpipe_papers.reproduction.finished import Cache
from bentpipe_papers.reproduction.reproduce import reproduce
from fake_sky import PATH, SKY
from tabs import CHROMIUM, Opened, browser

__all__ = ["browser"]

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Debian's chromium is not installed")

CUT = """() => [...document.querySelectorAll("body *")].filter((part) => {
  const style = getComputedStyle(part), box = part.getBoundingClientRect();
  if (box.width === 0 || part.closest(".controls, pre, .uplot, figure, svg svg, svg *")) return false;
  return part.scrollWidth > part.clientWidth + 1 && part.clientWidth > 0 && style.overflowX !== "visible"
    || box.right > innerWidth + 1;
}).map((part) => `${part.tagName} ${part.className} ${part.innerText || ""}`.slice(0, 200))"""

SMALL = """() => [...document.querySelectorAll("figure > svg, figure > img")].filter((picture) => {
  const size = parseFloat(getComputedStyle(picture).getPropertyValue("--width"));
  const box = picture.getBoundingClientRect(), around = picture.parentElement;
  const hidden = box.right > innerWidth + 1 && getComputedStyle(around).overflowX !== "auto";
  return box.width > 0 && (hidden || !(box.width >= 0.74 * size));
}).map((picture) => picture.parentElement.getAttribute("aria-label"))"""
"""Pictures that are cut, or so small that their texts cannot be read."""

LINK = """\
extends = "preset:geo"
title = "A link"
[links.satellite]
loss = { model = "packet", probability = 1e-3 }
[flows.download]
from = "server"
to = "client"
bytes = "300 kB"
"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    link = bp.Scenario.from_toml(LINK)
    variants = ["newreno", "adalr-newreno", "sack-linux-2.4"]
    bp.compare(link, variants, runs=3, explain=True, progress=False).report(folder / "compare.html")
    vary = {"flows.download.variant": variants, "links.satellite.loss.probability": "1e-5,1e-3"}
    bp.sweep(link, vary, runs=2, out=folder / "found", progress=False).report(folder / "sweep.html")
    long = "holds in all of the cases that the document has, but for the one where nothing is lost"
    claims = tuple(
        (
            Cell("a case with a long name of its own"),
            Cell("goodput at 1 % in kbit/s"),
            published,
            computed,
            Cell("12.4 %", 12.4),
            Cell("differs", kind="differs"),
            Cell(f"inferred: {long}", kind="note"),
        )
        for published, computed in (
            (Cell("1,234 kbit/s", 1234.0), Cell("1,234 ± 12.5 kbit/s", 1234.0)),
            (Cell(long), Cell(long, 1.0)),
        )
    )
    headings = ("Case", "Metric", "Published", "Computed", "Deviation", "Verdict", "Note")
    Report("claims", (Section("Claims", tables=(ReportTable("claims", headings, claims),)),)).write(
        folder / "claims.html"
    )
    film.draw(SKY, [PATH], "a film", folder / "film.html", film.times_of(10.0, 0.5), "bentpipe orbit a.toml")
    return {path.stem: path for path in folder.glob("*.html")}


@pytest.mark.parametrize("width", [390, 1280, 1920])
@pytest.mark.parametrize("kind", ["compare", "sweep", "claims", "film"])
def test_nothing_on_a_page_is_cut(browser: Browser, pages: dict[str, Path], kind: str, width: int) -> None:
    page = Opened(browser, pages[kind], width)
    assert page.tab.evaluate(CUT) == []
    assert page.tab.evaluate(SMALL) == []


PAPERS = [paper.name for paper in papers.all_papers()]


@pytest.fixture(scope="module", params=PAPERS)
def reproduced(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    finished_runs: Path = request.getfixturevalue("finished_runs")
    folder = tmp_path_factory.mktemp("reproduced")
    reproduce(request.param, Cache(finished_runs), report=folder)
    return folder / "index.html"


@pytest.mark.parametrize("width", [390, 1280])
def test_every_table_and_figure_of_a_reproduction_is_whole(
    browser: Browser, reproduced: Path, width: int
) -> None:
    page = Opened(browser, reproduced, width)
    assert page.tab.evaluate(CUT) == []
    assert page.tab.evaluate(SMALL) == []
    assert page.tab.locator("figure").count() > 5
    # On a telephone a row is a card: each cell says what it is.
    assert page.tab.locator("td:not([data-heading])").count() == 0
    verdicts = page.tab.locator("td.match, td.also-without, td.shape, td.contradiction, td.differs, td.input")
    ends = verdicts.evaluate_all("cells => cells.map(cell => cell.getBoundingClientRect().right)")
    assert len(ends) > 100
    assert max(ends) <= width
