"""The problem of the W-step:  min 1/2 ||ZW - Y||^2 + (mu/2) ||W||^2  over row-sparse W.

Either every selected row costs ``sparsity`` (lam), or at most ``n_features`` (k) rows are allowed.
For a fixed support the best W is a ridge regression, so the problem is a search over supports.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from featsieve.arrays import DataOperator
from featsieve.arrays.namespace import Array, to_numpy
from featsieve.solvers.offer import Offer


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
    offer : Offer or None
        Which columns may be selected, together or for a price; a feature is one of its units then.
    least_share : float
        The share of the explained loss that a further feature must add (forward selection only);
        a way to find a value of ``sparsity`` that suits the data.
    """

    operator: DataOperator
    target: Array
    ridge: float = 0.0
    sparsity: float = 0.0
    n_features: int | None = None
    offer: Offer | None = None
    least_share: float = 0.0

    @cached_property
    def limit(self) -> int:
        """The most features a search may return: k, or all that vary (or are kept)."""
        varies = to_numpy(self.operator.varies)
        most = int(varies.sum())
        if self.offer is not None:
            some = varies & self.offer.for_sale
            most = self.offer.count(np.append(np.flatnonzero(some), self.offer.kept_columns))
        return most if self.n_features is None else min(self.n_features, most)

    def price(self, support: np.ndarray) -> float:
        """Return what a support costs, in units of ``sparsity``."""
        return float(len(support)) if self.offer is None else self.offer.cost(support)

    @property
    def n_targets(self) -> int:
        """The number c of columns of Y."""
        return int(self.target.shape[1])

    def correlation(self) -> Array:
        """Return Z'Y, an array that the caller may change."""
        return self.operator.rmatmul(self.target)

    def energy(self) -> float:
        """Return ||Y||^2."""
        return float(self.operator.xp.sum(self.target * self.target))

    def moments(self, support: Array) -> Array:
        """Return Z_S'Y."""
        return self.operator.columns_rmatmul(support, self.target)

    def gram(self, support: Array) -> Array:
        """Return Z_S'Z_S."""
        return self.operator.columns_gram(support)

    def refit(self, support: np.ndarray) -> Array:
        """Return W_S = (Z_S'Z_S + mu I)^(-1) Z_S'Y, the best rows on a support."""
        operator, xp = self.operator, self.operator.xp
        n, k = operator.shape[0], len(support)
        placed = operator.place(support)
        if self.target is not None and (self.ridge == 0.0 or k > n):
            Z = operator.columns(placed)
            if self.ridge == 0.0:  # columns may be dependent: the solution of least norm
                return xp.linalg.pinv(Z) @ self.target
            # push-through: (Z'Z + mu I)^(-1) Z' = Z' (ZZ' + mu I)^(-1)
            eye = xp.eye(n, dtype=xp.float64, device=operator.device)
            return Z.T @ xp.linalg.solve(Z @ Z.T + self.ridge * eye, self.target)
        eye = xp.eye(k, dtype=xp.float64, device=operator.device)
        return xp.linalg.solve(self.gram(placed) + self.ridge * eye, self.moments(placed))

    def weights(self, support: np.ndarray) -> np.ndarray:
        """Return the best W on a support, with all d rows, on the host."""
        W = np.zeros((self.operator.shape[1], self.n_targets))
        if len(support):
            W[support] = to_numpy(self.refit(support))
        return W

    def value(self, support: np.ndarray) -> float:
        """Return the objective at the best W on a support."""
        if len(support) == 0:
            return 0.5 * self.energy()
        # At the optimum 1/2||Y - ZW||^2 + mu/2||W||^2 = 1/2 (||Y||^2 - <Z'Y, W>).
        products = self.moments(self.operator.place(support)) * self.refit(support)
        explained = float(self.operator.xp.sum(products))
        return 0.5 * (self.energy() - explained) + self.sparsity * self.price(support)

    def summed(self) -> "SummedRegression":
        """Return the same problem by Z'Z and Z'Y, which are computed once."""
        gram, xp = self.operator.gram(), self.operator.xp
        return SummedRegression(
            self.operator,
            ridge=self.ridge,
            sparsity=self.sparsity,
            n_features=self.n_features,
            offer=self.offer,
            sums=self.correlation(),
            total=self.energy(),
            gram_of=lambda S: xp.take(xp.take(gram, S, axis=0), S, axis=1),
        )


@dataclass(frozen=True)
class SummedRegression(RowSparseRegression):
    """The same problem where only sums over the samples are known: Z'Y, ||Y||^2 and Z_S'Z_S."""

    target: Array = None
    sums: Array = None
    total: float = 0.0
    gram_of: Callable[[Array], Array] | None = None

    @property
    def n_targets(self) -> int:
        """The number c of columns of Y."""
        return int(self.sums.shape[1])

    def correlation(self) -> Array:
        """Return Z'Y, an array that the caller may change."""
        return self.operator.xp.asarray(self.sums, copy=True)

    def energy(self) -> float:
        """Return ||Y||^2."""
        return self.total

    def moments(self, support: Array) -> Array:
        """Return Z_S'Y."""
        return self.operator.xp.take(self.sums, support, axis=0)

    def gram(self, support: Array) -> Array:
        """Return Z_S'Z_S."""
        return self.gram_of(support) if self.gram_of else super().gram(support)


def mean_column_norm(operator: DataOperator) -> float:
    """Return the mean squared norm of the variables that vary: the unit of the ridge."""
    return float(operator.xp.sum(operator.column_norms())) / operator.n_variables


def hat_factor(
    operator: DataOperator, support: np.ndarray, ridge: float
) -> tuple[Array, Array | None]:
    """Return E with E E' = Z_S A^(-1) Z_S', and R with A^(-1) = R'R, where A = Z_S'Z_S + mu I.

    With more columns than samples there is no R (None), and E has n columns.
    """
    xp, n, k = operator.xp, operator.shape[0], len(support)
    selected = operator.place(support)
    if k <= n:
        eye = xp.eye(k, dtype=xp.float64, device=operator.device)
        root = xp.linalg.inv(xp.linalg.cholesky(operator.columns_gram(selected) + ridge * eye))
        return operator.columns_matmul(selected, root.T), root
    Z = operator.columns(selected)
    energy, U = xp.linalg.eigh(Z @ Z.T)
    energy = xp.clip(energy, min=0.0)
    return U * xp.sqrt(energy / (energy + ridge))[None, :], None
