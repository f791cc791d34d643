"""L-BFGS with backtracking, on all matrices or on the non-negative ones.

The block solver of the published RUFS: memory of ten steps, first metric 1 and then s'y/y'y,
Armijo constant 0.2, step halved from 1. On the non-negative matrices the direction -H grad is
restricted to entries that are positive or would grow, and trial points are projected.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

MEMORY = 10
ARMIJO = 0.2
BACKTRACK = 0.5
# A step shorter than 2^-60 does not change a double.
MOST_TRIALS = 60


@dataclass(frozen=True)
class Function:
    """A function that needs one expensive, linear product of its argument, its image."""

    image: Callable[[np.ndarray], np.ndarray]
    value: Callable[[np.ndarray, np.ndarray], float]  # of the argument and its image
    gradient: Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class ProjectedLBFGS:
    """Minimise a function from a given point; never ends above where it began."""

    nonnegative: bool
    gradient_tol: float = 0.0
    relative: bool = False
    value_tol: float = 1e-3
    max_iter: int = 200

    def minimise(self, function: Function, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the last point and its image."""
        with np.errstate(over="ignore", invalid="ignore"):  # such a trial point is refused
            return self._descend(function, V)

    def _descend(self, function: Function, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        image = function.image(V)
        value, gradient = function.value(V, image), function.gradient(V, image)
        limit = self.gradient_tol
        if self.relative:
            limit *= float(np.linalg.norm(self.feasible(gradient, V)))
        pairs: deque[tuple[np.ndarray, np.ndarray]] = deque(maxlen=MEMORY)
        for _ in range(self.max_iter):
            if float(np.linalg.norm(self.feasible(gradient, V))) <= limit:
                break
            direction = -self.feasible(metric_product(pairs, gradient), V)
            if not np.sum(direction * gradient) < 0.0:
                direction = -self.feasible(gradient, V)
            found = self._line_search(function, (V, image, value), gradient, direction)
            if found is None or abs(found[2] - value) < self.value_tol:
                break
            step, old = found[0] - V, gradient
            V, image, value = found
            gradient = function.gradient(V, image)
            pairs.append((step, gradient - old))
        return V, image

    def feasible(self, slope: np.ndarray, V: np.ndarray) -> np.ndarray:
        """Return the slope without the entries that lead out of the non-negative matrices."""
        if not self.nonnegative:
            return slope
        return np.where((slope < 0.0) | (V > 0.0), slope, 0.0)

    def _line_search(
        self,
        function: Function,
        at: tuple[np.ndarray, np.ndarray, float],
        gradient: np.ndarray,
        direction: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray, float] | None:
        """Return the first of the halved steps with f(V_t) <= f(V) + 0.2 <grad, V_t - V>."""
        V, image, value = at
        ray = None if self.nonnegative else function.image(direction)
        size = 1.0
        for _ in range(MOST_TRIALS):
            trial = V + size * direction
            if ray is None:
                trial = np.maximum(trial, 0.0)
                trial_image = function.image(trial)
            else:
                trial_image = image + size * ray  # no product with the table
            trial_value = function.value(trial, trial_image)
            expected = min(float(np.sum(gradient * (trial - V))), 0.0)
            if trial_value <= value + ARMIJO * expected:
                return trial, trial_image, trial_value
            size *= BACKTRACK
        return None


def metric_product(
    pairs: "deque[tuple[np.ndarray, np.ndarray]]", gradient: np.ndarray
) -> np.ndarray:
    """Return H grad, H the inverse Hessian that steps s and gradient changes y describe.

    Pairs with s'y <= 0 are left out: they would make H indefinite.
    """
    kept = [(s, y, float(np.sum(s * y))) for s, y in pairs]
    kept = [pair for pair in kept if pair[2] > 0.0]
    q = gradient
    first = []
    for s, y, curvature in reversed(kept):
        first.append(float(np.sum(s * q)) / curvature)
        q = q - first[-1] * y
    if kept:
        _, y, curvature = kept[-1]
        q = q * (curvature / float(np.sum(y * y)))
    for (s, y, curvature), a in zip(kept, reversed(first), strict=True):
        q = q + s * (a - float(np.sum(y * q)) / curvature)
    return q
