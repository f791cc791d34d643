"""Pseudo-labels of a table: k-means, or spectral clusters in the view in which they show."""

from functools import partial
from typing import Any

import numpy as np

from featsieve import defaults
from featsieve.arrays import DataOperator, as_operator
from featsieve.arrays.namespace import to_numpy
from featsieve.graphs.affinity import modularity
from featsieve.graphs.coordinates import principal_coordinates
from featsieve.graphs.spectral_labels import kmeans_labels, spectral_labels
from featsieve.graphs.structure import leave_one_out_accuracy, permute_columns
from featsieve.graphs.views import PLAIN, SampleView, sample_view

# init="auto" doubts a start whose labels are hardly predictable. It then looks at plain distances,
# and takes their clusters if they are more than chance: if their modularity exceeds that of the
# same table with permuted columns.


def kmeans_of(
    operator: DataOperator, n_clusters: int, *, random_state: np.random.RandomState
) -> np.ndarray:
    """Return k-means labels in the principal coordinates (the leading 100 of tall tables)."""
    points = to_numpy(principal_coordinates(operator)[0])
    return kmeans_labels(points, n_clusters, random_state=random_state)


def joint_labels(
    X: Any,
    operator: DataOperator,
    init: str,
    *,
    hat: SampleView,
    n_clusters: int,
    n_neighbors: int,
    random_state: np.random.RandomState,
) -> tuple[np.ndarray, str]:
    """Return the start of the joint solver, and where it came from; ``hat`` is the hat view."""
    if init == "k-means":
        return kmeans_of(operator, n_clusters, random_state=random_state), "k-means"
    labels = spectral_labels(hat.graph, n_clusters, random_state=random_state, bridge=hat.bridge)
    if init == "spectral":
        return labels, "spectral"
    E = hat.coordinates
    accuracy = leave_one_out_accuracy(labels, E, n_clusters)
    predictable = accuracy >= defaults.DOUBTFUL_ACCURACY
    if init == "auto" and (predictable or len(labels) > defaults.LARGEST_PLAIN_GRAPH):
        return labels, "spectral"
    cluster = partial(
        plain_labels, n_clusters=n_clusters, n_neighbors=n_neighbors, random_state=random_state
    )
    if init == "best":
        other, _ = cluster(X, "raw")
        better = leave_one_out_accuracy(other, E, n_clusters) > accuracy
        return (other, "raw") if better else (labels, "spectral")
    shuffled = permute_columns(X, random_state)
    best, source = defaults.STRUCTURE_MODULARITY, "spectral"
    for name in PLAIN:
        other, quality = cluster(X, name)
        excess = quality - cluster(shuffled, name)[1]
        if excess >= best:
            best, source, labels = excess, name, other
    return labels, source


def table_labels(
    X: Any, n_clusters: int, *, n_neighbors: int = 5, random_state: np.random.RandomState
) -> np.ndarray:
    """Return the pseudo-labels with which JASFS would start on a table."""
    hat = sample_view(X, "hat", n_clusters=n_clusters, n_neighbors=n_neighbors)
    return joint_labels(
        X,
        as_operator(X, scale="unit"),
        "auto",
        hat=hat,
        n_clusters=n_clusters,
        n_neighbors=n_neighbors,
        random_state=random_state,
    )[0]


def plain_labels(
    X: Any,
    name: str,
    *,
    n_clusters: int,
    n_neighbors: int,
    random_state: np.random.RandomState,
) -> tuple[np.ndarray, float]:
    """Return spectral labels of the neighbour graph in plain distances, and their modularity."""
    view = sample_view(X, name, n_neighbors=n_neighbors)
    labels = spectral_labels(view.graph, n_clusters, random_state=random_state)
    return labels, float(modularity(view.graph, labels))
