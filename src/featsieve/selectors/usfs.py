"""USFS: features that predict soft cluster memberships."""

from typing import Any, ClassVar

import numpy as np

from featsieve import defaults
from featsieve.arrays import DataOperator, as_operator
from featsieve.arrays.namespace import to_numpy
from featsieve.docstrings import fill_doc
from featsieve.selectors.label_regression import LabelRegressionSelector, Start, resolve_penalty
from featsieve.selectors.usfs_problem import ReleasedUSFS, USFSProblem
from featsieve.terms.orthogonality import indicator
from featsieve.validation import (
    Check,
    one_of,
    positive,
    positive_integer,
    positive_or_auto,
    warn,
)


@fill_doc
class USFS(LabelRegressionSelector):
    """Unsupervised soft-label feature selection (a reconstruction).

    Samples are mapped to a subspace W, where fuzzy clusters with centres m_j give soft labels Y,
    and a row-sparse regression P predicts them [1]_:

        min  Σ_ij y_ij ||x_i W - m_j||² + β (||Y||² + α ||XP + 1b' - Y||² + γ ||P||_{2,1})
        W'W = I,  Y ≥ 0,  Y1 = 1.

    The score of a feature is the length of its row of P.

    The exact published algorithm is not public as an objective: the paper's text could not be
    consulted, and the authors' released program contains two steps that match no objective. The
    formula above is inferred from the weights in that program, and ``variant="consistent"`` is a
    reconstruction that minimises it; ``variant="released"`` keeps the two steps.

    Parameters
    ----------
    %(n_clusters, n_features_to_select)s
    alpha : float, default=1.0
        α, weight of the regression. Labels move slowly where it is large.
    beta : float or "auto", default="auto"
        β, softness of the labels: small values make Y one-hot, large ones uniform. What is small
        depends on the distances between samples, which grow with the number of columns; "auto" is
        0.05 times the mean squared distance of a sample from the mean.
    gamma : float or "auto", default="auto"
        γ, row sparsity; the regression sees γ/α. "auto" is half of the smallest value with which
        the regression of the first labels vanishes.
    n_components : int or None, default=None
        Dimension m of the subspace. None: all directions in which the samples differ, so that the
        first term is fuzzy k-means. The released program has 45: the directions of least scatter
        within the clusters, most of which are directions of little scatter altogether.
    variant : {"consistent", "released"}, default="consistent"
        Steps that minimise the objective, or those of the released program (see Notes).
    init : {"k-means", "spectral", "random"}, labels or callable, default="k-means"
        First labels: k-means on the columns, spectral clustering of the neighbour graph, random
        memberships (as in the released program), an array of labels, or
        ``init(X, n_clusters, random_state)``. Labels are softened, 0.9 to their cluster and 0.1 in
        equal parts.
    n_neighbors : int, default=5
        Neighbours of a sample in the graph of ``init="spectral"``; nothing else uses it.
    %(scale)s
        With "raw" there is no intercept b either, as in the released program.
    %(max_iter)s
        (The released program makes 5, without a test.)
    %(tol, callback, verbose)s
    random_state : int, RandomState instance or None, default=None
        Seeds the first labels.

    Attributes
    ----------
    coef_ : ndarray of shape (`n_features_in_`, n_clusters)
        P, in the units of X.
    soft_labels_ : ndarray of shape (n_samples, n_clusters)
        Y: the memberships of every sample, which sum to 1.
    labels_ : ndarray of shape (n_samples,)
        The cluster of the largest membership. Clusters (and the columns of ``soft_labels_`` and
        ``coef_``) are numbered by their first samples; those of given labels keep their order.
    beta_, gamma_ : float
        The β and γ that were used.
    scores_ : ndarray of shape (`n_features_in_`,)
        Length of the feature's row of P (for the scaled columns); 0 for columns that do not vary.
    %(selection)s
    objective_ : ndarray of shape (`n_iter_`,)
        The objective above after every iteration (with ||p|| smoothed to sqrt(||p||² + 2.2e-16)).
        It never rises with ``variant="consistent"``, and can with "released".
    %(outcome, n_clusters_, automatic, input)s

    See Also
    --------
    URAFS : Orthonormal labels.
    JASFS : Hard labels and exact row sparsity.

    Notes
    -----
    Deviations of the released program from this objective. With N the diagonal matrix of the
    cluster sizes Y'1, the scatter within clusters is X'(I - Y N⁻¹ Y')X; the program has N in place
    of N⁻¹, which is indefinite. In the label step it divides by 2 where the objective asks for
    1 + α, so that with its α = γ = 10⁴ (β = 1) the soft labels come out one-hot. Both are kept with
    "released", and so is the smoothing 1/(2||p|| + 0.01). Its eigenvectors of a not exactly
    symmetric matrix are not: a symmetric solver is used.

    What is ours in both variants. W lies in the row space of X: other directions have no scatter at
    all, and all distances would be zero. Centred columns come with an intercept. Labels start from
    k-means. The centre of a cluster that has become empty moves to the sample that is farthest from
    its own centres, which costs nothing.

    Uniform memberships, Y = 1/c, are a trivial solution, in which the ranking means nothing; there
    is a warning when Y ends there. β is then too large for the distances between samples.

    Cost per iteration: O(n²d + n³) for d > n, O(d³ + ndc) for d ≤ n; with ``n_components``,
    additionally O(min(n, d)³) for the subspace, from a basis that is computed once.

    When not to use it: with parameters from a grid. For many of them the least value belongs to
    trivial labels, and results depend on the start and on when one stops.

    References
    ----------
    .. [1] F. Wang, L. Zhu, J. Li, H. Chen and H. Zhang, "Unsupervised soft-label feature
       selection", Knowledge-Based Systems 219, 2021.

    Examples
    --------
    %(example)s
    """

    _own_starts = ("random",)
    _checks: ClassVar[dict[str, Check]] = {
        "variant": one_of("consistent", "released"),
        "alpha": positive,
        "beta": positive_or_auto,
        "gamma": positive_or_auto,
        "n_components": lambda name, m: None if m is None else positive_integer(name, m),
    }

    gamma: float | str
    n_components: int | None
    variant: str

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        n_features_to_select: int | float | str = 0.1,
        alpha: float = 1.0,
        beta: float | str = "auto",
        gamma: float | str = "auto",
        n_components: int | None = None,
        variant: str = "consistent",
        init: Any = "k-means",
        n_neighbors: int = 5,
        scale: str = "unit",
        max_iter: int = 100,
        tol: float = 1e-5,
        callback: Any = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self._store(locals())

    def _graph(self, operator: DataOperator) -> None:
        """Return no graph: the method has none."""

    def _label_matrix(self, start: Start) -> np.ndarray:
        """Return the first Y: softened labels, or random rows."""
        c = start.n_clusters
        if start.labels is None:
            Y = start.random_state.uniform(size=(start.X.shape[0], c))
            return Y / Y.sum(axis=1, keepdims=True)
        share = defaults.USFS_SOFTENING
        return (1.0 - share) * indicator(start.labels, c) + share / c

    def _problem(self, start: Start, F: np.ndarray) -> USFSProblem:
        """Return the objective."""
        X, operator, raw = start.X, start.operator, self.scale == "raw"
        if self.n_components is not None and self.n_components > X.shape[1]:
            raise ValueError(
                f"n_components={self.n_components} is more than the {X.shape[1]} features: choose "
                "fewer, or None for all directions."
            )
        if isinstance(self.beta, str):  # in units of the mean squared distance from the mean
            norms = (as_operator(X) if raw else operator).column_norms()
            self.beta_ = defaults.USFS_BETA * float(np.sum(to_numpy(norms))) / X.shape[0]
        else:
            self.beta_ = float(self.beta)
        target = F if raw else F - F.mean(axis=0)
        self.gamma_ = resolve_penalty(self.gamma, operator, self.alpha * target)
        kind = USFSProblem if self.variant == "consistent" else ReleasedUSFS
        return kind(
            operator=operator,
            alpha=self.alpha,
            beta=self.beta_,
            gamma=self.gamma_,
            n_components=self.n_components,
            intercept=not raw,
        )

    def _set_labels(self, start: Start, problem: Any, state: Any) -> tuple[Any, bool]:
        """Set the soft and the hard labels; warn where they are trivial."""
        Y, P, c = state.F, to_numpy(state.W), start.n_clusters
        if not start.given:
            order = by_first_appearance(Y.argmax(axis=1), c)
            Y, P = Y[:, order], P[:, order]
        self.soft_labels_ = Y
        self.labels_ = Y.argmax(axis=1)
        trivial = bool(np.abs(Y - 1.0 / c).max() < defaults.USFS_UNIFORM)
        if c > 1 and trivial:
            warn(
                "The soft labels are uniform, which is the trivial solution: the ranking means "
                f"little. Choose beta below {problem.beta:g}, or a larger alpha.",
                UserWarning,
            )
        return P, trivial


def by_first_appearance(labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Return the clusters in the order of their first samples, those without any last."""
    first = np.full(n_clusters, len(labels))
    np.minimum.at(first, labels, np.arange(len(labels)))
    return np.argsort(first, kind="stable")
