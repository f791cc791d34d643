"""Clusters of the samples that go with a selection, also for methods that find none."""

from typing import Any

import numpy as np

from featsieve.report.selection.inputs import gather
from featsieve.tuning import structure_score

# Scores of less than so many times what noise reaches are doubtful.
DOUBTFUL = 2.0
# Of longer tables, this many samples are asked how clear the clusters are.
MOST_SAMPLES = 1500


def clusters_of(selector: Any, X: Any, *, n_clusters: int | None = None) -> np.ndarray:
    """Return the cluster of every sample."""
    own = getattr(selector, "labels_", None)
    if own is not None:
        return np.asarray(own)
    found = gather(selector, X, n_clusters=n_clusters).clusters
    return np.zeros(X.shape[0], dtype=np.intp) if found is None else found.codes


def score_structure(X: Any, labels: np.ndarray, *, random_state: int = 0) -> float:
    """Return the structure score of a table, from 1500 random samples where it has more."""
    if len(np.unique(labels)) == 1:
        return 0.0
    if X.shape[0] > MOST_SAMPLES:
        drawn = np.random.RandomState(random_state).permutation(X.shape[0])
        rows = np.sort(drawn[:MOST_SAMPLES])
        X, labels = X[rows], labels[rows]
    return structure_score(X, labels, random_state=random_state)


def verdict(score: float, noise: float, *, certain: bool | None = False) -> str:
    """Say in words what a structure score means."""
    if score < noise and certain:
        return "no more than after shuffling, yet nearly all neighbours agree on the clusters"
    if score < noise:
        return "no clearer than noise: a selection means little"
    return "there are clusters" if score >= DOUBTFUL * noise else "hardly clearer than noise"
