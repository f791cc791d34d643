"""A random subset of the features: the control that every comparison needs."""

from dataclasses import field
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from featsieve.arrays import as_operator
from featsieve.arrays.namespace import to_numpy
from featsieve.base import ConstrainedSelector, estimator


@estimator
class RandomSelector(ConstrainedSelector):
    """Select features at random.

    A control: where many columns carry the clusters, a random subset of them can be as good as a
    careful choice, and a comparison without it does not show that.

    Parameters
    ----------
    %(n_features_to_select)s
    random_state : int, RandomState instance or None, default=None
        Seeds the choice. For one seed, a smaller selection is part of a larger one.
    %(constraints)s

    Attributes
    ----------
    scores_ : ndarray of shape (`n_features_in_`,)
        Random numbers above 0, at most 1; 0 for columns that do not vary, which therefore rank
        last.
    %(selection, automatic, input)s

    See Also
    --------
    MaxVariance : The other control.

    Notes
    -----
    The values of X do not matter, except for which columns vary. Cost: one pass over the table.

    When not to use it: to select features.

    Examples
    --------
    >>> from featsieve import RandomSelector
    >>> from featsieve.datasets import make_planted
    >>> planted = make_planted(n_samples=120, n_features=50, n_informative=10, random_state=0)
    >>> sieve = RandomSelector(n_features_to_select=10, random_state=0).fit(planted.X)
    >>> int(sieve.support_.sum())
    10
    """

    n_features_to_select: int | float | str = field(default=0.1, kw_only=False)
    random_state: Any = None

    def _fit(self, X: Any) -> None:
        """Draw the scores."""
        n_selected = self._n_to_select()
        random_state = check_random_state(self.random_state)
        varies = to_numpy(as_operator(X).varies)
        self._check_varies(varies)
        drawn = 1.0 - random_state.random_sample(X.shape[1])  # in (0, 1]
        self._set_selection(np.where(varies, drawn, 0.0), n_selected)
