"""What USFS minimises: subspace and centres, weights, soft labels.

    min  sum_ij y_ij d_ij + beta (||Y||^2 + alpha ||H(XP - Y)||^2 + gamma ||P||_{2,1})

with d_ij = ||x_i W - m_j||^2, W'W = I and rows of Y on the simplex. With the centres at their best,
m_j = sum_i y_ij x_i W / n_j, the first term is tr(W' S W), S = X'(I - Y N^(-1) Y')X the scatter
within the clusters: W holds its last eigenvectors (of the row space of X).
In the code Y is ``state.F`` and P is ``state.W``, as in the other methods.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from featsieve import defaults
from featsieve.arrays import DataOperator, as_operator
from featsieve.arrays.linalg import smallest_eigenpairs
from featsieve.arrays.namespace import to_numpy
from featsieve.graphs import principal_coordinates
from featsieve.selectors.label_regression import LabelRegression, LabelState
from featsieve.terms.regression import square
from featsieve.terms.row_shrinkage import smoothed_norm
from featsieve.terms.row_sparsity import row_norms
from featsieve.terms.simplex import project_rows

# A cluster of this size is empty.
EMPTY = 1e-12
# From this many directions on, SciPy's solver for a few eigenvectors pays.
LARGEST_FULL = 400


@dataclass(frozen=True)
class USFSState(LabelState):
    """The variables, with what the label step needs of centres and intercept."""

    distances: Any = None  # ||x_i W - m_j||^2
    offset: Any = None  # b


@dataclass(frozen=True, kw_only=True)
class USFSProblem(LabelRegression[USFSState]):
    """The objective, whose every block is minimised exactly (the weights by a majoriser)."""

    alpha: float
    beta: float
    gamma: float
    n_components: int | None = None
    intercept: bool = True  # of the regression; the operator is then centred

    released: ClassVar[bool] = False
    blocks = ("centres", "weights", "labels")
    state_type = USFSState

    @cached_property
    def basis(self) -> tuple[np.ndarray, np.ndarray]:
        """U diag(s) and s^2 of X = U diag(s) V', all directions, computed once."""
        coordinates, energy = principal_coordinates(
            self.operator, n_directions=min(self.operator.shape)
        )
        return to_numpy(coordinates), to_numpy(energy)

    def offset(self, Y: np.ndarray) -> np.ndarray:
        """Return the intercept b that is best with centred columns: the means of Y."""
        return Y.mean(axis=0) if self.intercept else np.zeros(Y.shape[1])

    def value(self, state: USFSState) -> float:
        """Return the objective, with the intercept at its best."""
        Y = state.F
        residual = state.fitted - (Y - self.offset(Y))
        regression = self.alpha * square(residual) + self.gamma * smoothed_norm(state.W)
        return float(np.sum(Y * state.distances)) + self.beta * (square(Y) + regression)

    def update_centres(self, state: USFSState) -> USFSState:
        """Take the best subspace and centres."""
        space = subspace(self, state.F)
        return replace(state, distances=centre_distances(space, state.F))

    def update_weights(self, state: USFSState) -> USFSState:
        """Regress the labels on the features; the first regression is a ridge."""
        offset = self.offset(state.F)
        state = self.regress(state, state.F - offset, self.gamma / self.alpha)
        return replace(state, offset=offset)

    def update_labels(self, state: USFSState) -> USFSState:
        """Take the best memberships."""
        scale = 2.0 if self.released else 1.0 + self.alpha
        predicted = self.alpha * (state.fitted + state.offset)
        Y = memberships(predicted, state.distances, beta=self.beta, scale=scale)
        return replace(state, F=Y)


class ReleasedUSFS(USFSProblem):
    """Two steps of the released program, which match no objective, and its smoothing."""

    released = True

    def update_weights(self, state: USFSState) -> USFSState:
        """Regress, with weights 1/(2 ||p|| + 0.01) of the rows."""
        state = super().update_weights(state)
        lengths = self.operator.xp.sqrt(row_norms(state.W))
        return replace(state, inverse=2.0 * lengths + defaults.USFS_RELEASED_SMOOTHING)


def subspace(problem: USFSProblem, Y: np.ndarray) -> DataOperator:
    """Return XW for the best W; X itself where W is square.

    In the basis V of the row space the scatter is diag(s^2) - EE', E = diag(s) U'Y N^(-1/2); the
    released program has N^(1/2), and takes directions without any scatter before positive ones.
    """
    m = problem.n_components
    if m is None:
        return problem.operator
    T, energy = problem.basis
    size = Y.sum(axis=0)
    power = 0.5 if problem.released else -0.5
    E = (T.T @ Y) * np.where(size > EMPTY, np.maximum(size, EMPTY) ** power, 0.0)
    scatter = np.diag(energy) - E @ E.T
    m = min(m, len(energy))
    if len(energy) <= LARGEST_FULL:
        value, vectors = np.linalg.eigh(scatter)
    else:
        value, vectors = smallest_eigenpairs(scatter, m)
    if problem.released:
        n_empty = problem.operator.shape[1] - len(energy)
        assert problem.n_components is not None
        negative = min(int(np.count_nonzero(value < 0.0)), m)
        m = max(negative, min(problem.n_components - n_empty, m))
    points = T @ vectors[:, :m] if m > 0 else np.zeros((len(T), 1))
    return as_operator(points, center=False)


def centre_distances(space: DataOperator, Y: np.ndarray) -> np.ndarray:
    """Return the squared distances of the samples to the centres.

    The centre of an empty cluster does not matter to the objective: it moves to the sample which
    is farthest from its own centres (the next one for a second empty cluster).
    """
    xp = space.xp
    size = Y.sum(axis=0)
    empty = size <= EMPTY
    sums = space.rmatmul(xp.asarray(Y, device=space.device))
    centres = sums / xp.asarray(np.where(empty, 1.0, size), device=space.device)[None, :]
    norms = to_numpy(space.row_norms())
    squares = to_numpy(xp.sum(centres * centres, axis=0))
    D = np.maximum(norms[:, None] - 2.0 * to_numpy(space.matmul(centres)) + squares, 0.0)
    if empty.any():
        farthest = np.argsort(-np.sum(Y * D, axis=1), kind="stable")
        for j, i in zip(np.flatnonzero(empty), farthest, strict=False):
            product = to_numpy(space.matmul(space.rows(i, i + 1).T))[:, 0]
            D[:, j] = np.maximum(norms + norms[i] - 2.0 * product, 0.0)
    return D


def memberships(predicted: np.ndarray, D: np.ndarray, *, beta: float, scale: float) -> np.ndarray:
    """Return the best Y: rows of (alpha (XP + b) - D/(2 beta)) / scale onto the simplex.

    ``predicted`` is alpha (XP + b). The scale is 1 + alpha; the released program has 2.
    """
    # The projection knows no offset of a row: subtract what can overflow.
    with np.errstate(over="ignore"):
        repulsion = (D - D.min(axis=1, keepdims=True)) / (2.0 * beta)
    return project_rows((predicted - repulsion) / scale)
