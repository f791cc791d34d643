"""How large the differences between methods are, and what they are out of what was possible."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from featsieve import defaults
from featsieve.evaluation.checks import check_probability
from featsieve.evaluation.ranks import score_table


@dataclass(frozen=True, eq=False)
class ReferenceComparison:
    """Differences of methods to a reference, paired over data sets.

    Attributes
    ----------
    names : tuple of str
        The methods, in the order of the columns; the reference is one of them.
    reference : str
    n_datasets : array of shape (n_methods,)
        Data sets on which both the method and the reference have a score.
    differences : array of shape (n_methods,)
        Mean of score less reference.
    intervals : array of shape (n_methods, 2)
        Bootstrap interval of each mean difference, over data sets.
    wins, ties, losses : arrays of shape (n_methods,)
        On how many data sets the method is above, within, and below ``tie`` of the reference.
    closed : array of shape (n_methods,)
        Share of the gap between the reference and the ceiling that the method closes: the mean
        difference over that of the ceiling on the same data sets. NaN without a ceiling, or where
        the interval of its own gain reaches down to zero: there is no gap to speak of.
    closed_intervals : array of shape (n_methods, 2)
        Bootstrap interval of each share.
    """

    names: tuple[str, ...]
    reference: str
    n_datasets: np.ndarray
    differences: np.ndarray
    intervals: np.ndarray
    wins: np.ndarray
    ties: np.ndarray
    losses: np.ndarray
    closed: np.ndarray
    closed_intervals: np.ndarray


def compare_with_reference(
    scores: Any,
    reference: str,
    *,
    names: Sequence[str] | None = None,
    ceiling: str | None = None,
    tie: float = defaults.BENCH_TIE,
    alpha: float = 0.05,
) -> ReferenceComparison:
    """Compare methods with one of them, data set by data set.

    Parameters
    ----------
    scores : array-like or data frame of shape (n_datasets, n_methods)
        One number per data set and method, larger is better. Where there is none: -inf for a
        failure, which counts as a loss; NaN for a data set that was not tried.
    reference : str
        The method to compare with, such as "all features".
    names : sequence of str, default=None
        Names of the methods; by default the columns of a data frame, or "method 0", ...
    ceiling : str, default=None
        A method that was given the true labels. It is what others are measured by, no competitor.
    tie : float
        Differences up to this size are ties. The default is one point of a score in [0, 1].
    alpha : float, default=0.05
        The intervals have the level 1 - alpha.

    Returns
    -------
    ReferenceComparison

    See Also
    --------
    compare_ranks : Whether average ranks differ beyond chance.

    Notes
    -----
    The intervals are percentiles over 10,000 resamples of the data sets, drawn with a fixed seed,
    the same for all methods that have all scores. They take the data sets for a random sample. With
    fewer than ten of them they are too narrow.

    Examples
    --------
    >>> from featsieve.evaluation import compare_with_reference
    >>> scores = [[0.5, 0.6, 0.9], [0.4, 0.5, 0.6], [0.7, 0.7, 0.8]]
    >>> names = ["all features", "A", "true labels"]
    >>> found = compare_with_reference(scores, "all features", names=names, ceiling="true labels")
    >>> found.differences.round(2), found.wins
    (array([0.  , 0.07, 0.23]), array([0, 2, 3]))
    >>> found.closed.round(2)
    array([0.  , 0.29, 1.  ])
    """
    check_probability("alpha", alpha, example=0.05)
    table, names = score_table(scores, names)
    for name in filter(None, (reference, ceiling)):
        if name not in names:
            raise ValueError(f"{name!r} must be one of the methods: {', '.join(names)}.")
    with np.errstate(invalid="ignore"):  # both have failed
        gains = table - table[:, [names.index(reference)]]
    most = gains[:, names.index(ceiling)] if ceiling else np.full(len(table), np.nan)
    levels = [alpha / 2.0, 1.0 - alpha / 2.0]
    found = np.full((len(names), 6), np.nan)
    for j, gain in enumerate(gains.T):
        own = gain[np.isfinite(gain)]
        if not len(own):
            continue
        found[j, 0], found[j, 1:3] = own.mean(), np.quantile(own[_draws(len(own))].mean(1), levels)
        both = np.isfinite(gain) & np.isfinite(most)
        if not both.any():
            continue
        draws = _draws(int(both.sum()))
        rooms = most[both][draws].mean(1)
        if np.quantile(rooms, levels[0]) > 0.0:
            shares = gain[both][draws].mean(1)[rooms > 0.0] / rooms[rooms > 0.0]
            found[j, 3] = gain[both].mean() / most[both].mean()
            found[j, 4:] = np.quantile(shares, levels)
    return ReferenceComparison(
        names=names,
        reference=reference,
        n_datasets=np.isfinite(gains).sum(axis=0),
        differences=found[:, 0],
        intervals=found[:, 1:3],
        wins=(gains > tie).sum(axis=0),
        ties=(np.abs(gains) <= tie).sum(axis=0),
        losses=(gains < -tie).sum(axis=0),
        closed=found[:, 3],
        closed_intervals=found[:, 4:],
    )


def _draws(n: int) -> np.ndarray:
    """Return the resamples of n data sets: indices, a row for each."""
    return np.random.default_rng(0).integers(n, size=(10_000, n))
