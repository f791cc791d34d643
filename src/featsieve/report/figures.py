"""Drawings by matplotlib, as SVG whose ink is dark on a light page and light on a dark one.

Figures are drawn in two placeholder colours. In the SVG they become variables.
"""

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

INK, FAINT = "#010203", "#040506"
_THEMES = {
    INK: ("--ink", "#1f2328", "#e6e9ee"),
    FAINT: ("--faint", "#d5dae1", "#3a414b"),
}

_RC: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "featsieve",
    "font.family": "sans-serif",
    "font.size": 9.5,
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "axes.grid": True,
    "grid.linewidth": 0.6,
    "grid.color": FAINT,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
}


@dataclass(frozen=True)
class Figure:
    """A drawing: ``title`` says what is drawn, ``caption`` what there is to see."""

    title: str
    caption: str
    svg: str


def draw(paint: Callable[[Any], None], width: float, height: float) -> str:
    """Let a function paint on axes, and return an SVG element whose ink follows the theme."""
    try:
        import matplotlib
        from matplotlib.figure import Figure as Canvas
    except ImportError as error:
        raise ImportError("Figures need matplotlib: pip install 'featsieve[report]'.") from error
    buffer = io.StringIO()
    with matplotlib.rc_context(_RC):
        figure = Canvas(figsize=(width, height), layout="constrained")
        paint(figure.add_subplot())
        metadata = {"Date": None, "Creator": None}
        figure.savefig(buffer, format="svg", transparent=True, metadata=metadata)
    text = buffer.getvalue()
    text = text[text.index("<svg") :].strip()
    light = dark = ""
    for placeholder, (name, on_light, on_dark) in _THEMES.items():
        text = text.replace(placeholder, f"var({name})")
        light += f"{name}:{on_light};"
        dark += f"{name}:{on_dark};"
    theme = f":root{{{light}}}@media (prefers-color-scheme:dark){{:root{{{dark}}}}}"
    end = text.index(">") + 1
    return f"{text[:end]}<style>{theme}</style>{text[end:]}"


def for_file(svg: str) -> str:
    """Return a drawing for a file of its own, in dark ink: few programs know variables."""
    for name, on_light, _ in _THEMES.values():
        svg = svg.replace(f"var({name})", on_light)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + svg + "\n"
