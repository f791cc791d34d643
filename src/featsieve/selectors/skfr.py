"""SKFR: k-means that looks at the features its clusters differ in most."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from featsieve import defaults
from featsieve.arrays.namespace import to_numpy
from featsieve.base import estimator
from featsieve.graphs.coordinates import principal_coordinates
from featsieve.graphs.kmeans import first_centres
from featsieve.selectors.common import PartitionSelector
from featsieve.solvers.block_problem import solve
from featsieve.solvers.weighted_kmeans import WeightedKMeans, nearest_centres


@estimator
class SKFR(PartitionSelector):
    """Sparse k-means by feature ranking.

    k-means whose means differ from the mean of all samples in k features only [1]_:

        min  sum_i ||x_i - θ_{c(i)}||²   subject to  θ = 0 in all but k columns (centred ones).

    Every iteration keeps the k features with the largest sum of squares between the clusters,
    b_j = sum_c n_c (mean of column j in cluster c)², and moves every sample to the nearest mean.

    Parameters
    ----------
    %(n_clusters, n_features_to_select)s
        It is k.
    %(scale)s
        Published is "unit". Means know no origin: "raw" is "none".
    %(max_iter, tol, callback, verbose)s
    random_state : int, RandomState instance or None, default=None
        Seeds the starts.
    %(constraints)s

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The clusters.
    scores_ : ndarray of shape (`n_features_in_`,)
        b_j / n: with unit variance, the share of the column that lies between the clusters.
    %(selection)s
    objective_ : ndarray of shape (`n_iter_`,)
        The sum of squares after every iteration: it never rises.
    %(outcome, n_clusters_, automatic, input)s

    See Also
    --------
    SparseKMeans : Features have weights there.
    JASFS : Features that complement each other, for many clusterings at once.

    Notes
    -----
    This is the paper's SKFR1, one set of features for all clusters. SKFR2, a set for every cluster,
    selects no columns of the table, and is left out, and so is the form for missing values.

    Deviations from the authors' program, and why. It takes the first labels from the user; here
    they are the nearest of k-means++ centres in all columns, 20 times, and the run that ends lowest
    counts. A cluster that loses all samples gets the last one of the largest cluster, which lowers
    the objective; there it stays at the origin. The paper finds k by a permutation test; here k is
    given, or ``n_features_to_select="auto"``.

    Cost: O(ndc) per iteration and start, plus O(n²d) once for the starts (O(nd²) for d ≤ n), and
    O(n²k + n³) per iteration for k > n. Memory O(n min(n, k) + dc).

    When not to use it: where most columns are noise that drowns the clusters in all columns: the
    starts are clusters of noise then, and the features chosen first confirm them.

    References
    ----------
    .. [1] Z. Zhang, K. Lange and J. Xu, "Simple and scalable sparse k-means clustering via feature
       ranking", NeurIPS 2020.

    Examples
    --------
    %(example)s
    """

    def _fit(self, X: Any) -> None:
        """Choose features and move samples in turn, from several starts."""
        operator = self._operator(X).centred()
        n_selected, c = self._n_to_select(), self._count_clusters(X)
        problem = WeightedKMeans(
            operator,
            c,
            self._by_units(lambda between: largest(between, n_selected)),
            total=float(operator.xp.sum(operator.column_norms())),
            by_steps=True,
        )
        points = to_numpy(principal_coordinates(operator)[0]).astype(np.float64)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        centres = first_centres(points, c, rng, n_starts=defaults.KMEANS_STARTS)
        starts = [problem.start(nearest_centres(points, some)) for some in centres]
        ends = [
            solve(problem, state, max_iter=self.max_iter, tol=self.tol).objective[-1]
            for state in starts
        ]
        found = self._alternate(problem, starts[int(np.argmin(ends))], "features and clusters")
        self._set_clusters(found, found.between / X.shape[0], n_selected)


def largest(between: np.ndarray, count: int) -> np.ndarray:
    """Return 1 for the largest entries, of those that tie the first, 0 for the others."""
    weights = np.zeros(len(between))
    weights[np.argsort(-between, kind="stable")[:count]] = 1.0
    return weights
