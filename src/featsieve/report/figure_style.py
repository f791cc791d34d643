"""How figures look: one colour, marker and line per method, ink that follows the reader's theme.

Figures are drawn in two placeholder colours. In the SVG they become variables, dark on a light
page and light on a dark one.
"""

import io
import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

INK, FAINT = "#010203", "#040506"
PANEL = (4.4, 3.1)  # inches
METRIC_WORDS = {"acc": "ACC", "nmi": "NMI", "ari": "ARI"}
_THEMES = {
    INK: ("--ink", "#1f2328", "#e6e9ee"),
    FAINT: ("--faint", "#d5dae1", "#3a414b"),
}
# What the comparison is about stands out; all colours can be told apart with colour-blind eyes
# by twos or threes, and the markers do the rest.
_KNOWN = {
    "LaplacianScore": ("#56b4e9", "v"),
    "SPEC": ("#7f9fd6", "1"),
    "MCFS": ("#009e73", "s"),
    "UDFS": ("#cc79a7", "^"),
    "NDFS": ("#e69f00", "D"),
    "RUFS": ("#999933", "P"),
    "RSFS": ("#b5793c", "p"),
    "SOGFS": ("#6f8f72", "H"),
    "AUFS": ("#aa4499", "X"),
    "URAFS": ("#44aa99", "<"),
    "USFS": ("#b8901f", ">"),
    "UGFS": ("#7f74e8", "h"),
    "JASFS": ("#d55e00", "o"),
}
_PUBLISHED = ("#1f83c6", "*")  # the paper's own algorithm, beside ours
_CONTROLS = {
    "AllFeatures": ("#8a8f98", "_", (0, (1, 1.2))),
    "RandomSelector": ("#8a8f98", "x", (0, (4, 2))),
    "MaxVariance": ("#8a8f98", "+", (0, (6, 2, 1, 2))),
}
_SPARES = (("#d17ba0", "#5f9ea0", "#a0785a", "#8fb339"), ("d", "8", "p", "v", "s", "^"))
_SPARE = tuple(zip(*_SPARES, strict=False))

RC: dict[Any, Any] = {
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
    **dict.fromkeys(
        ["text.color", "axes.labelcolor", "axes.edgecolor", "axes.titlecolor", "xtick.color"], INK
    ),
    "ytick.color": INK,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
}


@dataclass(frozen=True)
class Style:
    """How a method is drawn."""

    color: str
    marker: str
    dashes: Any = "-"
    width: float = 1.2
    order: int = 3

    def line(self) -> dict[str, Any]:
        """Return the arguments of matplotlib's ``plot``."""
        return {
            "color": self.color,
            "marker": self.marker,
            "linestyle": self.dashes,
            "linewidth": self.width,
            "markersize": 8 if self.marker == "*" else 5.5,
            "markeredgewidth": 1.4 if self.marker in "x+_123" else 0.5,
            "zorder": self.order,
        }


def method_styles(methods: Iterable[Any]) -> dict[str, Style]:
    """Give each method its colour, marker and line, the same in all figures."""
    styles: dict[str, Style] = {}
    taken: set[tuple[str, str]] = set()
    for fact in methods:
        if fact.control and fact.selector in _CONTROLS:
            style = Style(*_CONTROLS[fact.selector], width=1.3, order=2)
        elif fact.selector == "JASFS":
            look = _PUBLISHED if fact.published else _KNOWN["JASFS"]
            style = Style(*look, width=2.2, order=5 if fact.published is None else 4)
        else:
            style = Style(*_KNOWN.get(fact.selector, _SPARE[0]))
        if (style.color, style.marker) in taken:  # a second variant of a class, or an unknown one
            free = (look for look in itertools.product(*_SPARES) if look not in taken)
            color, marker = next(free, (style.color, style.marker))
            style = Style(color, marker, (0, (5, 1)), style.width, style.order)
        taken.add((style.color, style.marker))
        styles[fact.name] = style
    return styles


def new_figure(width: float, height: float) -> Any:
    """Make a figure that lays itself out; call it inside ``drawing()``."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def drawing() -> Any:
    """Set the look of figures for a ``with`` block."""
    try:
        import matplotlib
    except ImportError as error:
        raise ImportError("Figures need matplotlib: pip install 'featsieve[bench]'.") from error
    return matplotlib.rc_context(RC)


def to_svg(figure: Any) -> str:
    """Write a figure as one SVG element whose ink follows the reader's theme."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
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
