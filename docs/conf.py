"""How Sphinx builds the site: `make docs`.

The source folder is the checkout itself, so that a link between pages leads to the same place here and on GitHub.
"""

from importlib.metadata import version as version_of

project = "bentpipe"
author = "the authors of bentpipe"
copyright = author  # noqa: A001 (the name is Sphinx's)
version = release = version_of("bentpipe")

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
]

root_doc = "docs/index"
include_patterns = ["docs/**", "papers/*/*.md", "README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
exclude_patterns = ["target", ".venv", "out", "crates", "python", "tests", "bench", "fuzz", "scenarios"]
suppress_warnings = ["mystnb.unknown_mime_type"]
nitpicky = False

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4

nb_execution_mode = "auto"
nb_execution_timeout = 300
nb_execution_raise_on_error = True
nb_merge_streams = True

autodoc_typehints = "description"
autodoc_member_order = "bysource"
napoleon_google_docstring = False

copybutton_prompt_text = "$ "

html_theme = "furo"
html_title = f"bentpipe {release}"
html_extra_path = ["site"]
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}
