"""The playground in Chromium, from its file: `make playground` runs it."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect
from playwright.sync_api import Page as Tab

import bentpipe as bp
from bentpipe._core import Sky
from tabs import Opened, browser

__all__ = ["browser"]

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "target/playground/index.html"
PANEL = "#charts canvas"
ENDED = re.compile("simulated in")


@pytest.fixture
def page(browser: Browser) -> Iterator[Opened]:
    opened = Opened(browser, PAGE, 1280)
    ended(opened.tab)
    yield opened
    # The worker's own source is the one other thing that the tab asks for.
    assert all(url.startswith(("file:", "blob:")) for url in opened.asked)
    assert [line for line in opened.told if "willReadFrequently" not in line] == []
    opened.tab.close()


def ended(tab: Tab) -> None:
    expect(tab.locator("#status")).to_have_text(ENDED, timeout=60_000)


def text(tab: Tab) -> str:
    return "\n".join(tab.locator(".cm-line").all_inner_texts())


def write(tab: Tab, scenario: str) -> None:
    tab.locator(".cm-content").click()
    tab.keyboard.press("Control+A")
    tab.keyboard.insert_text(scenario)


def result(tab: Tab) -> dict[str, Any]:
    with tab.expect_download() as download:
        tab.locator("#json").click()
    found: dict[str, Any] = json.loads(Path(download.value.path()).read_text("utf-8"))
    return found


SLIDERS = {
    "rate": ("rate", "links.satellite"),
    "delay": ("delay", "links.satellite"),
    "loss": ("loss", "links.satellite"),
    "queue": ("queue", "links.satellite"),
    "back": ("rate", "links.satellite.reverse"),
    "window": ("receive_window", "tcp"),
    "bytes": ("bytes", "flows.download"),
}


@pytest.mark.parametrize("name", SLIDERS)
def test_a_slider_changes_the_text_and_the_result(page: Opened, name: str) -> None:
    before, first = text(page.tab), result(page.tab)
    page.tab.locator(f"#{name}-at").focus()
    # A full buffer is not met here: it has to be far smaller.
    for press in ["Home"] if name == "queue" else ["ArrowLeft"] * 5:
        page.tab.keyboard.press(press)
    ended(page.tab)
    key, table = SLIDERS[name]
    after = text(page.tab)
    assert after != before
    assert f"[{table}]" in after
    assert re.search(rf"^{key} = ", after, re.MULTILINE)
    assert result(page.tab)["flows"] != first["flows"]


def test_a_text_moves_the_sliders_and_gives_what_the_command_line_gives(page: Opened, tmp_path: Path) -> None:
    scenario = (
        'extends = "preset:geo"\n[links.satellite]\nrate = "7 Mbit/s"\n'
        'loss = { model = "packet", probability = 2e-3 }\n'
        '[flows.download]\nfrom = "server"\nto = "client"\nbytes = "900 kB"\nvariant = "bbr3"\n'
    )
    write(page.tab, scenario)
    ended(page.tab)
    expect(page.tab.locator("#rate-value")).to_have_value("7 Mbit/s")
    expect(page.tab.locator("#loss-kind")).to_have_value("packet")
    expect(page.tab.locator("#variant")).to_have_value("bbr3")
    file = tmp_path / "playground.toml"
    file.write_text(scenario)
    native = json.loads(bp.run(bp.Scenario.load(file)).json())
    page_has = result(page.tab)
    for part in ("duration_s", "flows", "links", "jain"):
        assert page_has[part] == native[part]


def test_an_error_stands_at_its_line_and_the_pictures_stay(page: Opened) -> None:
    write(page.tab, 'extends = "preset:geo"\n[links.satellite]\nrate = 3\n')
    expect(page.tab.locator("#status")).to_have_text(
        re.compile(r"playground\.toml:3: links\.satellite\.rate: expected a rate")
    )
    assert page.tab.locator(".cm-lintRange-error").inner_text() == "rate = 3"
    assert page.tab.locator("#charts canvas").count() == 5


def test_two_variants_stand_in_one_table_and_one_picture(page: Opened) -> None:
    page.tab.select_option("#other", "cubic")
    expect(page.tab.locator("#limits")).to_contain_text("cubic is limited most by")
    assert page.tab.locator("#results td:nth-child(2)").all_inner_texts() == ["sack", "cubic"]
    assert "--variants sack,cubic --explain" in page.tab.inner_text("#command")
    assert page.draws(PANEL) > 500


def test_an_address_brings_all_back(page: Opened, browser: Browser) -> None:
    page.tab.select_option("#variant", "newreno")
    page.tab.select_option("#other", "bbr3")
    expect(page.tab.locator("#limits")).to_contain_text("bbr3 is limited most by")
    other = browser.new_page()
    other.goto(page.tab.url)
    ended(other)
    assert text(other) == text(page.tab)
    assert other.locator("#results td:nth-child(2)").all_inner_texts() == ["newreno", "bbr3"]
    other.close()


def test_a_long_run_can_be_stopped_and_the_next_one_runs(page: Opened) -> None:
    write(page.tab, text(page.tab).replace("10 MB", "90 GB"))
    page.tab.locator("#stop").click()
    expect(page.tab.locator("#status")).to_have_text("stopped")
    write(page.tab, text(page.tab).replace("90 GB", "1 MB"))
    ended(page.tab)


def test_a_long_run_is_drawn_while_it_goes_on(page: Opened) -> None:
    status, ended_early = page.tab.locator("#status"), page.draws(PANEL)
    write(page.tab, text(page.tab).replace("10 MB", "90 GB"))
    expect(status).to_have_text(re.compile("running: .* simulated so far"), timeout=30_000)
    said = status.inner_text()
    assert page.draws(PANEL) not in (0, ended_early)
    expect(status).not_to_have_text(said, timeout=30_000)
    page.tab.locator("#stop").click()
    expect(status).to_have_text("stopped")
    assert page.draws(PANEL) > 100


def test_satellites_and_the_paths_of_the_flows_are_a_film(page: Opened) -> None:
    film, lines = page.tab.locator("#film"), page.tab.locator("#film li")
    expect(film).to_be_hidden()
    page.tab.select_option("#preset", "shell")
    expect(film).to_be_visible(timeout=60_000)
    sky = Sky((ROOT / "scenarios/shell.toml").read_text())
    stretches = sky.follow("new-york", "london", 120.0)
    assert len(stretches) > 1
    begins = lines.first.inner_text()
    page.tab.locator("#film .time").press("End")
    ends = lines.first.inner_text()
    for said, (_, nodes, _) in ((begins, stretches[0]), (ends, stretches[-1])):
        satellites = " · ".join(f"sat{node - len(sky.stations)}" for node in nodes[1:-1])
        assert f"cubic: {len(nodes) - 1} links: new-york · {satellites} · london" in said
    assert "acknowledged" in ends
    assert page.draws("#film canvas") > 100
    page.tab.locator("#film .play").click()
    expect(page.tab.locator("#film .clock")).not_to_have_text("120.0 s")
    page.tab.select_option("#preset", "geo-lossy")
    expect(film).to_be_hidden()


def test_scenario_and_picture_are_downloaded(page: Opened) -> None:
    for button, name, first in (
        ("#toml", "playground.toml", b"# The"),
        ("#png", "playground.png", b"\x89PNG"),
    ):
        with page.tab.expect_download() as download:
            page.tab.locator(button).click()
        assert download.value.suggested_filename == name
        assert Path(download.value.path()).read_bytes().startswith(first)


@pytest.mark.parametrize("width", [390, 1280])
def test_every_scenario_runs_and_nothing_is_cut(page: Opened, width: int) -> None:
    page.tab.set_viewport_size({"width": width, "height": 900})
    names = [
        name
        for name in page.tab.locator("#preset option").evaluate_all("all => all.map((one) => one.value)")
        if name
    ]
    files = [*ROOT.glob("scenarios/*.toml"), *ROOT.glob("papers/*/*.toml")]
    # A paper's own file is none, nor is the one that has no flows.
    assert sorted(re.sub(".*/", "", name) for name in names) == sorted(
        path.stem for path in files if path.stem not in ("paper", "chain")
    )
    for name in names if width == 390 else names[:1]:
        page.tab.select_option("#preset", name)
        ended(page.tab)
        assert not page.overflows()


def test_a_part_of_a_run_is_looked_at_and_the_whole_again(page: Opened) -> None:
    over = page.tab.locator("#charts .u-over").first
    before = page.draws(PANEL)
    box = over.bounding_box()
    assert box
    page.tab.mouse.move(box["x"] + 5, box["y"] + 40)
    page.tab.mouse.down()
    page.tab.mouse.move(box["x"] + box["width"] / 8, box["y"] + 60, steps=4)
    page.tab.mouse.up()
    assert page.draws(PANEL) != before
    page.tab.locator("#whole").click()
    assert page.draws(PANEL) == before
