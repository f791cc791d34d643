"""A selection judged by classes that it has not seen."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from featsieve.evaluation import ClusteringScores
from featsieve.evaluation.judging import Judge, clear_difference, too_many_classes
from featsieve.report.selection.inputs import Selection
from featsieve.report.selection.values import plains


def evaluation(selection: Selection, codes: np.ndarray, names: list[str]) -> dict[str, Any]:
    """Return how well k-means finds the classes in the selected columns, and in all."""
    clusters = selection.clusters
    found: dict[str, Any] = {
        "classes": names,
        "sizes": np.bincount(codes, minlength=len(names)).tolist(),
        "rows": [],
        "samples": 0,
        "table": None,
        "skipped": None,
    }
    if len(names) < 2:
        found["skipped"] = "All samples are of one class, so there is nothing to compare with."
        return found
    judge = Judge(selection.X, codes)
    found["samples"] = judge.n_samples
    if not judge.can or len(names) > judge.n_samples:
        found["skipped"] = "There are too few samples of every class to compare with."
        return found
    everything = np.arange(selection.X.shape[1])
    for kind, columns in (("selected", selection.chosen), ("all", everything)):
        found["rows"].append(_row(kind, judge.scores(columns), len(columns)))
    if clusters is not None:
        if clusters.source == "method":
            scores = ClusteringScores.of_labels(codes, clusters.codes)
            found["rows"].append(_row("clusters", scores, len(selection.chosen)))
        table = np.zeros((len(clusters.names), len(names)), dtype=int)
        np.add.at(table, (clusters.codes, codes), 1)
        found["table"] = table.tolist()
    return found


def _row(kind: str, scores: ClusteringScores, n_features: int) -> dict[str, Any]:
    """Return the scores of one clustering."""
    accuracy, nmi, ari = plains(scores.mean(), 4)
    return {"kind": kind, "n_features": n_features, "accuracy": accuracy, "nmi": nmi, "ari": ari}


def is_meaningless(judged: Mapping[str, Any]) -> bool:
    """Say whether there are so many classes that agreement with them means nothing."""
    return too_many_classes(len(judged["classes"]), sum(judged["sizes"]))


def best_cells(judged: Mapping[str, Any], keys: tuple[str, ...]) -> set[tuple[str, str]]:
    """Return which scores are best in a sense worth marking."""
    rows = judged["rows"]
    if not rows or is_meaningless(judged):
        return set()
    margin = clear_difference(judged["samples"])
    found = set()
    for key in keys:
        values = [row[key] for row in rows]
        for row in rows:
            largest = row[key] == max(values)
            if largest and row[key] - min(values) >= margin and row["ari"] >= margin:
                found.add((row["kind"], key))
    return found
