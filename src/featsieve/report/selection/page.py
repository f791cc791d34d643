"""The parts of the page of a selection, ready for its template."""

from collections.abc import Mapping
from typing import Any

from featsieve.report.selection.charts import charts, objective_note
from featsieve.report.selection.judgement import best_cells, is_meaningless
from featsieve.report.selection.markers import N_COLOURS, key_mark, markers
from featsieve.report.selection.numbers import readable
from featsieve.report.selection.pictures import (
    graph_picture,
    map_markers,
    pixel_pictures,
    sample_views,
)
from featsieve.report.selection.redundancy import NEAR_DUPLICATE
from featsieve.report.selection.table import short_rows, table_columns, table_rows

# A mean so many standard deviations from zero has the full colour.
FULL_COLOUR = 2.0
# Beyond so many clusters the cells of the heat map are too narrow for numbers.
MOST_NUMBERS = 14
MEASURES = {
    "selected": "k-means on the selected features",
    "all": "k-means on all features",
    "clusters": "the method's own clusters",
}


def page_parts(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the template shows, and the data for its interaction."""
    drawn, views, graph = charts(summary), sample_views(summary), graph_picture(summary)
    columns = table_columns(summary)
    rows = table_rows(summary, columns)
    whys, others = short_rows(rows)
    pixels = pixel_pictures(summary)
    names = summary["clusters"]["names"] if summary["clusters"] else []
    return {
        "summary": summary,
        "tiles": _tiles(summary),
        "charts": drawn,
        "columns": columns,
        "rows": [row for row in rows if row["selected"]],
        "n_more": sum(not row["selected"] for row in rows),
        "views": views,
        "keys": [{"name": name, "mark": key_mark(group)} for group, name in enumerate(names)],
        "n_colours": N_COLOURS,
        "heat": _heat(summary),
        "dense": len(names) > MOST_NUMBERS,
        "graph": graph,
        "near": NEAR_DUPLICATE,
        "pixels": pixels,
        "pixel_range": [readable(end) for end in (summary["image"] or {}).get("range", [])],
        "objective_note": objective_note(summary),
        "scores": _scores(summary),
        "meaningless": bool(summary["evaluation"]) and is_meaningless(summary["evaluation"]),
        "settings": _settings(summary),
        "settings_note": _settings_note(summary),
        "more": [_entry(name, value) for name, value in summary["reproduce"]["more"].items()],
        "data": {
            "file": _file_name(summary["title"]),
            "charts": {chart.name: chart.points for chart in drawn},
            "columns": [{k: c[k] for k in ("kind", "style", "full")} for c in columns],
            "rows": others,
            "whys": whys,
            "clusters": names,
            "markers": map_markers(summary),
            "keys": markers(),
            "colours": N_COLOURS,
            "map": _map_data(summary, views),
            "graph": graph and {key: graph[key] for key in ("x", "y", "text", "edges")},
            "pixels": _pixel_data(summary),
        },
    }


def _tiles(summary: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the few numbers that matter most."""
    table, clusters = summary["table"], summary["clusters"]
    number, structure, stability = summary["number"], summary["structure"], summary["stability"]
    tiles = [
        (f"{number['selected']:,}", "features selected", f"of {table['features']:,}"),
        (f"{table['samples']:,}", "samples", "sparse table" if table["sparse"] else ""),
    ]
    if number["equivalent"]:
        low, high = number["equivalent"]
        near = f"{low} to {high} nearly as good" if low < high else "no other is as good"
        tiles[0] = (tiles[0][0], tiles[0][1], f"of {table['features']:,}; {near}")
    if clusters is not None:
        source = "by k-means" if clusters["source"] == "k-means" else ""
        if clusters["accuracy"] is not None:
            source = f"predicted with {clusters['accuracy']:.0%}"
        tiles.append((str(len(clusters["names"])), "clusters", source))
    if structure is not None:
        tiles.append(
            (
                f"{structure['score']:.2f}",
                "structure score",
                f"noise: below {structure['noise']:.2f}",
            )
        )
    if stability is not None and stability["value"] is not None:
        low, high = stability["interval"]
        note = "" if low is None else f"{low:.2f} to {high:.2f}"
        tiles.append((f"{stability['value']:.2f}", "stability", note))
    if summary["method"]["seconds"] is not None:
        tiles.append((f"{readable(summary['method']['seconds'], 2)} s", "time of the fit", ""))
    return [{"value": value, "name": name, "note": note} for value, name, note in tiles]


def _heat(summary: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """Return the rows of the heat map, with the strength of every cell's colour in percent."""
    heat = summary["heatmap"]
    if heat is None:
        return None
    names = summary["clusters"]["names"]
    rows = []
    previous: Any = object()
    for name, cluster, means in zip(heat["feature"], heat["cluster"], heat["mean"], strict=True):
        cells = [
            {
                "text": f"{mean:.1f}" if round(mean, 1) else "0.0",
                "exact": f"{mean:+.2f}",
                "side": "p" if mean > 0 else "q",
                "strength": min(100, round(100.0 * abs(mean) / FULL_COLOUR)),
                "own": names[k] == cluster,
            }
            for k, mean in enumerate(float(value or 0.0) for value in means)
        ]
        rows.append({"name": name, "cells": cells, "first": cluster != previous})
        previous = cluster
    return rows


def _scores(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of the evaluation, as texts and bars."""
    judged = summary["evaluation"]
    if judged is None:
        return []
    keys = ("accuracy", "nmi", "ari")
    best = best_cells(judged, keys)
    return [
        {
            "name": MEASURES[row["kind"]],
            "n_features": row["n_features"],
            "cells": [
                {
                    "text": f"{100.0 * row[key]:.1f}",
                    "bar": max(0, round(100.0 * row[key])),
                    "best": (row["kind"], key) in best,
                }
                for key in keys
            ],
        }
        for row in judged["rows"]
    ]


def _settings(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the settings as texts, those that were changed first."""
    method = summary["method"]
    changed = set(method["changed"])
    rows = [
        {"name": name, "text": _setting(value), "changed": name in changed}
        for name, value in method["settings"].items()
    ]
    return sorted(rows, key=lambda row: not row["changed"])


def _settings_note(summary: Mapping[str, Any]) -> str:
    """Say how many settings were set, and by whom."""
    method, command = summary["method"], summary["reproduce"]["command"]
    by = "by featsieve select" if command else "in the call"
    given, total = len(method["changed"]), len(method["settings"])
    others = ", the others as they are by default" if given < total else ""
    return f"{given} of {total} set {by}{others}"


def _entry(name: str, value: Any) -> dict[str, Any]:
    """Return what the caller told, as a text or as a list."""
    if isinstance(value, Mapping):
        entries = [(key, _setting(entry)) for key, entry in value.items()]
        return {"name": "Files" if name == "files" else name, "text": "", "entries": entries}
    return {"name": name, "text": _setting(value) if value else "", "entries": []}


def _setting(value: Any) -> str:
    """Write a setting."""
    if isinstance(value, list):
        return ", ".join(map(_setting, value)) or "none"
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_setting(entry)}" for key, entry in value.items()) or "none"
    return "none" if value is None else str(value)


def _map_data(summary: Mapping[str, Any], views: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return what reading the views of the samples needs."""
    shown = summary["map"]
    if shown is None:
        return None
    whole = len(shown["rows"]) == shown["of"]
    return {
        "rows": None if whole else shown["rows"],
        "names": shown["names"],
        "views": {view["name"]: {"x": view["x"], "y": view["y"]} for view in views},
        "cluster": shown["cluster"],
        "class": shown["class"],
        "classes": shown["classes"],
    }


def _pixel_data(summary: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what reading the images needs."""
    image = summary["image"]
    return image and {key: image[key] for key in ("shape", "selected", "rank")}


def _file_name(title: str) -> str:
    """Return a title as the beginning of a file's name."""
    letters = "".join(letter if letter.isalnum() else "-" for letter in title.lower())
    return "-".join(part for part in letters.split("-") if part)[:60] or "selection"


def number_note(summary: Mapping[str, Any]) -> str:
    """Say why there is no curve of a criterion, where there is none."""
    decided = {
        "count": "it was asked for",
        "share": "it was asked for",
        "frequency": "the selection frequencies decided",
        "price": "the price of a feature decided",
    }
    if summary["curve"] is not None:
        return ""
    how = decided.get(summary["number"]["how"], "it was decided in another way")
    return f"No label-free criterion chose the number of features: {how}."
