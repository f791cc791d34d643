"""UGFS: the group of exactly k features that predicts smooth pseudo-labels best.

The released solver (``solver="paper"``) is an augmented Lagrangian with three splittings:

    min ||E||^2 + alpha tr(F'LG)   s.t.  E = ZW - F,  B = W,  G = F,
                                         F'F = I,  ||B||_{2,0} = k,  G >= 0

with multipliers Lam, Sig, Om and one penalty mu that grows. The graph term is bilinear in F and its
non-negative copy G (called Z by the authors). Every block update is the exact minimiser of

    ||E||^2 + alpha tr(F'LG) + <Lam, E - ZW + F> + <Sig, W - B> + <Om, F - G>
        + (mu/2) (||E - ZW + F||^2 + ||W - B||^2 + ||F - G||^2)

in that block, but on this non-convex set nothing makes the objective fall: watch the residuals.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from featsieve import defaults
from featsieve.arrays import DataOperator, as_operator
from featsieve.arrays.linalg import polar
from featsieve.arrays.namespace import in_double, is_single, to_numpy
from featsieve.base import COLUMN_SCALES, estimator
from featsieve.graphs.affinity import laplacian, smoothness
from featsieve.selectors.common import BlockProblem, Start
from featsieve.selectors.label_support import LabelSupportSelector
from featsieve.solvers.alternate import relative_change
from featsieve.solvers.label_support import SupportProblem
from featsieve.solvers.nonnegative_labels import label_of_row
from featsieve.solvers.row_sparse import mean_column_norm
from featsieve.terms.orthogonality import normalised_indicator
from featsieve.terms.regression import square
from featsieve.validation import one_of

# The penalty grows by this factor in every iteration, up to the second value.
GROWTH, LARGEST_PENALTY = 1.05, 1e10
# Beside sums of squares that are larger, nothing is left of the ridge of 1: the inverse is noise.
LARGEST_SQUARE = 1e24


@estimator
class UGFS(LabelSupportSelector):
    """Unsupervised group feature selection: exactly k features, chosen together.

    Pseudo-labels F that are smooth on the neighbour graph, non-negative and orthonormal, and a
    regression W on exactly k features that predicts them [1]_:

        min  ||XW - F||² + α tr(F'LF)   subject to  ||W||_{2,0} = k,  F'F = I,  F ≥ 0.

    By default an intercept and a ridge are added, and F'F = I is a penalty: see ``objective_``.
    k features are judged as a group: one of them is replaced as soon as another fits better to the
    rest.

    Parameters
    ----------
    %(n_clusters)s
    n_features_to_select : int, float or "auto", default=0.1
        k, how many features to select: a count, a fraction of the features, or "auto": as many as
        are needed to show the pseudo-labels (see ``path_``).
    alpha : float, default=0.01
        α, weight of the graph. With large values F follows the graph of all features, noise
        included, and the regression cannot correct it; with very large ones all samples get the
        same labels, and a warning says so.
    solver : {"alternation", "paper"}, default="alternation"
        "alternation" descends the objective with an intercept, a ridge and a penalty for F'F = I.
        "paper" is the released method of multipliers, see ``update``.
    update : {"safe", "paper"}, default="safe"
        Settings of ``solver="paper"``. "safe": start at the first labels with zero multipliers and
        penalty 1, rows kept by their Euclidean norm, end when the constraints hold. "paper": as
        released, from a random W and F = the first columns of the identity, with multipliers 1 and
        penalty 1e-4, rows kept by their l1 norm; the released program also has ``max_iter=50`` and
        ``tol=1e-3``, an absolute change.
    ridge : float, default=10.0
        μ of a term μ ||W||², in units of the mean squared column norm (alternation). Without it few
        columns interpolate the pseudo-labels when there are more features than samples.
    orthogonality : float or sequence of floats, default=(10.0, 100.0, 1e3, 1e4)
        ν of a term ½ν ||F'F - I||² (alternation). A rising sequence is run through, every value
        from where the one before it ended: F moves while ν is small.
    %(init, affinity, n_neighbors, scale)s
        The authors' driver has "unit". The alternation has an intercept: for it "raw" is "none".
    %(max_iter)s
        (Of the alternation: at every value of ν.)
    %(tol)s
    path_length : int, default=300
        Length of ``path_`` (at least k; alternation).
    callback : callable or None, default=None
        ``callback(iteration, objective, state)`` after every iteration (of the alternation: at the
        last ν); return True to stop.
    %(verbose)s
    random_state : int, RandomState instance or None, default=None
        Seeds the k-means runs of the first labels, and the random start of ``update="paper"``.

    Attributes
    ----------
    coef_ : ndarray of shape (`n_features_in_`, n_clusters)
        W (with ``solver="paper"`` its row-sparse copy), in the units of X; zero for features that
        are not selected.
    %(intercept_, labels_)s
    label_matrix_ : ndarray of shape (n_samples, n_clusters)
        F (with ``solver="paper"`` its non-negative copy). Its columns are those of ``coef_``; a
        sample's label is its largest entry, numbered in ``labels_`` by first sample unless ``init``
        gave labels.
    scores_ : ndarray of shape (`n_features_in_`,)
        Alternation: along ``path_`` by how much the feature lowers the objective (at most as much
        as those before it), behind it what the feature would add. Paper: norm of the feature's row
        of W + Σ/μ, by which rows are kept. 0 for columns that do not vary.
    %(selected_first, support_)s
    n_features_selected_ : int
        Their number, k.
    path_ : SelectionPath
        Nested selections of every size for the final labels, so that no size needs another run
        (alternation): ``path_.order[:m]`` are m features. It passes through the selected ones.
    objective_ : ndarray of shape (`n_iter_`,)
        The objective after every iteration. Alternation, at the last ν:
        ||XW + 1b' - F||² + ``ridge_`` ||W||² + α tr(F'LF) + ½ν ||F'F - I||², with W for columns
        scaled as ``scale`` says; it never rises by more than rounding. (Values at different ν
        belong to different functions; those of smaller ν are not kept.) Paper:
        ||XW - F||² + α tr(F'LF) with W and F themselves, not their copies, and it may rise.
    ridge_ : float
        ``ridge`` in units of the objective: times the mean squared norm of the centred columns that
        vary (alternation).
    n_iter_ : int
        Number of iterations (of the alternation: at the last ν).
    %(status_, n_clusters_, equivalent_range_, input)s

    See Also
    --------
    AUFS : A price for every feature and a loss that forgives outlying samples.
    JASFS : Labels that are exactly feasible, a graph that adapts.

    Notes
    -----
    Deviations from the released program, and why. It is a method of multipliers with three copies
    of variables; every one of its steps minimises the augmented Lagrangian, but it stops while its
    constraints are far from met (the penalty has grown from 1e-4 to 1e-3 by then), and what it
    selects follows from its random start; rows of W are kept by their l1 norm, which is not the
    projection on row-sparse matrices. The alternation solves both blocks by descent instead: k
    features by forward selection, then exchanges while they lower the objective, from the features
    of the iteration before and, when the labels have moved, anew; F by projected Newton steps with
    a line search. A multiplicative rule with a penalty of 1e8 would not move F at all.
    ``solver="paper"`` ends when the constraints are violated by less than 1 %; the last digits of
    W = its copy come slowly.

    Exchanges are tried with the 512 features that would add most (all of them, where there are no
    more).

    Cost per iteration: O(nd min(n, k) + k²n) for every exchange, O(knd) for a fresh search, plus
    O(nc (neighbours + c)) for each of some hundred products of the label step. Paper: O(ndc + nc²)
    after one inverse of a matrix of size min(n, d); the released program inverts a d × d one.
    Memory O(nd + min(n, d)²).

    When not to use it: to learn how many features matter (JASFS and AUFS decide); or with a small
    ridge when features are many and redundant, because the group then fits noise.

    References
    ----------
    .. [1] X. Du, F. Nie, W. Wang, Y. Yang and X. Zhou, "Exploiting combination effect for
       unsupervised feature selection by l2,0 norm", IEEE Transactions on Neural Networks and
       Learning Systems 30(1), 2019.

    Examples
    --------
    %(example)s
    """

    solver: str = "alternation"
    update: str = "safe"
    max_iter: int = 500

    _checks: ClassVar = {
        **LabelSupportSelector._checks,
        "solver": one_of("alternation", "paper"),
        "update": one_of("safe", "paper"),
    }

    def _fit(self, X: Any) -> None:
        """Find pseudo-labels and the group of features that predicts them."""
        operator = self._operator(X)
        scale, center = COLUMN_SCALES[self.scale]
        if is_single(X) and (self.solver == "paper" or self.ridge < defaults.SMALL_RIDGE):
            X = in_double(X)
            operator = as_operator(X, scale=scale, center=center)
        k = self._n_to_select()
        start = self._first_labels(X, operator)
        if self.solver == "paper":
            self._fit_paper(start, k)
            return
        if not center:  # the intercept of the model is a centring
            operator = as_operator(X, scale=scale)
        problem = SupportProblem(
            operator,
            laplacian(start.graph),
            self.alpha,
            ridge=self.ridge * mean_column_norm(operator),
            n_features=k,
            exchanges=True,
        )
        F = normalised_indicator(start.labels, start.n_clusters)
        self._set_fitted(problem, self._solve(problem, F), k, start)

    def _fit_paper(self, start: Start, k: int) -> None:
        """Fit by the method of multipliers."""
        kind = SplitProblem if self.update == "safe" else ReleasedUGFS
        problem = kind(start.operator, laplacian(start.graph), self.alpha, k)
        first = problem.start(start.labels, start.n_clusters, random_state=start.random_state)
        state = self._alternate(problem, first, "labels and features")
        self.label_matrix_ = state.G
        self._set_regression(start.operator, state.B, np.zeros(start.n_clusters))
        order = np.argsort(-state.scores, kind="stable")
        self._set_selection(np.maximum(state.scores, 0.0), k, order=order)
        self._keep_labels(label_of_row(state.G, state.F), start)


@dataclass(frozen=True)
class SplitState:
    """Variables, copies, multipliers and penalty."""

    W: np.ndarray
    F: np.ndarray
    G: np.ndarray
    fitted: np.ndarray  # ZW
    E: np.ndarray
    B: np.ndarray
    Lam: np.ndarray
    Sig: np.ndarray
    Om: np.ndarray
    mu: float
    scores: np.ndarray  # row norms of W + Sig/mu, by which B was chosen

    def residuals(self) -> tuple[float, float, float]:
        """Return ||W - B||, ||F - G|| and ||E - ZW + F||, relative to W, F and F."""
        size_w = max(square(self.W), square(self.B), 1e-300) ** 0.5
        size_f = max(square(self.F), 1e-300) ** 0.5
        return (
            square(self.W - self.B) ** 0.5 / size_w,
            square(self.F - self.G) ** 0.5 / size_f,
            square(self.E - self.fitted + self.F) ** 0.5 / size_f,
        )


@dataclass(frozen=True)
class SplitProblem(BlockProblem[SplitState]):
    """The method of multipliers; every block but the last minimises the augmented Lagrangian."""

    operator: DataOperator
    laplacian: sp.csr_array
    alpha: float
    n_features: int
    form: str = "auto"  # of the ridge regression

    blocks = ("errors", "rows", "weights", "labels", "copies", "multipliers")
    multiplier: ClassVar[float] = 0.0  # the first ones
    penalty: ClassVar[float] = 1.0  # the first mu
    norm: ClassVar[int] = 2  # by which rows are kept

    def objective(self, state: SplitState) -> float:
        """Return ||ZW - F||^2 + alpha tr(F'LF), whatever the constraints say."""
        return square(state.fitted - state.F) + self.alpha * smoothness(self.laplacian, state.F)

    def converged(self, state: SplitState, history: Sequence[float], tol: float) -> bool:
        """Say whether the objective stands still and the constraints hold."""
        feasible = max(state.residuals()) < defaults.UGFS_FEASIBLE
        return relative_change(history) < tol and feasible

    def start(
        self, labels: np.ndarray, n_clusters: int, *, random_state: np.random.RandomState
    ) -> SplitState:
        """Return the first state."""
        d = self.operator.shape[1]
        return self.state_of(np.zeros((d, n_clusters)), normalised_indicator(labels, n_clusters))

    def state_of(self, W: np.ndarray, F: np.ndarray) -> SplitState:
        """Return a state without errors, with the first multipliers and the first penalty."""
        return SplitState(
            W=W,
            F=F,
            G=F,
            fitted=self.image(W),
            E=np.zeros_like(F),
            B=np.zeros_like(W),
            Lam=np.full_like(F, self.multiplier),
            Sig=np.full_like(W, self.multiplier),
            Om=np.full_like(F, self.multiplier),
            mu=self.penalty,
            scores=np.zeros(len(W)),
        )

    def image(self, W: np.ndarray) -> np.ndarray:
        """Return ZW."""
        return to_numpy(self.operator.matmul(self.operator.place(W)))

    @cached_property
    def solve(self) -> Callable[[np.ndarray], np.ndarray]:
        """R -> (Z'Z + I_d)^(-1) R with the smaller of the two inverses, computed once.

        d > n: R - Z'(ZZ' + I_n)^(-1) Z R.
        """
        operator, xp = self.operator, self.operator.xp
        n, d = operator.shape
        wide = d > n if self.form == "auto" else self.form == "sample"
        small = operator.sample_gram() if wide else operator.gram()
        largest = float(xp.max(xp.linalg.diagonal(small)))
        if largest > LARGEST_SQUARE:
            raise ValueError(
                f"The sums of squares of X reach {largest:.0e}, and UGFS(solver='paper') adds 1 to "
                "them, of which nothing is left then: use scale='unit', solver='alternation', or "
                f"divide X by {largest**0.5:.0e}."
            )
        eye = xp.eye(small.shape[0], dtype=small.dtype, device=operator.device)
        inverse = xp.linalg.inv(small + eye)

        def solve(R: np.ndarray) -> np.ndarray:
            R = operator.place(R)
            if wide:
                return to_numpy(R - operator.rmatmul(inverse @ operator.matmul(R)))
            return to_numpy(inverse @ R)

        return solve

    def update_errors(self, state: SplitState) -> SplitState:
        """E = mu/(2 + mu) (ZW - F - Lam/mu)."""
        E = (state.mu * (state.fitted - state.F) - state.Lam) / (2.0 + state.mu)
        return replace(state, E=E)

    def update_rows(self, state: SplitState) -> SplitState:
        """B = the k longest rows of W + Sig/mu, the others zero; ties by the lower index.

        A column that does not vary is never one of them.
        """
        T = state.W + state.Sig / state.mu
        varies = to_numpy(self.operator.varies)
        scores = np.where(varies, np.linalg.norm(T, self.norm, axis=1), -1.0)
        keep = np.argsort(-scores, kind="stable")[: self.n_features]
        keep = keep[scores[keep] >= 0.0]
        B = np.zeros_like(T)
        B[keep] = T[keep]
        return replace(state, B=B, scores=scores)

    def update_weights(self, state: SplitState) -> SplitState:
        """W = (Z'Z + I)^(-1) (Z'(E + F + Lam/mu) + B - Sig/mu)."""
        target = self.operator.place(state.E + state.F + state.Lam / state.mu)
        moments = to_numpy(self.operator.rmatmul(target))
        W = self.solve(moments + state.B - state.Sig / state.mu)
        return replace(state, W=W, fitted=self.image(W))

    def update_labels(self, state: SplitState) -> SplitState:
        """F = -polar(alpha LG + mu (E - ZW - G) + Lam + Om)."""
        K = self.alpha * (self.laplacian @ state.G) + state.Lam + state.Om
        K += state.mu * (state.E - state.fitted - state.G)
        return replace(state, F=-polar(K))

    def update_copies(self, state: SplitState) -> SplitState:
        """G = max(F + (Om - alpha LF)/mu, 0)."""
        pull = state.Om - self.alpha * (self.laplacian @ state.F)
        return replace(state, G=np.maximum(state.F + pull / state.mu, 0.0))

    def update_multipliers(self, state: SplitState) -> SplitState:
        """Add mu times the violations to the multipliers; raise mu."""
        mu = state.mu
        return replace(
            state,
            Lam=state.Lam + mu * (state.E - state.fitted + state.F),
            Sig=state.Sig + mu * (state.W - state.B),
            Om=state.Om + mu * (state.F - state.G),
            mu=min(LARGEST_PENALTY, GROWTH * mu),
        )


class ReleasedUGFS(SplitProblem):
    """The start, the rows and the end of the released program."""

    multiplier = 1.0
    penalty = 1e-4
    norm = 1

    def converged(self, state: SplitState, history: Sequence[float], tol: float) -> bool:
        """Say whether the absolute change of the objective is small."""
        return len(history) > 1 and abs(history[-1] - history[-2]) < tol

    def start(
        self, labels: np.ndarray, n_clusters: int, *, random_state: np.random.RandomState
    ) -> SplitState:
        """Return a random W, and the first columns of the identity."""
        n, d = self.operator.shape
        W = random_state.uniform(size=(d, n_clusters))
        return self.state_of(W, np.eye(n, n_clusters))
