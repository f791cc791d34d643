"""The figures of a benchmark report: average ranks and curves."""

from collections.abc import Iterable, Mapping
from itertools import cycle
from typing import Any

import numpy as np

from featsieve.evaluation import Difference
from featsieve.report.bench.scores import METRICS
from featsieve.report.bench.summary import Track
from featsieve.report.figures import COLOURS, FAINT, INK, draw
from featsieve.report.page import Figure

PANEL = (4.4, 3.1)  # inches
_MARKERS = "vs^DPpHX<>h"
_CONTROLS = (("_", (0, (1, 1.2))), ("x", (0, (4, 2))), ("+", (0, (6, 2, 1, 2))))
# What the comparison is about stands out: JASFS, and the paper's own algorithm.
_JASFS, _PUBLISHED = ("#d55e00", "o"), ("#1f83c6", "*")

Styles = Mapping[str, dict[str, Any]]  # arguments of matplotlib's plot


def method_styles(methods: Iterable[Any]) -> dict[str, dict[str, Any]]:
    """Give each method its colour, marker and line, the same in all figures."""
    looks = zip(cycle(COLOURS), cycle(_MARKERS), strict=False)
    control_looks = cycle(_CONTROLS)
    styles = {}
    for fact in methods:
        style: dict[str, Any] = {"linewidth": 1.2, "markersize": 5.5, "zorder": 3}
        if fact.control:
            style["color"], style["zorder"] = "#8a8f98", 2
            style["marker"], style["linestyle"] = next(control_looks)
        elif fact.selector == "JASFS":
            style["linewidth"], style["zorder"] = 2.2, 4 if fact.published else 5
            style["color"], style["marker"] = _PUBLISHED if fact.published else _JASFS
        else:
            style["color"], style["marker"] = next(looks)
        styles[fact.name] = style
    return styles


def curve_figure(curves: Any, metric: str, *, dataset: str, styles: Styles) -> Figure:
    """Draw a score (percent, a column per method) against the number of features."""
    word = METRICS[metric]

    def paint(axes: Any) -> None:
        for method in curves:
            line = curves[method].dropna()
            axes.plot(line.index, line, label=method, **styles[method])
        axes.figure.legend(loc="outside lower center", ncols=3, fontsize=7.5)
        axes.set(xlabel="number of features", ylabel=f"{word} (%)", title=dataset)
        ticks = [int(count) for count in curves.index]
        axes.set_xticks(ticks if len(ticks) <= 10 else ticks[:: len(ticks) // 8])

    highest = curves.max()
    caption = f"Highest over all numbers: {highest.idxmax()}, {highest.max():.1f} %."
    title = f"{word} against the number of features, {dataset}"
    return Figure(title, caption, draw(paint, PANEL[0], PANEL[1] + 0.07 * len(curves.columns)))


def _dots(axes: Any, names: list[str], values: Any, ends: Any, styles: Styles) -> None:
    """Draw a line for every method: its value as a dot, its interval as a band."""
    axes.grid(visible=False, axis="y")
    band = {"color": FAINT, "linewidth": 5, "solid_capstyle": "round", "zorder": 2}
    for place, (name, value) in enumerate(zip(names, values, strict=True)):
        axes.plot(ends[place], [place] * 2, **band)
        axes.plot([value], [place], **styles[name] | {"markersize": 8, "linestyle": ""})
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(axis="y", length=0)


def rank_figure(track: Track, metric: str, *, styles: Styles) -> Figure:
    """Draw average ranks with the critical difference."""
    ranks, word = track.ranks[metric], METRICS[metric]
    names = [ranks.names[i] for i in ranks.order]
    values = [float(ranks.average_ranks[i]) for i in ranks.order]
    k, difference = len(names), ranks.critical_difference
    above = {"textcoords": "offset points"}

    def paint(axes: Any) -> None:
        _dots(axes, names, values, [ranks.intervals[i] for i in ranks.order], styles)
        for place, rank in enumerate(values):
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
    title = f"Average ranks by {word}, {track.name} track"
    return Figure(title, caption, draw(paint, 5.0, 1.4 + 0.26 * k))


def gap_figure(found: Mapping[str, Difference], metric: str, *, styles: Styles) -> Figure:
    """Draw which share of the gap from all features to the true labels each method closes."""
    closed = {name: 100 * np.array(own.closed) for name, own in found.items()}
    names = sorted((n for n in closed if np.isfinite(closed[n][0])), key=lambda n: -closed[n][0])
    ends = np.array([closed[name][1:] for name in names])

    def paint(axes: Any) -> None:
        axes.axvline(0.0, color=INK, linewidth=0.8, zorder=1)
        _dots(axes, names, [closed[name][0] for name in names], ends, styles)
        axes.set_ylim(len(names) - 0.4, -0.6)
        # a control far below all features must not squeeze the rest
        axes.set_xlim(max(-110.0, ends.min() - 5.0), max(105.0, ends.max() + 5.0))
        axes.set_xlabel(f"% of the gap in {METRICS[metric]}: 0 all features, 100 true labels")

    listed = ", ".join(f"{name} {closed[name][0]:.0f}" for name in names)
    caption = f"Gain in {METRICS[metric]}, in % of that with true labels. Best first: {listed}."
    drawn = draw(paint, 5.0, 1.0 + 0.26 * len(names))
    return Figure("Share of the gap that is closed", caption, drawn)
