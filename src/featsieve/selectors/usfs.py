"""USFS: features that predict soft cluster memberships Y (in the code ``state.F``)."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from featsieve import defaults
from featsieve.arrays import DataOperator
from featsieve.arrays.namespace import to_numpy
from featsieve.base import estimator
from featsieve.selectors.common import Start
from featsieve.selectors.label_regression import (
    LabelRegression,
    LabelRegressionSelector,
    LabelState,
    resolve_penalty,
)
from featsieve.terms.norms import smoothed_norm, square
from featsieve.terms.orthogonality import indicator
from featsieve.terms.simplex import project_rows
from featsieve.validation import positive, positive_or_auto, warn

# A cluster of this size is empty.
EMPTY = 1e-12


@estimator
class USFS(LabelRegressionSelector):
    """Unsupervised soft-label feature selection (a reconstruction).

    Fuzzy clusters with centres m_j give soft labels Y, and a row-sparse regression W predicts
    them [1]_:

        min  Σ_ij y_ij ||x_i - m_j||² + β (||Y||² + α ||XW + 1b' - Y||² + γ ||W||_{2,1}),
        Y ≥ 0,  Y1 = 1.

    The score of a feature is the length of its row of W. The exact published algorithm is not
    public as an objective: the paper's text could not be consulted, and the authors' released
    program contains two steps that match no objective. The formula above is inferred from the
    weights in that program.

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
    %(init)s
        Labels are softened, 0.9 to their cluster and 0.1 in equal parts.
    %(spectral_neighbors, scale)s
        The intercept b, which the released program does not have, centres: "none" and "raw" are the
        same here.
    %(max_iter)s
        (The released program makes 5, without a test.)
    %(tol, callback, verbose, random_state)s
    %(constraints)s

    Attributes
    ----------
    %(coef_)s
    soft_labels_ : ndarray of shape (n_samples, n_clusters)
        Y: the memberships of every sample, which sum to 1.
    labels_ : ndarray of shape (n_samples,)
        The cluster of the largest membership. Clusters (and the columns of ``soft_labels_`` and
        ``coef_``) are numbered by their first samples; those of given labels keep their order.
    beta_, gamma_ : float
        The β and γ that were used.
    %(scores_, selection, objective_)s
        It never rises.
    %(outcome, n_clusters_, automatic, input)s

    See Also
    --------
    URAFS : Orthonormal labels.
    JASFS : Hard labels and exact row sparsity.

    Notes
    -----
    Deviations from the released program, and why. It measures distances in a subspace of 45
    directions, those of least scatter within the clusters, most of which have little scatter
    altogether (and computes that scatter with the cluster sizes in the place of their inverses);
    here they are those of all columns. In the label step it divides by 2 where the objective asks
    for 1 + α, so that with its α = γ = 10⁴ (β = 1) the soft labels come out one-hot. It smooths
    rows by 1/(2||w|| + 0.01) and starts from random memberships. The centre of a cluster that has
    become empty moves to the sample that is farthest from its own centres, which costs nothing.

    Uniform memberships, Y = 1/c, are a trivial solution, in which the ranking means nothing; there
    is a warning when Y ends there. β is then too large for the distances between samples.

    Cost per iteration: O(n²d + n³) for d > n, O(d³ + ndc) for d ≤ n.

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

    alpha: float = 1.0
    beta: float | str = "auto"
    gamma: float | str = "auto"
    init: Any = "k-means"
    max_iter: int = 100

    _checks: ClassVar = {"alpha": positive, "beta": positive_or_auto, "gamma": positive_or_auto}
    _centres = True

    def _label_matrix(self, start: Start) -> np.ndarray:
        """Return the first Y: softened labels."""
        share = defaults.USFS_SOFTENING
        return (1.0 - share) * indicator(start.labels, start.n_clusters) + share / start.n_clusters

    def _problem(self, start: Start, F: np.ndarray) -> "USFSProblem":
        """Return the objective."""
        operator = start.operator
        if isinstance(self.beta, str):  # in units of the mean squared distance from the mean
            total = float(np.sum(to_numpy(operator.column_norms())))
            self.beta_ = defaults.USFS_BETA * total / operator.shape[0]
        else:
            self.beta_ = float(self.beta)
        slope = self.alpha * (F - F.mean(axis=0))
        self.gamma_ = resolve_penalty(self.gamma, operator, slope, share=defaults.USFS_GAMMA)
        return USFSProblem(operator=operator, alpha=self.alpha, beta=self.beta_, gamma=self.gamma_)

    def _set_labels(self, start: Start, problem: Any, state: Any) -> tuple[Any, bool]:
        """Set the soft and the hard labels; warn where they are trivial."""
        Y, W, c = state.F, to_numpy(state.W), start.n_clusters
        if not start.given:
            first = np.full(c, len(Y))  # samples of the clusters; those without any come last
            np.minimum.at(first, Y.argmax(axis=1), np.arange(len(Y)))
            order = np.argsort(first, kind="stable")
            Y, W = Y[:, order], W[:, order]
        self.soft_labels_ = Y
        self.labels_ = Y.argmax(axis=1)
        trivial = bool(np.abs(Y - 1.0 / c).max() < defaults.USFS_UNIFORM)
        if c > 1 and trivial:
            warn(
                "The soft labels are uniform, which is the trivial solution: the ranking means "
                f"little. Choose beta below {problem.beta:g}, or a larger alpha.",
                UserWarning,
            )
        return W, trivial


@dataclass(frozen=True)
class USFSState(LabelState):
    """The variables, with what the label step needs of the centres."""

    distances: Any = None  # ||x_i - m_j||^2


@dataclass(frozen=True, kw_only=True)
class USFSProblem(LabelRegression[USFSState]):
    """The objective, whose every block is minimised exactly (the weights by a majoriser).

    The best intercept for centred columns is b = the means of Y.
    """

    alpha: float
    beta: float
    gamma: float

    blocks = ("centres", "weights", "labels")
    state_type = USFSState

    def value(self, state: USFSState) -> float:
        """Return the objective."""
        Y = state.F
        residual = state.fitted - (Y - Y.mean(axis=0))
        regression = self.alpha * square(residual) + self.gamma * smoothed_norm(state.W)
        return float(np.sum(Y * state.distances)) + self.beta * (square(Y) + regression)

    def update_centres(self, state: USFSState) -> USFSState:
        """Take the best centres."""
        return replace(state, distances=centre_distances(self.operator, state.F))

    def update_weights(self, state: USFSState) -> USFSState:
        """Regress the labels on the features; the first regression is a ridge."""
        target = state.F - state.F.mean(axis=0)
        return self.regress(state, target, self.gamma / self.alpha)

    def update_labels(self, state: USFSState) -> USFSState:
        """Take the best memberships."""
        predicted = self.alpha * (state.fitted + state.F.mean(axis=0))
        return replace(state, F=memberships(predicted, state.distances, self.alpha, self.beta))


def centre_distances(operator: DataOperator, Y: np.ndarray) -> np.ndarray:
    """Return the squared distances of the samples to the centres.

    The centre of an empty cluster does not matter to the objective: it moves to the sample which
    is farthest from its own centres (the next one for a second empty cluster).
    """
    size = Y.sum(axis=0)
    empty = size <= EMPTY
    sums = operator.rmatmul(operator.place(Y))
    centres = sums / operator.place(np.where(empty, 1.0, size))[None, :]
    norms = to_numpy(operator.row_norms())
    squares = to_numpy(operator.xp.sum(centres * centres, axis=0))
    D = np.maximum(norms[:, None] - 2.0 * to_numpy(operator.matmul(centres)) + squares, 0.0)
    if empty.any():
        farthest = np.argsort(-np.sum(Y * D, axis=1), kind="stable")
        for j, i in zip(np.flatnonzero(empty), farthest, strict=False):
            product = to_numpy(operator.matmul(operator.rows(i, i + 1).T))[:, 0]
            D[:, j] = np.maximum(norms + norms[i] - 2.0 * product, 0.0)
    return D


def memberships(predicted: np.ndarray, D: np.ndarray, alpha: float, beta: float) -> np.ndarray:
    """Return the best Y: rows of (predicted - D/(2 beta)) / (1 + alpha) onto the simplex."""
    # The projection knows no offset of a row: subtract what can overflow.
    with np.errstate(over="ignore"):
        repulsion = (D - D.min(axis=1, keepdims=True)) / (2.0 * beta)
    return project_rows((predicted - repulsion) / (1.0 + alpha))
