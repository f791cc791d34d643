"""How large the differences between methods are, and what they are out of what was possible."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from featsieve import defaults
from featsieve.evaluation.ranks import score_table

NONE = (np.nan, np.nan, np.nan)


class Difference(NamedTuple):
    """A method less a reference, paired over data sets: what `compare_with_reference` finds."""

    n_datasets: int  # on which both have a score
    points: tuple[float, float, float]  # mean difference, and the ends of its 95 % interval
    wins: int
    ties: int
    losses: int
    # Share of the gap between reference and ceiling that the method closes, and the ends of its
    # 95 % interval; NaN without a ceiling, or where its own gain is not beyond chance.
    closed: tuple[float, float, float] = NONE


def compare_with_reference(
    scores: Any,
    reference: str,
    *,
    names: Sequence[str] | None = None,
    ceiling: str | None = None,
    families: Sequence[str] | None = None,
) -> dict[str, Difference]:
    """Compare methods with one of them, data set by data set.

    Parameters
    ----------
    scores : array-like or data frame of shape (n_datasets, n_methods)
        One number in [0, 1] per data set and method, larger is better. Where there is none: -inf
        for a failure, which counts as a loss; NaN for a data set that was not tried.
    reference : str
        The method to compare with, such as "all features".
    names : sequence of str, default=None
        Names of the methods; by default the columns of a data frame, or "method 0", ...
    ceiling : str, default=None
        A method that was given the true labels: what others are measured by, no competitor.
    families : sequence of str, default=None
        The family of every data set (genes, faces, ...), whose sets are hardly independent: whole
        families are then resampled.

    Returns
    -------
    dict of str to Difference
        By method, without the reference.

    See Also
    --------
    compare_ranks : Whether average ranks differ beyond chance.

    Notes
    -----
    Intervals are percentiles over 10,000 resamples of the data sets with a fixed seed; they take
    these for a random sample of independent ones, and are too narrow for fewer than about thirty.
    Failures count as losses, and are left out of the mean. A tie is one point (0.01).

    Examples
    --------
    >>> from featsieve.evaluation import compare_with_reference
    >>> scores = [[0.5, 0.6, 0.9], [0.4, 0.5, 0.6], [0.7, 0.7, 0.8]]
    >>> names = ["all features", "A", "true labels"]
    >>> found = compare_with_reference(scores, "all features", names=names, ceiling="true labels")
    >>> round(found["A"].points[0], 2), found["A"].wins, round(found["A"].closed[0], 2)
    (0.07, 2, 0.29)
    """
    table, names = score_table(scores, names)
    for name in filter(None, (reference, ceiling)):
        if name not in names:
            raise ValueError(f"{name!r} must be one of the methods: {', '.join(names)}.")
    with np.errstate(invalid="ignore"):  # both have failed
        gains = table - table[:, [names.index(reference)]]
    most = gains[:, names.index(ceiling)] if ceiling else np.full(len(table), np.nan)
    _, family = np.unique(range(len(table)) if families is None else families, return_inverse=True)
    tie = defaults.BENCH_TIE * (1.0 + 1e-9)  # 0.56 - 0.55 is a tie, whatever rounding does
    found = {}
    for name, gain in zip(names, gains.T, strict=True):
        tried = np.isfinite(gain)
        both = tried & np.isfinite(most)
        gap = _mean_and_interval(most[both], family[both])
        closed = gain[both], family[both], most[both]
        found[name] = Difference(
            n_datasets=int(tried.sum()),
            points=_mean_and_interval(gain[tried], family[tried]),
            wins=int((gain > tie).sum()),
            ties=int((np.abs(gain) <= tie).sum()),
            losses=int((gain < -tie).sum()),
            closed=_mean_and_interval(*closed) if gap[1] > 0.0 else NONE,
        )
    del found[reference]
    return found


def _mean_and_interval(
    values: np.ndarray, family: np.ndarray, whole: np.ndarray | float = 1.0
) -> tuple[float, float, float]:
    """Return the mean (over that of ``whole``) with its bootstrap interval over families."""
    if not len(values):
        return NONE
    sums = [np.bincount(family, np.broadcast_to(x, len(family))) for x in (values, whole)]
    there = np.unique(family)
    draws = np.random.default_rng(0).choice(there, size=(10_000, len(there)))
    means, parts = (own[draws].sum(axis=1) for own in sums)
    low, high = np.quantile(means[parts > 0.0] / parts[parts > 0.0], [0.025, 0.975])
    return float(sums[0].sum() / sums[1].sum()), float(low), float(high)
