"""Look at every page of a static site, in Chromium at two widths.

usage: site_check.py FOLDER

It prints a line for each dead link, script that fails, page wider than its window, request to elsewhere, and
search that finds nothing; the status is then 1.
"""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

from playwright.sync_api import Browser, Error, Page, Request, sync_playwright
from playwright.sync_api import TimeoutError as TookTooLong

CHROMIUM = shutil.which("chromium")
WIDTHS = (1280, 390)
LINKS = """() => [...document.querySelectorAll("[href], [src]")]
  .map((one) => one.href?.baseVal ?? one.href ?? one.src)
  .filter((url) => url.startsWith("file:"))"""
NAMES = """() => [...document.querySelectorAll("[id], a[name]")].flatMap((one) => [one.id, one.name])"""
WIDE = """() => {
  const wide = document.documentElement.scrollWidth;
  if (wide <= innerWidth) return "";
  const beyond = (one) => one.getBoundingClientRect().right > innerWidth + 1;
  const over = [...document.body.querySelectorAll("*")].filter(beyond).at(-1);
  return `${wide} px${over ? `, by ${over.tagName.toLowerCase()}.${over.className}` : ""}`;
}"""
WORD = "cwnd"
"""What every search has to find."""


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start Chromium."""
    # It refuses its sandbox to root, and needs none for pages of our own.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with (
        sync_playwright() as playwright,
        closing(playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)) as browser,
    ):
        yield browser


def complaints(folder: Path, browser: Browser) -> Iterator[str]:
    """Give a line for each fault of the pages of `folder`."""
    names: dict[Path, set[str]] = {}
    links: list[tuple[Path, str]] = []
    for path in sorted(folder.rglob("*.html")):
        for width in WIDTHS:
            tab = browser.new_page(viewport={"width": width, "height": 900})
            said = complaints_of(tab)
            tab.goto(path.as_uri(), wait_until="load")
            if wide := tab.evaluate(WIDE):
                said.append(f"wider than its window: {wide}")
            if path.name == "search.html" and width == WIDTHS[0]:
                said.extend(search(tab, path))
            if width == WIDTHS[0]:
                names[path] = set(tab.evaluate(NAMES))
                links.extend((path, url) for url in tab.evaluate(LINKS))
            yield from (f"{path.relative_to(folder)} at {width} px: {line}" for line in dict.fromkeys(said))
            tab.close()
    for path, url in dict.fromkeys(links):
        if fault := dead(folder, url, names):
            yield f"{path.relative_to(folder)}: dead link: {fault}"


def complaints_of(tab: Page) -> list[str]:
    """Give what is wrong with the pages that the tab opens from now on."""
    said: list[str] = []

    def failed(error: Error) -> None:
        said.append(f"script: {error}")

    def asked(request: Request) -> None:
        if urlsplit(request.url).scheme not in ("file", "data", "blob"):
            said.append(f"asks for {request.url}")

    tab.on("pageerror", failed)
    tab.on("request", asked)
    return said


def search(tab: Page, path: Path) -> list[str]:
    """Search for a word as a reader would."""
    tab.goto(f"{path.as_uri()}?q={WORD}")
    try:
        tab.wait_for_selector("#search-results li a", timeout=10_000)
    except TookTooLong:
        return [f"the search finds nothing for {WORD}"]
    return []


def dead(folder: Path, url: str, names: dict[Path, set[str]]) -> str:
    """Say what is not where a link leads, or nothing."""
    parts = urlsplit(url)
    target, name = Path(unquote(parts.path)), unquote(parts.fragment)
    if not target.is_relative_to(folder):
        return f"{target} is not of this site"
    if not target.is_file():
        return f"{target.relative_to(folder)} is not there"
    if name and target in names and name not in names[target]:
        return f"{target.relative_to(folder)} has no #{name}"
    return ""


def main() -> int:
    """Print the complaints."""
    folder = Path(sys.argv[1]).resolve()
    with chromium() as browser:
        found = list(complaints(folder, browser))
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
