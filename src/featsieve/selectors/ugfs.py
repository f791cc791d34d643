"""UGFS: the group of exactly k features that predicts smooth pseudo-labels best."""

from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np

from featsieve import defaults
from featsieve.arrays import as_operator
from featsieve.arrays.namespace import in_double, is_single
from featsieve.base import COLUMN_SCALES
from featsieve.docstrings import fill_doc
from featsieve.selectors.label_support import LabelSupportSelector, Start
from featsieve.selectors.ugfs_paper import (
    SETTINGS,
    SplitProblem,
    first_state,
    ridge_solver,
    solve_split,
)
from featsieve.solvers.label_support import SupportProblem
from featsieve.solvers.nonnegative_labels import label_of_row
from featsieve.solvers.projected_labels import penalty_sequence
from featsieve.solvers.row_sparse import mean_column_norm
from featsieve.validation import Check, check_number, nonnegative, one_of


@fill_doc
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
    intercept_ : ndarray of shape (n_clusters,)
        b: F is approximated by ``X @ coef_ + intercept_``.
    %(labels_)s
    label_matrix_ : ndarray of shape (n_samples, n_clusters)
        F (with ``solver="paper"`` its non-negative copy). Its columns are those of ``coef_``; a
        sample's label is its largest entry, numbered in ``labels_`` by first sample unless ``init``
        gave labels.
    scores_ : ndarray of shape (`n_features_in_`,)
        Alternation: along ``path_`` by how much the feature lowers the objective (at most as much
        as those before it), behind it what the feature would add. Paper: norm of the feature's row
        of W + Σ/μ, by which rows are kept. 0 for columns that do not vary.
    ranking_ : ndarray of shape (`n_features_in_`,)
        Rank of every feature, 1 is the best; the selected ones come first.
    %(support_)s
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
    >>> from featsieve import UGFS
    >>> from featsieve.datasets import make_planted
    >>> planted = make_planted(n_samples=120, n_features=50, n_informative=10, random_state=0)
    >>> sieve = UGFS(n_clusters=4, n_features_to_select=10, random_state=0).fit(planted.X)
    >>> int((sieve.support_ & planted.informative).sum())
    10
    """

    _checks: ClassVar[dict[str, Check]] = {
        "solver": one_of("alternation", "paper"),
        "update": one_of(*SETTINGS),
        "alpha": nonnegative,
        "ridge": nonnegative,
        "path_length": partial(check_number, low=0, integer=True),
    }

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        n_features_to_select: int | float | str = 0.1,
        alpha: float = 0.01,
        solver: str = "alternation",
        update: str = "safe",
        ridge: float = 10.0,
        orthogonality: float | Sequence[float] = (10.0, 100.0, 1e3, 1e4),
        init: Any = "spectral",
        affinity: Any = "heat",
        n_neighbors: int = 5,
        scale: str = "unit",
        max_iter: int = 500,
        tol: float = 1e-5,
        path_length: int = 300,
        callback: Any = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.solver = solver
        self.update = update
        self.ridge = ridge
        self.orthogonality = orthogonality
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
        """Find pseudo-labels and the group of features that predicts them."""
        penalty_sequence(self.orthogonality)  # a wrong one is refused before anything is done
        operator = self._operator(X)
        scale, center = COLUMN_SCALES[self.scale]
        if is_single(X) and (self.solver == "paper" or self.ridge < defaults.SMALL_RIDGE):
            X = in_double(X)
            operator = as_operator(X, scale=scale, center=center)
        k = self._n_to_select()
        start = self._first_labels(X, operator)
        if self.solver == "alternation":
            if not center:  # the intercept of the model is a centring
                operator = as_operator(X, scale=scale)
            problem = SupportProblem(
                operator,
                start.laplacian,
                self.alpha,
                ridge=self.ridge * mean_column_norm(operator),
                n_features=k,
                w_step="exchange",
            )
            labels = self._set_fitted(problem, self._solve(problem, start.F), k)
        else:
            split = SplitProblem(operator, start.laplacian, self.alpha, k, ridge_solver(operator))
            labels = self._fit_paper(split, start)
        self._set_labels(labels, given=start.given)

    def _fit_paper(self, problem: SplitProblem, begun: Start) -> np.ndarray:
        """Fit by the method of multipliers; return the labels."""
        n_clusters = begun.F.shape[1]
        start = first_state(
            problem,
            begun.labels,
            n_clusters,
            settings=SETTINGS[self.update],
            random_state=begun.random_state,
        )
        self._progress.step(f"labels and features in turn, at most {self.max_iter} times")
        solution = solve_split(
            problem,
            start,
            update=self.update,
            max_iter=self.max_iter,
            tol=self.tol,
            callback=self._progress.watch(self.callback),
        )
        state = solution.state
        self._set_outcome(solution)
        self.label_matrix_ = state.G
        self._set_regression(problem.operator, state.B, np.zeros(n_clusters))
        order = np.argsort(-state.scores, kind="stable")
        self._set_selection(np.maximum(state.scores, 0.0), problem.n_features, order=order)
        return label_of_row(state.G, state.F)
