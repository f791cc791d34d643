"""Handwritten digits: which pixels carry their clusters."""

from dataclasses import dataclass

import numpy as np
from sklearn.datasets import load_digits

from featsieve import JASFS
from featsieve.evaluation import ClusteringScores, paper_protocol

SHAPE = (8, 8)
COUNTS = (30, 20, 10)


@dataclass(frozen=True)
class Clustering:
    """How well one clustering of the images agrees with the digits."""

    name: str
    features: int
    accuracy: float
    nmi: float


@dataclass(frozen=True)
class Digits:
    """The images, the fitted selector, and the clusterings that are compared."""

    X: np.ndarray
    y: np.ndarray
    sieve: JASFS
    clusterings: tuple[Clustering, ...]

    @property
    def ranks(self) -> np.ndarray:
        """Rank of every pixel as an image, 0 where it was left out."""
        return np.where(self.sieve.support_, self.sieve.ranking_, 0).reshape(SHAPE)


def select_digits() -> Digits:
    """Select pixels without labels; use the labels to judge."""
    X, y = load_digits(return_X_y=True)
    sieve = JASFS(10, random_state=0).fit(X)
    rows = [_judge("k-means, all pixels", X.shape[1], paper_protocol(X, y))]
    for k in COUNTS:
        best = X[:, sieve.path_.order[:k]]
        rows.append(_judge("k-means, best pixels", k, paper_protocol(best, y)))
    own = ClusteringScores.of_labels(y, sieve.labels_)
    rows.append(_judge("JASFS's own clusters", sieve.n_features_selected_, own))
    return Digits(X, y, sieve, tuple(rows))


def _judge(name: str, features: int, scores: ClusteringScores) -> Clustering:
    """Return the means of accuracy and NMI."""
    accuracy, nmi = scores.mean()[:2]
    return Clustering(name, features, float(accuracy), float(nmi))
