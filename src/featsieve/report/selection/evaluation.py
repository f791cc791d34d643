"""A selection judged by classes that it has not seen."""

from typing import Any

import numpy as np

from featsieve.evaluation import ClusteringScores
from featsieve.evaluation.checks import as_classes
from featsieve.evaluation.judging import Judge
from featsieve.report.selection.inputs import Selection
from featsieve.report.selection.numbers import plains


def check_classes(
    y: Any, class_names: Any, n_samples: int
) -> tuple[np.ndarray, list[str]] | tuple[None, None]:
    """Return the classes as codes 0, 1, ... with their names; None, None if there are none."""
    if y is None:
        return None, None
    codes = as_classes("y", y, n_samples=n_samples)
    values = np.unique(np.asarray(y)).tolist()
    if class_names is None:
        return codes, [str(value) for value in values]
    names = [str(name) for name in class_names]
    usable = all(isinstance(v, int | float) and 0 <= v < len(names) for v in values)
    if not usable:
        raise ValueError(
            f"class_names holds {len(names)} names, so y must hold integers from 0 to "
            f"{len(names) - 1}; got {values[:5]!r}. Leave class_names out if y holds the names."
        )
    return codes, [names[int(value)] for value in values]


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
