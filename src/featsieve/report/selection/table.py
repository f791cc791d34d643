"""The table of features: its columns, what stands in its cells, and why a feature was selected.

A new column is a fact in ``features.py``, a line of ``table_columns`` and its text in ``_texts``.
"""

from collections.abc import Mapping
from typing import Any

from featsieve import defaults
from featsieve.report.selection.values import counted, readable


def table_columns(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the columns of the table of features that have anything in them."""
    rows = summary["features"]
    scores = [score for score in rows["score"] if isinstance(score, int | float)]
    top = max(scores, default=0.0)
    columns = [
        _column("feature", "Feature", "Name of the column"),
        _column("rank", "Rank", "1 is the best", style="n"),
    ]
    if rows["score"] != rows["frequency"]:  # the scores of StabilitySelection are the frequencies
        full = top if top > 0 else None
        columns.append(_column("score", "Score", "Larger is better", style="n", full=full))
    if rows["frequency"] is not None:
        text = "Share of the subsamples that selected it"
        columns.append(_column("frequency", "Selected in", text, style="n", full=100.0))
    if summary["clusters"] is not None:
        text = "Mean inside that cluster less mean outside, in standard deviations within"
        share = "Share of its variance between clusters"
        columns += [
            _column("cluster", "Tells cluster", "The cluster it tells best", style="g"),
            _column("separation", "Separation", text, style="n"),
            _column("eta_squared", "Explained", share, style="n", full=100.0),
        ]
    if any(rows["closest"]):
        text = "The selected feature most like it"
        columns += [
            _column("closest", "Closest selected", text, style="w"),
            _column("correlation", "r", "Correlation with that feature", style="n"),
        ]
    columns.append(_column("why", "Why", "Why it was selected or not", style="w"))
    return columns


def _column(
    key: str, title: str, text: str, *, style: str = "", full: float | None = None
) -> dict[str, Any]:
    """Return a column; style "n" is a number, "g" a cluster; ``full`` is that of the whole bar."""
    kind = "number" if style == "n" else "text"
    return {"key": key, "title": title, "help": text, "kind": kind, "style": style, "full": full}


def table_rows(summary: Mapping[str, Any], columns: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the cells of every feature that is listed."""
    rows = summary["features"]
    names = summary["clusters"]["names"] if summary["clusters"] else []
    found = []
    for i, selected in enumerate(rows["selected"]):
        texts = _texts(summary, i)
        cells = []
        for column in columns:
            text = texts[column["key"]]
            bar = None
            if column["full"] and text:
                number = float(text.rstrip("%").replace("∞", "inf"))
                bar = round(min(max(100.0 * number / column["full"], 0.0), 100.0))
            cells.append({"text": text, "bar": bar, "style": column["style"]})
        cluster = rows["cluster"][i]
        group = names.index(cluster) if cluster in names else -1
        found.append({"selected": selected, "cells": cells, "group": group})
    return found


def _texts(summary: Mapping[str, Any], i: int) -> dict[str, str]:
    """Return the facts about one feature as texts."""
    rows = summary["features"]
    separation, closest, r = rows["separation"][i], rows["closest"][i], rows["correlation"][i]
    cluster, eta = rows["cluster"][i], rows["eta_squared"][i]
    share = rows["frequency"][i] if rows["frequency"] is not None else None
    is_number = isinstance(separation, int | float)
    return {
        "feature": rows["name"][i],
        "rank": str(rows["rank"][i]),
        "score": readable(rows["score"][i], 4),
        "frequency": "" if share is None else f"{share:.0%}",
        "cluster": "" if cluster is None else f"{cluster}, {_side(separation)}",
        "separation": f"{separation:.2f}" if is_number else readable(separation),
        "eta_squared": "" if eta is None else f"{eta:.0%}",
        "closest": closest or "",
        "correlation": "" if r is None else f"{r:.2f}",
        "why": reason(summary, i),
    }


def reason(summary: Mapping[str, Any], i: int) -> str:
    """Return why a listed feature was selected or not, in a few words."""
    rows, clusters = summary["features"], summary["clusters"]
    status, closest, r = rows["status"][i], rows["closest"][i], rows["correlation"][i]
    close = closest is not None and r is not None and abs(r) >= defaults.REPORT_NEAR_DUPLICATE
    if status == "redundant":
        return f"repeats {closest} (r = {r:.2f})" if close else "repeats a selected one"
    if status == "constant":
        return "does not vary"
    if status not in ("selected", "low score"):
        return status
    tells, little = None, False
    cluster, separation, share = (rows[key][i] for key in ("cluster", "separation", "eta_squared"))
    if clusters is not None and clusters["source"] == "method":  # those of k-means are no reason
        if cluster is not None and separation is not None:
            tells = f"{_side(separation)} in cluster {cluster}"
        little = share is not None and share < defaults.REPORT_LITTLE_EXPLAINED
    if status == "selected":
        text = "among the best scores" if tells is None or little else tells
        return f"{text}; nearly a copy of {closest} (r = {r:.2f})" if close else text
    if tells is None:
        return "score too low"
    if little:
        return f"tells the clusters little: explains {share:.0%}"
    low = "adds too little" if summary["path"]["kind"] == "gains" else "its score is too low"
    return f"{tells}, but {low}"


def _side(separation: Any) -> str:
    """Say on which side of the others the feature is in its cluster."""
    return "" if separation is None else "high" if float(separation) > 0 else "low"


def table_note(summary: Mapping[str, Any]) -> str:
    """Say which features the table can show."""
    rows = summary["features"]
    listed = len(rows["name"])
    if listed == rows["total"]:
        return f"All {counted(listed, 'feature')} can be shown."
    files = summary["reproduce"]["more"].get("files")
    name = files.get("features") if isinstance(files, Mapping) else None
    whole = f"all are in the file {name}" if name else "featsieve.explain returns a table of all"
    return f"The {listed:,} best of {counted(rows['total'], 'feature')} can be shown; {whole}."
