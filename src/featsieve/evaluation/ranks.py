"""Several methods on several data sets: average ranks, and whether they differ beyond chance."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import stdtrit
from scipy.stats import chi2, f, rankdata, studentized_range

from featsieve.validation import check_number


@dataclass(frozen=True, eq=False)
class RankComparison:
    """Ranks of methods over data sets, and what they prove.

    Attributes
    ----------
    names : tuple of str
        The methods, in the order of the columns.
    average_ranks : array of shape (n_methods,)
        1 is best.
    intervals : array of shape (n_methods, 2)
        Confidence interval of each average rank at the level 1 - alpha.
    n_datasets : int
        Data sets that were compared: those on which every method has a score.
    friedman, friedman_p : float
        Friedman's χ², corrected for ties, and its p-value: do the methods differ at all?
    iman_davenport, iman_davenport_p : float
        The F statistic of Iman and Davenport, less cautious than χ², and its p-value.
    critical_difference : float
        Two methods differ by Nemenyi's test if their average ranks are at least this far apart.
    groups : tuple of tuples of str
        The bars of the diagram: largest sets of two or more methods, best first, of which no two
        differ by Nemenyi's test. They may overlap.
    alpha : float
        Significance level of the critical difference and the intervals.
    """

    names: tuple[str, ...]
    average_ranks: np.ndarray
    intervals: np.ndarray
    n_datasets: int
    friedman: float
    friedman_p: float
    iman_davenport: float
    iman_davenport_p: float
    critical_difference: float
    groups: tuple[tuple[str, ...], ...]
    alpha: float

    @property
    def significant(self) -> bool:
        """Whether the methods differ at all, by the test of Iman and Davenport."""
        return self.iman_davenport_p < self.alpha

    @property
    def order(self) -> list[int]:
        """Positions of the methods, best first."""
        return np.argsort(self.average_ranks, kind="stable").tolist()


def compare_ranks(
    scores: Any, *, names: Sequence[str] | None = None, alpha: float = 0.05
) -> RankComparison:
    """Rank methods on every data set, and test whether the average ranks differ beyond chance.

    Friedman's test asks whether the methods differ at all, the test of Iman and Davenport asks the
    same with more power, and Nemenyi's critical difference says which pairs do [1]_.

    Parameters
    ----------
    scores : array-like or data frame of shape (n_datasets, n_methods)
        One number per data set and method, larger is better (negate errors and times). A data set
        with a missing score (NaN) is left out for all methods.
    names : sequence of str, default=None
        Names of the methods; by default the columns of a data frame, or "method 0", ...
    alpha : float, default=0.05
        Significance level.

    Returns
    -------
    RankComparison

    Notes
    -----
    Equal scores share their ranks, and χ² is corrected for them, as in
    ``scipy.stats.friedmanchisquare``. F = (N - 1) χ² / (N (k - 1) - χ²) for N data sets and k
    methods is that of an analysis of variance of the ranks; it is infinite where all data sets
    agree. CD = q sqrt(k (k + 1) / (6 N)), q being the upper quantile of the studentised range of k
    values over √2. The intervals of the average ranks are those of Student's t, cut off at 1 and k:
    they take the data sets for a random sample, which those of papers hardly are.

    The groups mean something only if ``significant``; and methods in one group were not shown to
    be equal, only not to differ. With few data sets the critical difference is large.

    References
    ----------
    .. [1] J. Demšar, "Statistical comparisons of classifiers over multiple data sets", Journal of
       Machine Learning Research 7, 2006.

    Examples
    --------
    >>> from featsieve.evaluation import compare_ranks
    >>> scores = [[0.9, 0.7, 0.5], [0.8, 0.7, 0.4], [0.6, 0.5, 0.5], [0.9, 0.8, 0.7]]
    >>> comparison = compare_ranks(scores, names=["A", "B", "C"])
    >>> comparison.average_ranks
    array([1.   , 2.125, 2.875])
    >>> round(comparison.critical_difference, 2)
    1.66
    >>> comparison.groups
    (('A', 'B'), ('B', 'C'))
    """
    check_number("alpha", alpha, low=0.0, strict=True, below=1.0)
    table, names = score_table(scores, names)
    complete = ~np.isnan(table).any(axis=1)
    if complete.sum() < 2:
        lacking = np.isnan(table).sum(axis=0)
        missing = ", ".join(f"{name} ({n} missing)" for name, n in zip(names, lacking, strict=True))
        raise ValueError(
            "Ranks are compared over data sets: at least 2 with a score of every method are "
            f"needed; got {complete.sum()} of {len(table)}. Leave out methods that lack scores: "
            f"{missing}."
        )
    ranks = rankdata(-table[complete], axis=1)
    N, k = ranks.shape
    average = ranks.mean(axis=0)

    between = N * np.sum((average - (k + 1) / 2) ** 2)
    total = np.sum((ranks - (k + 1) / 2) ** 2)
    largest = N * (k - 1)
    # share = χ² / (N (k - 1)), Kendall's coefficient of concordance: 1 if all data sets agree
    share = min(1.0, between / total) if total > 0.0 else 0.0
    within = 1.0 - share if share < 1.0 - 1e-12 else 0.0
    statistic = (N - 1) * share / within if within > 0.0 else np.inf

    deviation = ranks.std(axis=0, ddof=1) / np.sqrt(N)
    reach = stdtrit(N - 1, 1.0 - alpha / 2.0) * deviation
    intervals = np.clip(np.stack([average - reach, average + reach], axis=1), 1.0, k)
    q = studentized_range.ppf(1.0 - alpha, k, np.inf) / np.sqrt(2.0)
    critical = float(q * np.sqrt(k * (k + 1) / (6.0 * N)))
    return RankComparison(
        names=names,
        average_ranks=average,
        intervals=intervals,
        n_datasets=N,
        friedman=float(largest * share),
        friedman_p=float(chi2.sf(largest * share, k - 1)),
        iman_davenport=float(statistic),
        iman_davenport_p=float(f.sf(statistic, k - 1, (k - 1) * (N - 1))),
        critical_difference=critical,
        groups=_groups(average, names, critical),
        alpha=float(alpha),
    )


def _groups(
    average: np.ndarray, names: tuple[str, ...], critical: float
) -> tuple[tuple[str, ...], ...]:
    """Return the longest stretches of the ranking whose ends are closer than critical."""
    order = np.argsort(average, kind="stable")
    ranked = average[order]
    groups, covered = [], 0
    for first in range(len(ranked)):
        stop = int(np.searchsorted(ranked, ranked[first] + critical, side="left"))
        if stop > max(covered, first + 1):  # not inside an earlier stretch, nor alone
            groups.append(tuple(names[j] for j in order[first:stop]))
        covered = max(covered, stop)
    return tuple(groups)


def score_table(scores: Any, names: Sequence[str] | None) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return the scores in float64 and the names of the methods."""
    if names is None and hasattr(scores, "columns"):
        names = [str(name) for name in scores.columns]
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] < 2:
        raise ValueError(
            "scores must be a table with a row for every data set and a column for every method, "
            f"at least two of them; got the shape {table.shape}."
        )
    if names is None:
        names = [f"method {j}" for j in range(table.shape[1])]
    if isinstance(names, str) or len(names) != table.shape[1] or len(set(names)) != len(names):
        raise ValueError(
            f"names must hold a different name for each of the {table.shape[1]} methods (columns "
            f"of scores); got {names!r}."
        )
    return table, tuple(names)
