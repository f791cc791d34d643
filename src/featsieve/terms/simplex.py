"""Projection onto the probability simplex {s >= 0, sum s = 1}."""

import numpy as np


def project_rows(V: np.ndarray) -> np.ndarray:
    """Return the nearest point of the simplex to every row of V.

    s = max(v - t, 0), with t = (sum of the r largest entries - 1)/r for the largest r whose r-th
    entry stays above t: exact, by sorting.
    """
    V = V - V.max(axis=1, keepdims=True)  # the projection knows no offset; entries may be huge
    largest_first = -np.sort(-V, axis=1)
    excess = np.cumsum(largest_first, axis=1) - 1.0
    rank = np.arange(1, V.shape[1] + 1)
    n_positive = np.count_nonzero(largest_first * rank > excess, axis=1)
    t = excess[np.arange(V.shape[0]), n_positive - 1] / n_positive
    S = np.maximum(V - t[:, None], 0.0)
    return S / S.sum(axis=1, keepdims=True)
