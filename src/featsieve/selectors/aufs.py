"""AUFS: a row-sparse regression of pseudo-labels under an adaptive loss (a reconstruction)."""

from dataclasses import replace
from typing import ClassVar

import numpy as np

from featsieve import defaults
from featsieve.base import estimator
from featsieve.graphs.affinity import laplacian
from featsieve.selectors.common import Start
from featsieve.selectors.label_support import LabelSupportSelector
from featsieve.solvers.forward_selection import ForwardSelection
from featsieve.solvers.label_support import SupportProblem, SupportState, row_lengths
from featsieve.solvers.protocol import Solution, run
from featsieve.solvers.row_sparse import mean_column_norm
from featsieve.solvers.supports import largest_sparsity
from featsieve.terms.orthogonality import normalised_indicator
from featsieve.validation import BOTH_SET, positive_or_auto


@estimator
class AUFS(LabelSupportSelector):
    """Adaptive unsupervised feature selection: pseudo-labels, adaptive loss and l2,0 penalty.

    **A reconstruction.** Neither a program nor the algorithm of the paper [1]_ is public. What is
    known of it (title, abstract, how others describe it, its authors' predecessor RUFS) names the
    ingredients; the objective and the algorithm below are put together from them, so that the
    numbers of the paper need not come out.

    Pseudo-labels F and a row-sparse regression (W, b) that predicts them are found in turn:

        min  Σ φ(||W'x_i + b - f_i||) + α tr(F'LF) + λ ||W||_{2,0} + μ ||W||² + ½ν ||F'F - I||²

    over F ≥ 0, with the adaptive loss φ(u) = (1 + σ) u² / (u + σ) of [2]_, which is the squared
    loss for residuals short against σ and the plain length for long ones, so that outlying samples
    count less. L is the Laplacian of the neighbour graph. The selected features are the non-zero
    rows of W.

    Parameters
    ----------
    %(n_clusters)s
    n_features_to_select : int, float, "auto" or None, default=None
        How many features to select: a count, a fraction of the features, or "auto": as many as are
        needed to show the pseudo-labels (see ``path_``). None leaves it to ``sparsity``.
    sparsity : float or "auto", default="auto"
        λ, the price of a feature: it is selected while it lowers the objective by at least this
        much. "auto" takes the λ at which, for the first labels, a further feature adds 0.4 % of
        what the features before it explain together. It does not notice that there is nothing to
        find. Set either this or ``n_features_to_select``.
    alpha : float, default=0.01
        α, weight of the graph. With very large values all samples get the same labels, and a
        warning says so.
    sigma : float or "auto", default="auto"
        σ of the adaptive loss: below it residuals count by their squares. "auto" is fifty times the
        median length of f_i less its mean, the residuals of the first labels without any feature.
        Much smaller values let clusters shrink to single samples, see Notes; below a thousandth of
        the median they only make the weights ill-conditioned, and are raised to that.
    ridge : float, default=10.0
        μ, in units of the mean squared column norm (of the samples as weighted at the start). Large
        values keep groups of correlated features, small ones avoid redundancy. 0 is the bare
        objective, which fits the noise of the pseudo-labels once there are more features than
        samples.
    %(rising_orthogonality)s
        It is ν above.
    %(init, affinity, n_neighbors, scale)s
        The regression has an intercept: "raw" is "none".
    %(max_iter)s
        (At every value of ν.)
    %(tol, path_length, last_callback, verbose, random_state)s
    %(constraints)s

    Attributes
    ----------
    %(sparse_coef_, intercept_, labels_, label_matrix_)s
    sample_weights_ : ndarray of shape (n_samples,)
        Weight of every sample's squared residual; small for samples that the labels do not fit.
    scores_ : ndarray of shape (`n_features_in_`,)
        Along ``path_`` the largest λ that still selects the feature, behind it what the feature
        would add; 0 for columns that do not vary.
    %(selected_first, support_, n_features_selected_)s
    path_ : SelectionPath
        Nested selections of every size for the final labels, in units of the objective. It passes
        through the selected features.
    objective_ : ndarray of shape (`n_iter_`,)
        The objective after every iteration at the last ν, all its terms included, with
        λ = ``sparsity_``, σ = ``sigma_``, μ = ``ridge_``, and W for columns scaled as ``scale``
        says. It never rises by more than rounding. (Values at different ν belong to different
        functions; those of smaller ν are not kept.)
    n_iter_ : int
        Number of iterations at the last ν.
    %(status_)s
    sparsity_ : float
        The λ that was used (0 where a number of features decided).
    sigma_ : float
        The σ that was used.
    ridge_ : float
        The μ that was used: ``ridge`` in units of the objective.
    %(n_clusters_, equivalent_range_, input)s

    See Also
    --------
    JASFS : Squared loss, feasible labels and a graph that adapts.
    UGFS : Squared loss and exactly k features.
    NDFS : Row sparsity by the l2,1 norm.

    Notes
    -----
    φ is concave in u²: with weights ω_i = (1 + σ)(u_i + 2σ) / (2 (u_i + σ)²) the weighted squared
    loss bounds it from above. Given ω, the best W on a support is a ridge regression on columns
    centred with the weights; a support that forward selection finds is taken only if it beats the
    present one. F descends by projected Newton steps with a line search. So the objective falls in
    every block.

    Own choices, and why. The ridge: without it a few columns interpolate the pseudo-labels. The
    large σ: where φ is the length, an unexplained cluster of m samples costs about √m, since
    F'F = I, so that the loss alone prefers clusters of one sample, outliers above all. With σ at
    fifty times the median only residuals beyond that count by length. (With a smaller σ use α = 10
    and ν = 1e4 from the start: the graph, which charges a cluster of one sample its degree, and a
    stiff F'F = I hold against it, on tables without outliers.) The support by forward selection,
    not by the proximal gradient method that the paper names. ν rises, so that labels can move
    first. The order of the features that are not selected is a convention: by what they would add.

    Cost per iteration: O(knd) for d > n, O(nd² + k²d) for d ≤ n with k features selected, plus
    O(nc (neighbours + c)) for each of some hundred products of the label step. Memory
    O(nd + min(n, d)²).

    When not to use it: as a record of the published method; or with few samples in a cluster.

    References
    ----------
    .. [1] M. Qian and C. Zhai, "Joint adaptive loss and l2/l0-norm minimization for unsupervised
       feature selection", IJCNN 2015.
    .. [2] F. Nie, H. Wang, H. Huang and C. Ding, "Adaptive loss minimization for semi-supervised
       elastic embedding", IJCAI 2013.

    Examples
    --------
    %(example)s
    """

    n_features_to_select: int | float | str | None = None
    sparsity: float | str = "auto"
    sigma: float | str = "auto"
    max_iter: int = 100

    _price = "sparsity"
    _checks: ClassVar = {
        **LabelSupportSelector._checks,
        "sparsity": positive_or_auto,
        "sigma": positive_or_auto,
    }

    def _problem(self, start: Start, F: np.ndarray, n_features: int | None) -> SupportProblem:
        """Return what is minimised, with the data-dependent parameters taken from the start."""
        median = float(np.median(row_lengths(F - F.mean(axis=0)))) or 1.0
        if isinstance(self.sigma, str):
            sigma = defaults.AUFS_SIGMA * median
        else:
            sigma = max(float(self.sigma), defaults.AUFS_SMALLEST_SIGMA * median)
        L = laplacian(start.graph)
        problem = SupportProblem(start.operator, L, self.alpha, sigma=sigma, n_features=n_features)
        weights = problem.weights(problem.start(F))
        unit = mean_column_norm(problem.regression(F, weights).operator)
        problem = replace(problem, ridge=self.ridge * unit)
        if n_features is not None:
            return problem
        if not isinstance(self.sparsity, str):
            return replace(problem, sparsity=float(self.sparsity))
        # The price at which a feature adds a fixed share of all before it.
        regression = replace(problem.regression(F, weights), least_share=defaults.LEAST_SHARE)
        path = run(ForwardSelection(), regression, max_iter=regression.limit).state
        return replace(problem, sparsity=2.0 * min(path.half_gains))

    def _set_fitted(
        self, start: Start, problem: SupportProblem, solution: Solution[SupportState]
    ) -> None:
        """Set what the alternation has found; say what is wrong where that is no feature."""
        if len(solution.state.support) == 0:
            F = normalised_indicator(start.labels, start.n_clusters)
            regression = problem.regression(F, problem.weights(problem.start(F)))
            largest = float(np.nextafter(2.0 * largest_sparsity(regression), 0.0))
            raise ValueError(
                f"sparsity={problem.sparsity:g} is so large that no feature is selected: the "
                "largest value that selects something for the first labels here is "
                f"{largest!r}. Decrease sparsity, or set n_features_to_select."
            )
        super()._set_fitted(start, problem, solution)
        self.sparsity_, self.sigma_ = problem.sparsity, problem.sigma
        self.sample_weights_ = problem.weights(solution.state)

    def _check_parameters(self) -> None:
        """Validate the parameters."""
        super()._check_parameters()
        if self.n_features_to_select is not None and not isinstance(self.sparsity, str):
            raise ValueError(BOTH_SET)
