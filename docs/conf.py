"""The site of the documentation, as Sphinx builds it: `make docs`."""

from __future__ import annotations

import sys
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.ext.napoleon import NumpyDocstring

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "scripts")]

import lightlag  # noqa: E402
from manual import live, pages, search  # noqa: E402

project = "lightlag"
copyright = "the authors of lightlag, MIT licence"
version = release = lightlag.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
]
exclude_patterns = ["gallery/README.md"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
nb_execution_mode = "off"  # tests run the notebooks
suppress_warnings = ["ref.python"]  # attributes of several classes have the same name

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = False
toc_object_entries_show_parents = "hide"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88

copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True

html_theme = "pydata_sphinx_theme"
html_title = "lightlag"
html_static_path = ["_static"]
templates_path = ["_templates"]
html_context: dict[str, object] = {}
html_css_files = ["site.css"]
html_favicon = "_static/favicon.svg"
html_copy_source = False
html_show_sourcelink = False
html_sidebars = {"index": []}
html_theme_options = {
    "logo": {"text": "lightlag", "image_light": "_static/favicon.svg", "image_dark": "_static/favicon.svg"},
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "navbar_end": ["studio", "theme-switcher", "navbar-icon-links"],
    "navigation_with_keys": False,
    "show_prev_next": True,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}

# The text before a colon in the description of an attribute is not its type.
NumpyDocstring._parse_attribute_docstring = lambda self: self._consume_to_end()


def setup(app: Sphinx) -> None:
    """Writes the generated pages before Sphinx searches for pages, and adds the page of the simulator to the build."""
    pages.write(Path(__file__).parent)
    live.configure(app)
    app.connect("doctree-resolved", search.add)
    app.connect("env-get-outdated", search.outdated)
