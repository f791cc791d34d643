"""Sphinx configuration: `make docs`."""

import sys
from pathlib import Path

import featsieve

sys.path.insert(0, str(Path(__file__).parent / "_ext"))  # small extensions of our own

project = "featsieve"
author = "The featsieve developers"
copyright = "2026, The featsieve developers"
release = featsieve.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "example_report",
    "mathml",
]
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
autosummary_generate = True
templates_path = ["_templates"]
numpydoc_show_class_members = False
exclude_patterns = ["_build", "auto_examples/README.rst", "auto_examples/GALLERY_HEADER.rst"]
# Methods that LabelFreeSearchCV inherits refer to scikit-learn's own glossary.
suppress_warnings = ["ref.term"]

html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_css_files = ["style.css"]
html_logo = html_favicon = "_static/logo.svg"
html_math_renderer = "mathml"
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "featsieve"},
    "show_prev_next": False,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 7,
    "navbar_persistent": ["search-button"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {page: [] for page in ("index", "method", "evaluation", "changelog", "citation")}

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"plot_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "parallel": True,  # as many as sphinx -j says
    "reset_modules": ("matplotlib", "gallery_style.reset"),
    "doc_module": ("featsieve",),
    "backreferences_dir": "auto_examples/backreferences",
    "download_all_examples": False,
    # Times depend on the machine, and change with every build.
    "min_reported_time": 10**9,
    "write_computation_times": False,
    "show_memory": False,
    "show_signature": False,
}
