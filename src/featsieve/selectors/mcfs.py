"""MCFS: few features that together predict the spectral embedding of the samples."""

from functools import partial
from typing import Any, ClassVar

import numpy as np

from featsieve.arrays import DataOperator
from featsieve.arrays.namespace import to_numpy
from featsieve.base import estimator
from featsieve.graphs.affinity import sample_graph
from featsieve.graphs.embedding import spectral_embedding
from featsieve.selectors.common import ClusterSelector
from featsieve.solvers.lars import LarsPath, lasso_lars
from featsieve.validation import nonnegative, or_auto


@estimator
class MCFS(ClusterSelector):
    """Multi-cluster feature selection.

    The K smoothest non-constant functions on the neighbour graph, L y = λ D y, show the clusters.
    Each is predicted by a regression with an l1 and a ridge penalty,

        min_a  ||y_k - Xa||² + ρ_k ||a||² + penalty ||a||_1,

    the l1 penalty being lowered until as many features take part as are to be selected [1]_. The
    score of a feature is its largest coefficient, ``max_k |a_kj| / ||a_k||``.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of clusters c to look for. K is c - 1, which is how many functions tell c clusters
        apart; all further ones vary inside the clusters, and bring features that do so. The authors
        take K = c.
    %(n_features_to_select)s
        It is also the number of non-zero coefficients of every regression.
    ridge : float or "auto", default="auto"
        ρ. Without it, no more than n_samples coefficients can be non-zero; the larger it is, the
        more of the features that say the same enter. Published is 1e-3, for any table. "auto" is
        ``m s/(1 - s)`` with ``s = sqrt(λ_k)`` and m the mean sum of squares of the columns: a
        regression on one feature then leaves the part λ_k of what that feature explains, which is
        the part of y_k that neighbours contradict.
    %(affinity, n_neighbors, scale)s
        Published is "raw": the regressions have no intercept, and coefficients depend on units.
    %(constraints)s

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, K)
        The functions y_k. There are fewer than asked for where the graph has no more (see Notes).
    eigenvalues_ : ndarray of shape (K,)
        Their λ, between 0 and 2; 0 for functions that are constant on every connected part.
    ridge_ : ndarray of shape (K,)
        The ρ_k that were used.
    coef_ : ndarray of shape (`n_features_in_`, K)
        The coefficients a_k, in the units of X.
    scores_ : ndarray of shape (`n_features_in_`,)
        ``max_k |a_kj| / ||a_k||`` for the scaled columns; 0 for features in none of the
        regressions, and for columns that do not vary.
    %(ranking_)s
        Features of score 0 follow in the order in which they would enter a regression, then columns
        that do not vary.
    %(support_, n_features_selected_, n_clusters_, automatic, input)s

    See Also
    --------
    LaplacianScore : Judges every feature alone, on the same graph.
    NDFS : Regression on pseudo-labels instead of an embedding.

    Notes
    -----
    Deviations from the paper and public code, and why. K is c - 1. Columns are standardised unless
    ``scale="raw"``, as there is no intercept. The ridge follows the graph (see ``ridge``): with the
    published one the regressions fit what is wrong in the embedding. Features of score 0, whose
    order the paper leaves open, are ranked by the largest ``|x_j'(y_k - Xa_k)|`` relative to that
    of the selected ones: the lasso path adds features in that order. Of features that tie for the
    last place those of lower index enter. The constant function is projected out; dropping the
    first eigenvector, as scikit-feature does, drops an arbitrary one where the graph is not
    connected. scikit-feature also follows the plain LARS path, without ridge and lasso rule, does
    not normalise a_k, and forgets the absolute value.

    The functions with eigenvalue λ = 0 of an unconnected graph are not unique: each of those used
    here separates one connected part from all smaller ones, the largest first. As in the authors'
    code functions with ``|1 - λ| < 1e-6`` are left out, unless there are no others.

    Cost: O(n²d) time for the neighbours, O(nkK) per Lanczos step. The regressions are one path of
    lasso-LARS each: with m features to select O(nd² + Km²d) for d ≤ n; for d > n
    O(Kmnd + Km³), in about m products with the table that serve all paths. Memory
    O(min(n, d) d + Km²) beside a dense table, O(Kd + Km²) beside a sparse one.

    When not to use it: of features that carry the same information some enter, and others follow
    late; to keep whole groups use LaplacianScore or NDFS. With most columns noise, the
    graph describes noise.

    References
    ----------
    .. [1] D. Cai, C. Zhang and X. He, "Unsupervised feature selection for multi-cluster data", KDD
       2010.

    Examples
    --------
    %(example)s
    """

    ridge: float | str = "auto"
    affinity: Any = "heat"

    _follows_count = True
    _checks: ClassVar = {"ridge": partial(or_auto, nonnegative, "a number of at least 0")}

    def _fit(self, X: Any) -> None:
        """Embed the samples and find the features that predict the embedding."""
        operator = self._operator(X)
        n_selected = self._n_to_select()
        n_eigenvectors = max(self._count_clusters(X) - 1, 1)
        S = sample_graph(operator, self.affinity, n_neighbors=self.n_neighbors)
        self.embedding_, self.eigenvalues_ = spectral_embedding(S, n_eigenvectors)
        if self.embedding_.shape[1] == 0:
            raise ValueError("affinity links no two samples: pass one with more edges.")
        self.ridge_ = resolve_ridge(self.ridge, operator, self.eigenvalues_)
        path = lasso_lars(operator, self.embedding_, n_selected, ridge=self.ridge_)
        self.coef_ = to_numpy(operator.inverse_scale)[:, None] * path.weights
        length = np.sqrt(np.einsum("ij,ij->j", path.weights, path.weights))  # 0: no coefficient
        scores = np.max(np.abs(path.weights) / np.where(length > 0.0, length, 1.0), axis=1)
        constant = ~to_numpy(operator.varies)
        order = np.lexsort((-entry_order(path), constant, -scores))
        self._set_selection(scores, n_selected, order=order)


def resolve_ridge(ridge: float | str, operator: DataOperator, parts: np.ndarray) -> np.ndarray:
    """Return ρ_k; "auto" leaves (ρ/(m + ρ))² = λ_k, of at least and all but one sample."""
    if not isinstance(ridge, str):
        return np.full(len(parts), float(ridge))
    share = np.clip(parts, 1.0 / operator.shape[0], 1.0 - 1.0 / operator.shape[0]) ** 0.5
    m = float(to_numpy(operator.column_norms())[to_numpy(operator.varies)].mean())
    return m * share / (1.0 - share)


def entry_order(path: LarsPath) -> np.ndarray:
    """Return how close a feature is to entering: max_k |c_kj| / C_k, 1 for who is next."""
    going = path.level > 0.0  # paths that have explained their target add nobody any more
    if not going.any():
        return np.zeros(len(path.weights))
    return np.max(np.abs(path.correlation[:, going]) / path.level[going], axis=1)
