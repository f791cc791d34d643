"""The features of largest variance: the simplest control."""

from dataclasses import field
from typing import Any

from featsieve.arrays import as_operator
from featsieve.arrays.namespace import to_numpy
from featsieve.base import ConstrainedSelector, estimator


@estimator
class MaxVariance(ConstrainedSelector):
    """Select the features of largest variance.

    A control: any method that claims to find structure should beat it. It knows nothing of
    clusters, and depends on the units of the columns (on standardised columns all scores are
    equal, and the ranking is the order of the columns).

    Parameters
    ----------
    %(n_features_to_select)s
    %(constraints)s

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
    %(example)s
    """

    n_features_to_select: int | float | str = field(default=0.1, kw_only=False)

    def _fit(self, X: Any) -> None:
        """Compute the variances."""
        n_selected = self._n_to_select()
        operator = as_operator(X)
        self._check_varies(to_numpy(operator.varies))
        self._set_selection(to_numpy(operator.column_norms()) / X.shape[0], n_selected)
