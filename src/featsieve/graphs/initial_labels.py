"""The first labels of the methods that start from one clustering: the user's, or found here."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from featsieve.arrays import DataOperator
from featsieve.arrays.batch_table import SparseInBatches
from featsieve.arrays.namespace import as_numpy, to_numpy
from featsieve.graphs.affinity import heat_kernel_graph
from featsieve.graphs.coordinates import principal_coordinates, unit_rows
from featsieve.graphs.spectral_labels import kmeans_labels, laplacian_labels, spectral_labels
from featsieve.validation import check_option

INITS = ("spectral", "k-means")


def given_labels(labels: Any, n_samples: int, n_clusters: int) -> np.ndarray:
    """Return a user's labels as 0..c-1, in the sorted order of their values."""
    labels = as_numpy(labels)
    if labels.shape != (n_samples,):
        raise ValueError(
            f"init must hold one label per sample, shape ({n_samples},); got {labels.shape}."
        )
    values, codes = np.unique(labels, return_inverse=True)
    if len(values) != n_clusters:
        raise ValueError(
            f"init holds {len(values)} different labels but n_clusters={n_clusters}: "
            f"pass n_clusters={len(values)} or labels with {n_clusters} values."
        )
    return codes.astype(np.intp)


def labels_from_user(
    init: Any,
    X: Any,
    n_clusters: int,
    *,
    random_state: np.random.RandomState,
) -> np.ndarray | None:
    """Return the labels that ``init`` holds or computes, None where it names a method of ours."""
    if callable(init):
        if isinstance(X, SparseInBatches):
            raise ValueError(
                "A callable init cannot be handed a sparse table that was corrected for batches: "
                "pass labels, or a dense table."
            )
        return given_labels(init(X, n_clusters, random_state), X.shape[0], n_clusters)
    if isinstance(init, str):
        check_option("init", init, INITS)
        return None
    if init is None:
        raise ValueError(f"init must be one of {INITS}, labels, or a callable; got None.")
    return given_labels(init, X.shape[0], n_clusters)


def first_labels(
    init: Any,
    X: Any,
    operator: DataOperator,
    n_clusters: int,
    *,
    graph: sp.csr_array | None = None,
    n_neighbors: int = 5,
    random_state: np.random.RandomState,
) -> tuple[np.ndarray, bool]:
    """Return the start of a compared method, and whether the user gave it.

    "spectral": spectral clustering of ``graph`` (default: the heat-kernel graph); "k-means": of the
    operator's columns; or labels, or a callable.
    """
    given = labels_from_user(init, X, n_clusters, random_state=random_state)
    if given is not None:
        return given, True
    if n_clusters == 1:
        return np.zeros(operator.shape[0], dtype=np.intp), False
    if init == "k-means":
        return kmeans_of(operator, n_clusters, random_state=random_state), False
    if graph is None:
        graph = heat_kernel_graph(operator, n_neighbors=n_neighbors)
    bridge = None
    if connected_components(graph, directed=False)[0] > n_clusters:
        # Which parts of the graph belong together is not in the graph: the angles decide.
        bridge = unit_rows(to_numpy(principal_coordinates(operator.centred())[0]))
    labels = spectral_labels(graph, n_clusters, random_state=random_state, bridge=bridge)
    return labels, False


def authors_labels(
    operator: DataOperator,
    init: str,
    n_clusters: int,
    *,
    n_neighbors: int,
    random_state: np.random.RandomState,
) -> np.ndarray:
    """Return the start of the published algorithm: heat-kernel graph, or k-means on the data."""
    if init == "k-means":
        return kmeans_of(operator, n_clusters, random_state=random_state)
    graph = heat_kernel_graph(operator, n_neighbors=n_neighbors)
    return laplacian_labels(graph, n_clusters, random_state=random_state)


def kmeans_of(
    operator: DataOperator, n_clusters: int, *, random_state: np.random.RandomState
) -> np.ndarray:
    """Return k-means labels in the principal coordinates (the leading 100 of tall tables)."""
    points = to_numpy(principal_coordinates(operator)[0])
    return kmeans_labels(points, n_clusters, random_state=random_state)
