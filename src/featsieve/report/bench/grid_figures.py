"""Figures of single points: scores over pairs of parameters, and samples over three features."""

import numpy as np

from featsieve.report.bench.series import Cloud
from featsieve.report.bench.surfaces import Surface
from featsieve.report.figure_style import (
    FAINT,
    INK,
    METRIC_WORDS,
    PANEL,
    drawing,
    new_figure,
    to_svg,
)
from featsieve.report.page import Figure

_CLASS_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999933")
_CLASS_MARKERS = "o^sDvP<"
MANY_POINTS = 600  # above this, points are drawn as an image inside the SVG


def surface_figure(surface: Surface, metric: str) -> Figure:
    """Draw scores over a pair of parameters as a heat map with numbers."""
    word, values = METRIC_WORDS[metric], 100 * getattr(surface, metric)
    at = f" at {surface.fixed}" if surface.fixed else ""
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    with drawing():
        figure = new_figure(PANEL[0], 3.3)
        axes = figure.add_subplot()
        axes.grid(visible=False)
        axes.spines[:].set_visible(False)
        # The scale spans ten points at least, so that noise does not look like an effect.
        middle, half = (low + high) / 2, max((high - low) / 2, 5.0)
        image = axes.pcolormesh(
            values, cmap="cividis", vmin=middle - half, vmax=middle + half, edgecolors="none"
        )
        for (i, j), value in np.ndenumerate(values):
            if np.isfinite(value):
                red, green, blue, _ = image.cmap(image.norm(value))
                bright = 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.5
                axes.text(
                    j + 0.5,
                    i + 0.5,
                    f"{value:.1f}",
                    ha="center",
                    va="center",
                    fontsize=8,
                    color="#111111" if bright else "#ffffff",
                )
        axes.set_xticks(np.arange(values.shape[1]) + 0.5, surface.x_values)
        axes.set_yticks(np.arange(values.shape[0]) + 0.5, surface.y_values)
        axes.tick_params(length=0)
        axes.set_xlabel(surface.x)
        axes.set_ylabel(surface.y, rotation=0 if len(surface.y) == 1 else 90, labelpad=10)
        axes.set_title(f"{word} (%){at}", fontsize=9.5)
        svg = to_svg(figure)
    flat = f" Flat along {' and '.join(surface.inert)}: no effect." if surface.inert else ""
    title = f"{word} of {surface.method} over {surface.x} and {surface.y}, {surface.dataset}"
    return Figure(title, f"{surface.x} and {surface.y}: {low:.1f} to {high:.1f} %.{flat}", svg)


def cloud_figure(cloud: Cloud) -> Figure:
    """Draw the samples over the three best features of a method."""
    classes = np.unique(cloud.classes)
    with drawing():
        figure = new_figure(3.9, 3.6)
        axes = figure.add_subplot(projection="3d")
        for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
            axis.set_pane_color((0, 0, 0, 0))
            axis.line.set_color(INK)
            axis._axinfo["grid"].update(color=FAINT, linewidth=0.6)
        for place, value in enumerate(classes):
            own = cloud.points[cloud.classes == value]
            turn = place % len(_CLASS_COLOURS)
            axes.scatter(
                *own.T,
                s=16,
                color=_CLASS_COLOURS[turn],
                linewidths=0.3,
                edgecolors=INK,
                marker=_CLASS_MARKERS[turn],
                depthshade=False,
                label=f"class {value}",
                rasterized=len(cloud.points) > MANY_POINTS,
            )
        axes.set(xlabel="1st feature", ylabel="2nd", zlabel="3rd")
        axes.tick_params(labelsize=7, pad=0)
        axes.set_title(f"{cloud.dataset}: {cloud.method}")
        if len(classes) <= len(_CLASS_COLOURS):
            figure.legend(
                loc="outside lower center",
                ncols=min(4, len(classes)),
                fontsize=8,
                handletextpad=0.1,
                columnspacing=1.0,
            )
        axes.set_box_aspect(None, zoom=0.86)
        svg = to_svg(figure)
    caption = (
        f"{len(cloud.points)} samples in {len(classes)} classes over the three features that "
        f"{cloud.method} ranks first."
    )
    return Figure(f"Three best features of {cloud.method}, {cloud.dataset}", caption, svg)
