"""Figures that compare methods over all data sets: average ranks, and the distance from chance."""

from typing import Any

import numpy as np

from featsieve.report.bench.summary import BenchSummary, Track
from featsieve.report.figure_style import (
    FAINT,
    INK,
    METRIC_WORDS,
    Style,
    drawing,
    new_figure,
    to_svg,
)
from featsieve.report.page import Figure


def rank_figure(track: Track, metric: str, *, styles: dict[str, Style]) -> Figure:
    """Draw average ranks with the critical difference."""
    ranks, word = track.ranks[metric], METRIC_WORDS[metric]
    names = [ranks.names[i] for i in ranks.order]
    places = {name: place for place, name in enumerate(names)}
    k = len(names)
    with drawing():
        figure = new_figure(5.0, 1.4 + 0.26 * k)
        axes = figure.add_subplot()
        axes.grid(visible=False, axis="y")
        for i in ranks.order:
            name, rank = ranks.names[i], ranks.average_ranks[i]
            look = styles[name].line() | {"markersize": 8, "linestyle": ""}
            axes.plot(
                ranks.intervals[i],
                [places[name]] * 2,
                color=FAINT,
                linewidth=5,
                solid_capstyle="round",
                zorder=2,
            )
            axes.plot([rank], [places[name]], **look)
            axes.annotate(
                f"{rank:.2f}",
                (rank, places[name]),
                (0, 6),
                textcoords="offset points",
                ha="center",
                fontsize=7.5,
            )
        for column, group in enumerate(ranks.groups):
            rows = [places[name] for name in group]
            x = k + 0.55 + 0.3 * column
            axes.plot(
                [x, x],
                [min(rows) - 0.2, max(rows) + 0.2],
                color=INK,
                linewidth=3,
                solid_capstyle="butt",
                clip_on=False,
            )
        start = 1.0
        axes.plot(
            [start, start + ranks.critical_difference],
            [-1.3, -1.3],
            color=INK,
            linewidth=1.6,
            marker="|",
            markersize=8,
        )
        axes.annotate(
            f"critical difference {ranks.critical_difference:.2f}",
            (start, -1.3),
            (0, 7),
            textcoords="offset points",
            fontsize=8,
        )
        axes.set_yticks(range(k), names)
        axes.tick_params(axis="y", length=0)
        axes.set_xlim(
            0.7,
            max(k + 0.4 + 0.3 * (len(ranks.groups) + 1), start + ranks.critical_difference + 0.2),
        )
        axes.set_ylim(k - 0.4, -2.1)
        axes.set_xticks(range(1, k + 1))
        axes.set_xlabel(f"average rank by {word} over {ranks.n_datasets} data sets (1 is best)")
        svg = to_svg(figure)
    apart = "differ" if ranks.significant else "do not differ beyond chance"
    caption = (
        "Best first: "
        + ", ".join(f"{name} {ranks.average_ranks[ranks.names.index(name)]:.2f}" for name in names)
        + f". Critical difference {ranks.critical_difference:.2f}; the methods {apart} "
        f"(Friedman χ² = {ranks.friedman:.1f}, p = {ranks.friedman_p:.2g}; Iman-Davenport "
        f"p = {ranks.iman_davenport_p:.2g})."
    )
    return Figure(f"Average ranks by {word}, {track.name} track", caption, svg)


def margin_figure(summary: BenchSummary, *, styles: dict[str, Style]) -> Figure:
    """Draw how far each oracle accuracy is above that of random selections with the same budget."""
    track = summary.track("oracle")
    scores: Any = track.scores["acc"] if track else {}
    entries = summary.survival
    with drawing():
        figure = new_figure(5.4, 1.1 + 0.45 * len(entries))
        axes = figure.add_subplot()
        axes.grid(visible=False, axis="y")
        axes.axvline(0, color=INK, linewidth=1.2, zorder=1)
        for row, entry in enumerate(entries):
            names = (*entry.above, *entry.not_above)
            # fixed places around the line of the data set, so that equal values stay apart
            spread = np.linspace(-0.28, 0.28, len(names)) if len(names) > 1 else [0.0]
            for name, shift in zip(sorted(names), spread, strict=True):
                margin = 100 * (scores[entry.dataset, name].mean - entry.expected[name])
                axes.plot([margin], [row + shift], **(styles[name].line() | {"linestyle": ""}))
        axes.set_yticks(range(len(entries)), [entry.dataset for entry in entries])
        axes.tick_params(axis="y", length=0)
        axes.set_ylim(len(entries) - 0.5, -0.5)
        axes.set_xlabel("points of ACC above chance with the same budget (line: equal)")
        svg = to_svg(figure)
    total = sum(len(e.above) + len(e.not_above) for e in entries)
    below = sum(len(e.not_above) for e in entries)
    caption = f"{below} of {total} results (method and data set) are on the line or left of it."
    return Figure("Oracle ACC minus that of random selections", caption, svg)
