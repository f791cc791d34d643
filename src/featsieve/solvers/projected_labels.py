"""Projected gradient steps for non-negative, nearly orthonormal pseudo-labels F.

    J(F) = <F, A(F)> - 2 <F, B> + (nu/2) ||F'F - I||^2,   F >= 0,

with A symmetric, seen only through products. Unlike under multiplicative rules a zero can grow, and
nothing has to be split by sign.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from numbers import Real
from typing import Any

import numpy as np

from featsieve.solvers.nonnegative_labels import orthogonality_gap
from featsieve.solvers.protocol import Status
from featsieve.validation import check_number

# Sufficient decrease (Armijo): the share of the decrease that the gradient promises. Half of it is
# what a step of 1/curvature gives. Longer steps (a small share, or those of Barzilai and Borwein)
# need fewer iterations, but overshoot in stiff directions and blow up rounding: the same table
# stored in another format would get other labels.
SUFFICIENT = 0.5
# By how much a step first exceeds the one before it.
GROWTH = 1.5
# After so many halvings the promised decrease is below rounding.
MAX_TRIALS = 60


def penalty_sequence(orthogonality: Any) -> tuple[float, ...]:
    """Return nu, a number or a rising sequence of numbers, as a tuple; refuse anything else."""
    single = isinstance(orthogonality, (Real, str))
    values = [orthogonality] if single else list(orthogonality)
    for value in values:
        check_number("orthogonality", value, low=0.0, strict=True)
    penalties = tuple(float(value) for value in values)
    if not penalties or any(later <= first for first, later in pairwise(penalties)):
        raise ValueError(
            "orthogonality must be a number above 0, or a sequence of them that rises, such as "
            f"(10, 100, 1000, 10000); got {orthogonality!r}."
        )
    return penalties


@dataclass(frozen=True)
class LabelProblem:
    """What the label step minimises.

    Parameters
    ----------
    product : callable
        ``product(F)`` returns A(F), a symmetric linear map.
    linear : ndarray of shape (n, c)
        B.
    orthogonality : float
        nu.
    """

    product: Callable[[np.ndarray], np.ndarray]
    linear: np.ndarray
    orthogonality: float

    def value(self, F: np.ndarray, image: np.ndarray) -> float:
        """Return J, given image = A(F)."""
        smooth = float(np.sum(F * (image - 2.0 * self.linear)))
        return smooth + 0.5 * self.orthogonality * orthogonality_gap(F)

    def gradient(self, F: np.ndarray, image: np.ndarray) -> np.ndarray:
        """Return 2 (A(F) - B) + 2 nu F (F'F - I), given image = A(F)."""
        return 2.0 * (image - self.linear + self.orthogonality * (F @ (F.T @ F) - F))


@dataclass(frozen=True)
class LabelState:
    """F with what is known there."""

    F: np.ndarray
    image: np.ndarray  # A(F)
    value: float
    gradient: np.ndarray
    step_size: float  # of the step that led here
    stable: bool = False  # no step lowers J


class ProjectedGradient:
    """Solver of :class:`LabelProblem`:  F <- max(F - t gradient, 0), J never rises.

    t is tried a little larger than in the step before, and halved until J falls by half of what the
    gradient promises.

    Parameters
    ----------
    start : ndarray of shape (n, c)
        The first F, non-negative.
    tol : float
        Relative decrease of J, against its largest size so far, that ends the run.
    """

    def __init__(self, start: np.ndarray, *, tol: float = 1e-9) -> None:
        self.start, self.tol = start, tol

    def init(self, problem: LabelProblem) -> LabelState:
        """Start at the given F, with the inverse of the curvature along F as the first step."""
        F = self.start
        image = problem.product(F)
        length = max(float(np.linalg.norm(F)), 1e-300)
        curvature = 2.0 * float(np.linalg.norm(image)) / length
        curvature += 4.0 * problem.orthogonality * max(float(np.linalg.norm(F.T @ F, 2)), 1.0)
        gradient = problem.gradient(F, image)
        step_size = 1.0 / max(curvature, 1e-300)
        return LabelState(F, image, problem.value(F, image), gradient, step_size)

    def step(self, problem: LabelProblem, state: LabelState) -> LabelState:
        """Take one step that lowers J enough, or find that there is none."""
        t = GROWTH * state.step_size
        for _ in range(MAX_TRIALS):
            F = np.maximum(state.F - t * state.gradient, 0.0)
            moved = F - state.F
            promised = float(np.sum(state.gradient * moved))  # <= -||moved||^2 / t
            if promised >= 0.0:
                break
            image = problem.product(F)
            value = problem.value(F, image)
            if value <= state.value + SUFFICIENT * promised:
                return LabelState(F, image, value, problem.gradient(F, image), t)
            t *= 0.5
        return LabelState(state.F, state.image, state.value, state.gradient, t, stable=True)

    def objective(self, problem: LabelProblem, state: LabelState) -> float:
        """Return J."""
        return state.value

    def terminate(
        self, problem: LabelProblem, state: LabelState, history: Sequence[float]
    ) -> Status | None:
        """End when no step is left, or when J hardly falls."""
        if state.stable:
            return Status.STATIONARY
        if len(history) < 2:
            return None
        size = max(abs(history[0]), abs(history[-1]))
        return Status.CONVERGED if history[-2] - history[-1] <= self.tol * size else None
