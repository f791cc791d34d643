"""Is there structure: how predictable labels are, and what tables without any look like."""

from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from featsieve.arrays.namespace import gathered, is_foreign_array, is_sparse, like, namespace_of
from featsieve.terms import normalised_indicator


def permute_columns(X: Any, random_state: np.random.RandomState) -> Any:
    """Return X with every column permuted on its own: the same columns without any clusters."""
    return permuted_by(X, random_state.randint(np.iinfo(np.int32).max))


def permuted_by(X: Any, seed: int) -> Any:
    """Return X with every column permuted; the seed can make the same table again."""
    rng = np.random.default_rng(seed)
    n, d = X.shape
    X = gathered(X)
    if is_sparse(X):  # the same permutations as of the dense table
        X = sp.csc_array(X, copy=True)
        for start, stop in pairwise(X.indptr):
            X.indices[start:stop] = rng.permutation(n)[X.indices[start:stop]]
        return X.tocsr()
    if is_foreign_array(X):
        # Where a value goes, turned round: from where it comes.
        source = np.stack([np.argsort(rng.permutation(n)) for _ in range(d)], axis=1)
        return namespace_of(X).take_along_axis(X, like(source, X), axis=0)
    shuffled = np.empty_like(X)
    for j in range(d):
        shuffled[rng.permutation(n), j] = X[:, j]
    return shuffled


def leave_one_out_accuracy(labels: np.ndarray, E: np.ndarray, n_clusters: int) -> float:
    """Return the balanced accuracy of predicting each label from the other samples.

    With the hat matrix P = E E' and an intercept, the leave-one-out residual is
    (HF - P HF)_i / (1 - P_ii - 1/n); the predicted cluster has the largest (F - R)_ik sqrt(n_k).
    """
    F = normalised_indicator(labels, n_clusters)
    sizes = np.bincount(labels, minlength=n_clusters)
    return sampled_accuracy(labels, E, E.T @ (F - F.mean(axis=0)), sizes=sizes)


def sampled_accuracy(
    labels: np.ndarray, E: np.ndarray, moments: np.ndarray, *, sizes: np.ndarray
) -> float:
    """Return the same from some of the samples."""
    n, c = sizes.sum(), len(sizes)
    F = np.eye(c)[labels] / np.sqrt(sizes)
    leverage = np.einsum("ij,ij->i", E, E)
    remaining = np.maximum(1.0 - leverage - 1.0 / n, 1e-12)
    residual = (F - np.sqrt(sizes) / n - E @ moments) / remaining[:, None]
    predicted = ((F - residual) * np.sqrt(sizes)).argmax(axis=1)
    hits = np.bincount(labels, weights=predicted == labels, minlength=c)
    seen = np.bincount(labels, minlength=c)
    return float(np.mean(hits[seen > 0] / seen[seen > 0]))
