"""The problem of the W-step:  min 1/2 ||ZW - Y||^2 + (mu/2) ||W||^2  over row-sparse W.

Either every selected row costs ``sparsity`` (lam), or at most ``n_features`` (k) rows are allowed.
For a fixed support the best W is a ridge regression, so the problem is a search over supports.
"""

from collections.abc import Callable
from dataclasses import dataclass

from featsieve.arrays import DataOperator
from featsieve.arrays.namespace import Array


@dataclass(frozen=True)
class RowSparseRegression:
    """Row-sparse ridge regression of centred targets on the columns of an operator.

    Parameters
    ----------
    operator : DataOperator
        Z, n x d.
    target : array of shape (n, c)
        Y; its columns are centred.
    ridge : float
        mu.
    sparsity : float
        lam, what one selected feature costs.
    n_features : int or None
        k, the largest number of features, if it is limited.
    least_share : float
        The share of the explained loss that a further feature must add (forward selection only);
        a way to find a value of ``sparsity`` that suits the data.
    """

    operator: DataOperator
    target: Array
    ridge: float = 0.0
    sparsity: float = 0.0
    n_features: int | None = None
    least_share: float = 0.0

    @property
    def limit(self) -> int:
        """The largest support a search may return: k, or all columns that vary."""
        xp = self.operator.xp
        varying = int(xp.sum(xp.astype(self.operator.varies, xp.int64)))
        return varying if self.n_features is None else min(self.n_features, varying)

    def correlation(self) -> Array:
        """Return Z'Y, an array that the caller may change."""
        return self.operator.rmatmul(self.target)

    def energy(self) -> float:
        """Return ||Y||^2."""
        return float(self.operator.xp.sum(self.target * self.target))

    def moments(self, support: Array) -> Array:
        """Return Z_S'Y."""
        return self.operator.columns_rmatmul(support, self.target)

    def refit(self, support: Array) -> Array:
        """Return W_S = (Z_S'Z_S + mu I)^(-1) Z_S'Y, the best rows on a support."""
        operator, xp = self.operator, self.operator.xp
        n, k = operator.shape[0], support.shape[0]
        if self.ridge == 0.0:  # columns may be dependent: the solution of least norm
            return xp.linalg.pinv(operator.columns(support)) @ self.target
        eye = xp.eye(min(n, k), dtype=xp.float64, device=operator.device)
        if k <= n:
            gram = operator.columns_gram(support) + self.ridge * eye
            return xp.linalg.solve(gram, self.moments(support))
        # push-through: (Z'Z + mu I)^(-1) Z' = Z' (ZZ' + mu I)^(-1)
        Z = operator.columns(support)
        return Z.T @ xp.linalg.solve(Z @ Z.T + self.ridge * eye, self.target)

    def value(self, support: Array) -> float:
        """Return the objective at the best W on a support."""
        xp = self.operator.xp
        if support.shape[0] == 0:
            return 0.5 * self.energy()
        # At the optimum 1/2||Y - ZW||^2 + mu/2||W||^2 = 1/2 (||Y||^2 - <Z'Y, W>).
        explained = float(xp.sum(self.moments(support) * self.refit(support)))
        return 0.5 * (self.energy() - explained) + self.sparsity * support.shape[0]


@dataclass(frozen=True)
class SummedRegression(RowSparseRegression):
    """The same problem where only the sums over the samples are known."""

    target: Array = None
    sums: Array = None
    total: float = 0.0
    gram_of: Callable[[Array], Array] | None = None

    def correlation(self) -> Array:
        """Return Z'Y, an array that the caller may change."""
        return self.operator.xp.asarray(self.sums, copy=True)

    def energy(self) -> float:
        """Return ||Y||^2."""
        return self.total

    def moments(self, support: Array) -> Array:
        """Return Z_S'Y."""
        return self.operator.xp.take(self.sums, support, axis=0)

    def refit(self, support: Array) -> Array:
        """Return the best rows on a support (of no more columns than samples)."""
        xp = self.operator.xp
        gram = self.gram_of(support) if self.gram_of else self.operator.columns_gram(support)
        eye = xp.eye(support.shape[0], dtype=xp.float64, device=self.operator.device)
        return xp.linalg.solve(gram + self.ridge * eye, self.moments(support))
