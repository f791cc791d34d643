"""Clusters that go with a selection: those of the method, or of k-means on its columns."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from featsieve import defaults
from featsieve.arrays import as_operator
from featsieve.arrays.namespace import to_numpy
from featsieve.criteria.n_clusters import suggest_n_clusters
from featsieve.evaluation.judging import scaled_columns
from featsieve.evaluation.protocol import k_means_labels
from featsieve.graphs.spectral_labels import by_first_sample


@dataclass(frozen=True)
class Clusters:
    """Clusters of the samples."""

    codes: np.ndarray  # cluster of every sample: 0, 1, ...
    names: list[str]
    source: str  # "method" or "k-means"
    number: str  # how many: "asked", "found" or "suggested"

    @property
    def sizes(self) -> np.ndarray:
        """Number of samples of every cluster."""
        return np.bincount(self.codes, minlength=len(self.names))


def layers(selector: Any) -> Iterator[Any]:
    """Yield the selector, the fitted one inside it, and so on."""
    while selector is not None:
        yield selector
        selector = getattr(selector, "selector_", None)


def fitted_attribute(selector: Any, name: str) -> Any:
    """Return an attribute of the selector, or of the one inside it; None if neither has it."""
    return next((getattr(s, name) for s in layers(selector) if hasattr(s, name)), None)


def best_first(support: np.ndarray, rank: np.ndarray) -> np.ndarray:
    """Return the indices of the selected features in the order of their ranks."""
    chosen = np.flatnonzero(support)
    return chosen[np.argsort(rank[chosen], kind="stable")]


def selected_clusters(selector: Any, X: Any, *, n_clusters: int | None = None) -> Clusters | None:
    """Return the clusters of a fitted selector, or those of k-means on the selected columns.

    None if there are neither: no selected column varies.
    """
    labels = fitted_attribute(selector, "labels_")
    number = "asked" if fitted_attribute(selector, "cluster_count_") is None else "found"
    if labels is not None:
        values, codes = np.unique(np.asarray(labels), return_inverse=True)
        return Clusters(codes, [str(value) for value in values.tolist()], "method", number)
    chosen = best_first(selector.get_support(), selector.ranking_)
    varies = to_numpy(as_operator(X[:, chosen]).varies)
    if not varies.any():
        return None
    points = scaled_columns(X, chosen[varies])
    known = fitted_attribute(selector, "n_clusters_") or n_clusters
    if known is None:
        number, known = "suggested", 2
        n, most = points.shape[0], defaults.SELECTED_SAMPLES
        rows = np.sort(np.random.default_rng(0).permutation(n)[:most])
        some = points[rows] if n > most else points
        if to_numpy(as_operator(some).varies).any():
            most = defaults.SELECTED_MOST_CLUSTERS
            known = suggest_n_clusters(some, most=most, random_state=0).n_clusters
    n_clusters = min(int(known), points.shape[0])
    labels = k_means_labels(points, n_clusters, n_init=defaults.SELECTED_STARTS, random_state=0)
    codes = by_first_sample(labels)
    names = [str(code) for code in range(int(codes.max()) + 1)]
    return Clusters(codes, names, "k-means", number)
