"""The table in the forms that hypotheses look at, and copies of it without clusters.

Permuted columns are independent; rotated samples keep the means and the whole covariance of the
columns, exactly, and have no clusters either: rows become mixtures (Langsrud 2005).
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import ndtr, ndtri
from scipy.stats import rankdata

from featsieve import defaults
from featsieve.arrays import as_operator
from featsieve.arrays.batch_table import SparseInBatches
from featsieve.arrays.batches import Batches
from featsieve.arrays.namespace import (
    gathered,
    is_sparse,
    like,
    pick_columns,
    take_rows,
    to_numpy,
)
from featsieve.arrays.scale import ColumnScale

# Entries of the columns that are looked at in one step.
BLOCK_ELEMENTS = 2**18
# Rounds in which rotated copies are strengthened: the last ones change next to nothing.
STRENGTHENED = 4


def normal_scores(X: Any, codes: np.ndarray | None = None) -> Any:
    """Return X with every column replaced by the normal scores of its ranks, in single precision.

    Units, tails and outliers do not matter then. Zeros of a sparse table stay zeros: what is
    stored is the score less that of the zeros, and centring takes care of the rest. ``codes`` are
    batches of the rows, inside of which ranks are taken; a table that is shifted within batches
    has its own.
    """
    X = gathered(X)
    n, d = X.shape
    codes = getattr(X, "codes", codes)
    if codes is not None and np.ptp(codes) > 0:
        return _scores_in_batches(X, codes)
    X = X.stored if isinstance(X, SparseInBatches) else X
    if not is_sparse(X):
        host = to_numpy(X)
        scores = np.empty((n, d), dtype=np.float32)
        of_half_ranks = ndtri((0.5 * np.arange(2 * n + 1) - 0.5) / n).astype(np.float32)
        for start in range(0, d, step := max(1, BLOCK_ELEMENTS // n)):
            columns = np.ascontiguousarray(host[:, start : start + step].T)
            scores[:, start : start + step] = _scores_of_rows(columns, of_half_ranks).T
        return scores if isinstance(X, np.ndarray) else like(scores, X)
    table = sp.csc_array(X, dtype=np.float64, copy=True)
    table.sum_duplicates()
    for start, stop in zip(table.indptr[:-1], table.indptr[1:], strict=True):
        stored = table.data[start:stop]
        below, zeros = np.count_nonzero(stored < 0.0), n - np.count_nonzero(stored)
        ranks = rankdata(stored)
        # a stored zero ties with the others
        ranks = np.where(stored > 0.0, ranks + zeros - np.count_nonzero(stored == 0.0), ranks)
        of_zero = below + 0.5 * (zeros + 1) if zeros else 0.5 * n
        ranks = np.where(stored == 0.0, of_zero, ranks)
        table.data[start:stop] = ndtri((ranks - 0.5) / n) - ndtri((of_zero - 0.5) / n)
    return sp.csr_array(table).astype(np.float32)


def without_skew(x: np.ndarray) -> np.ndarray:
    """Return a column whose outer deciles are as far from its median: Tukey's g transform.

    x = m + s (exp(g z) - 1)/g with z = -a, 0 and a at these three; a log-normal column becomes
    normal, and gaps stay. Beyond the end of the curve it goes on in a line.
    """
    far = defaults.SKEW_QUANTILE
    low, m, high = np.quantile(x, [1.0 - far, 0.5, far])
    if not low < m < high or np.isclose(high - m, m - low):
        return x
    a = ndtri(far)
    g = np.log((high - m) / (m - low)) / a
    inside = 1.0 + (x - m) / (high - m) * np.expm1(g * a)
    last = inside[inside > 0.0].min()
    return (np.log(np.maximum(inside, last)) + np.minimum(inside - last, 0.0)) / g


def smoothed_scores(Z: np.ndarray) -> np.ndarray:
    """Return normal scores by smoothed distributions, standardised: gaps in a column stay.

    Of columns :func:`without_skew`, which would show as a lack of symmetry that copies do not have.
    F(x) is the mean of Phi((x - x_i) / h): scores are ranks for small h, and values for large ones.
    h is a part of the deviation, measured by distances from the median as of a normal column.
    """
    found = np.empty(Z.shape)
    for j, x in enumerate(map(without_skew, Z.T.astype(np.float64))):
        h = defaults.SMOOTHED_RANKS * np.sqrt(np.pi / 2.0) * np.abs(x - np.median(x)).mean()
        found[:, j] = ndtri(ndtr((x[:, None] - x) / h).mean(axis=1))
    return dense_columns(found)[0]


def _scores_in_batches(X: Any, codes: np.ndarray) -> Any:
    """Return the normal scores of ranks inside of batches, with one mean and deviation in all.

    The zeros of counts lie a little apart in different batches once these are centred: among all
    rows, their ranks would tell nothing but the batch.
    """
    table = X.stored if isinstance(X, SparseInBatches) else X
    names, order = np.unique(codes), np.argsort(codes, kind="stable")
    parts = [normal_scores(take_rows(table, np.flatnonzero(codes == b))) for b in names]
    parts = [part if is_sparse(part) else to_numpy(part) for part in parts]
    stacked = sp.vstack(parts, format="csr") if is_sparse(parts[0]) else np.concatenate(parts)
    scores = stacked[np.argsort(order)]
    own = np.searchsorted(names, codes)
    inside = Batches.of(scores, names, own).inside(scores, own)
    return inside if is_sparse(inside) or isinstance(X, np.ndarray) else like(inside, X)


def _scores_of_rows(rows: np.ndarray, of_half_ranks: np.ndarray) -> np.ndarray:
    """Return the entries of every row replaced by the scores of their ranks in it."""
    n = rows.shape[1]
    ordered, first = np.sort(rows, axis=1), np.ones(rows.shape, dtype=bool)
    np.not_equal(ordered[:, 1:], ordered[:, :-1], out=first[:, 1:])
    begin = np.flatnonzero(first)
    size = np.diff(begin, append=first.size)
    of_groups = of_half_ranks[2 * (begin % n) + size + 1]  # equal entries share their mean rank
    # the one is several times slower where most entries are equal, the other elsewhere
    order = rows.argsort(axis=1, kind="stable" if 10 * len(begin) < first.size else "quicksort")
    scores = np.empty(rows.shape, dtype=np.float32)
    np.put_along_axis(scores, order, np.repeat(of_groups, size).reshape(rows.shape), axis=1)
    return scores


def permuted(X: Any, rng: np.random.Generator, variables: np.ndarray | None = None) -> Any:
    """Return X with every column permuted on its own: the same columns without any dependence.

    Columns of one of the ``variables`` (of a dense table) stay together. A sparse table that is
    shifted within batches is permuted within them: it stays sparse.
    """
    X = gathered(X)
    n, d = X.shape
    if not is_sparse(X):
        dense = rng.permuted(to_numpy(X), axis=0)
        for one in () if variables is None else repeated(variables):
            dense[:, one] = rng.permutation(to_numpy(X[:, one]))
        return dense if isinstance(X, np.ndarray) else like(dense, X)
    batched = isinstance(X, SparseInBatches)
    table = sp.csc_array(X.stored if batched else X, copy=True)
    for first in range(0, d, step := max(1, BLOCK_ELEMENTS // n)):  # as the dense table
        shape = (n, min(step, d - first))
        if batched:  # the rows of a batch, in an order by chance, take the places of its rows
            moved_to = np.empty(shape, dtype=np.intp)
            order = np.argsort(X.codes[:, None] + rng.random(shape), axis=0)
            moved_to[np.argsort(X.codes, kind="stable")] = order
        else:
            rows = np.broadcast_to(np.arange(n)[:, None], shape)
            moved_to = np.argsort(rng.permuted(rows, axis=0), axis=0)
        for column, places in enumerate(moved_to.T, start=first):
            entries = slice(table.indptr[column], table.indptr[column + 1])
            table.indices[entries] = places[table.indices[entries]]
    found = sp.csr_array(table)
    return SparseInBatches(found, X.offsets, X.codes) if batched else found


def rotated(Z: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a table of the same means and covariance in which no row is one of Z.

    Z - mean = U (U'Z), U an orthonormal basis of its columns; U gives way to the Q factor of a
    centred Gaussian matrix, so that only the r x d matrix U'Z is left of Z.
    """
    n, d = Z.shape
    mean = Z.mean(axis=0)
    inside = Z - mean
    if n <= d:  # of all that sum to zero: the reflection that takes 1 to the last axis, less that
        normal = np.full(n, n**-0.5, dtype=Z.dtype)
        normal[-1] += 1.0
        along = (normal @ inside) / normal[-1]
        inside = inside[:-1]
        inside -= np.outer(normal[:-1], along)
    else:
        inside = np.linalg.qr(inside)[1]
    G = rng.standard_normal((n, len(inside))).astype(Z.dtype)
    found = np.linalg.qr(G - G.mean(axis=0))[0] @ inside
    found += mean
    return found


class RotatedCopies:
    """Rotated copies of a table of normal scores that keep its ties, and how evenly it is spread.

    Z = U S V'; U gives way to the Q factor G of a centred random matrix. It is normal, but for the
    kurtosis of Z along the leading directions (beyond all directions of permuted columns). Above
    that of normal values in the mean of these, rows are far out together, as in a multivariate t
    distribution: groupings agree on the dense middle. Below it, a direction is as flat as that of
    Z, down to uniform values: groupings agree on the corners of a gradient that is spread evenly.
    What has a lower kurtosis than these has two modes.

    A column with ties is given its own values in the order of G S V', which costs some of its
    correlations: what it has of the leading directions is strengthened until these explain as much
    of it as in Z.
    """

    def __init__(self, Z: np.ndarray, rng: np.random.Generator) -> None:
        n, d = Z.shape
        self.n_samples = n
        energy, vectors = np.linalg.eigh(smaller_gram(Z))
        kept = np.flatnonzero(energy > 1e-6 * energy[-1])[::-1]
        energy, vectors = energy[kept], vectors[:, kept]
        inside = vectors.T @ Z if n <= d else np.sqrt(energy)[:, None] * vectors.T
        self.inside = inside.astype(Z.dtype)  # S V', the largest first
        by_chance = np.linalg.eigvalsh(smaller_gram(rng.permuted(Z, axis=0)))[::-1]
        self.leading = leading = int((energy > by_chance[0]).sum())
        # Horn's parallel analysis: each beside the permuted one of its order
        beyond = energy > by_chance[: len(energy)]
        self.parallel = int(np.append(beyond, False).argmin())
        directions = self.inside[:leading] / np.sqrt(energy[:leading, None])
        kurtosis = n * np.sum((Z @ directions.T) ** 4, axis=0) / energy[:leading] ** 2
        # t values of f degrees of freedom have the kurtosis 3 (f - 2) / (f - 4)
        tails = max(1.0, float(kurtosis.mean()) / 3.0) if leading else 1.0
        self.freedom = 4.0 + 2.0 / (tails - 1.0) if tails > 1.0 + 1e-3 else np.inf
        kurtosis /= tails
        # Pearson's type II: beta values with both parameters a have the kurtosis 3 - 6 / (2a + 3)
        flat = np.flatnonzero(kurtosis < 3.0 - 1e-3)
        self.flat, self.beta = flat, 3.0 / np.minimum(3.0 - kurtosis[flat], 1.2) - 1.5
        self.ordered = np.sort(Z, axis=0)
        self.tied = np.flatnonzero((np.diff(self.ordered, axis=0) == 0.0).any(axis=0))
        self.strength = np.ones(len(self.tied), dtype=Z.dtype)
        signal = self.inside[:leading, self.tied]
        share = np.sum(signal**2, axis=0) / np.sum(self.inside[:, self.tied] ** 2, axis=0)
        for _ in range(STRENGTHENED if leading and len(self.tied) else 0):
            G = self.rotation(rng)
            values = self.values_of(G)[:, self.tied]
            own = np.sum((G[:, :leading].T @ values) ** 2, axis=0) / np.sum(values**2, axis=0)
            odds = share * (1.0 - own) / np.maximum(own * (1.0 - share), 1e-6)
            self.strength *= np.clip(np.sqrt(np.maximum(odds, 0.0)), 0.5, 2.0)

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """Return a copy."""
        return self.values_of(self.rotation(rng))

    def rotation(self, rng: np.random.Generator) -> np.ndarray:
        """Return what takes the place of U."""
        n = self.n_samples
        G = rng.standard_normal((n, len(self.inside)), dtype=np.float32)
        even = rng.beta(self.beta, self.beta, (n, len(self.beta)))
        G[:, self.flat] = (2.0 * even - 1.0) * np.sqrt(2.0 * self.beta + 1.0)  # of variance one
        if np.isfinite(self.freedom):
            G /= np.sqrt(rng.chisquare(self.freedom, (n, 1)))
        G, R = np.linalg.qr(G - G.mean(axis=0))
        G *= np.sign(R.diagonal())  # a direction has either sign
        return G

    def values_of(self, G: np.ndarray) -> np.ndarray:
        """Return the copy of a rotation, columns with ties with their own values."""
        found = G @ self.inside
        if len(self.tied):
            stronger = G[:, : self.leading] @ self.inside[: self.leading, self.tied]
            order = np.argsort(found[:, self.tied] + (self.strength - 1.0) * stronger, axis=0)
            values = np.empty_like(order, dtype=found.dtype)
            np.put_along_axis(values, order, self.ordered[:, self.tied], axis=0)
            found[:, self.tied] = values
        return found


def smaller_gram(Z: np.ndarray) -> np.ndarray:
    """Return ZZ' or Z'Z, whichever is smaller, for a solver in double precision."""
    return (Z @ Z.T if len(Z) <= Z.shape[1] else Z.T @ Z).astype(np.float64)


def stored_entries(X: Any) -> np.ndarray:
    """Return how many entries of every column a sparse table stores."""
    stored = X.stored if isinstance(X, SparseInBatches) else X
    return np.bincount(sp.coo_array(stored).col, minlength=X.shape[1])


def repeated(variables: np.ndarray) -> list[np.ndarray]:
    """Return the columns of each variable that has several."""
    order = np.argsort(variables, kind="stable")
    ends = np.flatnonzero(np.diff(variables[order])) + 1
    return [one for one in np.split(order, ends) if len(one) > 1]


def dense_columns(
    X: Any, variables: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the columns that vary, standardised, their deviations (largest 1), and which they are.

    In single precision, which holds a column of any unit only if it is standardised before. Of very
    wide sparse tables the columns with the most entries are kept: a column that is zero nearly
    everywhere can tell no cluster of any size from the others.
    """
    X = gathered(X)
    kept, scale = np.arange(X.shape[1]), ColumnScale("std", variables)
    if is_sparse(X) and X.shape[1] > defaults.MOST_DENSE_COLUMNS:
        filled = stored_entries(X)
        kept = np.sort(np.argsort(-filled, kind="stable")[: defaults.MOST_DENSE_COLUMNS])
        X, scale = pick_columns(X, kept), scale.at(kept)
    operator = as_operator(X, scale=scale)
    n, chosen = X.shape[0], np.flatnonzero(to_numpy(operator.varies))
    Z = np.empty((n, len(chosen)), dtype=np.float32)
    for start in range(0, len(chosen), step := max(1, BLOCK_ELEMENTS // n)):
        block = chosen[start : start + step]
        Z[:, start : start + step] = to_numpy(operator.columns(operator.place(block)))
    inverse = to_numpy(operator.inverse_scale)[chosen]
    return Z, (inverse.min(initial=np.inf) / inverse).astype(np.float32), kept[chosen]
