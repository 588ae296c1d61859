"""Put the site together from what `make docs` and `make playground` have made, with a first page.

usage: make_site.py FOLDER
"""

import shutil
import sys
from html import escape
from pathlib import Path

from bentpipe_papers.reproduction.papers import all_papers

TARGET = Path(__file__).resolve().parent.parent / "target"

PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>bentpipe</title>
<style>
:root {{ color-scheme: light dark; font: 1.05rem/1.6 system-ui, sans-serif; }}
body {{ max-width: 42rem; margin: 3rem auto; padding: 0 1rem; overflow-wrap: break-word; }}
</style>
<h1>bentpipe</h1>
<p>A workbench for TCP over satellite links.</p>
<ul>
{}
</ul>
</html>
"""


def main() -> int:
    """Make the folder anew."""
    folder = Path(sys.argv[1])
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    shutil.copytree(
        TARGET / "doc/site", part, ignore=shutil.ignore_patterns(".doctrees", ".buildinfo", "*.map")
    )
    shutil.copytree(TARGET / "playground", part / "playground")
    shutil.copytree(TARGET / "doc/reproduction", part / "reports")
    links = {
        "docs/index.html": "Documentation: tutorials, how to, reference, explanation",
        "docs/tutorials/gallery.html": "Gallery: the pictures that it draws, each with its code",
        "playground/index.html": "Playground: the simulator in this browser",
    } | {f"reports/{paper.name}/index.html": f"Report: {paper.title}, reproduced" for paper in all_papers()}
    rows = (f'<li><a href="{escape(link)}">{escape(text)}</a></li>' for link, text in links.items())
    (part / "index.html").write_text(PAGE.format("\n".join(rows)), encoding="utf-8")
    shutil.rmtree(folder, ignore_errors=True)
    part.rename(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
