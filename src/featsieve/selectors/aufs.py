"""AUFS: a row-sparse regression of pseudo-labels under an adaptive loss (a reconstruction)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from featsieve import defaults
from featsieve.arrays import DataOperator, as_operator
from featsieve.arrays.namespace import in_double, is_single, to_numpy
from featsieve.arrays.weighted import WeightedOperator
from featsieve.base import COLUMN_SCALES, UnsupervisedSelector
from featsieve.graphs.affinity import laplacian, sample_graph, smoothness
from featsieve.graphs.initial_labels import first_labels
from featsieve.graphs.spectral_labels import by_first_sample
from featsieve.selectors.ugfs import warn_collapsed
from featsieve.solvers.alternate import Alternation, Block
from featsieve.solvers.forward_selection import ForwardSelection, SelectionPath
from featsieve.solvers.nonnegative_labels import label_of_row, orthogonality_gap
from featsieve.solvers.projected_labels import (
    LabelProblem,
    ProjectedNewton,
    hardly_changes,
    penalty_sequence,
)
from featsieve.solvers.protocol import Callback, Solution, Status, run
from featsieve.solvers.row_sparse import RowSparseRegression, mean_column_norm
from featsieve.solvers.supports import (
    W_STEPS,
    find_support,
    largest_sparsity,
    rank_features,
    refit,
)
from featsieve.terms.adaptive_loss import adaptive_loss, adaptive_weights
from featsieve.terms.orthogonality import normalised_indicator
from featsieve.terms.regression import square
from featsieve.validation import (
    check_callback,
    check_number,
    check_option,
)

MAX_LABEL_STEPS = 200
# Relative change of the objective at which a penalty below the last one is done with.
ROUGH = 1e-3
# sigma="auto", in units of the median residual: smaller ones let clusters shrink to single samples.
AUTO_SIGMA = 50.0
# A sigma below this share of the median residual only makes the weights ill-conditioned.
SMALLEST_SIGMA = 1e-3


class AUFS(UnsupervisedSelector):
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
    n_clusters : int or "auto", default=8
        Number of clusters c, the columns of F.
    n_features_to_select : int, float, "auto" or None, default=None
        How many features to select: a count, a fraction of the features, or "auto": as many as are
        needed to show the pseudo-labels (see ``path_``). None leaves it to ``sparsity``.
    sparsity : float or "auto", default="auto"
        λ, the price of a feature: it is selected while it lowers the objective by at least this
        much. "auto" takes the λ at which, for the first labels, a further feature adds 0.4 % of
        what the features before it explain together (with ``w_step="iht"``: as many features as
        that). It does not notice that there is nothing to find. Set either this or
        ``n_features_to_select``.
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
    reconstruction : float, default=0.0
        κ, weight of a further term κ Σ φ(||x_i - C'f_i||), which asks that prototypes C of the
        clusters reconstruct the samples, as in RUFS.
    orthogonality : float or sequence of floats, default=(10.0, 100.0, 1e3, 1e4)
        ν. A rising sequence is run through, every value from where the one before it ended.
    w_step : {"forward", "iht", "local"}, default="forward"
        How a support is found: ridge forward selection, hard thresholding (the proximal gradient
        method named by the paper, run to its fixed point with falling λ), or forward selection and
        then single additions, removals and exchanges.
    init : {"spectral", "k-means"}, labels or callable, default="spectral"
        First pseudo-labels: spectral clustering of the graph, k-means on the columns, an array of
        labels, or ``init(X, n_clusters, random_state)``.
    affinity : {"heat", "binary"} or array-like of shape (n_samples, n_samples), default="heat"
        Weights of the graph's edges, or a symmetric, non-negative affinity matrix.
    n_neighbors : int, default=5
        Neighbours of a sample in the graph, or all others if there are fewer.
    scale : {"unit", "none", "raw", "sqrt"}, default="unit"
        Columns: centred with unit variance, centred only, or as they are. The regression has an
        intercept, so that "raw" differs from "none" only by the reconstruction term.
        "sqrt" is half way from "none" to "unit".
    max_iter : int, default=100
        Most iterations (at every value of ν).
    tol : float, default=1e-5
        Relative change of the objective that ends them.
    path_length : int, default=300
        Length of ``path_`` (at least the number of selected features).
    callback : callable or None, default=None
        ``callback(iteration, objective, state)`` after every iteration at the last ν; return True
        to stop.
    verbose : int, default=0
        Whether to print progress: 1 prints the steps of the fit and, at most once a second, its
        iterations; 2 prints every iteration.
    random_state : int, RandomState instance or None, default=None
        Seeds the k-means runs of the first labels.

    Attributes
    ----------
    coef_ : ndarray of shape (`n_features_in_`, n_clusters)
        W, in the units of X; zero for features that are not selected.
    intercept_ : ndarray of shape (n_clusters,)
        b: F is approximated by ``X @ coef_ + intercept_``.
    labels_ : ndarray of shape (n_samples,)
        Pseudo-label of every sample.
    label_matrix_ : ndarray of shape (n_samples, n_clusters)
        F. Its columns are those of ``coef_``; a sample's label is its largest entry, numbered in
        ``labels_`` by first sample unless ``init`` gave labels.
    sample_weights_ : ndarray of shape (n_samples,)
        Weight of every sample's squared residual; small for samples that the labels do not fit.
    scores_ : ndarray of shape (`n_features_in_`,)
        Along ``path_`` the largest λ that still selects the feature, behind it what the feature
        would add; 0 for columns that do not vary.
    ranking_ : ndarray of shape (`n_features_in_`,)
        Rank of every feature, 1 is the best; the selected ones come first.
    support_ : ndarray of shape (`n_features_in_`,), dtype bool
        The selected features.
    n_features_selected_ : int
        Their number.
    path_ : SelectionPath
        Nested selections of every size for the final labels, in units of the objective. It passes
        through the selected features.
    objective_ : ndarray of shape (`n_iter_`,)
        The objective after every iteration at the last ν, all its terms included, with
        λ = ``sparsity_``, σ = ``sigma_``, μ = ``ridge_``, and W for columns scaled as ``scale``
        says. It never rises by more than rounding. (Values at different ν belong to different
        functions; those of smaller ν are not kept. Nor are the prototypes of κ > 0.)
    n_iter_ : int
        Number of iterations at the last ν.
    status_ : Status
        How the solver ended; ``status_.value`` explains it.
    sparsity_ : float
        The λ that was used (0 where a number of features decided).
    sigma_ : float
        The σ that was used.
    ridge_ : float
        The μ that was used: ``ridge`` in units of the objective.
    n_clusters_ : int
        The number of clusters that was used; ``cluster_count_`` says how "auto" found it.
    equivalent_range_ : tuple of int
        With "auto": the smallest and the largest number that are nearly as good as the one chosen.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Only if X had string column names.

    See Also
    --------
    JASFS : Squared loss, feasible labels and a graph that adapts.
    UGFS : Squared loss and exactly k features.
    NDFS : Row sparsity by the l2,1 norm.

    Notes
    -----
    φ is concave in u²: with weights ω_i = (1 + σ)(u_i + 2σ) / (2 (u_i + σ)²) the weighted squared
    loss bounds it from above. Given ω, the best W on a support is a ridge regression on columns
    centred with the weights; a new support is taken only if it beats the present one. F descends by
    projected Newton steps with a line search, zeros included. So the objective falls in every
    block.

    Own choices, and why. The ridge: without it a few columns interpolate the pseudo-labels. The
    large σ: where φ is the length, an unexplained cluster of m samples costs about √m, since
    F'F = I, so that the loss alone prefers clusters of one sample, outliers above all. With σ at
    fifty times the median only residuals beyond that count by length. (With a smaller σ use α = 10
    and ν = 1e4 from the start: the graph, which charges a cluster of one sample its degree, and a
    stiff F'F = I hold against it, on tables without outliers.) ν rises, so that labels can move
    first. No constant is added to
    the first F: projected steps move zeros, which multiplicative ones cannot. First labels from the
    graph, not from k-means, as for the other methods here. The order of the features that are not
    selected is a convention: by what they would add.

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
    >>> from featsieve import AUFS
    >>> from featsieve.datasets import make_planted
    >>> planted = make_planted(n_samples=120, n_features=50, n_informative=10, random_state=0)
    >>> sieve = AUFS(n_clusters=4, n_features_to_select=10, random_state=0).fit(planted.X)
    >>> int((sieve.support_ & planted.informative).sum())
    10
    """

    path_: SelectionPath
    intercept_: np.ndarray

    _follows_count = True
    _price = "sparsity"

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        n_features_to_select: int | float | str | None = None,
        sparsity: float | str = "auto",
        alpha: float = 0.01,
        sigma: float | str = "auto",
        ridge: float = 10.0,
        reconstruction: float = 0.0,
        orthogonality: float | Sequence[float] = (10.0, 100.0, 1e3, 1e4),
        w_step: str = "forward",
        init: Any = "spectral",
        affinity: Any = "heat",
        n_neighbors: int = 5,
        scale: str = "unit",
        max_iter: int = 100,
        tol: float = 1e-5,
        path_length: int = 300,
        callback: Any = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_features_to_select = n_features_to_select
        self.sparsity = sparsity
        self.alpha = alpha
        self.sigma = sigma
        self.ridge = ridge
        self.reconstruction = reconstruction
        self.orthogonality = orthogonality
        self.w_step = w_step
        self.init = init
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.scale = scale
        self.max_iter = max_iter
        self.tol = tol
        self.path_length = path_length
        self.callback = callback
        self.verbose = verbose
        self.random_state = random_state

    def _fit(self, X: Any) -> None:
        """Find pseudo-labels and the features that predict them."""
        penalties = penalty_sequence(self.orthogonality)
        table = self._operator(X)
        scale, center = COLUMN_SCALES[self.scale]
        if is_single(X) and (self.ridge < defaults.SMALL_RIDGE or self.reconstruction > 0.0):
            X = in_double(X)
            table = as_operator(X, scale=scale, center=center)
        # The regression has an intercept: centring is part of it.
        operator = table if center else as_operator(X, scale=scale)
        n_clusters = self._count_clusters(X)
        k = None if self.n_features_to_select is None else self._n_to_select()
        random_state = check_random_state(self.random_state)
        self._progress.step("finding the first labels")
        S = sample_graph(operator, self.affinity, n_neighbors=self.n_neighbors)
        labels, given = first_labels(
            self.init, X, operator, n_clusters, graph=S, random_state=random_state
        )
        F = normalised_indicator(labels, n_clusters)
        problem = self._problem(operator, table, laplacian(S), F=F, n_features=k)
        self._progress.step(f"labels and features in turn, at most {self.max_iter} times")
        runs = [f"orthogonality={nu:g}" for nu in penalties]
        solution = solve_aufs(
            problem,
            F,
            penalties=penalties,
            max_iter=self.max_iter,
            tol=self.tol,
            callback=self._progress.watch(self.callback, runs=runs[-1:]),
            rough_callback=self._progress.watch(runs=runs[:-1]),
        )
        state = solution.state
        if len(state.support) == 0:
            start = problem.start(F)
            regression = problem.regression(F, problem.weights(start))
            largest = float(np.nextafter(2.0 * largest_sparsity(regression, self.w_step), 0.0))
            raise ValueError(
                f"sparsity={problem.sparsity:g} is so large that no feature is selected: the "
                "largest value that selects something for the first labels here is "
                f"{largest!r}. Decrease sparsity, or set n_features_to_select."
            )
        self._set_outcome(solution)
        self.sparsity_, self.sigma_, self.ridge_ = problem.sparsity, problem.sigma, problem.ridge
        self.label_matrix_ = state.F
        self.sample_weights_ = problem.weights(state)
        labels = label_of_row(state.F, state.fitted)
        warn_collapsed(state.F, labels)
        self.labels_ = labels if given else by_first_sample(labels)
        self.coef_ = to_numpy(operator.inverse_scale)[:, None] * state.W
        self.intercept_ = state.b - to_numpy(operator.original_mean) @ self.coef_
        n_selected = len(state.support) if k is None else k
        ranking = rank_features(
            problem.regression(state.F, self.sample_weights_),
            state.support,
            length=max(self.path_length, n_selected),
            unit=2.0,
        )
        self.path_ = ranking.path
        self._set_selection(ranking.scores, n_selected, order=ranking.order)

    def _problem(
        self,
        operator: DataOperator,
        table: DataOperator,
        L: sp.csr_array,
        *,
        F: np.ndarray,
        n_features: int | None,
    ) -> "AUFSProblem":
        """Return what is minimised, with the data-dependent parameters taken from the start."""
        median = float(np.median(row_lengths(F - F.mean(axis=0)))) or 1.0
        if isinstance(self.sigma, str):
            sigma = AUTO_SIGMA * median
        else:
            sigma = max(float(self.sigma), SMALLEST_SIGMA * median)
        problem = AUFSProblem(
            operator,
            table=table,
            laplacian=L,
            alpha=self.alpha,
            sigma=sigma,
            reconstruction=self.reconstruction,
            n_features=n_features,
            w_step=self.w_step,
        )
        weights = problem.weights(problem.start(F))
        unit = mean_column_norm(problem.regression(F, weights).operator)
        problem = replace(problem, ridge=self.ridge * unit)
        if n_features is not None:
            return problem
        if not isinstance(self.sparsity, str):
            return replace(problem, sparsity=float(self.sparsity))
        # As in JASFS: the price at which a feature adds a fixed share of all before it.
        regression = replace(problem.regression(F, weights), least_share=defaults.LEAST_SHARE)
        path = run(ForwardSelection(), regression, max_iter=regression.limit).state
        if self.w_step == "iht":  # needs a smaller lambda for as many: fix their number
            return replace(problem, n_features=len(path.order))
        return replace(problem, sparsity=2.0 * min(path.half_gains))

    def _check_parameters(self) -> None:
        """Refuse values that cannot be meant."""
        check_option("w_step", self.w_step, W_STEPS)
        for name in ("sparsity", "sigma"):
            value = getattr(self, name)
            if not isinstance(value, str):
                check_number(name, value, low=0.0, strict=True)
            elif value != "auto":
                raise ValueError(f"{name} must be 'auto' or a number above 0; got {value!r}.")
        check_number("alpha", self.alpha, low=0.0)
        check_number("ridge", self.ridge, low=0.0)
        check_number("reconstruction", self.reconstruction, low=0.0)
        check_number("n_neighbors", self.n_neighbors, low=1, integer=True)
        check_number("max_iter", self.max_iter, low=1, integer=True)
        check_number("tol", self.tol, low=0.0)
        check_number("path_length", self.path_length, low=0, integer=True)
        check_callback(self.callback)
        if self.n_features_to_select is not None and not isinstance(self.sparsity, str):
            raise ValueError(
                "n_features_to_select and sparsity both say how many features to select: "
                "set one of them and leave the other at its default."
            )


@dataclass(frozen=True)
class Prototypes:
    """Cluster prototypes C (c x d) of the reconstruction term."""

    transposed: np.ndarray  # C', d x c
    along: np.ndarray  # ZC', n x c

    @property
    def gram(self) -> np.ndarray:
        """CC'."""
        return self.transposed.T @ self.transposed


@dataclass(frozen=True)
class AUFSState:
    """The variables of the alternation."""

    F: np.ndarray
    W: np.ndarray
    b: np.ndarray
    support: np.ndarray
    fitted: np.ndarray  # ZW + 1b'
    prototypes: Prototypes | None = None
    settled: bool = True  # whether the last label step went to its end


@dataclass(frozen=True)
class AUFSProblem:
    """What AUFS minimises."""

    operator: DataOperator  # Z of the regression, centred
    table: DataOperator  # Z of the reconstruction
    laplacian: sp.csr_array
    alpha: float
    sigma: float
    orthogonality: float = 0.0
    ridge: float = 0.0
    sparsity: float = 0.0
    reconstruction: float = 0.0
    n_features: int | None = None
    w_step: str = "forward"

    def start(self, F: np.ndarray) -> AUFSState:
        """Return W = 0, b the column means of F, and the prototypes of F."""
        b = F.mean(axis=0)
        none = np.zeros(0, dtype=np.intp)
        W = np.zeros((self.operator.shape[1], F.shape[1]))
        state = AUFSState(F, W, b, none, np.tile(b, (len(F), 1)))
        if self.reconstruction == 0.0:
            return state
        return replace(state, prototypes=self.prototypes(F, np.ones(len(F))))

    def objective(self, state: AUFSState) -> float:
        """Return the objective with its ridge and the penalty for F'F = I."""
        loss = float(adaptive_loss(row_lengths(state.fitted - state.F), self.sigma).sum())
        if state.prototypes is not None:
            u = self.distances(state.F, state.prototypes)
            loss += self.reconstruction * float(adaptive_loss(u, self.sigma).sum())
        return (
            loss
            + self.alpha * smoothness(self.laplacian, state.F)
            + self.ridge * square(state.W)
            + self.sparsity * len(state.support)
            + 0.5 * self.orthogonality * orthogonality_gap(state.F)
        )

    def weights(self, state: AUFSState) -> np.ndarray:
        """Return the weights of the samples' squared residuals."""
        return adaptive_weights(row_lengths(state.fitted - state.F), self.sigma)

    def regression(self, F: np.ndarray, weights: np.ndarray) -> RowSparseRegression:
        """Return half the majoriser as a problem of W, with b eliminated by weighted centring."""
        xp, device = self.operator.xp, self.operator.device
        target = np.sqrt(weights)[:, None] * (F - weighted_mean(F, weights))
        return RowSparseRegression(
            WeightedOperator(self.operator, xp.asarray(weights, device=device)),
            xp.asarray(target, device=device),
            ridge=self.ridge,
            sparsity=0.5 * self.sparsity,
            n_features=self.n_features,
        )

    def distances(self, F: np.ndarray, C: Prototypes) -> np.ndarray:
        """Return ||z_i - f_i C|| of every sample, from products only."""
        cross = np.einsum("ij,ij->i", F, F @ C.gram - 2.0 * C.along)
        return np.sqrt(np.maximum(to_numpy(self.table.row_norms()) + cross, 0.0))

    def prototypes(self, F: np.ndarray, weights: np.ndarray) -> Prototypes:
        """Return C = (F'PF)^(-1) F'PZ, P = diag(weights)."""
        table, xp = self.table, self.table.xp
        weighted = weights[:, None] * F
        moments = to_numpy(table.rmatmul(xp.asarray(weighted, device=table.device)))
        transposed = moments @ np.linalg.pinv(F.T @ weighted, hermitian=True)
        along = table.matmul(xp.asarray(transposed, device=table.device))
        return Prototypes(transposed, to_numpy(along))


def solve_aufs(
    problem: AUFSProblem,
    F: np.ndarray,
    *,
    penalties: Sequence[float],
    max_iter: int = 100,
    tol: float = 1e-5,
    callback: Callback[AUFSState] | None = None,
    rough_callback: Callback[AUFSState] | None = None,
) -> Solution[AUFSState]:
    """Run the alternation from the labels F at the last of the penalties.

    The runs at smaller ones, to a rough tolerance, only make its start (``rough_callback`` sees
    them). The history is that of the last run: within it the objective is one function.
    """
    state = problem.start(F)
    *below, last = penalties
    for nu in below:
        rough = alternation(state, tol=max(tol, ROUGH))
        at_nu = replace(problem, orthogonality=nu)
        state = run(rough, at_nu, max_iter=max_iter, callback=rough_callback).state
    problem = replace(problem, orthogonality=last)
    return run(alternation(state, tol=tol), problem, max_iter=max_iter, callback=callback)


def alternation(state: AUFSState, *, tol: float) -> Alternation[AUFSProblem, AUFSState]:
    """Return the solver at one penalty, from a state on."""

    def stop(state: AUFSState, history: Sequence[float]) -> Status | None:
        if len(history) > 1 and len(state.support) == 0:
            return Status.STATIONARY  # the penalty does not pay for any feature
        done = state.settled and hardly_changes(history, tol, n_clusters=state.F.shape[1])
        return Status.CONVERGED if done else None

    return Alternation(
        start=lambda problem: state,
        blocks=(
            Block("weights", update_weights),
            Block("labels", update_labels),
            Block("prototypes", update_prototypes),
        ),
        value=AUFSProblem.objective,
        stop=stop,
    )


def update_weights(problem: AUFSProblem, state: AUFSState) -> AUFSState:
    """Find a support and its W and b for the weighted squared loss."""
    operator, xp = problem.operator, problem.operator.xp
    weights = problem.weights(state)
    regression = problem.regression(state.F, weights)
    support = find_support(regression, problem.w_step, known=state.support).support
    W = refit(regression, support)
    live = xp.asarray(support, device=operator.device)
    image = to_numpy(operator.matmul(xp.asarray(W, device=operator.device), live=live))
    b = weighted_mean(state.F - image, weights)
    return replace(state, W=W, b=b, support=support, fitted=image + b)


def update_labels(problem: AUFSProblem, state: AUFSState) -> AUFSState:
    """Minimise the majoriser of the objective over F."""
    weights = problem.weights(state)
    A = sp.csr_array(sp.diags_array(weights) + problem.alpha * problem.laplacian)
    B = weights[:, None] * state.fitted
    C = state.prototypes
    if C is None:
        outer, gram = None, None
    else:
        u = problem.distances(state.F, C)
        outer = problem.reconstruction * adaptive_weights(u, problem.sigma)[:, None]
        gram = C.gram
        B = B + outer * C.along

    def product(F: np.ndarray) -> np.ndarray:
        return A @ F if outer is None else A @ F + outer * (F @ gram)

    graph = A if outer is None else None
    step = LabelProblem(product, B, problem.orthogonality, graph)
    solution = run(ProjectedNewton(state.F), step, max_iter=MAX_LABEL_STEPS)
    return replace(state, F=solution.state.F, settled=solution.status.success)


def update_prototypes(problem: AUFSProblem, state: AUFSState) -> AUFSState:
    """Fit the prototypes to the weighted samples."""
    if state.prototypes is None:
        return state
    u = problem.distances(state.F, state.prototypes)
    weights = adaptive_weights(u, problem.sigma)
    return replace(state, prototypes=problem.prototypes(state.F, weights))


def row_lengths(R: np.ndarray) -> np.ndarray:
    """Return the lengths of the rows."""
    return np.sqrt(np.einsum("ij,ij->i", R, R))


def weighted_mean(F: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the column means with weights of the rows."""
    return (weights @ F) / weights.sum()
