"""The features of largest variance: the simplest control."""

from typing import Any

from featsieve.arrays import as_operator
from featsieve.arrays.namespace import to_numpy
from featsieve.base import UnsupervisedSelector
from featsieve.docstrings import fill_doc


@fill_doc
class MaxVariance(UnsupervisedSelector):
    """Select the features of largest variance.

    A control: any method that claims to find structure should beat it. It knows nothing of
    clusters, and depends on the units of the columns (on standardised columns all scores are
    equal, and the ranking is the order of the columns).

    Parameters
    ----------
    %(n_features_to_select)s

    Attributes
    ----------
    scores_ : ndarray of shape (`n_features_in_`,)
        Variance of every feature (divided by n); 0 for columns that do not vary.
    %(selection, automatic, input)s

    See Also
    --------
    RandomSelector : The other control.
    LaplacianScore : Variance against smoothness over the samples.

    Notes
    -----
    Means and sums of squared deviations are merged from blocks in double precision: no digits are
    lost to large means, and sparse tables are not densified. A column whose spread is what rounding
    of its mean would leave counts as constant. Cost: one pass over the table.

    When not to use it: where columns have different units, or where clusters differ in columns of
    small variance.

    Examples
    --------
    >>> from featsieve import MaxVariance
    >>> from featsieve.datasets import make_planted
    >>> planted = make_planted(n_samples=120, n_features=50, n_informative=10, random_state=0)
    >>> sieve = MaxVariance(n_features_to_select=10).fit(planted.X)
    >>> int((sieve.support_ & planted.informative).sum())
    10
    """

    _standardises = False

    def __init__(self, n_features_to_select: int | float | str = 0.1) -> None:
        self.n_features_to_select = n_features_to_select

    def _fit(self, X: Any) -> None:
        """Compute the variances."""
        n_selected = self._n_to_select()
        operator = as_operator(X)
        self._check_varies(to_numpy(operator.varies))
        self._set_selection(to_numpy(operator.column_norms()) / X.shape[0], n_selected)
