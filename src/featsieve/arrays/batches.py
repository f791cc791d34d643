"""Columns inside batches of rows: their means and deviations, and the table without either."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import gen_batches

from featsieve.arrays import as_operator
from featsieve.arrays.batch_table import SparseInBatches, canonical
from featsieve.arrays.namespace import (
    device_of,
    is_single,
    is_sparse,
    like,
    namespace_of,
    on_host,
    take_rows,
    to_numpy,
)
from featsieve.arrays.operator import BLOCK_ELEMENTS, DEVICE_ELEMENTS, exceeds_rounding


@dataclass(frozen=True, eq=False)
class Batches:
    """Columns inside of batches: what a table has to be freed of, to show the structure inside.

    Attributes
    ----------
    names : ndarray of shape (n_batches,)
        The batches, sorted.
    mean, deviation : ndarrays of shape (n_batches, n_features)
        m_bj and s_bj, of the column j in batch b; s_bj is 0 where the column is constant.
    pooled_mean, pooled_deviation : ndarrays of shape (n_features,)
        m_j, the mean of the column, and s_j, s_j² = Σ_b n_b s_bj² / n: the deviation from the
        means of the batches.
    """

    names: np.ndarray
    mean: np.ndarray
    deviation: np.ndarray
    pooled_mean: np.ndarray
    pooled_deviation: np.ndarray

    @classmethod
    def of(cls, X: Any, names: np.ndarray, codes: np.ndarray) -> "Batches":
        """Return what is known of the batches of a checked table."""
        sizes, mean, deviation = _statistics(X, codes, len(names))
        share = sizes / len(codes)
        return cls(names, mean, deviation, share @ mean, np.sqrt(share @ deviation**2))

    def columns(self, chosen: np.ndarray) -> "Batches":
        """Return the same of some columns."""
        return Batches(
            self.names,
            self.mean[:, chosen],
            self.deviation[:, chosen],
            self.pooled_mean[chosen],
            self.pooled_deviation[chosen],
        )

    def extended(self, X: Any, names: np.ndarray, codes: np.ndarray) -> "Batches":
        """Return the given batches of other rows: those that are known, or as the rows say."""
        known = {name: b for b, name in enumerate(self.names.tolist())}
        places = [known.get(name, -1) for name in names.tolist()]
        mean, deviation = self.mean[places], self.deviation[places]
        new = np.flatnonzero(np.array(places) < 0)
        if len(new):
            _, own_mean, own_deviation = _statistics(X, codes, len(names))
            mean[new], deviation[new] = own_mean[new], own_deviation[new]
        return replace(self, names=names, mean=mean, deviation=deviation)

    @property
    def factor(self) -> np.ndarray:
        """s_j / s_bj, 0 where the column is constant in the batch."""
        varies = self.deviation > 0.0
        return varies * self.pooled_deviation / np.where(varies, self.deviation, 1.0)

    def inside(self, X: Any, codes: np.ndarray) -> Any:
        """Return the table m_j + (x_ij - m_bj) s_j/s_bj: a column has one mean in all batches.

        It is in the units of the table, and the table itself if there is one batch. A sparse one
        becomes a :class:`~featsieve.arrays.batch_table.SparseInBatches`.
        """
        mean, factor, center = self.mean, self.factor, self.pooled_mean
        if is_sparse(X):  # scaling keeps zeros, centring is an offset
            table = canonical(X)
            scale = factor[np.repeat(codes, np.diff(table.indptr)), table.indices]
            parts = (table.data * scale, table.indices, table.indptr)
            stored = sp.csr_array(parts, shape=table.shape)
            return SparseInBatches(stored, center - mean * factor, codes)
        xp, (n, d) = namespace_of(X), X.shape
        dtype = xp.float32 if is_single(X) else xp.float64
        found = xp.empty((n, d), dtype=dtype, device=device_of(X))
        batch, mean, factor, center = (like(values, X) for values in (codes, mean, factor, center))
        most = BLOCK_ELEMENTS if on_host(X) else DEVICE_ELEMENTS
        for rows in gen_batches(n, max(1, most // max(d, 1))):
            block = xp.astype(X[rows, :], xp.float64) - xp.take(mean, batch[rows], axis=0)
            block = block * xp.take(factor, batch[rows], axis=0) + center[None, :]
            found[rows, :] = xp.astype(block, dtype, copy=False)
        return found


def _statistics(X: Any, codes: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the sizes of the batches, and means and deviations (b x d) of the columns in them."""
    sizes = np.bincount(codes, minlength=count)
    mean, spread = np.zeros((2, count, X.shape[1]))
    for rows in np.split(np.argsort(codes, kind="stable"), np.cumsum(sizes)[:-1]):
        if len(rows):
            columns = as_operator(take_rows(X, rows)).statistics
            b, deviation = codes[rows[0]], to_numpy(columns.deviation)
            mean[b] = to_numpy(columns.mean)
            spread[b] = len(rows) * np.where(to_numpy(columns.varies), deviation, 0.0) ** 2
    each = np.maximum(sizes, 1)[:, None]
    varies = exceeds_rounding(spread, mean, each)
    return sizes, mean, np.where(varies, np.sqrt(spread / each), 0.0)
