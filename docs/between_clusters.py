"""A selector of one's own: the features that differ most between spectral clusters."""

from dataclasses import field
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from featsieve.arrays.namespace import to_numpy
from featsieve.base import UnsupervisedSelector, estimator
from featsieve.graphs import spectral_labels
from featsieve.graphs.views import sample_view
from featsieve.terms import normalised_indicator


@estimator
class BetweenClusters(UnsupervisedSelector):
    """Select the features whose variance lies between spectral clusters.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Clusters to look for.
    n_features_to_select : int, float or "auto", default=0.1
        How many features to select.
    scale : {"unit", "none", "raw"}, default="unit"
        Column scaling.
    random_state : int, RandomState instance or None, default=None
        Seeds the k-means runs of the clustering.

    Attributes
    ----------
    scores_ : ndarray of shape (`n_features_in_`,)
        Share of the feature's variance between the clusters, from 0 to 1.
    labels_ : ndarray of shape (n_samples,)
        Clusters of the samples.

    See Also
    --------
    JASFS : Finds clusters and features together.

    Notes
    -----
    With F the normalised indicator of the clusters and z a centred column, the score is
    ‖F'z‖² / ‖z‖². Deviation from a paper: there is none. Cost: the neighbour graph and one product.
    When not to use it: features are judged one by one, so that copies of a good one all rank high.

    References
    ----------
    .. [1] The correlation ratio of K. Pearson, 1905.

    Examples
    --------
    >>> from featsieve.datasets import make_planted
    >>> planted = make_planted(n_samples=120, n_features=50, n_informative=10, random_state=0)
    >>> sieve = BetweenClusters(4, n_features_to_select=10, random_state=0).fit(planted.X)
    >>> int((sieve.support_ & planted.informative).sum())
    10
    """

    n_clusters: int | str = field(default=8, kw_only=False)
    n_features_to_select: int | float | str = 0.1
    scale: str = "unit"
    random_state: Any = None

    def _fit(self, X: Any) -> None:
        """Cluster the samples, then score the features."""
        n_selected = self._n_to_select()
        n_clusters = self._count_clusters(X)
        operator = self._operator(X)  # refuses a table in which nothing varies
        random_state = check_random_state(self.random_state)
        graph = sample_view(X, "scaled").graph  # nearest neighbours, columns of unit variance
        self.labels_ = spectral_labels(graph, n_clusters, random_state=random_state)
        F = normalised_indicator(self.labels_, n_clusters)
        between = np.sum(to_numpy(operator.rmatmul(operator.xp.asarray(F))) ** 2, axis=1)
        total = to_numpy(operator.column_norms())
        scores = np.divide(between, total, out=np.zeros_like(between), where=total > 0.0)
        self._set_selection(scores, n_selected)
