"""Automatic l2,1 penalties, and a warning where one is too large."""

import numpy as np

from featsieve.arrays import DataOperator
from featsieve.solvers.reweighted_ridge import largest_penalty, moderate_penalty
from featsieve.validation import warn

# Labels whose columns have less than this squared length have vanished (orthonormal ones have 1).
VANISHED = 0.01


def resolve_penalty(value: float | str, operator: DataOperator, F: np.ndarray) -> float:
    """Return an l2,1 penalty as a number; "auto" suits the table and the label matrix F."""
    if isinstance(value, str):
        return moderate_penalty(operator, operator.xp.asarray(F, device=operator.device))
    return float(value)


def warn_large_penalty(
    name: str,
    value: float,
    operator: DataOperator,
    F: np.ndarray,
    *,
    slope: np.ndarray | None = None,
) -> bool:
    """Say, and warn, where the best regression of F is W = 0: labels vanished, or large penalty.

    ``slope`` is half the slope of the loss at W = 0, where that is not the squared one's, F.
    """
    if np.sum(F * F) < VANISHED * F.shape[1]:
        warn(
            "The pseudo-labels have vanished, and the ranking with them: orthogonality is too "
            "small against the other terms. Increase it.",
            UserWarning,
        )
        return True
    slope = F if slope is None else slope
    largest = largest_penalty(operator, operator.xp.asarray(slope, device=operator.device))
    if value >= largest > 0.0:
        warn(
            f"{name} is so large that all weights vanish: the ranking is that of the features one "
            f"at a time. Choose {name} below {largest:.3g}.",
            UserWarning,
        )
        return True
    return False
