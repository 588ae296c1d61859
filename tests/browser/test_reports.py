"""Reports in a real browser: nothing from outside, filters, sorting, curves, a telephone, paper."""

from collections.abc import Iterable
from pathlib import Path

import pytest
from playwright.sync_api import Browser

import bentpipe as bp
from bentpipe.reports.page import Cell, Curves, Figure, Report, ReportTable, Section
from conftest import Bentpipe
from tabs import CHROMIUM, Opened, browser

__all__ = ["browser"]

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Debian's chromium is not installed")

HOSTILE = '</script><script>document.title = "taken"</script> & <b id="bold">"x"</b>'
LOSS = "links.satellite.loss.probability"
VARIANT = "flows.download.variant"


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("swept")
    flow = {"from": "server", "to": "client", "bytes": "200 kB"}
    scenario = bp.Scenario.from_dict(
        {
            "extends": "preset:geo",
            "title": "200 kB",
            "links": {"satellite": {"loss": {"model": "packet", "probability": 0}}},
            "flows": {"download": flow},
        }
    )
    vary: dict[str, str | Iterable[object]] = {
        VARIANT: ["newreno", "cubic"],
        LOSS: [1e-5, 1e-3, 3e-2],
        "tcp.receive_window": "16KiB,1MiB",
    }
    found = bp.sweep(scenario, vary, runs=2, out=folder / "found", progress=False)
    found.report(folder / "report.html", command="bentpipe show <found>")
    return folder / "report.html"


def test_a_sweep_asks_for_nothing_and_draws_its_curves(browser: Browser, sweep: Path) -> None:
    page = Opened(browser, sweep)
    assert page.is_quiet()
    assert page.draws() > 500
    legend = page.tab.locator("ul.legend li").all_inner_texts()
    assert legend == ["newreno, 16KiB", "newreno, 1MiB", "cubic, 16KiB", "cubic, 1MiB"]
    before = page.tab.evaluate('document.querySelector("canvas").toDataURL()')
    page.tab.select_option("select.y", "timeouts")
    assert page.tab.evaluate('document.querySelector("canvas").toDataURL()') != before
    page.tab.select_option("select.x", "tcp.receive_window (KiB)")
    assert page.tab.locator("ul.legend li").count() == 6
    assert "bentpipe show <found>" in page.tab.inner_text("#origin")
    assert page.is_quiet()


def test_rows_are_chosen_and_sorted(browser: Browser, sweep: Path) -> None:
    page = Opened(browser, sweep)
    assert len(page.rows()) == 12
    page.tab.get_by_label(VARIANT).select_option("cubic")
    assert {row[0] for row in page.rows()} == {"cubic"}
    page.tab.get_by_label("Rows with this text").fill("16kib")
    assert len(page.rows()) == 3
    assert page.tab.inner_text(".count") == "3 of 12 rows"
    page.tab.get_by_label(VARIANT).select_option("")
    page.tab.get_by_label("Rows with this text").fill("")
    # 1e-05 is a text that comes behind 0.03, and a number that comes before it.
    page.tab.get_by_role("button", name=LOSS).click()
    losses = [float(row[1]) for row in page.rows()]
    assert losses == sorted(losses)
    page.tab.get_by_role("button", name=LOSS).click()
    assert [float(row[1]) for row in page.rows()] == losses[::-1]
    assert page.tab.get_by_role("columnheader", name=LOSS).get_attribute("aria-sort") == "descending"


@pytest.mark.parametrize("width", [360, 768])
def test_a_page_fits_a_telephone(browser: Browser, sweep: Path, width: int) -> None:
    page = Opened(browser, sweep, width)
    assert not page.overflows()
    assert page.draws() > 300
    # On a telephone each row is a card; else the table is wider, and moves within its own box.
    box = page.tab.locator(".scroll")
    assert box.evaluate("box => box.scrollWidth > box.clientWidth") is (width > 640)


def test_on_paper_the_picture_stands_still_and_controls_are_gone(browser: Browser, sweep: Path) -> None:
    page = Opened(browser, sweep)
    assert not page.tab.locator("figure.still").is_visible()
    page.tab.emulate_media(media="print")
    assert page.tab.locator("figure.still svg").is_visible()
    assert page.tab.locator(".controls:visible, canvas:visible").count() == 0
    assert len(page.rows()) == 12


def test_a_comparison_has_its_table_its_pictures_and_its_scenario(
    browser: Browser, tmp_path: Path, bentpipe: Bentpipe
) -> None:
    (tmp_path / "mine.toml").write_text(
        'extends = "preset:geo"\ntitle = "<i>1 MB</i>"\n[links.satellite]\n'
        'loss = { model = "packet", probability = 1e-3 }\n'
        '[flows.download]\nfrom = "server"\nto = "client"\nbytes = "1 MB"\n'
    )
    asked = ["compare", "mine.toml", "--variants", "newreno,cubic", "--runs", "3", "--explain"]
    bentpipe(*asked, "--report", "told.html")
    page = Opened(browser, tmp_path / "told.html")
    assert page.is_quiet()
    assert not page.overflows()
    assert page.tab.inner_text("h1") == "<i>1 MB</i>: variants compared"
    assert page.tab.locator("figure svg").count() == 2
    assert {row[0] for row in page.rows("variants")} == {"newreno", "cubic"}
    assert {row[0] for row in page.rows("limits")} == {"newreno", "cubic"}
    page.tab.click("summary")
    assert 'bytes = "1 MB"' in page.tab.inner_text("pre")
    assert "bentpipe compare mine.toml --variants newreno,cubic" in page.tab.inner_text("#origin")


def test_names_are_texts_and_never_markup(browser: Browser, tmp_path: Path) -> None:
    table = ReportTable(
        HOSTILE, (HOSTILE, "n"), tuple((Cell(f"{HOSTILE}{n}"), Cell("1", 1)) for n in range(9)), (0,)
    )
    curves = Curves(
        {HOSTILE: ["a", HOSTILE]}, {"x": ("x", [1.0, 2.0])}, {HOSTILE: [None, (1.0, 0.5)]}, "x", HOSTILE
    )
    section = Section(HOSTILE, (HOSTILE,), (Figure("<svg></svg>", HOSTILE),), curves, (table,))
    Report(HOSTILE, (section,), (HOSTILE,)).write(tmp_path / "hostile.html")
    page = Opened(browser, tmp_path / "hostile.html")
    assert page.is_quiet()
    assert page.tab.title() == HOSTILE
    assert page.tab.locator("#bold").count() == 0
    assert page.tab.inner_text("h2 >> nth=0") == HOSTILE
    assert page.tab.locator("ul.legend li").all_inner_texts() == [HOSTILE]


def test_a_reproduction_has_its_verdicts_and_pictures(
    browser: Browser, tmp_path: Path, bentpipe: Bentpipe
) -> None:
    bentpipe("reproduce", "sack/text-window", "--report", "told", "--no-cache")
    assert sorted(path.name for path in (tmp_path / "told").iterdir()) == ["index.html", "result.json"]
    page = Opened(browser, tmp_path / "told" / "index.html", 360)
    assert page.is_quiet()
    assert not page.overflows()
    # What is computed over what is published, and the item's own.
    assert page.tab.locator("figure svg, figure img").count() == 2
    assert page.tab.locator("td.match:visible").count() > 0
