"""The table of features as texts: what stands in its columns and cells."""

from collections.abc import Mapping
from typing import Any

from featsieve.report.selection.markers import N_COLOURS
from featsieve.report.selection.numbers import counted, readable
from featsieve.report.selection.reasons import reasons


def table_columns(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the columns of the table of features that have anything in them."""
    rows = summary["features"]
    scores = [score for score in rows["score"] if isinstance(score, int | float)]
    top = max(scores, default=0.0)
    columns: list[tuple[Any, ...]] = [
        ("feature", "Feature", "text", "", None, "Name of the column"),
        ("rank", "Rank", "number", "n", None, "1 is the best"),
    ]
    if rows["score"] != rows["frequency"]:  # the scores of StabilitySelection are the frequencies
        columns.append(
            ("score", "Score", "number", "n", top if top > 0 else None, "Larger is better")
        )
    if rows["frequency"] is not None:
        text = "Share of the subsamples that selected it"
        columns.append(("frequency", "Selected in", "number", "n", 100.0, text))
    if summary["clusters"] is not None:
        columns += [
            ("cluster", "Tells cluster", "text", "g", None, "The cluster it tells best"),
            (
                "separation", "Separation", "number", "n", None,
                "Mean inside that cluster less mean outside, in standard deviations within",
            ),
            (
                "eta_squared", "Explained", "number", "n", 100.0,
                "Share of its variance between clusters",
            ),
        ]  # fmt: skip
    if any(rows["closest"]):
        columns += [
            ("closest", "Closest selected", "text", "w", None, "The selected feature most like it"),
            ("correlation", "r", "number", "n", None, "Correlation with that feature"),
        ]
    columns.append(("why", "Why", "text", "w", None, "Why it was selected or not"))
    keys = ("key", "title", "kind", "style", "full", "help")
    return [dict(zip(keys, column, strict=True)) for column in columns]


def table_rows(summary: Mapping[str, Any], columns: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the cells of every feature that is listed."""
    rows = summary["features"]
    names = summary["clusters"]["names"] if summary["clusters"] else []
    whys = reasons(summary)
    found = []
    for i, selected in enumerate(rows["selected"]):
        texts = _texts(rows, i) | {"why": whys[i]}
        cluster = rows["cluster"][i]
        group = names.index(cluster) if cluster in names else None
        cells = []
        for column in columns:
            text = texts[column["key"]]
            bar = None
            if column["full"] and text:
                number = float(text.rstrip("%").replace("∞", "inf"))
                bar = round(min(max(100.0 * number / column["full"], 0.0), 100.0))
            style = column["style"]
            if style == "g" and group is not None:
                style = f"g c{group % N_COLOURS}"
            cells.append({"text": text, "bar": bar, "style": style})
        found.append({"selected": selected, "cells": cells, "group": group})
    return found


def _texts(rows: Mapping[str, Any], i: int) -> dict[str, str]:
    """Return the facts about one feature as texts."""
    separation, closest, r = rows["separation"][i], rows["closest"][i], rows["correlation"][i]
    cluster, eta = rows["cluster"][i], rows["eta_squared"][i]
    share = rows["frequency"][i] if rows["frequency"] is not None else None
    direction = "" if separation is None else "high" if float(separation) > 0 else "low"
    return {
        "feature": rows["name"][i],
        "rank": str(rows["rank"][i]),
        "score": readable(rows["score"][i], 4),
        "frequency": "" if share is None else f"{share:.0%}",
        "cluster": "" if cluster is None else f"{cluster}, {direction}",
        "separation": _two_digits(separation),
        "eta_squared": "" if eta is None else f"{eta:.0%}",
        "closest": closest or "",
        "correlation": "" if r is None else f"{r:.2f}",
    }


def _two_digits(value: Any) -> str:
    """Write a number with two decimals."""
    return f"{value:.2f}" if isinstance(value, int | float) else readable(value)


def short_rows(rows: list[dict[str, Any]]) -> tuple[list[str], list[list[Any]]]:
    """Return the rows that were not selected as the page's script wants them."""
    whys = sorted({row["cells"][-1]["text"] for row in rows if not row["selected"]})
    place = {why: i for i, why in enumerate(whys)}
    short = []
    for row in rows:
        if not row["selected"]:
            *texts, why = (cell["text"] for cell in row["cells"])
            short.append([-1 if row["group"] is None else row["group"], *texts, place[why]])
    return whys, short


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
