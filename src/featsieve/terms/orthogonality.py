"""Non-negative orthonormal pseudo-labels: F >= 0, F'F = I.

The two conditions leave at most one non-zero entry in a row of F: such an F is a weighted
partition of the samples. The joint solver keeps F on the normalised indicator of a partition,
f_ik = 1/sqrt(n_k), where both hold exactly.
"""

import numpy as np


def indicator(labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Return the 0/1 matrix E with E[i, labels[i]] = 1."""
    E = np.zeros((labels.shape[0], n_clusters))
    E[np.arange(labels.shape[0]), labels] = 1.0
    return E


def normalised_indicator(labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Return E (E'E)^(-1/2): the feasible F of a partition without empty clusters."""
    E = indicator(labels, n_clusters)
    return E / np.sqrt(E.sum(axis=0))
