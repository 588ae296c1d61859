"""Each kind of page at the widths of a telephone, a laptop and a desk: nothing is cut, or faint when dark."""

from pathlib import Path
from typing import Literal

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

FAINT = """() => {
  const channel = (value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = (colour) => {
    const [red, green, blue] = parts(colour).map((value) => channel(value / 255));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const ground = (part) => {
    for (let at = part; at; at = at.parentElement) {
      const { backgroundColor } = getComputedStyle(at);
      if (parts(backgroundColor)[3] !== 0) return backgroundColor;
    }
    return "rgb(255, 255, 255)";
  };
  const written = (part) => [...part.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  const drawn = (part) => part.matches(".plot, canvas");
  return [...document.querySelectorAll("body *")].flatMap((part) => {
    if (part.getBoundingClientRect().width === 0 || part.closest("script, svg, option")) return [];
    if (!written(part) && !drawn(part)) return [];
    const ink = drawn(part) ? "rgb(34, 34, 34)" : getComputedStyle(part).color;
    const [dark, bright] = [light(ink), light(ground(part))].sort((a, b) => a - b);
    const contrast = (bright + 0.05) / (dark + 0.05);
    return contrast < 4.5 ? [`${part.tagName} ${part.className} ${contrast.toFixed(1)}`] : [];
  });
}"""
"""Texts without the contrast that WCAG 2.2 asks for; curves are drawn in ink on what is behind them."""

CROWDED = """() => [...document.querySelectorAll("tr")].flatMap((row) => {
  const boxes = [...row.cells].map((cell) => {
    const range = document.createRange();
    range.selectNodeContents(cell);
    return range;
  });
  const lines = boxes.filter((range) => row.querySelector("td") && range.getClientRects().length > 1);
  const near = boxes.slice(1).filter((range, place) =>
    range.getBoundingClientRect().left - boxes[place].getBoundingClientRect().right < 10);
  return [...lines, ...near].map(String);
})"""
"""Cells that are broken into lines, or that almost touch the one before."""

SITE = Path(__file__).resolve().parents[2] / "docs/site.css"

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
    compared = bp.compare(link, variants, runs=3, explain=True, progress=False)
    compared.report(folder / "compare.html")
    picture = "<img alt='' width=900 height=600 style='max-width: 100%' src='data:image/svg+xml,<svg/>'>"
    outputs = "".join(f"<div class=cell_output>{part}</div>" for part in (compared._repr_html_(), picture))
    (folder / "notebook.html").write_text(
        f"<!doctype html><meta charset=utf-8><link rel=icon href='data:,'><style>{SITE.read_text()}</style>"
        f"<main style='max-width: 46em'>{outputs}<p>{picture}</p></main>"
    )
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


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", ["compare", "sweep", "claims", "film"])
def test_every_text_stands_out(
    browser: Browser, pages: dict[str, Path], kind: str, scheme: Literal["light", "dark"]
) -> None:
    page = Opened(browser, pages[kind])
    page.tab.emulate_media(color_scheme=scheme)
    ground = page.tab.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(255, 255, 255)") is (scheme == "light")
    assert page.tab.evaluate(FAINT) == []


@pytest.mark.parametrize("width", [390, 1280])
def test_outputs_of_a_notebook_have_room(browser: Browser, pages: dict[str, Path], width: int) -> None:
    page = Opened(browser, pages["notebook"], width)
    assert page.tab.locator("tr").count() > 6
    assert page.tab.evaluate(CROWDED) == []
    widths = page.tab.locator("img").evaluate_all("all => all.map(each => each.clientWidth)")
    assert min(widths) >= 720
    assert not page.overflows()


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
