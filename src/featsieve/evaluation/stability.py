"""How much selections agree that were made from different samples of the same kind."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from featsieve.validation import check_number


@dataclass(frozen=True)
class Stability:
    """Agreement of several selections, beyond what chance gives.

    Attributes
    ----------
    value : float
        1: all selections are the same; about 0: they agree as random ones of the same sizes do.
        NaN where it is not defined: every selection holds all features, or none holds any.
    interval : tuple of two floats
        Confidence interval of the value.
    standard_error : float
    n_selections : int
    """

    value: float
    interval: tuple[float, float]
    standard_error: float
    n_selections: int


def selection_stability(supports: Any, *, confidence: float = 0.95) -> Stability:
    """Return how far selections of features agree beyond chance, with a confidence interval.

    With p_f the share of the selections that hold feature f, M selections and k̄ the mean number of
    features they hold, the stability is [1]_

        Φ = 1 - mean_f(s_f²) / (k̄/d (1 - k̄/d)),    s_f² = M/(M - 1) p_f (1 - p_f):

    one minus the variance of the choices over that of random choices of as many features.

    Parameters
    ----------
    supports : array-like of bool, of shape (n_selections, n_features)
        One selection in each row, at least two: the ``support_`` of selectors fitted to different
        samples. Zeros and ones will do.
    confidence : float, default=0.95
        Probability with which the interval covers the true stability, approximately.

    Returns
    -------
    Stability
        The value, its confidence interval and its standard error.

    See Also
    --------
    featsieve.tuning.StabilitySelection : Makes the selections, from subsamples of one table.

    Notes
    -----
    If all selections hold k features, Φ is the mean over pairs of Kuncheva's index
    (r - k²/d) / (k - k²/d), r being the number of features that both hold, and its expectation for
    random selections is 0; if their numbers differ, it is negative by a term of order 1/M. Φ is at
    least -1/(M - 1).

    If every selection holds all features, or none holds any, both variances are zero and Φ is not
    defined: the answer is NaN, not 1, because nothing was chosen.

    The interval is that of a normal distribution, cut off at 1. It supposes independent selections
    and many of them: for ten it is too short. Where all selections are the same its length is
    zero, which only means that no difference was seen.

    Stable is not the same as right: a selector that always makes the same mistake has Φ = 1.

    References
    ----------
    .. [1] S. Nogueira, K. Sechidis and G. Brown, "On the stability of feature selection
       algorithms", Journal of Machine Learning Research 18 (174), 2018.

    Examples
    --------
    >>> from featsieve.evaluation.stability import selection_stability
    >>> stability = selection_stability([[1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0]])
    >>> round(stability.value, 3)
    0.333
    """
    chosen = _as_selections(supports)
    check_number("confidence", confidence, low=0.0, strict=True, below=1.0)
    M, d = chosen.shape
    p = chosen.mean(axis=0)
    share = chosen.sum() / (M * d)  # k̄/d
    random_variance = share * (1.0 - share)
    if random_variance == 0.0:
        return Stability(np.nan, (np.nan, np.nan), np.nan, M)
    value = float(1.0 - M / (M - 1) * np.mean(p * (1.0 - p)) / random_variance)

    # Half the derivative of Φ with respect to the weight of row i, up to a constant (delta method):
    # φ_i = [mean_f(x_if p_f) - k̄/d k_i/d + Φ/2 (2 k̄/d k_i/d - k_i/d)] / (k̄/d (1 - k̄/d)).
    shares = chosen.mean(axis=1)  # k_i/d
    phi = chosen @ p / d - share * shares + value / 2.0 * (2.0 * share - 1.0) * shares
    phi /= random_variance
    error = float(2.0 / M * np.linalg.norm(phi - phi.mean()))
    reach = float(ndtri((1.0 + confidence) / 2.0)) * error
    return Stability(value, (value - reach, min(1.0, value + reach)), error, M)


def _as_selections(supports: Any) -> np.ndarray:
    """Return the selections as a bool array; refuse what is not a table of at least two."""
    table = np.asarray(supports)
    chosen = table.astype(bool)
    is_mask = table.dtype.kind in "biuf" and np.array_equal(chosen, table)
    if not is_mask or table.ndim != 2 or table.shape[1] == 0 or len(table) < 2:
        raise ValueError(
            "supports must be a table of True and False with a row for every selection, at least "
            "2, and a column for every feature, for example np.array([sieve.support_ for sieve in "
            f"sieves]), not scores and not indices; got {table.dtype} of shape {table.shape}."
        )
    return chosen
