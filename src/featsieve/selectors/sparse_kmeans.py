"""Sparse k-means: weights of the features under a lasso bound, and clusters of what they weigh."""

from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from featsieve import defaults
from featsieve.arrays import DataOperator, as_operator
from featsieve.base import estimator
from featsieve.graphs.initial_labels import kmeans_of
from featsieve.hypotheses.sparse_kmeans import weights_of_some, weights_within
from featsieve.hypotheses.tables import permuted
from featsieve.selectors.common import PartitionSelector
from featsieve.solvers.block_problem import solve
from featsieve.solvers.weighted_kmeans import Weigh, WeightedClusters, WeightedKMeans
from featsieve.validation import check_number, or_auto, positive_integer

BOTH_SET = (
    "bound decides how many features are selected, and so does n_features_to_select: leave bound "
    "at 'auto', or n_features_to_select at None."
)


@estimator
class SparseKMeans(PartitionSelector):
    """Sparse k-means clustering.

    Weights of the features and clusters of the samples, such that the weighted sum of squares
    between the clusters is largest [1]_:

        max  sum_j w_j b_j   subject to  ||w||_2 ≤ 1,  ||w||_1 ≤ s,  w ≥ 0,

    b_j = sum_c n_c (mean of column j in cluster c - mean of column j)². Clusters of columns times
    sqrt(w_j), and weights (b_j - t)_+ in units of their length, are found in turn.

    Parameters
    ----------
    %(n_clusters)s
    n_features_to_select : int, float, "auto" or None, default=None
        How many weights are not zero: a count, a fraction of the features, or "auto": as many as
        are needed to show the pseudo-labels (see ``path_``). None: ``bound`` decides.
    bound : float or "auto", default="auto"
        s, from 1 (one feature) to the root of their number (all). "auto": where the objective
        exceeds that of tables with permuted columns most, by the gap statistic, which often keeps
        all columns of small tables.
    n_permutations : int, default=25
        Permuted tables of the gap statistic.
    %(scale)s
        Sums of squares know no origin: "raw" is "none".
    %(max_iter, tol, callback, verbose)s
    random_state : int, RandomState instance or None, default=None
        Seeds k-means and the permutations.
    %(constraints)s

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The clusters.
    scores_ : ndarray of shape (`n_features_in_`,)
        The weights w.
    %(ranking_)s
        Features of weight 0 follow by their b_j.
    %(support_, n_features_selected_)s
    bound_ : float
        The s that was used.
    bounds_, gap_ : ndarray of shape (10,)
        If the gap statistic has chosen ``bound_``: all bounds, and log O(s) less its mean over the
        permuted tables, O the objective.
    objective_ : ndarray of shape (`n_iter_`,)
        -sum_j w_j b_j after every iteration with ``bound_``: it never rises.
    %(outcome, n_clusters_, automatic, input)s

    See Also
    --------
    SKFR : Features are in or out there.
    JASFS : One of its families of hypotheses is sparse k-means.

    Notes
    -----
    Deviations from the paper and from the package sparcl, and why. The threshold of the weights is
    computed, not bisected. A number of features is asked for by moving s along: weights with the
    (k+1)-th largest b_j as threshold and clusters in turn, until both stay; s is what their lengths
    make it, and the iterations that count start there. k-means has the last clusters among its
    starts, and its answer counts if the objective falls: it never rises. The iterations end by
    ``tol`` (there: the weights change by less than 1e-4 in all, or after 6). The bounds tried are
    sparcl's: 10 from 1.2 to 0.9 sqrt(d).

    Cost per iteration: O(ndc) for the weights and O(n² d) or O(nmc) for the clusters, m weights
    not zero; the gap statistic takes 260 such runs. Memory O(n min(n, m) + dc).

    When not to use it: where most columns are noise that drowns the clusters in all columns, as
    they are the start; or where many columns copy each other, since all of them are weighted.

    References
    ----------
    .. [1] D. M. Witten and R. Tibshirani, "A framework for feature selection in clustering",
       Journal of the American Statistical Association 105(490), 2010.

    Examples
    --------
    %(example)s
    """

    n_features_to_select: int | float | str | None = None
    bound: float | str = "auto"
    n_permutations: int = 25

    _price = "bound"
    _checks: ClassVar = {
        # what the l1 norm of a vector of length 1 can be
        "bound": partial(or_auto, partial(check_number, low=1.0), "a number of at least 1"),
        "n_permutations": positive_integer,
    }

    def _check_parameters(self) -> None:
        """Validate the parameters."""
        super()._check_parameters()
        if self.n_features_to_select is not None and not isinstance(self.bound, str):
            raise ValueError(BOTH_SET)

    def _fit(self, X: Any) -> None:
        """Find the bound, then weights and clusters in turn."""
        operator = self._operator(X).centred()
        k = None if self.n_features_to_select is None else self._n_to_select()
        c, random_state = self._count_clusters(X), check_random_state(self.random_state)
        seed = random_state.randint(2**31 - 1)
        problem = WeightedKMeans(operator, c, np.ones_like, seed)
        labels = kmeans_of(operator, c, random_state=check_random_state(seed))
        if k is not None:
            by_count = self._by_units(partial(weights_of_some, n_columns=k))
            labels, _, weights = self._quiet(replace(problem, weigh=by_count), labels)
            weights = weights[np.unique(self._units(), return_index=True)[1]]
            self.bound_ = float(weights.sum()) / (float(np.linalg.norm(weights)) or 1.0) or 1.0
        elif isinstance(self.bound, str):
            self.bounds_, self.gap_ = self._gap(X, replace(problem, n_starts=1), random_state)
            self.bound_ = float(self.bounds_[np.argmax(self.gap_)])
        else:
            self.bound_ = float(self.bound)
        problem = replace(problem, weigh=self._within(self.bound_))
        found = self._alternate(problem, problem.start(labels), "weights and clusters")
        k = k or self._at_least_kept(self._count_units(np.flatnonzero(found.weights)))
        self._set_clusters(found, found.weights, k)

    def _within(self, bound: float) -> Weigh:
        """Return the best weights of features under a bound."""
        return self._by_units(partial(weights_within, bound=bound))

    def _quiet(self, problem: WeightedKMeans, labels: np.ndarray) -> WeightedClusters:
        """Return weights and clusters without a report."""
        return solve(problem, problem.start(labels), max_iter=self.max_iter, tol=self.tol).state

    def _gap(
        self, X: Any, problem: WeightedKMeans, random_state: np.random.RandomState
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return some bounds, and by how much log O(s) exceeds its mean on permuted tables.

        k-means goes on from the last labels, as the authors', and has one other start.
        """
        most = max(0.9 * np.sqrt(self._varies.sum()), 1.2)
        bounds = np.geomspace(1.2, most, defaults.N_BOUNDS)
        rng, scale = np.random.default_rng(random_state.randint(2**31 - 1)), problem.operator.scale

        def logarithms(table: DataOperator) -> np.ndarray:
            seeds = check_random_state(problem.seed)
            labels = kmeans_of(table, problem.n_clusters, random_state=seeds)
            values = []
            for bound in bounds:
                some = replace(problem, operator=table, weigh=self._within(bound))
                found = self._quiet(some, labels)
                values.append(max(float(found.weights @ found.between), 1e-300))
            return np.log(values)

        copies = (permuted(X, rng, self._variables) for _ in range(self.n_permutations))
        chance = [
            logarithms(as_operator(copy, scale=scale).centred())
            for copy in self._progress.counted(copies, self.n_permutations, what="permuted tables")
        ]
        return bounds, logarithms(problem.operator) - np.mean(chance, axis=0)
