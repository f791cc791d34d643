"""Is there structure: how predictable labels are, and what tables without any look like."""

from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from featsieve.arrays.namespace import is_sparse
from featsieve.terms import normalised_indicator


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
