"""Drawings by matplotlib, as SVG files in dark ink."""

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

INK, FAINT = "#1f2328", "#d5dae1"
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
    """Let a function paint on axes, and return the SVG file."""
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
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text[text.index("<svg") :].strip()}\n'
