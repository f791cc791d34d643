"""Modularity: how much more than chance the edges of a graph stay inside clusters."""

import numpy as np
import scipy.sparse as sp

from featsieve.graphs.affinity import degrees


def modularity(graph: sp.csr_array, labels: np.ndarray) -> np.ndarray:
    """Return Q = sum_ij a_ij [same cluster]/(2m) - sum_k (degree of cluster k/(2m))^2.

    ``labels`` holds one clustering, or one per row; Q has no axis, or one.
    """
    edges = sp.coo_array(graph)
    degree = degrees(graph)
    total = degree.sum()
    runs = np.atleast_2d(labels)
    values = np.empty(len(runs))
    for i, run in enumerate(runs):
        inside = edges.data[run[edges.row] == run[edges.col]].sum() / total
        values[i] = inside - np.sum((np.bincount(run, weights=degree) / total) ** 2)
    return values.reshape(np.shape(labels)[:-1])
