"""The curvature of the labels' objective among few free entries of F.

Nearly orthonormal labels have few positive entries: about one per sample. A Newton step moves these
alone, so its system can be multiplied without the zeros.
"""

import numpy as np
import scipy.sparse as sp


class FreeCurvature:
    """v -> (2 A(V) + 2 nu (F (F'V + V'F) + V (F'F - I))) at the free entries, V being v there.

    Every product of an entry with its row is a sum over pairs of entries in the same row, and
    every product with A one over pairs in the same column: both lists are made once.
    """

    def __init__(
        self,
        graph: sp.csr_array,
        F: np.ndarray,
        *,
        free: np.ndarray,
        orthogonality: float,
        convex: bool,
    ) -> None:
        c = F.shape[1]
        rows, columns = np.nonzero(free | (F > 0.0))
        self._entries = (rows, columns)
        self._free = free[self._entries]
        self._orthogonality, self._n_clusters, self._shape = orthogonality, c, F.shape
        values = F[self._entries]
        # Pairs (first, second) of entries in one row; the second runs over the row of the first.
        counts = np.bincount(rows, minlength=len(F))
        self._first, self._second = _pairs(rows, counts)
        self._cell = columns[self._second] * c + columns[self._first]
        self._weights = values[self._second]
        self._gap = None
        if not convex:
            squares = self._weights * values[self._first]
            gram = np.bincount(self._cell, weights=squares, minlength=c * c)
            self._gap = (gram - np.eye(c).ravel())[self._cell]
        self._smooth = _within_columns(graph, rows, columns, shape=F.shape)

    def restrict(self, matrix: np.ndarray) -> np.ndarray:
        """Return the entries of a matrix as a vector, zero where they are not free."""
        return np.where(self._free, matrix[self._entries], 0.0)

    def expand(self, vector: np.ndarray) -> np.ndarray:
        """Return the matrix with these entries."""
        matrix = np.zeros(self._shape)
        matrix[self._entries] = vector
        return matrix

    def __call__(self, v: np.ndarray) -> np.ndarray:
        """Return the product."""
        c = self._n_clusters
        cross = np.bincount(self._cell, weights=self._weights * v[self._first], minlength=c * c)
        cross = cross.reshape(c, c)
        parts = self._weights * (cross + cross.T).ravel()[self._cell]
        if self._gap is not None:
            parts += v[self._second] * self._gap
        bend = np.bincount(self._first, weights=parts, minlength=len(v))
        product = 2.0 * (self._smooth @ v + self._orthogonality * bend)
        return np.where(self._free, product, 0.0)


def _pairs(rows: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return all ordered pairs of entries in the same row; entries are sorted by rows."""
    lengths = counts[rows]
    starts = (np.cumsum(counts) - counts)[rows]
    first = np.repeat(np.arange(len(rows)), lengths)
    within = np.arange(len(first)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return first, np.repeat(starts, lengths) + within


def _within_columns(
    graph: sp.csr_array,
    rows: np.ndarray,
    columns: np.ndarray,
    *,
    shape: tuple[int, ...],
) -> sp.csr_array:
    """Return A between the entries: a_ik for two entries (i, j) and (k, j) of one column."""
    number = np.full(shape, -1)
    number[rows, columns] = np.arange(len(rows))
    # Every entry (i, j) meets the neighbours k of its row.
    degrees = np.diff(graph.indptr)[rows]
    entry = np.repeat(np.arange(len(rows)), degrees)
    within = np.arange(len(entry)) - np.repeat(np.cumsum(degrees) - degrees, degrees)
    edge = np.repeat(graph.indptr[:-1][rows], degrees) + within
    other = number[graph.indices[edge], columns[entry]]
    there = other >= 0
    indices, data = other[there], graph.data[edge[there]]
    indptr = np.concatenate([[0], np.cumsum(np.bincount(entry[there], minlength=len(rows)))])
    return sp.csr_array((data, indices, indptr), shape=(len(rows), len(rows)))
