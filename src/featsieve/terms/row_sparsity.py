"""The l2,0 term: lam ||W||_{2,0} as a penalty, or ||W||_{2,0} <= k as a constraint.

||W||_{2,0} is the number of non-zero rows of W, that is, of selected features.
"""

from featsieve.arrays.namespace import Array, namespace_of


class RowSparsityPenalty:
    """lam ||W||_{2,0}."""

    def __init__(self, sparsity: float) -> None:
        self.sparsity = sparsity

    def value(self, W: Array) -> float:
        """Return lam times the number of non-zero rows."""
        return self.sparsity * count_rows(W)

    def prox(self, V: Array, step: float) -> Array:
        """Return the minimiser of ||W - V||^2/(2 step) + lam ||W||_{2,0}: row hard thresholding.

        Row v stays if ||v||^2 > 2 lam step (eq. iht_solution), else it becomes zero; ties go to
        zero.
        """
        xp = namespace_of(V)
        keep = xp.sum(V * V, axis=1) > 2.0 * self.sparsity * step
        return xp.where(keep[:, None], V, xp.zeros_like(V))


class RowSparsityConstraint:
    """The indicator function of ||W||_{2,0} <= k."""

    def __init__(self, n_features: int) -> None:
        self.n_features = n_features

    def value(self, W: Array) -> float:
        """Return 0 where the constraint holds, infinity elsewhere."""
        return 0.0 if count_rows(W) <= self.n_features else float("inf")

    def prox(self, V: Array, step: float) -> Array:
        """Return V with all rows but the k longest set to zero; ties by the lower index."""
        xp = namespace_of(V)
        order = xp.argsort(xp.sum(V * V, axis=1), descending=True, stable=True)
        rank = xp.argsort(order)  # the inverse permutation
        return xp.where((rank < self.n_features)[:, None], V, xp.zeros_like(V))


def row_support(W: Array) -> Array:
    """Return the mask of the non-zero rows (exactly non-zero: no tolerance)."""
    return namespace_of(W).any(W != 0, axis=1)


def count_rows(W: Array) -> int:
    """Return ||W||_{2,0}."""
    xp = namespace_of(W)
    return int(xp.sum(xp.astype(row_support(W), xp.int64)))
