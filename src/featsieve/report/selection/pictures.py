"""The pictures of a selection: samples in two dimensions, the graph of features, pixels."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from featsieve.report.selection.drawing import RADIUS, Marker, markers, marks, svg
from featsieve.report.selection.values import counted

# Radius of the markers among more samples than this.
SMALL_RADIUS, MANY_SAMPLES = 6, 600
PADDING, MAP_HEIGHT, GRAPH_HEIGHT = 40, 800, 640
# Width of a letter in the graph, for labels that shall not meet.
LETTER, LINE = 13, 30


def sample_views(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Draw the samples on selected and on all columns."""
    views = summary["map"]
    if views is None:
        return []
    names = summary["clusters"]["names"] if summary["clusters"] else []
    codes = views["cluster"] or [0] * len(views["rows"])
    drawn = []
    for name in ("selected", "all"):
        view = views[name]
        x = [int(value) for value in view["x"]]
        y = [round(MAP_HEIGHT - 0.001 * MAP_HEIGHT * float(value)) for value in view["y"]]
        groups = marks(x, y, codes, max(len(names), 1), markers=map_markers(summary))
        content = f'<g class="marks">{groups}</g>'
        if names:
            content += '<g class="centres">' + _centres(x, y, codes, names) + "</g>"
        features = counted(view["n_features"], "feature")
        label = (
            f"{counted(len(x), 'sample')} on the first two principal axes of {features} ({name}), "
            f"marked by {counted(len(names), 'cluster')}."
        )
        box = f"{-PADDING} {-PADDING} {1000 + 2 * PADDING} {MAP_HEIGHT + 2 * PADDING}"
        first, second = view["share"]
        second_axis = f"second {second:.0%}" if second else "no second: spread at random"
        drawn.append(
            {
                "name": name,
                "title": f"{name.capitalize()} features ({view['n_features']:,})",
                "note": f"Share of the variance: first axis {first:.0%}, {second_axis}",
                "svg": svg(content, label, box=box, style="map").replace(
                    "<svg", f'<svg style="--dot:{2 * _radius(summary)}"', 1
                ),
                "x": x,
                "y": y,
            }
        )
    return drawn


def map_markers(summary: Mapping[str, Any]) -> list[Marker]:
    """Return the markers of the samples: smaller ones where there are many."""
    return markers(_radius(summary))


def _radius(summary: Mapping[str, Any]) -> int:
    """Return the radius of the samples' markers."""
    many = summary["map"] and len(summary["map"]["rows"]) > MANY_SAMPLES
    return SMALL_RADIUS if many else RADIUS


def graph_picture(summary: Mapping[str, Any]) -> dict[str, Any] | None:
    """Draw the graph of the selected features."""
    graph = summary["redundancy"]
    if graph is None:
        return None
    names = summary["clusters"]["names"] if summary["clusters"] else []
    x = [int(value) for value in graph["x"]]
    y = [round(0.001 * GRAPH_HEIGHT * float(value)) for value in graph["y"]]
    lines = []
    for i, j, r in reversed(graph["edges"]):  # the strongest on top
        width = 1.0 + 18.0 * (abs(float(r)) - 0.5)
        style = ' class="minus"' if r < 0 else ""
        ends = f'x1="{x[i]}" y1="{y[i]}" x2="{x[j]}" y2="{y[j]}"'
        lines.append(f'<line{style} {ends} stroke-width="{width:.1f}" data-r="{abs(float(r)):g}"/>')
    nodes = []
    for k in range(len(x)):
        cluster = graph["cluster"][k]
        group = names.index(cluster) if cluster in names else 0
        nodes.append(marks([x[k]], [y[k]], [group], group + 1).rsplit("<path", 1)[1])
    content = f'<g class="edges">{"".join(lines)}</g><g class="nodes">'
    content += "".join(f"<path{node}" for node in nodes) + "</g>"
    content += f'<g class="names">{_labels(x, y, graph["name"])}</g>'
    label = (
        f"Graph of {counted(len(x), 'selected feature')} with "
        f"{counted(len(graph['edges']), 'pair')} whose absolute correlation is at least 0.5."
    )
    side = 110
    box = f"{-side} {-PADDING} {1000 + 2 * side} {GRAPH_HEIGHT + 2 * PADDING}"
    return {
        "svg": svg(content, label, box=box, style="graph"),
        "x": x,
        "y": y,
        "text": [
            f"{name} (rank {rank})" + ("" if cluster is None else f", tells cluster {cluster}")
            for name, rank, cluster in zip(
                graph["name"], graph["rank"], graph["cluster"], strict=True
            )
        ],
        "edges": graph["edges"],
    }


def pixel_pictures(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Draw the selected pixels over the mean image, the scores, and the clusters' mean images."""
    image = summary["image"]
    if image is None:
        return []
    height, width = (int(side) for side in image["shape"])
    box = f"0 0 {width} {height}"
    squares = "".join(f"M{p % width} {p // width}h1v1h-1z" for p in map(int, image["selected"]))
    count = counted(len(image["selected"]), "selected pixel")
    mask = f'<path class="mask" d="{squares}"/>'
    pictures = [
        _picture("Selected pixels over the mean image", image["mean"], box, mask, count),
        _picture(
            "Score of every pixel (square root)", image["score"], box, "", "scores of all pixels"
        ),
    ]
    for cluster in image["clusters"]:
        title = f"Cluster {cluster['name']}"
        label = f"mean image of cluster {cluster['name']}"
        pictures.append(_picture(title, cluster["png"], box, mask, label) | {"large": False})
    return pictures


def _picture(title: str, png: str, box: str, over: str, label: str) -> dict[str, Any]:
    """Return one image with something over it."""
    _, _, width, height = box.split()
    source = f"data:image/png;base64,{escape(str(png))}"
    content = f'<image href="{source}" width="{width}" height="{height}"/>{over}'
    return {"title": title, "svg": svg(content, label, box=box, style="pixels"), "large": True}


def _centres(
    xs: Sequence[int], ys: Sequence[int], codes: Sequence[int], names: Sequence[str]
) -> str:
    """Return the names of the clusters at the medians of their samples."""
    texts = []
    for group, name in enumerate(names):
        inside = [i for i, code in enumerate(codes) if code == group]
        if inside:
            x = sorted(xs[i] for i in inside)[len(inside) // 2]
            y = sorted(ys[i] for i in inside)[len(inside) // 2]
            texts.append(f'<text data-group="{group}" x="{x}" y="{y + 11}">{escape(name)}</text>')
    return "".join(texts)


def _labels(xs: Sequence[int], ys: Sequence[int], names: Sequence[str]) -> str:
    """Return names beside nodes, those of better features first, as long as there is room."""
    taken: list[tuple[float, float, float, float]] = [
        (x - 12, y - 12, x + 12, y + 12) for x, y in zip(xs, ys, strict=True)
    ]
    texts = []
    for k, name in enumerate(names):
        short = name if len(name) <= 16 else f"{name[:15]}…"
        half = LETTER * len(short) / 2
        for shift in (-20, 38):
            box = (xs[k] - half, ys[k] + shift - LINE + 6, xs[k] + half, ys[k] + shift + 4)
            others = taken[:k] + taken[k + 1 :]
            if not any(_meet(box, other) for other in others):
                taken.append(box)
                texts.append(
                    f'<text data-node="{k}" x="{xs[k]}" y="{ys[k] + shift}">{escape(short)}</text>'
                )
                break
    return "".join(texts)


def _meet(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    """Say whether two boxes meet."""
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
