"""A selection judged by classes that it has not seen."""

from typing import Any

import numpy as np

from featsieve.evaluation import ClusteringScores, practical_protocol
from featsieve.evaluation.checks import as_classes
from featsieve.report.selection.inputs import Selection, scaled_columns
from featsieve.report.selection.numbers import plains

# k-means looks at so many entries of the table, hence at fewer samples of a wide one.
MOST_ENTRIES = 2 * 10**7
MOST_SAMPLES = 5000
FEWEST_SAMPLES = 200
N_STARTS = 10


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
    n, d = selection.X.shape
    rows = np.arange(n)
    most = max(FEWEST_SAMPLES, min(MOST_SAMPLES, MOST_ENTRIES // d))
    if n > most:
        rows = np.sort(np.random.default_rng(0).permutation(n)[:most])
    found["samples"] = len(rows)
    if len(np.unique(codes[rows])) < 2 or len(names) > len(rows):
        found["skipped"] = "There are too few samples of every class to compare with."
        return found
    X = selection.X[rows]
    for kind, columns in (("selected", selection.chosen), ("all", np.arange(d))):
        points = scaled_columns(X, columns)
        scores = practical_protocol(points, codes[rows], n_starts=N_STARTS)
        found["rows"].append(_row(kind, scores, len(columns)))
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
