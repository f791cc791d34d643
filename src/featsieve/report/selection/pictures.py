"""Pictures of samples and features by cluster: maps, fields of values, distributions.

Colours are classes of the page's style, or clear where the page shines through. Every text is
escaped, every coordinate is a number.
"""

from collections.abc import Mapping, Sequence
from html import escape
from itertools import groupby
from typing import Any

import numpy as np

from featsieve.names import counted
from featsieve.report.selection.drawing import svg
from featsieve.report.selection.features import N_BINS
from featsieve.report.selection.images import signed_png
from featsieve.report.selection.samples import FULL

# The map of the samples.
PADDING, MAP_WIDTH, MAP_HEIGHT = 40, 1000, 800
# A cluster has a colour (a class of the page's style) and a shape; both repeat after 24 clusters.
# The shape is drawn from its first corner: its path, that corner, filled, a stroke or a round dot.
N_COLOURS = 8
MARKERS = (
    ("h0", 0, 0, "round"),
    ("l9 14h-18z", 0, -9, "fill"),
    ("h12v12h-12z", -6, -6, "fill"),
    ("l9 9-9 9-9-9z", 0, -9, "fill"),
    ("l12 12m0-12l-12 12", -6, -6, "stroke"),
    ("h14m-7-7v14", -7, 0, "stroke"),
)
# A picture of a distribution: room for the names of clusters, height of one, width of a bar.
STRIP_LEFT, STRIP_STEP, STRIP_BAR = 34, 15, 6
STRIP_LETTER, MOST_LEVELS = 5.5, 8  # width of a letter; so many words have names below them
# A field of values has names beside its rows up to this number.
MOST_NAMED = 60


def sample_views(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Draw the samples on selected and on all columns."""
    views = summary["map"]
    if views is None:
        return []
    names = summary["clusters"]["names"] if summary["clusters"] else []
    codes = np.array(views["cluster"] or [0] * len(views["names"]))
    drawn = []
    for name in ("selected", "all"):
        view = views[name]
        x = np.array(view["x"])
        y = np.rint(MAP_HEIGHT - 0.001 * MAP_HEIGHT * np.array(view["y"])).astype(int)
        marks, centres = "", ""
        for group in range(max(len(names), 1)):
            inside = codes == group
            marks += mark(group, zip(x[inside], y[inside], strict=True))
            if names and inside.any():
                at = f'x="{np.median(x[inside]):g}" y="{np.median(y[inside]) + 11:g}"'
                centres += f'<text data-group="{group}" {at}>{escape(names[group])}</text>'
        features = counted(view["n_features"], "feature")
        label = (
            f"{counted(len(x), 'sample')} on the first two principal axes of {features} ({name}), "
            f"marked by {counted(len(names), 'cluster')}."
        )
        sides = f"{MAP_WIDTH + 2 * PADDING} {MAP_HEIGHT + 2 * PADDING}"
        content = f'<g class="marks">{marks}</g><g class="centres">{centres}</g>'
        first, second = view["share"]
        other = f"second {second:.0%}" if second else "up and down only keeps marks apart"
        drawn.append(
            {
                "name": name,
                "title": f"{name.capitalize()} features ({view['n_features']:,})",
                "note": f"Share of the variance: first axis {first:.0%}, {other}",
                "svg": svg(content, label, box=f"{-PADDING} {-PADDING} {sides}", style="map"),
                "x": x.tolist(),
                "y": y.tolist(),
            }
        )
    return drawn


def mark(group: int, places: Any = ((0, 0),)) -> str:
    """Return the markers of a group of samples as one shape."""
    shape, dx, dy, kind = MARKERS[group % len(MARKERS)]
    path = "".join(f"M{x + dx} {y + dy}{shape}" for x, y in places)
    return f'<path class="m {kind} c{group % N_COLOURS}" data-group="{group}" d="{path}"/>'


def fields(summary: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Draw what is many values at once: samples by features, and correlations of features."""
    heat, pairs, drawn = summary["heatmap"], summary["redundancy"], {}
    if heat is not None:
        at, clusters = heat["sample"], summary["clusters"]["names"]
        label = (
            f"Heat map of {counted(len(heat['feature']), 'selected feature')} in "
            f"{counted(len(at), 'sample')}, by cluster. The pictures above name the medians."
        )
        drawn["heat"] = _field(heat["feature"], len(at), heat["levels"], label) | {
            "bars": _bars(summary["map"], at),
            "samples": at,
            "full": FULL,
            "key": {"cluster": clusters, "class": summary["map"]["classes"] or []},
        }
    if pairs is not None and len(pairs["feature"]) > 2:
        names = pairs["feature"]
        label = (
            f"Correlations of {counted(len(names), 'selected feature')}, similar ones side by "
            "side. The table below has the strongest."
        )
        drawn["cross"] = _field(names, len(names), pairs["levels"], label) | {"full": 1.0}
    return drawn


def _field(names: Sequence[str], width: int, levels: str, label: str) -> dict[str, Any]:
    """Draw a field of values, stretched over its figure; the names of its rows stand beside it."""
    size = f'width="{width}" height="{len(names)}" preserveAspectRatio="none"'
    image = f'<image href="data:image/png;base64,{signed_png(levels, width)}" {size}/>'
    picture = svg(image, label, box=f"0 0 {width} {len(names)}", style="field", stretch=True)
    shown = names if len(names) <= MOST_NAMED else ()
    field = {"svg": picture, "names": names, "shown": shown, "levels": levels, "width": width}
    return field | {"samples": None, "bars": [], "key": {}}


def _bars(samples: Mapping[str, Any], at: Sequence[int]) -> list[tuple[str, str]]:
    """Draw cluster, true class and certainty of every sample as bars above a field."""
    bars = []
    for name in ("cluster", "class"):
        if samples[name] is not None:
            paths: dict[int, str] = {}
            start = 0
            for code, run in groupby(samples[name][i] for i in at):
                length = len(list(run))
                paths[code] = paths.get(code, "") + f"M{start} 0h{length}v1h-{length}z"
                start += length
            runs = (f'<path class="g c{k % N_COLOURS}" d="{d}"/>' for k, d in paths.items())
            bars.append((name, "".join(runs)))
    if samples["certainty"] is not None:
        steps = "".join(f"V{1.0 - samples['certainty'][i]:.2g}h1" for i in at)
        bars.append(("certainty", f'<path class="steps" d="M0 1{steps}V1z"/>'))
    box = f'viewBox="0 0 {len(at)} 1" preserveAspectRatio="none" aria-hidden="true"'
    return [(name, f'<svg class="{name}" {box}>{content}</svg>') for name, content in bars]


def strips(summary: Mapping[str, Any]) -> list[dict[str, str]]:
    """Draw the distribution of each of the best features in every cluster, in its own units."""
    found, drawn = summary["distribution"], []
    if found is None:
        return []
    clusters = summary["clusters"]["names"]
    right, bottom = STRIP_LEFT + STRIP_BAR * N_BINS, STRIP_STEP * len(clusters)
    columns = ("feature", "range", "median", "counts", "levels", "ends", "said")
    for name, (low, high), medians, counts, levels, ends, said in zip(
        *(found[key] for key in columns), strict=True
    ):
        parts, step = [], (right - STRIP_LEFT) / len(counts[0])
        for k, (cluster, median, bars) in enumerate(zip(clusters, medians, counts, strict=True)):
            # a word has its share of the cluster, a number the shape of its distribution
            y, largest = STRIP_STEP * (k + 0.5), sum(bars) if levels else max(bars)
            halves = [0.46 * STRIP_STEP * count / max(largest, 1) for count in bars]
            d = "".join(
                f"M{STRIP_LEFT + step * (i + 0.5):g} {y - half:.1f}v{2.0 * half:.1f}"
                for i, half in enumerate(halves)
                if half
            )
            width = step - min(2.0, 0.4 * step) if levels else step
            content = f'<path class="g c{k % N_COLOURS}" stroke-width="{width:g}" d="{d}"/>'
            if median is not None and not levels:
                share = min(max((median - low) / ((high - low) or 1.0), 0.0), 1.0)
                x = STRIP_LEFT + share * (right - STRIP_LEFT)
                content += f'<path class="median" d="M{x:.1f} {y - 7:g}v14"/>'
            text = f'<text class="end" x="{STRIP_LEFT - 6}" y="{y + 4:g}">{escape(cluster)}</text>'
            told = escape(f"cluster {cluster}: {said[k]}")
            parts.append(f"<g><title>{told}</title>{text}{content}</g>")
        named = [("start", float(STRIP_LEFT), ends[0]), ("end", float(right), ends[1])]
        if levels and len(levels) <= MOST_LEVELS:
            named = [("", STRIP_LEFT + step * (i + 0.5), word) for i, word in enumerate(levels)]
        room = int((right - STRIP_LEFT) / (STRIP_LETTER * len(named)))
        for style, x, word in named:
            short = word if len(word) <= room else f"{word[: room - 1]}…"
            at = f'x="{x:g}" y="{bottom + 14}"'
            parts.append(f'<text class="{style}" {at}>{escape(short)}</text>')
        axis = f'<path class="axis" d="M{STRIP_LEFT} {bottom + 1}H{right}"/>'
        of = ", ".join(levels) if levels else " to ".join(ends)
        each = (f"cluster {cluster}: {told}" for cluster, told in zip(clusters, said, strict=True))
        label = f"{name}, {of}; {'; '.join(each)}."
        box = f"0 0 {right + 4} {bottom + 18}"
        picture = svg("".join(parts) + axis, label, box=box, style="strip")
        drawn.append({"name": name, "svg": picture})
    return drawn


def sparklines(summary: Mapping[str, Any]) -> list[str]:
    """Draw the means of each selected feature in the clusters, above and below a line."""
    drawn = []
    for means in summary["features"]["mean"]:
        bars = "".join(
            f"M{4 * k + 2} 8v{-8.0 * min(max((mean or 0.0) / FULL, -1.0), 1.0):.1f}"
            for k, mean in enumerate(means)
        )
        box = f'viewBox="0 0 {4 * len(means)} 16" width="{6 * len(means)}" aria-hidden="true"'
        line = f'<path class="grid" d="M0 8h{4 * len(means)}"/>'
        drawn.append(f'<svg class="spark" {box}>{line}<path d="{bars}"/></svg>')
    return drawn
