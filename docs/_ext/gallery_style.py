"""How the figures of the gallery look: one style, colours that colour-blind eyes tell apart."""

from typing import Any

# Okabe and Ito's colours, the darkest first; the last is for what is only context.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a8f98")
SETTINGS = {
    "figure.dpi": 100,
    "figure.figsize": (6.4, 4.0),
    "figure.constrained_layout.use": True,
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.linewidth": 0.6,
    "grid.color": "#d5dae1",
    "legend.frameon": False,
    "image.cmap": "cividis",
}


def reset(gallery_conf: dict[str, Any], name: str) -> None:
    """Set the style before every example (sphinx-gallery calls this)."""
    import matplotlib as mpl
    from cycler import cycler

    mpl.use("agg")
    mpl.rcParams.update(SETTINGS)
    mpl.rcParams["axes.prop_cycle"] = cycler(color=COLOURS)
