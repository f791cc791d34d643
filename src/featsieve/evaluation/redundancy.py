"""How much the selected features repeat each other."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from featsieve.arrays import as_operator
from featsieve.arrays.namespace import is_sparse
from featsieve.arrays.operator import BLOCK_ELEMENTS
from featsieve.evaluation.checks import as_feature_indices
from featsieve.validation import check_table


def redundancy(X: Any, support: Any) -> float:
    """Return the mean absolute correlation of the selected columns, over all pairs of them.

    Parameters
    ----------
    X : array-like or scipy.sparse matrix of shape (n_samples, n_features)
        The table from which the features were selected.
    support : array-like
        A mask of bool for all features, as in ``support_``, or the indices of the selected ones.

    Returns
    -------
    float
        Between 0 and 1; 0 for a single feature. Correlations with a column that does not vary
        count as 0.

    Notes
    -----
    Only the selected columns are read. With k of them the cost is that of a product of the k
    columns with themselves; the correlations are summed block by block and never kept, and of a
    sparse table only a block of columns is dense at a time.

    A low value is not a merit by itself: random noise has the lowest. A set is better than another
    that is as informative and more redundant.

    Examples
    --------
    >>> import numpy as np
    >>> from featsieve.evaluation import redundancy
    >>> X = np.array([[0.0, 0.0, 1.0], [1.0, -2.0, 0.0], [2.0, -4.0, 1.0]])
    >>> round(redundancy(X, [0, 1]), 6)
    1.0
    >>> round(redundancy(X, [True, False, True]), 6)
    0.0
    """
    X = sp.csc_array(X) if is_sparse(X) else np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"X must be a table of samples and features; got the shape {X.shape}.")
    selected = check_table(X[:, as_feature_indices(support, X.shape[1])], owner="redundancy")
    operator = as_operator(selected.astype(np.float64, copy=False), scale="unit")
    n, k = operator.shape
    if k == 1:
        return 0.0
    total = 0.0
    step = max(1, BLOCK_ELEMENTS // max(n, k))
    for start in range(0, k, step):
        block = np.arange(start, min(start + step, k))
        correlations = np.abs(operator.rmatmul(operator.columns(block)))  # |Z'Z|, unit columns
        correlations[block, block - start] = 0.0
        total += float(correlations.sum())
    return min(1.0, total / (k * (k - 1)))
