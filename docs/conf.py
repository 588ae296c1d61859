"""How Sphinx builds the site: `make docs`.

The source folder is the checkout, so that a link between pages leads to the same place here and on GitHub.
"""

import sys
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts"))

project = "bentpipe"
author = "the authors of bentpipe"
version = release = version_of("bentpipe")

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]

root_doc = "docs/index"
include_patterns = ["docs/**", "README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
exclude_patterns = ["**/.ipynb_checkpoints", "docs/tutorials/notebooks/*.md"]
suppress_warnings = ["mystnb.unknown_mime_type"]

myst_heading_anchors = 4

# Pages that begin as notebooks do are run, in a folder of their own.
nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_timeout = 300
nb_execution_raise_on_error = True
nb_merge_streams = True

autodoc_typehints = "description"
autodoc_member_order = "bysource"
napoleon_google_docstring = False

copybutton_prompt_text = "$ "

html_theme = "furo"
# An option keeps its two hyphens.
smartquotes_action = "qe"
# A browser gives a page from a file no other file to read.
html_show_search_summary = False
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_title = f"bentpipe {release}"
html_show_sphinx = False
html_show_copyright = False


def setup(app: Any) -> None:
    """Have the pages that come from the code alone written before the pages are read."""
    from reference_pages import write

    app.connect("builder-inited", lambda _: write())
