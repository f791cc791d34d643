"""Clusters of a selection: how large they are, which features mark them, means of the features."""

from typing import Any

import numpy as np

from featsieve.arrays import as_operator
from featsieve.arrays.namespace import to_numpy
from featsieve.report.selection.inputs import Clusters, Selection
from featsieve.report.selection.numbers import plain, plains

# Features that are shown, and marks that are named for every cluster.
MOST_FEATURES = 60
MOST_MARKS = 3


def cluster_rows(selection: Selection) -> list[dict[str, Any]]:
    """Return a row for every cluster.

    Parameters
    ----------
    selection : Selection

    Returns
    -------
    list of dict
        "name", "size", "marks": up to three selected features that tell the cluster best from all
        other samples, each with "feature", "direction" ("high" or "low") and "separation".

    Examples
    --------
    >>> import numpy as np
    >>> from featsieve import MaxVariance
    >>> from featsieve.report.selection.clusters import cluster_rows
    >>> from featsieve.report.selection.inputs import gather
    >>> X = np.array([[0.0, 1, 0], [0.1, 2, 1], [9, 1, 0], [9.1, 2, 1]])
    >>> [row["size"] for row in cluster_rows(gather(MaxVariance(1).fit(X), X))]
    [2, 2]
    """
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
    """Return the mean of every selected feature in every cluster, in standard deviations.

    Parameters
    ----------
    selection : Selection

    Returns
    -------
    dict or None
        "feature": names of the best selected features (at most 60) that vary; "cluster": the one
        each tells best, by which they are ordered; "mean": a list for every feature with one
        number per cluster, 0 being the mean of all samples; "of": how many features are selected.

    Examples
    --------
    >>> import numpy as np
    >>> from featsieve import MaxVariance
    >>> from featsieve.report.selection.clusters import heat_map
    >>> from featsieve.report.selection.inputs import gather
    >>> X = np.array([[0.0, 1, 0], [0, 2, 1], [9, 1, 0], [9, 2, 1]])
    >>> heat_map(gather(MaxVariance(1).fit(X), X))["mean"]
    [[-1.0, 1.0]]
    """
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
    """Return the means of standardised columns in every cluster.

    Parameters
    ----------
    columns : ndarray or csr_array of shape (n_samples, k)
    clusters : Clusters

    Returns
    -------
    ndarray of shape (k, n_clusters)
    """
    operator = as_operator(columns, scale="std")
    members = np.equal.outer(clusters.codes, np.arange(len(clusters.names))).astype(np.float64)
    return to_numpy(operator.rmatmul(members)) / clusters.sizes
