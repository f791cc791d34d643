"""Made-up tables whose informative features and clusters are known."""

from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_random_state


@dataclass(frozen=True)
class Planted:
    """A table with known truth.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
    labels : ndarray of shape (n_samples,)
        The cluster of every sample.
    informative : ndarray of shape (n_features,), dtype bool
        Which features differ between the clusters.
    redundant : ndarray of shape (n_features,), dtype bool
        Which features repeat an informative one (with other noise): they separate the clusters
        too, but add little to it. Disjoint from ``informative``; the others are noise.
    """

    X: np.ndarray
    labels: np.ndarray
    informative: np.ndarray
    redundant: np.ndarray


def make_planted(
    n_samples: int = 150,
    n_features: int = 1000,
    *,
    n_informative: int = 20,
    n_redundant: int = 0,
    n_clusters: int = 4,
    signal: float = 2.0,
    random_state: int | np.random.RandomState | None = None,
) -> Planted:
    """Plant clusters in a few features of a table of noise.

    All entries are standard normal. In an informative feature every cluster has a mean of its own,
    drawn from a normal distribution of standard deviation ``signal`` (in units of the noise).

    Parameters
    ----------
    n_samples, n_features : int
        Shape of the table.
    n_informative : int, default=20
        Features that differ between clusters, at random positions.
    n_redundant : int, default=0
        Features that repeat an informative one: half of its variance, half noise of their own.
    n_clusters : int, default=4
        Clusters of (nearly) equal size.
    signal : float, default=2.0
        Spread of the cluster means; 0 plants nothing.
    random_state : int, RandomState or None

    Returns
    -------
    Planted
        The table with its truth.

    Examples
    --------
    >>> from featsieve.datasets import make_planted
    >>> planted = make_planted(n_samples=60, n_features=100, n_informative=5, random_state=0)
    >>> planted.X.shape, int(planted.informative.sum()), sorted(set(planted.labels.tolist()))
    ((60, 100), 5, [0, 1, 2, 3])
    """
    if min(n_informative, n_redundant) < 0 or n_informative + n_redundant > n_features:
        raise ValueError(
            f"n_informative + n_redundant must be between 0 and n_features={n_features}; got "
            f"{n_informative} + {n_redundant}."
        )
    if n_redundant > 0 and n_informative == 0:
        raise ValueError("n_redundant > 0 needs informative features to repeat.")
    if not 1 <= n_clusters <= n_samples:
        raise ValueError(
            f"n_clusters must be between 1 and n_samples={n_samples}; got {n_clusters}."
        )
    rng = check_random_state(random_state)
    labels = rng.permutation(np.arange(n_samples) % n_clusters)
    X = rng.standard_normal((n_samples, n_features))
    chosen = rng.choice(n_features, n_informative, replace=False)
    centres = signal * rng.standard_normal((n_clusters, n_informative))
    X[:, chosen] += centres[labels]
    informative = np.zeros(n_features, dtype=bool)
    informative[chosen] = True
    redundant = np.zeros(n_features, dtype=bool)
    if n_redundant:
        copies = rng.choice(np.flatnonzero(~informative), n_redundant, replace=False)
        originals = chosen[np.arange(n_redundant) % n_informative]
        X[:, copies] = (X[:, originals] + X[:, originals].std(axis=0) * X[:, copies]) / np.sqrt(2.0)
        redundant[copies] = True
    return Planted(X, labels, informative, redundant)
