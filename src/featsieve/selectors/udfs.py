"""UDFS: a sparse projection in which neighbours can be told apart."""

from typing import Any, ClassVar

from featsieve import defaults
from featsieve.base import estimator
from featsieve.graphs.local_models import (
    local_discriminant_matrix,
    local_grams,
    mean_scatter,
    neighbourhoods,
)
from featsieve.selectors.projection import ProjectionSelector, count_varying
from featsieve.solvers.sparse_projection import SparseProjection
from featsieve.validation import positive_or_auto


@estimator
class UDFS(ProjectionSelector):
    """Unsupervised discriminative feature selection.

    A sparse orthonormal projection W of the samples in which every neighbourhood keeps as little
    unexplained scatter as possible [1]_:

        min  tr(W'MW) + γ ||W||_{2,1},   W'W = I,   M = X' (Σ_i R_i'A_iR_i) X,
        A_i = H (H X_i X_i' H + λI)⁻¹ H,

    X_i being the rows of sample i and its k nearest neighbours, R_i picking them, and H centring
    them. The score of a feature is the length of its row of W.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of clusters c, the columns of W; at least one feature more must vary. (If not, W has
        fewer columns, with a warning.)
    %(n_features_to_select)s
    gamma : float or "auto", default="auto"
        γ, row sparsity. "auto" is a share of the mean roughness x_j'Lx_j of the columns (a larger
        share for d ≥ n), hence independent of units. A very large γ leaves exactly c features with
        weights; there is a warning if more are to be selected.
    local_ridge : float or "auto", default="auto"
        λ, against which the local scatter is measured. "auto" is its mean non-zero eigenvalue.
        The paper's matrix is λM: (γ, λM) and (γ/λ, M) have the same minimiser.
    %(first_weights)s
    %(n_neighbors, scale)s
        Published is "raw": the method then prefers features of small variance. Centring alone
        changes nothing.
    %(max_iter)s
        (Public programs stop after 20 or 36.)
    %(tol, callback, verbose)s
    %(constraints)s

    Attributes
    ----------
    %(coef_)s
    gamma_, local_ridge_ : float
        γ and λ that were used.
    %(eigengap_, scores_, selection, objective_)s
        It never rises.
    %(outcome, n_clusters_, automatic, input)s

    See Also
    --------
    SOGFS : The same projection on a graph that is learned with it.
    LaplacianScore : Smoothness of one feature at a time.

    Notes
    -----
    Deviations from the paper and public code, and why. The first weights (see ``init``). Columns
    that do not vary are left out: they have no scatter and would come first. Columns are
    standardised unless ``scale="raw"``. One formula for A_i whatever the number of features: the
    common MATLAB code inverts λ when d ≤ k + 1. scikit-feature puts the blocks A_i in wrong
    places, and uses one parameter for λ and γ.

    Cost: O(n²d) for the neighbours; per iteration O(n²d + n³) for d > n, O(d³) for d ≤ n; memory
    O(nd + nk² + min(n, d)²).

    When not to use it: with more features than samples there are directions without any scatter,
    of which the method finds sparse ones, whatever the clusters are. Samples that are neighbours of
    hardly any hardly count, and columns that vary among these look smooth. Copies of a column rank
    high even if they are noise: the difference of two copies has no scatter.

    References
    ----------
    .. [1] Y. Yang, H. T. Shen, Z. Ma, Z. Huang and X. Zhou, "l2,1-norm regularized discriminative
       feature selection for unsupervised learning", IJCAI 2011.

    Examples
    --------
    >>> from featsieve import UDFS
    >>> from featsieve.datasets import make_planted
    >>> planted = make_planted(n_samples=120, n_features=50, n_informative=10, random_state=0)
    >>> sieve = UDFS(n_clusters=4, n_features_to_select=8).fit(planted.X)
    >>> int((sieve.support_ & planted.informative).sum())
    8
    """

    local_ridge: float | str = "auto"
    max_iter: int = 100

    _checks: ClassVar = {**ProjectionSelector._checks, "local_ridge": positive_or_auto}

    def _fit(self, X: Any) -> None:
        """Find the projection and the features it uses."""
        operator = self._operator(X)
        n_selected = self._n_to_select()
        n_clusters = self._count_clusters(X)
        self._progress.step("measuring the scatter among neighbours")
        members = neighbourhoods(operator, self.n_neighbors)
        grams = local_grams(operator, members)
        given = not isinstance(self.local_ridge, str)
        self.local_ridge_ = float(self.local_ridge) if given else mean_scatter(grams)
        L = local_discriminant_matrix(members, grams, ridge=self.local_ridge_)
        tall = count_varying(operator) < operator.shape[0]
        share = defaults.UDFS_GAMMA_TALL if tall else defaults.UDFS_GAMMA_WIDE
        gamma = self._resolve_gamma(share, L, operator)
        m = self._n_columns("n_clusters", n_clusters, operator)
        problem = SparseProjection(operator, L, m, gamma, init=self.init)
        state = self._alternate(problem, problem.start(), "weights and projection")
        self._set_projection(operator, L, state, n_selected)
