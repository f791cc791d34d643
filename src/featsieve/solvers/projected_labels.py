"""Projected Newton steps for non-negative, nearly orthonormal pseudo-labels F.

    J(F) = tr(F'AF) - 2 tr(F'B) + (nu/2) ||F'F - I||^2,   F >= 0,

with A symmetric. Unlike under multiplicative rules a zero can grow, and nothing has to be split by
sign.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from featsieve.solvers.protocol import Status

# Sufficient decrease (Armijo): the share of the decrease that the gradient promises. Half of it is
# what a gradient step of 1/curvature gives: longer ones overshoot in stiff directions and blow up
# rounding.
SUFFICIENT, HALF = 0.1, 0.5
# By how much a gradient step first exceeds the one before it.
GROWTH = 2.0
# After so many halvings the promised decrease is below rounding.
MAX_TRIALS = 60
# Most products of one Newton system. The penalty is stiff in c(c + 1)/2 directions only, and
# conjugate gradients need few more than these.
MAX_PRODUCTS = 200
# Slopes of this size end the steps, for labels and a penalty of order one.
TOLERANCE = 1e-9
# Share of the slope that conjugate gradients may leave.
INEXACT = 0.5
# Slopes above this are far from the solution, where the curvature may be negative.
FAR = 1e-2
# Changes of J below this, relative to J (or to 1), are rounding.
ROUNDING = 1e-15
# Products entry by entry pay where pairs of entries are at most one in so many.
THIN = 8

Product = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class LabelProblem:
    """What the label step minimises: A (dense or sparse), B and nu."""

    A: Any
    linear: np.ndarray
    orthogonality: float

    def expand(self, F: np.ndarray, image: np.ndarray) -> tuple[float, np.ndarray]:
        """Return J and its gradient 2 (AF - B) + 2 nu F (F'F - I), given image = AF."""
        gap = F.T @ F - np.eye(F.shape[1])
        smooth = float(np.sum(F * (image - 2.0 * self.linear)))
        value = smooth + 0.5 * self.orthogonality * float(np.sum(gap * gap))
        return value, 2.0 * (image - self.linear + self.orthogonality * (F @ gap))

    def curvature(self, F: np.ndarray, free: np.ndarray, *, convex: bool = False) -> Product:
        """Return how the gradient at F changes along V, as a function of the free entries of V.

        2 AV + 2 nu (F (F'V + V'F) + V (F'F - I)) at these entries, the others being zero. The
        entries are in the order of the columns. ``convex``: without the last term, as that of Gauss
        and Newton, which bends up only.
        """
        columns, rows = np.nonzero(free.T)
        beside = np.maximum(np.count_nonzero(F, axis=1), np.count_nonzero(free, axis=1))
        pairs = int(beside[rows].sum())  # of a free entry with one of its row
        if sp.issparse(self.A) and THIN * pairs <= F.size * F.shape[1]:
            return self._thin_curvature(F, rows, columns, convex=convex)
        gap = F.T @ F - np.eye(F.shape[1])

        def product(v: np.ndarray) -> np.ndarray:
            V = np.zeros(F.shape)
            V[rows, columns] = v
            cross = F.T @ V
            bend = F @ (cross + cross.T)
            if not convex:
                bend += V @ gap
            return 2.0 * (self.A @ V + self.orthogonality * bend)[rows, columns]

        return product

    def _thin_curvature(
        self, F: np.ndarray, rows: np.ndarray, columns: np.ndarray, *, convex: bool
    ) -> Product:
        """Return the same from the few entries: sparse products instead of O(n c^2)."""
        c, entries = F.shape[1], sp.csr_array(F)
        place = np.full(F.shape, -1)
        place[rows, columns] = np.arange(len(rows))

        # (AV)_ik = sum_j a_ij v_jk, over the free entries of the same column
        near = self.A[rows]
        of, j = np.repeat(np.arange(len(rows)), np.diff(near.indptr)), near.indices
        at = place[j, columns[of]]
        kept = at >= 0
        parts = [(near.data[kept], of[kept], at[kept])]
        if not convex:  # (V gap)_ik = sum_l v_il gap_lk, over those of the same row
            gap = (entries.T @ entries).toarray() - np.eye(c)
            beside = sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=F.shape)[rows]
            of, j = np.repeat(np.arange(len(rows)), np.diff(beside.indptr)), beside.indices
            bend = self.orthogonality * gap[j, columns[of]]
            parts.append((bend, of, place[rows[of], j]))
        values, of, at = (np.concatenate(part) for part in zip(*parts, strict=True))
        local = sp.csr_array((values, (of, at)), shape=(len(rows), len(rows)))

        # (F'V)_lk = sum_i f_il v_ik, and F M at the free entries is the adjoint of it
        own = entries[rows]
        pair = own.indices * c + np.repeat(columns, np.diff(own.indptr))
        back = sp.csr_array((own.data, pair, own.indptr), shape=(len(rows), c * c))
        across = back.T

        def product(v: np.ndarray) -> np.ndarray:
            cross = (across @ v).reshape(c, c)
            return 2.0 * (local @ v + self.orthogonality * (back @ (cross + cross.T).ravel()))

        return product


@dataclass(frozen=True)
class LabelState:
    """F with what is known there."""

    F: np.ndarray
    image: np.ndarray  # AF
    value: float
    gradient: np.ndarray
    step_size: float  # of the gradient step
    stable: bool = False  # no step lowers J measurably

    def slope(self) -> np.ndarray:
        """Return the gradient without the entries that lead out of the non-negative matrices."""
        return np.where((self.F > 0.0) | (self.gradient < 0.0), self.gradient, 0.0)


class ProjectedNewton:
    """Solver of :class:`LabelProblem`:  J never rises beyond rounding.

    A step is a gradient step  F <- max(F - t gradient, 0), which finds the entries that are zero,
    and then  F <- max(F + t D, 0)  with the Newton direction D of those that are not, by conjugate
    gradients. Gradient steps alone stall, because nu is stiff. Quasi-Newton steps need about as
    many products, but depend on rounding: the same table stored in another format would get other
    labels.
    """

    def __init__(self, start: np.ndarray) -> None:
        self.start = start

    def init(self, problem: LabelProblem) -> LabelState:
        """Start at the given F, with the inverse of the curvature along F as the first step."""
        F = self.start
        state = _at(problem, F, 1.0)
        length = max(float(np.linalg.norm(F)), 1e-300)
        curvature = 2.0 * float(np.linalg.norm(state.image)) / length
        curvature += 4.0 * problem.orthogonality * max(float(np.linalg.norm(F.T @ F, 2)), 1.0)
        return replace(state, step_size=1.0 / max(curvature, 1e-300))

    def step(self, problem: LabelProblem, state: LabelState) -> LabelState:
        """Take a gradient step and a Newton step; say so where they bring nothing measurable."""
        first = _search(
            problem, state, -state.slope(), size=GROWTH * state.step_size, sufficient=HALF
        )
        near = state if first is None else first
        slope = np.where(near.F > 0.0, near.gradient, 0.0)
        direction = newton_direction(problem, near.F, slope)
        found = _search(problem, near, direction, size=1.0, sufficient=SUFFICIENT)
        last = near if found is None else replace(found, step_size=near.step_size)
        return replace(last, stable=last.value >= state.value - _rounding(state.value))

    def objective(self, problem: LabelProblem, state: LabelState) -> float:
        """Return J."""
        return state.value

    def terminate(
        self, problem: LabelProblem, state: LabelState, history: Sequence[float]
    ) -> Status | None:
        """End where the projected gradient vanishes, or when no step is left."""
        limit = TOLERANCE * max(1.0, 1e-4 * problem.orthogonality) * state.F.shape[1] ** 0.5
        if float(np.linalg.norm(state.slope())) <= limit:
            return Status.CONVERGED
        return Status.STATIONARY if state.stable else None


def newton_direction(problem: LabelProblem, F: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """Return D with  curvature(D) = -slope  in the entries where the slope is not zero.

    Conjugate gradients, ended early far from the solution, and where the curvature is negative.
    """
    free = slope != 0.0
    square = float(np.sum(slope * slope))
    curvature = problem.curvature(F, free, convex=square**0.5 > FAR)
    direction = np.zeros_like(F)
    direction.T[free.T] = _conjugate_gradients(curvature, -slope.T[free.T], square)
    return direction


def _conjugate_gradients(curve: Product, residual: np.ndarray, square: float) -> np.ndarray:
    """Return D with curve(D) = residual, roughly; ``square`` is the squared length of this."""
    direction, search = np.zeros_like(residual), residual
    length = square**0.5
    limit = (min(INEXACT, length**0.5) * length) ** 2
    for _ in range(MAX_PRODUCTS):
        image = curve(search)
        bend = float(np.sum(search * image))
        if bend <= 0.0:
            return direction if direction.any() else search
        direction = direction + (square / bend) * search
        residual = residual - (square / bend) * image
        before, square = square, float(np.sum(residual * residual))
        if square <= limit:
            break
        search = residual + (square / before) * search
    return direction


def _search(
    problem: LabelProblem,
    state: LabelState,
    direction: np.ndarray,
    *,
    size: float,
    sufficient: float,
) -> LabelState | None:
    """Return the first of the halved steps along a direction that lowers J enough."""
    slack = _rounding(state.value)
    for trial in range(MAX_TRIALS):
        F = np.maximum(state.F + size * direction, 0.0)
        promised = float(np.sum(state.gradient * (F - state.F)))
        if promised < 0.0:
            found = _at(problem, F, size)
            # The last digits of F change J by less than its rounding.
            allowed = slack if trial == 0 and promised > -10.0 * slack else 0.0
            if found.value <= state.value + sufficient * promised + allowed:
                return found
        size *= 0.5
    return None


def _at(problem: LabelProblem, F: np.ndarray, step_size: float) -> LabelState:
    """Return the state at F."""
    image = problem.A @ F
    value, gradient = problem.expand(F, image)
    return LabelState(F, image, value, gradient, step_size)


def _rounding(value: float) -> float:
    """Return the size of the rounding of a value of J."""
    return ROUNDING * max(abs(value), 1.0)
