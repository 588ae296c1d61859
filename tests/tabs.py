"""Pages in a tab of Chromium, which says what they ask for and complain of."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser
from playwright.sync_api import Page as Tab

from site_check import CHROMIUM as CHROMIUM
from site_check import chromium


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


class Opened:
    """A page in a tab, and what the tab complained of or asked for."""

    def __init__(self, browser: Browser, file: Path, width: int = 1100) -> None:
        self.tab: Tab = browser.new_page(viewport={"width": width, "height": 900})
        self.told: list[str] = []
        self.asked: list[str] = []
        self.tab.on("console", lambda message: self.told.append(message.text))
        self.tab.on("pageerror", lambda error: self.told.append(str(error)))
        self.tab.on("request", lambda request: self.asked.append(request.url))
        self.tab.goto(file.as_uri())
        self.file = file

    def rows(self, table: str = "points") -> list[list[str]]:
        rows = self.tab.locator(f'[aria-label="{table}"] tbody tr:visible')
        return [row.locator("td").all_inner_texts() for row in rows.all()]

    def is_quiet(self) -> bool:
        return self.told == [] and self.asked == [self.file.as_uri()]

    def overflows(self) -> bool:
        return bool(self.tab.evaluate("document.documentElement.scrollWidth > innerWidth"))

    def draws(self, selector: str = "canvas") -> int:
        """Give how many points of the first such canvas have a colour of their own."""
        count: Any = self.tab.evaluate(
            """(selector) => {
              const canvas = document.querySelector(selector);
              const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
              let coloured = 0;
              for (let at = 0; at < data.length; at += 4) {
                const [red, green, blue, alpha] = data.subarray(at, at + 4);
                coloured += alpha > 0 && Math.max(red, green, blue) - Math.min(red, green, blue) > 60;
              }
              return coloured;
            }""",
            selector,
        )
        return int(count)
