"""The figures of a benchmark report: those of the paper, average ranks, distance from chance."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from featsieve.report.bench.scores import as_array
from featsieve.report.bench.summary import BenchSummary, Track
from featsieve.report.bench.surfaces import Surface
from featsieve.report.figure_style import (
    FAINT,
    INK,
    METRIC_WORDS,
    PANEL,
    Style,
    drawing,
    new_figure,
    to_svg,
)
from featsieve.report.page import Figure

Styles = Mapping[str, Style]

_CLASS_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999933")
_CLASS_MARKERS = "o^sDvP<"
RASTER_POINTS = 600  # above this, points are drawn as an image inside the SVG


class _Drawn:
    """Axes, and the SVG of the finished drawing."""

    axes: Any
    svg = ""


@contextmanager
def _axes(width: float, height: float, **how: Any) -> Iterator[_Drawn]:
    """Give axes to draw on in the block; the SVG is there at its end."""
    drawn = _Drawn()
    with drawing():
        figure = new_figure(width, height)
        drawn.axes = figure.add_subplot(**how)
        yield drawn
        drawn.svg = to_svg(figure)


def key_images(styles: Styles, names: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Draw the line and marker of each method, for a key beside the figures."""
    found = []
    with drawing():
        for name in names:
            figure = new_figure(0.5, 0.2)
            axes = figure.add_axes((0, 0, 1, 1))
            axes.axis("off")
            axes.plot([0, 1, 2], [0, 0, 0], markevery=[1], **styles[name].line())
            axes.set(xlim=(0, 2), ylim=(-1, 1))
            figure.set_layout_engine("none")
            found.append((name, to_svg(figure)))
    return tuple(found)


def curve_figure(curves: Any, metric: str, *, dataset: str, styles: Styles) -> Figure:
    """Draw a score (percent, a column per method) against the number of features."""
    word = METRIC_WORDS[metric]
    lines = {method: curves[method].dropna() for method in curves}
    with _axes(*PANEL) as drawn:
        for method, line in lines.items():
            drawn.axes.plot(line.index, line, **styles[method].line())
        drawn.axes.set(xlabel="number of features", ylabel=f"{word} (%)", title=dataset)
        ticks = [int(count) for count in curves.index]
        drawn.axes.set_xticks(ticks if len(ticks) <= 10 else ticks[:: len(ticks) // 8])
    few = {method: float(line.iloc[0]) for method, line in lines.items()}
    most = {method: float(line.max()) for method, line in lines.items()}
    caption = f"With the fewest features {_highest(few)}. Over all numbers {_highest(most)}."
    return Figure(f"{word} against the number of features, {dataset}", caption, drawn.svg)


def time_figure(timings: Any, *, dataset: str, styles: Styles) -> Figure:
    """Draw the running time so far against the iteration, on one data set."""
    last = {}
    with _axes(*PANEL) as drawn:
        for timing in timings.itertuples():
            seconds = as_array(timing.iteration_seconds)
            last[timing.method] = float(seconds[-1])
            steps = np.arange(1, len(seconds) + 1)
            every = max(1, len(steps) // 5)
            # The clock of a fast step can stand still; a logarithm cannot show zero.
            shown = np.maximum(seconds, 1e-6)
            drawn.axes.plot(steps, shown, markevery=every, **styles[timing.method].line())
        drawn.axes.set_yscale("log")
        drawn.axes.set(xlabel="iteration", ylabel="seconds so far", title=dataset)
        drawn.axes.xaxis.get_major_locator().set_params(integer=True)
    quick, slow = min(last, key=last.__getitem__), max(last, key=last.__getitem__)
    caption = f"{quick} ends first ({last[quick]:.3g} s), {slow} last ({last[slow]:.3g} s)."
    return Figure(f"Seconds so far against the iteration, {dataset}", caption, drawn.svg)


def objective_figure(timing: Any, *, styles: Styles) -> Figure:
    """Draw the objective against the iteration."""
    values = as_array(timing.objective)
    with _axes(*PANEL) as drawn:
        drawn.axes.plot(np.arange(1, len(values) + 1), values, **styles[timing.method].line())
        title = f"{timing.dataset}: {timing.method}"
        drawn.axes.set(xlabel="iteration", ylabel="objective", title=title)
        drawn.axes.xaxis.get_major_locator().set_params(integer=True)
        drawn.axes.ticklabel_format(axis="y", useOffset=False)
    finite = values[np.isfinite(values)]
    rises = int(np.sum(np.diff(finite) > 1e-9 * np.maximum(1.0, np.abs(finite[1:]))))
    course = "never rises" if not rises else "rises once" if rises == 1 else f"rises {rises} times"
    caption = (
        f"From {finite[0]:.4g} to {finite[-1]:.4g} in {len(values)} iterations; it {course}."
        if len(finite)
        else "Never finite."
    )
    return Figure(f"Objective of {timing.method}, {timing.dataset}", caption, drawn.svg)


def surface_figure(surface: Surface, metric: str) -> Figure:
    """Draw scores over a pair of parameters as a heat map with numbers."""
    word, values = METRIC_WORDS[metric], 100 * getattr(surface, metric)
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    with _axes(PANEL[0], 3.3) as drawn:
        axes = drawn.axes
        axes.grid(visible=False)
        axes.spines[:].set_visible(False)
        # The scale spans ten points at least, so that noise does not look like an effect.
        middle, half = (low + high) / 2, max((high - low) / 2, 5.0)
        scale = {"cmap": "cividis", "vmin": middle - half, "vmax": middle + half}
        image = axes.pcolormesh(values, edgecolors="none", **scale)
        for (i, j), value in np.ndenumerate(values):
            if np.isfinite(value):
                red, green, blue, _ = image.cmap(image.norm(value))
                bright = 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.5
                look = {"ha": "center", "va": "center", "fontsize": 8}
                color = "#111111" if bright else "#ffffff"
                axes.text(j + 0.5, i + 0.5, f"{value:.1f}", color=color, **look)
        axes.set_xticks(np.arange(values.shape[1]) + 0.5, surface.x_values)
        axes.set_yticks(np.arange(values.shape[0]) + 0.5, surface.y_values)
        axes.tick_params(length=0)
        axes.set_xlabel(surface.x)
        axes.set_ylabel(surface.y, rotation=0 if len(surface.y) == 1 else 90, labelpad=10)
        at = f" at {surface.fixed}" if surface.fixed else ""
        axes.set_title(f"{word} (%){at}", fontsize=9.5)
    flat = f" Flat along {' and '.join(surface.inert)}: no effect." if surface.inert else ""
    title = f"{word} of {surface.method} over {surface.x} and {surface.y}, {surface.dataset}"
    caption = f"{surface.x} and {surface.y}: {low:.1f} to {high:.1f} %.{flat}"
    return Figure(title, caption, drawn.svg)


def cloud_figure(row: Any) -> Figure:
    """Draw the samples over the three best features of a method."""
    labels = as_array(row.classes).astype(int)
    points = as_array(row.points).reshape(-1, 3)
    classes = np.unique(labels)
    with _axes(3.9, 3.6, projection="3d") as drawn:
        axes = drawn.axes
        for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
            axis.set_pane_color((0, 0, 0, 0))
            axis.line.set_color(INK)
            axis._axinfo["grid"].update(color=FAINT, linewidth=0.6)
        for place, value in enumerate(classes):
            turn = place % len(_CLASS_COLOURS)
            axes.scatter(
                *points[labels == value].T,
                s=16,
                color=_CLASS_COLOURS[turn],
                linewidths=0.3,
                edgecolors=INK,
                marker=_CLASS_MARKERS[turn],
                depthshade=False,
                label=f"class {value}",
                rasterized=len(points) > RASTER_POINTS,
            )
        axes.set(xlabel="1st feature", ylabel="2nd", zlabel="3rd")
        axes.tick_params(labelsize=7, pad=0)
        axes.set_title(f"{row.dataset}: {row.method}")
        if len(classes) <= len(_CLASS_COLOURS):
            look = {"fontsize": 8, "handletextpad": 0.1, "columnspacing": 1.0}
            ncols = min(4, len(classes))
            axes.figure.legend(loc="outside lower center", ncols=ncols, **look)
        axes.set_box_aspect(None, zoom=0.86)
    caption = (
        f"{len(points)} samples in {len(classes)} classes over the three features that "
        f"{row.method} ranks first."
    )
    return Figure(f"Three best features of {row.method}, {row.dataset}", caption, drawn.svg)


def rank_figure(track: Track, metric: str, *, styles: Styles) -> Figure:
    """Draw average ranks with the critical difference."""
    ranks, word = track.ranks[metric], METRIC_WORDS[metric]
    names = [ranks.names[i] for i in ranks.order]
    values = [float(ranks.average_ranks[i]) for i in ranks.order]
    k, difference = len(names), ranks.critical_difference
    above = {"textcoords": "offset points"}
    with _axes(5.0, 1.4 + 0.26 * k) as drawn:
        axes = drawn.axes
        axes.grid(visible=False, axis="y")
        for place, (i, name, rank) in enumerate(zip(ranks.order, names, values, strict=True)):
            band = {"color": FAINT, "linewidth": 5, "solid_capstyle": "round", "zorder": 2}
            axes.plot(ranks.intervals[i], [place] * 2, **band)
            axes.plot([rank], [place], **styles[name].line() | {"markersize": 8, "linestyle": ""})
            axes.annotate(f"{rank:.2f}", (rank, place), (0, 6), ha="center", fontsize=7.5, **above)
        for column, group in enumerate(ranks.groups):
            rows = [names.index(name) for name in group]
            x = k + 0.55 + 0.3 * column
            bar = {"color": INK, "linewidth": 3, "solid_capstyle": "butt", "clip_on": False}
            axes.plot([x, x], [min(rows) - 0.2, max(rows) + 0.2], **bar)
        ruler = {"color": INK, "linewidth": 1.6, "marker": "|", "markersize": 8}
        axes.plot([1.0, 1.0 + difference], [-1.3, -1.3], **ruler)
        text = f"critical difference {difference:.2f}"
        axes.annotate(text, (1.0, -1.3), (0, 7), fontsize=8, **above)
        axes.set_yticks(range(k), names)
        axes.tick_params(axis="y", length=0)
        axes.set_xlim(0.7, max(k + 0.4 + 0.3 * (len(ranks.groups) + 1), 1.2 + difference))
        axes.set_ylim(k - 0.4, -2.1)
        axes.set_xticks(range(1, k + 1))
        axes.set_xlabel(f"average rank by {word} over {ranks.n_datasets} data sets (1 is best)")
    listed = ", ".join(f"{name} {rank:.2f}" for name, rank in zip(names, values, strict=True))
    apart = "differ" if ranks.significant else "do not differ beyond chance"
    caption = (
        f"Best first: {listed}. Critical difference {difference:.2f}; the methods {apart} "
        f"(Friedman χ² = {ranks.friedman:.1f}, p = {ranks.friedman_p:.2g}; Iman-Davenport "
        f"p = {ranks.iman_davenport_p:.2g})."
    )
    return Figure(f"Average ranks by {word}, {track.name} track", caption, drawn.svg)


def margin_figure(summary: BenchSummary, *, styles: Styles) -> Figure:
    """Draw how far each oracle accuracy is above that of random selections with the same budget."""
    track = summary.track("oracle")
    scores: Any = track.scores["acc"] if track else {}
    entries = summary.survival
    with _axes(5.4, 1.1 + 0.45 * len(entries)) as drawn:
        axes = drawn.axes
        axes.grid(visible=False, axis="y")
        axes.axvline(0, color=INK, linewidth=1.2, zorder=1)
        for row, entry in enumerate(entries):
            names = sorted((*entry.above, *entry.not_above))
            # fixed places around the line of the data set, so that equal values stay apart
            spread = np.linspace(-0.28, 0.28, len(names)) if len(names) > 1 else [0.0]
            for name, shift in zip(names, spread, strict=False):
                margin = 100 * (scores[entry.dataset, name].mean - entry.expected[name])
                axes.plot([margin], [row + shift], **styles[name].line() | {"linestyle": ""})
        axes.set_yticks(range(len(entries)), [entry.dataset for entry in entries])
        axes.tick_params(axis="y", length=0)
        axes.set_ylim(len(entries) - 0.5, -0.5)
        axes.set_xlabel("points of ACC above chance with the same budget (line: equal)")
    total = sum(len(e.above) + len(e.not_above) for e in entries)
    below = sum(len(e.not_above) for e in entries)
    caption = f"{below} of {total} results (method and data set) are on the line or left of it."
    return Figure("Oracle ACC minus that of random selections", caption, drawn.svg)


def _highest(values: dict[str, float]) -> str:
    """Say who is highest; values that look equal in print are equal."""
    top = max(round(value, 1) for value in values.values())
    names = [name for name, value in values.items() if round(value, 1) == top]
    if len(names) == len(values):
        return f"all are at {top:.1f} %"
    if len(names) > 3:
        return f"{len(names)} of {len(values)} share the highest value, {top:.1f} %"
    verb = "is" if len(names) == 1 else "are"
    return f"{' and '.join(names)} {verb} highest, {top:.1f} %"
