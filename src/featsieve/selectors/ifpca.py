"""IF-PCA: features that are not normal, their leading components, and k-means on these."""

from dataclasses import field
from functools import cache
from typing import Any, ClassVar

import numpy as np
from scipy.special import ndtr
from sklearn.utils import check_random_state, gen_batches

from featsieve import defaults
from featsieve.arrays import ColumnScale, DataOperator, as_operator
from featsieve.arrays.namespace import to_numpy
from featsieve.base import ConstrainedSelector, estimator
from featsieve.graphs.spectral_labels import kmeans_labels
from featsieve.solvers.weighted_kmeans import between_squares, weighted_points
from featsieve.validation import positive_integer


@estimator
class IFPCA(ConstrainedSelector):
    """Influential features principal component analysis.

    A column in which clusters differ is a mixture, and no sample of a normal distribution. Features
    are scored by the statistic of Kolmogorov and Smirnov [1]_,

        ψ_j = sqrt(n) max_t abs(F_j(t) - Φ(t)),

    F_j the distribution function of the standardised column. Those of the largest scores are kept;
    k-means of their first c - 1 left singular vectors gives the clusters.

    Parameters
    ----------
    %(n_clusters)s
    n_features_to_select : int, float, "auto" or None, default=None
        How many features to select: a count, a fraction of the features, or "auto": as many as are
        needed to show the pseudo-labels (see ``path_``). None: as many as Higher Criticism says.
    n_rounds : int, default=1
        1 is the published method. In further rounds as many features are chosen by the F statistic
        of the last clusters instead, and clusters are found anew.
    random_state : int, RandomState instance or None, default=None
        Seeds k-means.
    %(constraints)s

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The clusters.
    scores_ : ndarray of shape (`n_features_in_`,)
        ψ_j, or the F statistic if there are several rounds; 0 for columns that do not vary.
    pvalues_ : ndarray of shape (`n_features_in_`,)
        Of ψ_j, corrected as the authors do: all ψ_j are given the mean and the deviation that they
        have without clusters. 1 for columns that do not vary.
    %(selection, n_clusters_, automatic, input)s

    See Also
    --------
    SparseKMeans : Looks at the features together with the clusters.
    LaplacianScore : Also judges every feature alone.

    Notes
    -----
    With π_(1) ≤ π_(2) ≤ ... the p-values of p features and u_k = k / (p + 1), Higher Criticism
    keeps the k features at which

        sqrt(p) (u_k - π_(k)) / sqrt(u_k + max(sqrt(n) (u_k - π_(k)), 0))

    is largest, among those with π_(k) > log(p) / p and k ≤ p / 2.

    Deviations from the authors' program, and why. The distribution of ψ for normal columns, with
    mean and deviation estimated, comes from 100,000 draws (there: 100 for every feature), of at
    most 200 samples: only its shape enters, and that hardly changes beyond. Singular vectors are
    not cut at log(p) / sqrt(n): the program does not, either. ``n_rounds`` is a reconstruction: the
    program that goes with the later comparison [2]_ has one round.

    Cost: O(nd log n) for the scores, on the host and block by block wherever the table is, and
    O(n²m + n³) or O(nm²) for the components of m features. Memory O(n min(n, m)).

    When not to use it: for columns that are not normal inside of clusters either (counts, shares,
    categories, heavy tails), which score high; or with few samples.

    References
    ----------
    .. [1] J. Jin and W. Wang, "Influential features PCA for high dimensional clustering", Annals of
       Statistics 44(6), 2016.
    .. [2] D. Chen, J. Jin and Z. T. Ke, "Subject clustering by IF-PCA and several recent methods",
       Frontiers in Genetics 14, 2023.

    Examples
    --------
    >>> from featsieve import IFPCA
    >>> from featsieve.datasets import make_planted
    >>> planted = make_planted(500, 50, n_informative=10, signal=4.0, random_state=0)
    >>> sieve = IFPCA(n_clusters=4, n_features_to_select=10, random_state=0).fit(planted.X)
    >>> int((sieve.support_ & planted.informative).sum())
    10
    """

    n_clusters: int | str = field(default=8, kw_only=False)
    n_features_to_select: int | float | str | None = None
    n_rounds: int = 1
    random_state: Any = None

    # The features that are selected are those with which the clusters are found.
    _follows_count = True
    _checks: ClassVar = {"n_rounds": positive_integer}

    def _fit(self, X: Any) -> None:
        """Score the features, keep some, find clusters of them."""
        operator = as_operator(X, scale=ColumnScale("std", self._variables))
        varies = to_numpy(operator.varies)
        self._check_varies(varies)
        n_selected = None if self.n_features_to_select is None else self._n_to_select()
        c, random_state = self._count_clusters(X), check_random_state(self.random_state)
        scores, self.pvalues_ = ks_scores(operator), np.ones(len(varies))
        self.pvalues_[varies] = ks_pvalues(scores[varies], X.shape[0])
        found = higher_criticism(self.pvalues_[varies], X.shape[0])
        count = n_selected or self._at_least_kept(found)
        self._set_selection(scores, count)
        labels = self._clusters(operator, c, random_state)
        for _ in range(1, self.n_rounds):
            self._set_selection(f_scores(operator, labels, c), count)
            labels = self._clusters(operator, c, random_state)
        self.labels_ = labels

    def _clusters(
        self, operator: DataOperator, n_clusters: int, random_state: np.random.RandomState
    ) -> np.ndarray:
        """Return k-means of the leading left singular vectors of the selected columns."""
        if n_clusters == 1:
            return np.zeros(operator.shape[0], dtype=np.intp)
        points = weighted_points(operator, self.support_.astype(np.float64))
        U = np.linalg.svd(points, full_matrices=False)[0]
        return kmeans_labels(U[:, : n_clusters - 1], n_clusters, random_state=random_state)


def ks_scores(operator: DataOperator) -> np.ndarray:
    """Return sqrt(n) sup |F_j - Φ| of every column, 0 for those that do not vary."""
    n, d = operator.shape
    deviation = np.sqrt(to_numpy(operator.column_norms()) / n)  # 1, unless several are one variable
    scores = np.zeros(d)
    for block in gen_batches(d, max(1, operator.cache_elements // n)):  # on the host
        columns = np.arange(block.start, block.stop)[deviation[block] > 0.0]
        if len(columns):
            Z = to_numpy(operator.columns(operator.place(columns))) / deviation[columns]
            scores[columns] = normal_distance(Z.T)
    return scores


def normal_distance(rows: np.ndarray) -> np.ndarray:
    """Return sqrt(n) sup |F - Φ| of every row of n standardised numbers."""
    n = rows.shape[1]
    share = ndtr(np.sort(rows, axis=1))
    above = np.max(np.arange(1, n + 1) / n - share, axis=1)
    return np.sqrt(n) * np.maximum(above, np.max(share - np.arange(n) / n, axis=1))


@cache
def normal_null(n: int) -> np.ndarray:
    """Return the statistic of standardised samples of a normal distribution, sorted."""
    rng, draws = np.random.default_rng(0), []
    for block in gen_batches(defaults.IFPCA_DRAWS, 1000):
        rows = rng.standard_normal((block.stop - block.start, n))
        rows -= rows.mean(axis=1, keepdims=True)
        draws.append(normal_distance(rows / rows.std(axis=1, keepdims=True)))
    return np.sort(np.concatenate(draws))


def ks_pvalues(scores: np.ndarray, n_samples: int) -> np.ndarray:
    """Return the p-values of scores that are given the mean and the deviation of the null."""
    null = normal_null(min(n_samples, defaults.IFPCA_SAMPLES))
    spread = scores.std() or 1.0
    adjusted = (scores - scores.mean()) / spread * null.std() + null.mean()
    return np.asarray(1.0 - np.searchsorted(null, adjusted, side="right") / len(null))


def f_scores(operator: DataOperator, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Return the F statistic of every column for clusters, 0 for those that do not vary."""
    n, total = operator.shape[0], to_numpy(operator.column_norms())
    between = np.minimum(between_squares(operator, labels), total)
    within = np.maximum(total - between, 1e-12 * total)
    ratio = between / np.where(total > 0.0, within, 1.0)
    return np.asarray(ratio * max(n - n_clusters, 1) / max(n_clusters - 1, 1))


def higher_criticism(pvalues: np.ndarray, n_samples: int) -> int:
    """Return how many of the smallest p-values Higher Criticism keeps, at least one."""
    p, ordered = len(pvalues), np.sort(pvalues)
    u = np.arange(1, p + 1) / (p + 1)
    excess = u - ordered
    value = np.sqrt(p) * excess / np.sqrt(u + np.maximum(np.sqrt(n_samples) * excess, 0.0))
    first = int(np.searchsorted(ordered, np.log(p) / p, side="right"))
    last = max(round(p / 2), first + 1, 1)
    inside = value[first:last]
    # of several that are largest the last
    return min(first + len(inside) - int(np.argmax(inside[::-1])), p) if len(inside) else p
