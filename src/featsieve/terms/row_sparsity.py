"""The l2,0 term: lam ||W||_{2,0} as a penalty, or ||W||_{2,0} <= k as a constraint.

||W||_{2,0} is the number of non-zero rows of W, that is, of selected features. Hard thresholding
(``solvers/homotopy_iht.py``) uses these terms; the default solver of JASFS pays the same price in
``solvers/forward_selection.py``.
"""

from abc import ABC, abstractmethod

from featsieve.arrays.namespace import Array, namespace_of

# Squared lengths of rows that differ by less, relative to themselves, are equal: the layout of a
# table or the BLAS library may have made the difference.
ROUNDING = 1e-12


class RowSparsityTerm(ABC):
    """A function of the number of non-zero rows."""

    @abstractmethod
    def price(self, n_rows: int) -> float:
        """Return the value for a number of non-zero rows."""

    @abstractmethod
    def keep(self, V: Array, step: float) -> Array:
        """Return the mask of the rows of V that the proximal step keeps."""

    def value(self, W: Array) -> float:
        """Return the value at W."""
        return self.price(count_rows(W))

    def prox(self, V: Array, step: float) -> Array:
        """Return the minimiser of ||W - V||^2/(2 step) + value(W): row hard thresholding."""
        xp = namespace_of(V)
        return xp.where(self.keep(V, step)[:, None], V, xp.zeros_like(V))


class RowSparsityPenalty(RowSparsityTerm):
    """lam ||W||_{2,0}."""

    def __init__(self, sparsity: float) -> None:
        self.sparsity = sparsity

    def price(self, n_rows: int) -> float:
        """Return lam times the number of rows."""
        return self.sparsity * n_rows

    def keep(self, V: Array, step: float) -> Array:
        """Keep row v if ||v||^2 > 2 lam step (eq. iht_solution); ties go to zero."""
        return row_norms(V) > 2.0 * self.sparsity * step


class RowSparsityConstraint(RowSparsityTerm):
    """The indicator function of ||W||_{2,0} <= k."""

    def __init__(self, n_features: int) -> None:
        self.n_features = n_features

    def price(self, n_rows: int) -> float:
        """Return 0 where the constraint holds, infinity elsewhere."""
        return 0.0 if n_rows <= self.n_features else float("inf")

    def keep(self, V: Array, step: float) -> Array:
        """Keep the k longest rows; of those as long as the k-th, rounding aside, the first."""
        xp = namespace_of(V)
        norms = row_norms(V)
        k = min(self.n_features, norms.shape[0])
        if k == 0:
            return xp.zeros_like(norms, dtype=xp.bool)
        last = xp.sort(norms, descending=True)[k - 1]
        rounding = max(ROUNDING, 8.0 * float(xp.finfo(norms.dtype).eps))
        longer = norms > last * (1.0 + rounding)
        tied = (norms >= last * (1.0 - rounding)) & ~longer
        places = k - xp.sum(xp.astype(longer, xp.int64))
        return longer | (tied & (xp.cumulative_sum(xp.astype(tied, xp.int64)) <= places))


def row_norms(V: Array) -> Array:
    """Return the squared length of every row; equal rows get equal lengths, to the last bit."""
    return namespace_of(V).sum(V * V, axis=1)


def row_support(W: Array) -> Array:
    """Return the mask of the non-zero rows (exactly non-zero: no tolerance)."""
    return namespace_of(W).any(W != 0, axis=1)


def count_rows(W: Array) -> int:
    """Return ||W||_{2,0}."""
    xp = namespace_of(W)
    return int(xp.sum(xp.astype(row_support(W), xp.int64)))
