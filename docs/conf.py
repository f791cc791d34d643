"""Sphinx configuration: `make docs`."""

import featsieve

project = "featsieve"
author = "The featsieve developers"
copyright = "2026, The featsieve developers"
release = featsieve.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "myst_parser",
]
myst_enable_extensions = ["dollarmath"]
autosummary_generate = True
numpydoc_show_class_members = False
html_theme = "pydata_sphinx_theme"
html_theme_options = {"show_prev_next": False}
exclude_patterns = ["_build"]
# Methods that LabelFreeSearchCV inherits refer to scikit-learn's own glossary.
suppress_warnings = ["ref.term"]
