"""The first pseudo-labels: from a neighbour graph, from k-means, from the user."""

from functools import partial
from itertools import pairwise
from typing import Any
from warnings import warn

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from featsieve.arrays import DataOperator, as_operator
from featsieve.arrays.namespace import is_sparse, to_numpy
from featsieve.graphs import (
    kmeans_labels,
    laplacian_labels,
    principal_coordinates,
    self_tuning_graph,
    spectral_labels,
)
from featsieve.graphs.knn import euclidean_distances, heat_kernel_graph
from featsieve.solvers.reweighted_ridge import largest_penalty, moderate_penalty
from featsieve.terms import normalised_indicator
from featsieve.validation import check_option

INITS = ("auto", "spectral", "k-means", "best")

# init="auto" doubts a start whose labels the other samples predict less well than this (leave one
# out, balanced): where the hat metric works it is above 0.8, where it drowns in noise near 0.5. It
# then looks at plain distances, and takes their clusters if they are more than chance: if their
# modularity exceeds that of the same table with permuted columns by this much.
DOUBTFUL = 0.8
STRUCTURE = 0.08
# It does so up to this many samples: plain distances cost O(n^2 d).
LARGEST_PLAIN = 5000
# Labels whose columns have less than this squared length have vanished (orthonormal ones have 1).
VANISHED = 0.01
# Names of the plain distances, and the scale of the columns they are taken from.
PLAIN = {"raw": "none", "scaled": "unit"}


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
    init: Any,
    X: Any,
    n_clusters: int,
    *,
    random_state: np.random.RandomState,
    options: tuple[str, ...] = INITS,
) -> np.ndarray | None:
    """Return the labels that ``init`` holds or computes, None where it names a method of ours."""
    if callable(init):
        return given_labels(init(X, n_clusters, random_state), X.shape[0], n_clusters)
    if isinstance(init, str):
        check_option("init", init, options)
        return None
    if init is None:
        raise ValueError(f"init must be one of {options}, labels, or a callable; got None.")
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
    others: tuple[str, ...] = (),
) -> tuple[np.ndarray, bool]:
    """Return the start of a compared method, and whether the user gave it.

    "spectral": spectral clustering of ``graph`` (default: the heat-kernel graph); "k-means": of the
    operator's columns; or labels, or a callable. ``others`` are options that the caller sees to.
    """
    given = labels_from_user(
        init, X, n_clusters, random_state=random_state, options=("spectral", "k-means", *others)
    )
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
        points = to_numpy(principal_coordinates(operator.centred())[0])
        length = np.sqrt(np.einsum("ij,ij->i", points, points))
        bridge = points / np.where(length > 0.0, length, 1.0)[:, None]
    labels = spectral_labels(graph, n_clusters, random_state=random_state, bridge=bridge)
    return labels, False


def resolve_penalty(value: float | str, operator: DataOperator, F: np.ndarray) -> float:
    """Return an l2,1 penalty as a number; "auto" suits the table and the label matrix F."""
    if isinstance(value, str):
        return moderate_penalty(operator, operator.xp.asarray(F, device=operator.device))
    return float(value)


def warn_large_penalty(
    name: str,
    value: float,
    operator: DataOperator,
    F: np.ndarray,
    *,
    slope: np.ndarray | None = None,
) -> bool:
    """Say, and warn, where the best regression of F is W = 0: labels vanished, or large penalty.

    ``slope`` is half the slope of the loss at W = 0, where that is not the squared one's, F.
    """
    if np.sum(F * F) < VANISHED * F.shape[1]:
        warn(
            "The pseudo-labels have vanished, and the ranking with them: orthogonality is too "
            "small against the other terms. Increase it.",
            UserWarning,
            stacklevel=3,
        )
        return True
    slope = F if slope is None else slope
    largest = largest_penalty(operator, operator.xp.asarray(slope, device=operator.device))
    if value >= largest > 0.0:
        warn(
            f"{name} is so large that all weights vanish: the ranking is that of the features one "
            f"at a time. Choose {name} below {largest:.3g}.",
            UserWarning,
            stacklevel=3,
        )
        return True
    return False


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
    """Return k-means labels in the principal coordinates (the leading 100 of tall tables)."""
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
    if init == "auto" and (accuracy >= DOUBTFUL or len(labels) > LARGEST_PLAIN):
        return labels, "spectral"
    cluster = partial(
        plain_labels, n_clusters=n_clusters, n_neighbors=n_neighbors, random_state=random_state
    )
    if init == "best":
        other, _ = cluster(X, "none")
        better = leave_one_out_accuracy(other, E, n_clusters) > accuracy
        return (other, "raw") if better else (labels, "spectral")
    shuffled = permute_columns(X, random_state)
    best, source = STRUCTURE, "spectral"
    for name, scale in PLAIN.items():
        other, quality = cluster(X, scale)
        excess = quality - cluster(shuffled, scale)[1]
        if excess >= best:
            best, source, labels = excess, name, other
    return labels, source


def plain_labels(
    X: Any,
    scale: str,
    *,
    n_clusters: int,
    n_neighbors: int,
    random_state: np.random.RandomState,
) -> tuple[np.ndarray, float]:
    """Return spectral labels of the neighbour graph in plain distances, and their modularity.

    A few informative columns show in them where the hat metric, which evens out all directions,
    lets them drown; of large variance, in the distances of the unscaled columns.
    """
    operator = as_operator(X, scale=scale)
    distances = euclidean_distances(operator)
    graph = self_tuning_graph(distances, operator.shape[0], n_neighbors=n_neighbors)
    labels = spectral_labels(graph, n_clusters, random_state=random_state)
    return labels, modularity(graph, labels)


def permute_columns(X: Any, random_state: np.random.RandomState) -> Any:
    """Return X with every column permuted on its own: the same columns without any clusters."""
    seed = random_state.randint(np.iinfo(np.int32).max)
    rng = np.random.default_rng(seed)
    n, d = X.shape
    if is_sparse(X):  # the same permutations as of the dense table
        X = sp.csc_array(X, copy=True)
        for start, stop in pairwise(X.indptr):
            X.indices[start:stop] = rng.permutation(n)[X.indices[start:stop]]
        return X.tocsr()
    shuffled = np.empty_like(X)
    for j in range(d):
        shuffled[rng.permutation(n), j] = X[:, j]
    return shuffled


def modularity(graph: sp.csr_array, labels: np.ndarray) -> float:
    """Return the share of edge weight inside clusters, less what the degrees alone would give."""
    degree = np.asarray(graph.sum(axis=1)).ravel()
    total = degree.sum()
    member = sp.csr_array((np.ones(len(labels)), (np.arange(len(labels)), labels)))
    inside = member.multiply(graph @ member).sum() / total
    return float(inside - np.sum((member.T @ degree / total) ** 2))


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
