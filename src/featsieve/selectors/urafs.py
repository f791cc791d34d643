"""URAFS: features that predict orthonormal labels on a graph that adapts to the labels."""

from typing import Any, ClassVar

import numpy as np
from scipy.optimize import linear_sum_assignment

from featsieve.arrays import DataOperator, as_operator
from featsieve.arrays.linalg import polar
from featsieve.arrays.namespace import to_numpy
from featsieve.docstrings import fill_doc
from featsieve.graphs.spectral_labels import kmeans_labels
from featsieve.selectors.label_regression import LabelRegressionSelector, Start
from featsieve.selectors.urafs_problem import PublishedURAFS, URAFSProblem
from featsieve.solvers.stiefel import random_frame
from featsieve.terms.orthogonality import indicator, normalised_indicator
from featsieve.validation import nonnegative, one_of, positive


@fill_doc
class URAFS(LabelRegressionSelector):
    """Generalised uncorrelated regression with an adaptive graph.

    Orthonormal pseudo-labels F, a row-sparse regression W that predicts them by uncorrelated
    components, and a dense similarity graph S of maximal entropy on the labels [1]_:

        min  ||XW + 1b' - F||² + λ ||W||_{2,1} + α Σ_ij (||f_i - f_j||² s_ij + 2β s_ij log s_ij)
        W'(X'HX + λQ)W = I,  F'F = I,  S1 = 1,  S ≥ 0,

    with H the centring matrix and Q = diag(1/(2||w_j||)). The score of a feature is the length of
    its row of W.

    Parameters
    ----------
    %(n_clusters, n_features_to_select)s
    alpha : float, default=0.1
        α, weight of the graph. The graph sees only F, not the data: with large values the labels
        stay where they started.
    beta : float, default=0.1
        Entropy of the graph in units of c/n: the β of the formula is ``beta * n_clusters /
        n_samples``. As F'F = I, squared distances between rows of F are of the order 2c/n; so much
        larger values make S uniform, much smaller ones the identity, and neither is a graph.
    sparsity : float, default=10.0
        λ, row sparsity.
    update : {"safe", "paper"}, default="safe"
        "safe" makes every step a descent step of one objective, "paper" is the published
        alternation (see Notes).
    init : {"k-means", "spectral", "random"}, labels or callable, default="k-means"
        First pseudo-labels: k-means on the columns, spectral clustering of the neighbour graph,
        random orthonormal columns (as in the authors' program; a start that noise can predict is
        not left any more), an array of labels, or ``init(X, n_clusters, random_state)``.
    n_neighbors : int, default=5
        Neighbours of a sample in the graph of ``init="spectral"``; nothing else uses it.
    %(scale)s
        The intercept b centres: "none" and "raw" are the same here.
    %(max_iter)s
        (Row sparsity comes slowly, by reweighting.)
    %(tol, callback, verbose)s
    random_state : int, RandomState instance or None, default=None
        Seeds k-means, and the restarts of ``update="paper"``.

    Attributes
    ----------
    %(coef_)s
        (F and W are determined up to a common rotation of their columns: it is the one that brings
        F nearest to the indicator of ``labels_``.)
    labels_ : ndarray of shape (n_samples,)
        Pseudo-label of every sample: k-means of the rows of F, which is not non-negative. Labels
        given as ``init`` keep their numbers (those of the best overlap).
    %(scores_, selection)s
    objective_ : ndarray of shape (`n_iter_`,)
        The objective after every iteration (see Notes).
    %(outcome, n_clusters_, automatic, input)s

    See Also
    --------
    JASFS : The same graph with non-negative labels and exact row sparsity.
    NDFS : Non-negative labels that are smooth on the graph of the data.

    Notes
    -----
    The published W-step minimises for a fixed Q, in which the constraint is written; Q then follows
    W, the constraint moves with it, and the objective can rise. "safe" takes Q for a variable of
    its own: the penalty is λ Σ_j (q_j ||w_j||² + 1/(4 q_j)), the published one where q_j =
    1/(2||w_j||) and larger elsewhere, and the best step in q with W eliminated is q_j =
    1/(2||w_j G^{1/4}||), G = F'HX(X'HX + λQ)^{-1}X'HF. ``objective_`` is the objective with this
    penalty (norms smoothed to sqrt(||w||² + 2.2e-16)); it never rises. With "paper" it is what the
    authors' program logs, and can rise.

    Deviations from public code, and why. F starts from k-means labels, as in comparisons of these
    methods, and Q from the identity; the program draws both at random. "safe" keeps the constant
    vector, which belongs to the span of every label matrix, in the span of F: nothing can be
    learned along it, and W gets no column for it. (Left to itself, that direction is unstable, and
    ends in a noise direction that rounding decides.) F is updated from where it is, with an η that
    is an upper bound of the curvature, and S with every step; the program restarts from a random F
    in every iteration, takes 4 steps and an η that may be too small. No matrix root is taken, and
    a direction that no column predicts gets weight zero; the program completes it at random. The
    stopping rule is relative; the program stops at a change of 0.1. The program's β is
    ``beta * n_clusters / n_samples`` here.

    Cost per iteration: two (published: one) regressions, O(n²d + n³) for d > n, O(d³ + ndc) for
    d ≤ n, and a few times O(n²c) for the labels; memory O(nd + min(n, d)²): S is not stored.

    When not to use it: for very many samples (the graph is dense). The graph does not see the data:
    it can only sharpen labels. A very large λ lets all weights vanish (there is a warning), and F
    with them.

    References
    ----------
    .. [1] X. Li, H. Zhang, R. Zhang, Y. Liu and F. Nie, "Generalized uncorrelated regression with
       adaptive graph for unsupervised feature selection", IEEE TNNLS 30(5), 2019.

    Examples
    --------
    %(example)s
    """

    _own_starts = ("random",)
    _checks: ClassVar = {
        "update": one_of("safe", "paper"),
        "alpha": nonnegative,
        "beta": positive,
        "sparsity": positive,
    }

    sparsity: float

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        n_features_to_select: int | float | str = 0.1,
        alpha: float = 0.1,
        beta: float = 0.1,
        sparsity: float = 10.0,
        update: str = "safe",
        init: Any = "k-means",
        n_neighbors: int = 5,
        scale: str = "unit",
        max_iter: int = 500,
        tol: float = 1e-5,
        callback: Any = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self._store(locals())

    def _operator(self, X: Any) -> DataOperator:
        """Return the table with centred columns: the intercept centres."""
        operator = super()._operator(X)
        return as_operator(X) if self.scale == "raw" else operator

    def _graph(self, operator: DataOperator) -> None:
        """Return no graph: that of the method is learned."""

    def _label_matrix(self, start: Start) -> np.ndarray:
        """Return orthonormal columns; without the constant one, unless as published."""
        if start.labels is None:
            n = start.operator.shape[0]
            F = random_frame(n, start.n_clusters, random_state=start.random_state)
        else:
            F = normalised_indicator(start.labels, start.n_clusters)
        return F if self.update == "paper" else centred_frame(F)

    def _problem(self, start: Start, F: np.ndarray) -> URAFSProblem:
        """Return the objective."""
        kind = URAFSProblem if self.update == "safe" else PublishedURAFS
        return kind(
            operator=start.operator,
            alpha=self.alpha,
            beta=self.beta * start.n_clusters / start.X.shape[0],
            sparsity=self.sparsity,
            random_state=start.random_state,
        )

    def _set_labels(self, start: Start, problem: Any, state: Any) -> tuple[Any, bool]:
        """Set the labels; return W with the rotation that brings F nearest to them."""
        F, W = state.F, to_numpy(state.W)
        if self.update == "safe":
            n = len(F)
            F = np.hstack([np.full((n, 1), 1.0 / np.sqrt(n)), F])
            W = np.hstack([np.zeros((W.shape[0], 1)), W])
        self.labels_ = label_rows(
            F,
            start.n_clusters,
            given=start.labels if start.given else None,
            random_state=start.random_state,
        )
        return W @ polar(F.T @ normalised_indicator(self.labels_, start.n_clusters)), False


def centred_frame(F: np.ndarray) -> np.ndarray:
    """Return c - 1 orthonormal centred columns that span HF as well as so many can."""
    return np.linalg.svd(F - F.mean(axis=0), full_matrices=False)[0][:, : F.shape[1] - 1]


def label_rows(
    F: np.ndarray,
    n_clusters: int,
    *,
    given: np.ndarray | None,
    random_state: np.random.RandomState,
) -> np.ndarray:
    """Return k-means labels of the rows of F, numbered to overlap most with given ones."""
    if n_clusters == 1:
        return np.zeros(F.shape[0], dtype=np.intp)
    labels = kmeans_labels(F, n_clusters, random_state=random_state)
    if given is None:
        return labels
    overlap = indicator(labels, n_clusters).T @ indicator(given, n_clusters)
    return linear_sum_assignment(-overlap)[1][labels]
