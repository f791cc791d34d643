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
    """Return the cluster of every sample.

    Parameters
    ----------
    selector : fitted selector of featsieve
    X : ndarray or sparse array of shape (n_samples, n_features)
        The table that was fitted.
    n_clusters : int, optional
        For methods that know no number of clusters; by default what the selected columns suggest.

    Returns
    -------
    ndarray of shape (n_samples,)
        ``labels_`` of the selector. Methods that find no clusters get those of k-means on the
        selected columns, as in the report.

    Examples
    --------
    >>> from featsieve import MCFS
    >>> from featsieve.datasets import make_planted
    >>> from featsieve.workflow.clusters import clusters_of
    >>> X = make_planted(60, 30, n_informative=5, n_clusters=3, random_state=0).X
    >>> sieve = MCFS(3, n_features_to_select=5).fit(X)
    >>> sorted(set(clusters_of(sieve, X).tolist()))
    [0, 1, 2]
    """
    own = getattr(selector, "labels_", None)
    if own is not None:
        return np.asarray(own)
    found = gather(selector, X, n_clusters=n_clusters).clusters
    return np.zeros(X.shape[0], dtype=np.intp) if found is None else found.codes


def score_structure(X: Any, labels: np.ndarray, *, random_state: int = 0) -> float:
    """Return the structure score of a table, from 1500 random samples where it has more.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n_samples, n_features)
    labels : ndarray of shape (n_samples,)
    random_state : int, default=0

    Returns
    -------
    float
        See `featsieve.structure_score`; it warns where there is no structure.

    Examples
    --------
    >>> from featsieve.datasets import make_planted
    >>> from featsieve.workflow.clusters import score_structure
    >>> planted = make_planted(120, 50, random_state=0)
    >>> score_structure(planted.X, planted.labels) > 0.2
    True
    """
    if len(np.unique(labels)) == 1:
        return 0.0
    if X.shape[0] > MOST_SAMPLES:
        drawn = np.random.RandomState(random_state).permutation(X.shape[0])
        rows = np.sort(drawn[:MOST_SAMPLES])
        X, labels = X[rows], labels[rows]
    return structure_score(X, labels, random_state=random_state)


def verdict(score: float, noise: float, *, certain: bool | None = False) -> str:
    """Say in words what a structure score means.

    Parameters
    ----------
    score : float
    noise : float
        What noise of as many samples reaches.
    certain : bool, optional
        Whether nearly all neighbours agree on the clusters: then a low score does not tell, because
        a few columns with wide gaps keep these when they are permuted.

    Returns
    -------
    str

    Examples
    --------
    >>> from featsieve.workflow.clusters import verdict
    >>> verdict(0.3, 0.05)
    'there are clusters'
    """
    if score < noise and certain:
        return "no more than after shuffling, yet nearly all neighbours agree on the clusters"
    if score < noise:
        return "no clearer than noise: a selection means little"
    return "there are clusters" if score >= DOUBTFUL * noise else "hardly clearer than noise"
