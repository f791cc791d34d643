"""Clusters of a selection: how large they are, which features mark them, means of the features."""

from typing import Any

import numpy as np

from featsieve.arrays import as_operator
from featsieve.arrays.namespace import to_numpy
from featsieve.criteria.selected_clusters import Clusters
from featsieve.report.selection.inputs import Selection
from featsieve.report.selection.numbers import plain, plains

# Features that are shown, and marks that are named for every cluster.
MOST_FEATURES = 60
MOST_MARKS = 3


def cluster_rows(selection: Selection) -> list[dict[str, Any]]:
    """Return a row for every cluster."""
    clusters, facts = selection.clusters, selection.facts
    if clusters is None:
        return []
    best = np.array([str(name) for name in facts["best_cluster"].tolist()])
    rows = []
    for name, size in zip(clusters.names, clusters.sizes.tolist(), strict=True):
        marking = selection.chosen[best[selection.chosen] == name]
        clear = np.abs(facts["separation"][marking])
        marking = marking[np.argsort(-clear, kind="stable")][:MOST_MARKS]
        marks = [
            {
                "feature": selection.feature_names[j],
                "direction": "high" if facts["separation"][j] > 0.0 else "low",
                "separation": plain(facts["separation"][j], 4),
            }
            for j in marking
            if not np.isnan(facts["separation"][j])
        ]
        rows.append({"name": name, "size": size, "marks": marks})
    return rows


def heat_map(selection: Selection) -> dict[str, Any] | None:
    """Return the mean of every selected feature in every cluster, in standard deviations."""
    clusters, facts = selection.clusters, selection.facts
    if clusters is None:
        return None
    shown = selection.chosen[selection.varies[selection.chosen]][:MOST_FEATURES]
    if not len(shown):
        return None
    means = cluster_means(selection.X[:, shown], clusters)
    best = [str(name) for name in facts["best_cluster"][shown].tolist()]
    column = [clusters.names.index(name) if name in clusters.names else 0 for name in best]
    separation = np.nan_to_num(facts["separation"][shown], nan=0.0)
    order = np.lexsort((-separation, column))
    return {
        "feature": [selection.feature_names[shown[i]] for i in order],
        "cluster": [best[i] if best[i] in clusters.names else None for i in order],
        "mean": [plains(means[i], 3) for i in order],
        "of": len(selection.chosen),
    }


def cluster_means(columns: Any, clusters: Clusters) -> np.ndarray:
    """Return the means of standardised columns in every cluster."""
    operator = as_operator(columns, scale="std")
    members = np.equal.outer(clusters.codes, np.arange(len(clusters.names))).astype(np.float64)
    return to_numpy(operator.rmatmul(members)) / clusters.sizes
