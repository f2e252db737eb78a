"""Sphinx: the documentation site, built without a network by ``make docs``."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent))

import generated_pages  # noqa: E402  (beside this file)

project = "placebench"
author = "the placebench authors"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build", "generated/columns.md"]  # the latter is part of a page

# Everything the pages need lies in the site: no fonts, scripts or pictures from elsewhere.
html_theme = "furo"
html_title = "placebench"
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False

myst_heading_anchors = 4
# A lexer does not know every fence (`text` of shells, JSON with dots): no colours there.
suppress_warnings = ["misc.highlighting_failure"]
default_role = "literal"  # single backquotes in docstrings are code

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "undoc-members": False}
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True

generated_pages.write(HERE / "generated")
