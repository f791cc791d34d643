"""Columns inside batches of rows: their means and deviations, and the table without either."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import gen_batches

from featsieve.arrays import as_operator
from featsieve.arrays.batch_table import SparseInBatches
from featsieve.arrays.namespace import (
    device_of,
    is_dask_array,
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
class BatchStatistics:
    """Sizes of the batches, and means and sums of squares about them (b x d) of the columns."""

    sizes: np.ndarray
    mean: np.ndarray
    spread: np.ndarray

    @classmethod
    def of(cls, X: Any, codes: np.ndarray, count: int) -> "BatchStatistics":
        """Return the statistics of a table in memory, batch by batch."""
        sizes = np.bincount(codes, minlength=count)
        mean, spread = np.zeros((2, count, X.shape[1]))
        for rows in np.split(np.argsort(codes, kind="stable"), np.cumsum(sizes)[:-1]):
            if len(rows):
                columns = as_operator(take_rows(X, rows)).statistics
                b, deviation = codes[rows[0]], to_numpy(columns.deviation)
                mean[b] = to_numpy(columns.mean)
                spread[b] = len(rows) * np.where(to_numpy(columns.varies), deviation, 0.0) ** 2
        return cls(sizes, mean, spread)

    def merged(self, other: "BatchStatistics") -> "BatchStatistics":
        """Return the statistics of two tables, one below the other."""
        sizes = self.sizes + other.sizes
        share = (other.sizes / np.maximum(sizes, 1))[:, None]
        gap = other.mean - self.mean
        spread = self.spread + other.spread + gap**2 * share * self.sizes[:, None]
        return BatchStatistics(sizes, self.mean + gap * share, spread)

    @property
    def deviation(self) -> np.ndarray:
        """Deviations of the columns in every batch; 0 where a column is constant."""
        sizes = np.maximum(self.sizes, 1)[:, None]
        varies = exceeds_rounding(self.spread, self.mean, sizes)
        return np.where(varies, np.sqrt(self.spread / sizes), 0.0)


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
        found = _statistics(X, codes, len(names))
        share, deviation = found.sizes / len(codes), found.deviation
        return cls(names, found.mean, deviation, share @ found.mean, np.sqrt(share @ deviation**2))

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
            found = _statistics(X, codes, len(names))
            mean[new], deviation[new] = found.mean[new], found.deviation[new]
        return replace(self, names=names, mean=mean, deviation=deviation)

    @property
    def factor(self) -> np.ndarray:
        """s_j / s_bj, 0 where the column is constant in the batch."""
        varies = self.deviation > 0.0
        return varies * self.pooled_deviation / np.where(varies, self.deviation, 1.0)

    def inside(self, X: Any, codes: np.ndarray) -> Any:
        """Return the table m_j + (x_ij - m_bj) s_j/s_bj: a column has one mean in all batches.

        It is in the units of the table, and the table itself if there is one batch. A sparse one
        becomes a :class:`~featsieve.arrays.batch_table.SparseInBatches`, one of Dask stays lazy.
        """
        terms = self.mean, self.factor, self.pooled_mean
        if is_dask_array(X):
            return _inside_chunks(X, codes, terms)
        return _inside_sparse(X, codes, *terms) if is_sparse(X) else _inside(X, codes, *terms)


def _statistics(X: Any, codes: np.ndarray, count: int) -> BatchStatistics:
    """Return the statistics of the batches: one pass over the table."""
    if not is_dask_array(X):
        return BatchStatistics.of(X, codes, count)
    from featsieve.arrays.dask import compute, grouped_chunks, leaf, task, tree

    bounds, groups = grouped_chunks(X)
    tasks = [
        task(_of_chunks, group, leaf(codes[start:stop]), count)
        for (start, stop), group in zip(bounds, groups, strict=True)
    ]
    (found,) = compute([tree(tasks, BatchStatistics.merged)])
    return found


def _of_chunks(chunks: list[Any], codes: np.ndarray, count: int) -> BatchStatistics:
    """Return the statistics of some chunks: this runs on the workers."""
    from featsieve.arrays.dask import stacked

    if is_sparse(chunks[0]):
        raise TypeError(
            "Batches of a Dask array need dense chunks: X has sparse ones. Pass "
            "X.map_blocks(lambda chunk: chunk.toarray()), in chunks of fewer rows if these become "
            "too large, or a scipy.sparse matrix."
        )
    return BatchStatistics.of(stacked(chunks), codes, count)


def _inside(
    X: Any, codes: np.ndarray, mean: np.ndarray, factor: np.ndarray, center: np.ndarray
) -> Any:
    """Return a dense table inside of its batches, in blocks of bounded size."""
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


def _inside_sparse(
    X: Any, codes: np.ndarray, mean: np.ndarray, factor: np.ndarray, center: np.ndarray
) -> SparseInBatches:
    """Return a sparse table inside of its batches: scaling keeps zeros, centring is an offset."""
    table = sp.csr_array(X)
    if not table.has_canonical_format:  # an entry may be stored in several pieces
        table = table.copy()
        table.sum_duplicates()
    batch = np.repeat(codes, np.diff(table.indptr))
    data = table.data * factor[batch, table.indices]
    stored = sp.csr_array((data, table.indices, table.indptr), shape=table.shape)
    return SparseInBatches(stored, center - mean * factor, codes)


def _inside_chunks(X: Any, codes: np.ndarray, terms: tuple[np.ndarray, ...]) -> Any:
    """Return a Dask array inside of its batches, lazily."""
    import dask.array as da

    from featsieve.arrays.dask import leaf

    dtype = np.dtype(np.float32 if is_single(X) else np.float64)
    batch = da.from_array(codes[:, None], chunks=(X.chunks[0], 1))
    mean, factor, center = (leaf(values) for values in terms)
    return da.map_blocks(
        _inside_chunk,
        X,
        batch,
        mean=mean,
        factor=factor,
        center=center,
        chunks=X.chunks,
        dtype=dtype,
        meta=np.empty((0, 0), dtype=dtype),
    )


def _inside_chunk(chunk: Any, batch: np.ndarray, **terms: np.ndarray) -> np.ndarray:
    """Return a chunk of rows inside of its batches: this runs on the workers."""
    return _inside(np.asarray(chunk), batch[:, 0], **terms)
