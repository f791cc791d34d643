"""How far the mean of some runs may be from that of very many."""

from typing import Any

import numpy as np
from scipy.special import stdtrit


def mean_interval(runs: Any, *, level: float = 0.95) -> tuple[float, float]:
    """Confidence interval of the mean over runs, by Student's t.

    Runs may be crossed: selector seeds by k-means seeds, where all selector seeds share the k-means
    seeds. Both are random effects then. The variances of the means over rows and over columns are
    added (which counts the residual twice, so that the interval is a little too wide, never too
    narrow), with Satterthwaite's degrees of freedom.
    """
    table = np.atleast_2d(np.asarray(runs, dtype=np.float64))
    parts = [
        (means.var(ddof=1) / len(means), len(means) - 1)
        for means in (table.mean(axis=1), table.mean(axis=0))
        if len(means) > 1
    ]
    if not parts:
        return float("nan"), float("nan")
    variance = sum(part for part, _ in parts)
    middle = float(table.mean())
    if variance == 0:
        return middle, middle
    freedom = variance**2 / sum(part**2 / degrees for part, degrees in parts)
    half = float(stdtrit(freedom, (1 + level) / 2) * np.sqrt(variance))
    return middle - half, middle + half
