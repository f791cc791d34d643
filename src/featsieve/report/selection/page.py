"""From a summary to an interactive page: what its template shows, and the data of its script."""

import base64
import hashlib
import os
from collections.abc import Mapping
from typing import Any

from featsieve import defaults
from featsieve.io.files import write_text
from featsieve.report.page import template_environment, template_text
from featsieve.report.selection.drawing import charts, structure_chart
from featsieve.report.selection.pictures import (
    MARKERS,
    N_COLOURS,
    fields,
    mark,
    sample_views,
    sparklines,
    strips,
)
from featsieve.report.selection.summary import FORMAT, summarize_selection
from featsieve.report.selection.values import readable
from featsieve.report.selection.words import form_clusters

# What the script needs of a field of values, and of the samples.
FIELD = ("names", "levels", "width", "full", "samples")
MAP = ("names", "cluster", "class", "classes", "certainty")


def write_selection_report(
    selector: Any, X: Any, path: str | os.PathLike[str], **details: Any
) -> None:
    """Write the report of a selection as one interactive HTML page that needs no network.

    Parameters
    ----------
    selector : fitted selector of featsieve
    X : array-like, data frame or scipy.sparse matrix of shape (n_samples, n_features)
        The table that was fitted.
    path : str or path
        The HTML file; written whole or not at all.
    **details
        Names of features and samples, true classes, the shape of images and what else is known:
        the keyword arguments of `summarize_selection`.

    Raises
    ------
    ImportError
        If jinja2 is missing.
    ValueError, TypeError
        As `summarize_selection`.

    See Also
    --------
    summarize_selection : The same as a plain dictionary.
    render_selection : Makes the page from that.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from featsieve import JASFS
    >>> from featsieve.datasets import make_planted
    >>> from featsieve.report import write_selection_report
    >>> X = make_planted(n_samples=60, n_features=30, n_informative=6, random_state=0).X
    >>> sieve = JASFS(4, n_features_to_select=6, random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_selection_report(sieve, X, Path(folder) / "report.html")
    ...     (Path(folder) / "report.html").read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    write_text(path, render_selection(summarize_selection(selector, X, **details)))


def render_selection(summary: Mapping[str, Any]) -> str:
    """Return the page of a selection: one self-contained HTML document.

    Parameters
    ----------
    summary : mapping
        From `summarize_selection`, also after a round trip through JSON.

    Returns
    -------
    str
        Style, script, data and pictures are inside; nothing is loaded from elsewhere. Tables,
        texts and pictures are there without JavaScript, too; the script adds sorting, searching
        and reading off.

    Raises
    ------
    ImportError
        If jinja2 is missing.
    ValueError
        If the summary was written by a version with another format.

    Examples
    --------
    >>> import json
    >>> from featsieve import LaplacianScore
    >>> from featsieve.datasets import make_planted
    >>> from featsieve.report import render_selection, summarize_selection
    >>> X = make_planted(n_samples=60, n_features=30, n_informative=6, random_state=0).X
    >>> summary = summarize_selection(LaplacianScore(6).fit(X), X)
    >>> render_selection(summary) == render_selection(json.loads(json.dumps(summary)))
    True
    """
    found = summary.get("format") if isinstance(summary, Mapping) else None
    if found != FORMAT:
        raise ValueError(
            f"This version of featsieve renders summaries of format {FORMAT}; got format "
            f"{found!r}. Make the summary again with summarize_selection."
        )
    environment = template_environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    from markupsafe import Markup

    environment.filters["readable"] = readable
    script = template_text("selection.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    page = environment.get_template("selection.html.j2").render(
        **page_parts(summary),
        css=Markup(template_text("selection.css")),
        script=Markup(script),
        script_hash=digest,
    )
    return page + "\n"


def page_parts(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the template shows beside the summary, and the data for its interaction."""
    drawn, views, columns = charts(summary), sample_views(summary), table_columns(summary)
    wide = fields(summary)
    tested = [structure_chart(summary["structure"])] if summary["structure"] else []
    names = summary["clusters"]["names"] if summary["clusters"] else []
    features, image, samples = summary["features"], summary["image"], summary["map"]
    groups = [names.index(c) if c in names else -1 for c in features["cluster"]]
    rows = list(zip(groups, *(column["cells"] for column in columns), strict=True))
    n_selected = sum(features["selected"])  # they come first
    judged = summary["evaluation"]["rows"] if summary["evaluation"] else []
    return {
        "summary": summary,
        "charts": drawn,
        "tested": tested,
        "columns": columns,
        "rows": rows[:n_selected],
        "sparks": sparklines(summary),
        "fields": wide,
        "strips": strips(summary),
        # what looks equal is equally good
        "best": {
            key: f"{100 * max(row[key] for row in judged):.1f}"
            for key in ("accuracy", "nmi", "ari")
            if judged
        },
        "n_listed": len(rows),
        "views": views,
        "keys": [{"name": name, "mark": mark(group)} for group, name in enumerate(names)],
        "n_colours": N_COLOURS,
        "level": defaults.QVALUE_LEVEL,
        "data": {
            "charts": {chart["name"]: chart["points"] for chart in (*tested, *drawn)},
            "fields": {name: {key: field[key] for key in FIELD} for name, field in wide.items()},
            "columns": [{key: c[key] for key in ("style", "full", "least")} for c in columns],
            "rows": rows[n_selected:],
            "clusters": names,
            "markers": MARKERS,
            "colours": N_COLOURS,
            "map": samples
            and {key: samples[key] for key in MAP}
            | {"views": {view["name"]: {"x": view["x"], "y": view["y"]} for view in views}},
            "pixels": image and {key: image[key] for key in ("shape", "selected", "rank")},
        },
    }


def table_columns(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the columns of the table of features that have anything in them, with their cells.

    A new column is a fact of ``features.feature_rows`` and a line here. Style "n" is a number, "g"
    a cluster, "w" words; ``full`` is the value of a whole bar, ``least`` says that small is good.
    """
    columns: list[dict[str, Any]] = []

    def add(
        title: str, text: str, cells: Any, style: str = "", form: str = "", **more: Any
    ) -> None:
        if cells is not None:
            cells = [_written(cell, form) for cell in cells] if form else list(cells)
            given = {"title": title, "help": text, "cells": cells, "style": style}
            columns.append({"full": None, "least": False} | given | more)

    rows = summary["features"]
    add("Feature", "Name of the column", rows["name"])
    add("Rank", "1 is the best", rows["rank"], "n", "d", least=True)
    text = "Share of the subsamples that selected it"
    add("Selected in", text, rows["frequency"], "n", ".0%", full=100.0)
    text = "Share of the ways to cluster, by their weight, that select it by themselves"
    add("Certain", text, rows["certainty"], "n", ".0%", full=100.0)
    if summary["clusters"] is not None:
        pairs = zip(rows["cluster"], rows["side"], strict=True)
        texts = ("" if cluster is None else f"{cluster}, {side}" for cluster, side in pairs)
        part = "cluster" if form_clusters(summary) else "part"
        text = f"The {part} it tells best; bars are its means in all {part}s, in their order"
        add(f"Tells {part}", text, texts, "g")
        text = f"Mean inside that {part} less mean outside, in standard deviations within"
        add("Separation", text, rows["separation"], "n", ".2f")
        text = f"Share of its variance between {part}s"
        add("Explained", text, rows["eta_squared"], "n", ".0%", full=100.0)
    text = "False discovery rate at which it goes with the clusters"
    add("q", text, rows.get("q_value"), "n", ".2g", least=True)
    if any(rows["closest"]):
        text = "The selected feature most like it"
        add("Closest selected", text, (name or "" for name in rows["closest"]), "w")
        add("r", "Correlation with that feature", rows["correlation"], "n", ".2f")
    prices = rows.get("price") and map(readable, rows["price"])
    add("Price", "Of all that it is bought with", prices, "n", least=True)
    if any(rows.get("bought_with") or ()):
        add("With", "Columns that are selected together with it", rows["bought_with"], "w")
    for title, text, style, cells in (summary.get("panel") or {}).get("columns", ()):
        add(title, text, [*cells, *[""] * (len(rows["name"]) - len(cells))], style)
    add("Why", "Why it was selected or not", rows["reason"], "w")
    return columns


def _written(value: Any, form: str) -> str:
    """Write a number that may be missing (None) or infinite (a string)."""
    return format(value, form) if isinstance(value, int | float) else readable(value)
