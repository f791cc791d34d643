"""The first pseudo-labels: from a neighbour graph, from k-means, from the user."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from featsieve.arrays import DataOperator, as_operator
from featsieve.arrays.namespace import to_numpy
from featsieve.graphs import (
    kmeans_labels,
    laplacian_labels,
    principal_coordinates,
    self_tuning_graph,
    spectral_labels,
)
from featsieve.graphs.knn import euclidean_distances, heat_kernel_graph
from featsieve.terms import normalised_indicator
from featsieve.validation import check_option

INITS = ("auto", "spectral", "k-means", "best")

# init="auto" doubts a start whose labels the other samples predict less well than this (leave one
# out, balanced), and replaces it by one that is predicted better by the margin. On tables where the
# hat metric works the accuracy is above 0.8; where it fails it is near 0.5.
DOUBTFUL = 0.8
MARGIN = 0.15


def given_labels(labels: Any, n_samples: int, n_clusters: int) -> np.ndarray:
    """Return a user's labels as 0..c-1, in the sorted order of their values."""
    labels = np.asarray(labels)
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
    init: Any, X: Any, n_clusters: int, *, random_state: np.random.RandomState
) -> np.ndarray | None:
    """Return the labels that ``init`` holds or computes, None where it names a method of ours."""
    if callable(init):
        return given_labels(init(X, n_clusters, random_state), X.shape[0], n_clusters)
    if isinstance(init, str):
        check_option("init", init, INITS)
        return None
    if init is None:
        raise ValueError(f"init must be one of {INITS}, labels, or a callable; got None.")
    return given_labels(init, X.shape[0], n_clusters)


def authors_labels(
    operator: DataOperator,
    init: str,
    n_clusters: int,
    *,
    n_neighbors: int,
    random_state: np.random.RandomState,
) -> np.ndarray:
    """Return the start of the published algorithm: heat-kernel graph, or k-means on the data."""
    if init == "best":
        raise ValueError("init='best' belongs to solver='joint'; use 'spectral' or 'k-means'.")
    if init == "k-means":
        return kmeans_of(operator, n_clusters, random_state=random_state)
    graph = heat_kernel_graph(operator, n_neighbors=n_neighbors)
    return laplacian_labels(graph, n_clusters, random_state=random_state)


def kmeans_of(
    operator: DataOperator, n_clusters: int, *, random_state: np.random.RandomState
) -> np.ndarray:
    """Return k-means labels in the principal coordinates (an isometry of the rows of Z)."""
    points = to_numpy(principal_coordinates(operator)[0])
    return kmeans_labels(points, n_clusters, random_state=random_state)


def joint_labels(
    X: Any,
    operator: DataOperator,
    init: str,
    *,
    hat: tuple[np.ndarray, sp.csr_array],
    n_clusters: int,
    n_neighbors: int,
    random_state: np.random.RandomState,
) -> tuple[np.ndarray, str]:
    """Return the start of the joint solver, and where it came from.

    ``hat`` holds the hat coordinates of the samples and their neighbour graph.
    """
    if init == "k-means":
        return kmeans_of(operator, n_clusters, random_state=random_state), "k-means"
    E, graph = hat
    length = np.sqrt(np.einsum("ij,ij->i", E, E))
    bridge = E / np.maximum(length, 1e-300)[:, None]
    labels = spectral_labels(graph, n_clusters, random_state=random_state, bridge=bridge)
    if init == "spectral":
        return labels, "spectral"
    accuracy = leave_one_out_accuracy(labels, E, n_clusters)
    if init == "auto" and accuracy >= DOUBTFUL:
        return labels, "spectral"
    other = raw_labels(
        as_operator(X), n_clusters, n_neighbors=n_neighbors, random_state=random_state
    )
    margin = MARGIN if init == "auto" else 0.0
    if leave_one_out_accuracy(other, E, n_clusters) > accuracy + margin:
        return other, "raw"
    return labels, "spectral"


def raw_labels(
    raw: DataOperator,
    n_clusters: int,
    *,
    n_neighbors: int,
    random_state: np.random.RandomState,
) -> np.ndarray:
    """Return spectral labels of the neighbour graph in plain distances of the unscaled data.

    Few informative columns of large variance show in them, where scaled columns drown in noise.
    """
    distances = euclidean_distances(raw)
    graph = self_tuning_graph(distances, raw.shape[0], n_neighbors=n_neighbors)
    return spectral_labels(graph, n_clusters, random_state=random_state)


def leave_one_out_accuracy(labels: np.ndarray, E: np.ndarray, n_clusters: int) -> float:
    """Return the balanced accuracy of predicting each label from the other samples.

    With the hat matrix P = E E' and an intercept, the leave-one-out residual is
    (HF - P HF)_i / (1 - P_ii - 1/n); the predicted cluster has the largest (F - R)_ik sqrt(n_k).
    """
    n = len(labels)
    F = normalised_indicator(labels, n_clusters)
    centred = F - F.mean(axis=0)
    leverage = np.einsum("ij,ij->i", E, E)
    remaining = np.maximum(1.0 - leverage - 1.0 / n, 1e-12)
    residual = (centred - E @ (E.T @ centred)) / remaining[:, None]
    sizes = np.bincount(labels, minlength=n_clusters)
    predicted = ((F - residual) * np.sqrt(sizes)).argmax(axis=1)
    hits = np.bincount(labels, weights=predicted == labels, minlength=n_clusters)
    return float(np.mean(hits / sizes))
