"""What JASFS minimises over label hypotheses and supports, with W and S at their best.

    J(W, F_1..F_m) = sum_v w_v [1/2 ||H(Z W_v - F_v)||^2 + (mu/2) ||W_v||^2 + graph(F_v)]
                     + lam ||W||_{2,0},    W = [W_1 .. W_m],  sum_v w_v = 1

Z has standardised columns, F_v is the normalised indicator of a partition (F >= 0 and F'F = I hold
exactly), one row of W serves all hypotheses. m = 1 is the paper's model. graph(F) is its graph term
with S eliminated and the entropy taken relative to the nearest-neighbour graph of the data
(:class:`~featsieve.terms.NeighbourGraph`); where labels do not move it is a constant, and left out.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from featsieve import defaults
from featsieve.arrays import DataOperator
from featsieve.arrays.derived import ColumnGram
from featsieve.arrays.namespace import Array, to_numpy
from featsieve.hypotheses.pool import Pool
from featsieve.solvers.forward_forms import LARGEST_GRAM
from featsieve.solvers.offer import Offer
from featsieve.solvers.partition_moves import PartitionMoves, PartitionProblem
from featsieve.solvers.protocol import Status, run
from featsieve.solvers.row_sparse import RowSparseRegression, SummedRegression, hat_factor
from featsieve.terms import NeighbourGraph, normalised_indicator


@dataclass(frozen=True)
class Problem:
    """JASFS with a price of a feature (``sparsity``) or a limit of their number."""

    operator: DataOperator
    ridge: float
    graph: NeighbourGraph | None = None  # of the samples, where labels may move
    sparsity: float = 0.0
    n_features: int | None = None
    offer: Offer | None = None

    def priced(self, *, sparsity: float = 0.0, n_features: int | None = None) -> Self:
        """Return the problem with a price of a feature, or a limit of their number."""
        return replace(self, sparsity=sparsity, n_features=n_features)

    def regression(self, pool: Pool) -> RowSparseRegression:
        """Return the problem of the W-step for fixed labels (eq. objofW)."""
        operator = self.operator
        terms: dict[str, Any] = {
            "ridge": self.ridge,
            "sparsity": self.sparsity,
            "n_features": self.n_features,
            "offer": self.offer,
        }
        if operator.shape[0] <= defaults.LARGEST_EXACT_GRAPH:
            return RowSparseRegression(operator, operator.place(pool.target()), **terms)
        sums, sizes = cluster_sums(operator, pool)
        scale = np.sqrt(pool.weights[:, None] / sizes).ravel()
        gram_of = partial(columns_gram, operator)
        return summed(operator, sums * scale, total=pool.n_clusters - 1.0, gram_of=gram_of, **terms)

    def value(self, pool: Pool, support: np.ndarray) -> float:
        """Return J at the best W and S for the hypotheses and a support."""
        value = self.regression(pool).value(support)
        if self.graph is None:
            return value
        return value + self.graph.value(normalised_indicator(pool.labels[0], pool.n_clusters))

    def refine(self, pool: Pool, support: np.ndarray) -> tuple[Pool, Status]:
        """Return a single hypothesis after moves in the hat matrix of a support."""
        assert self.graph is not None
        factor, _ = hat_factor(self.operator, support, self.ridge)
        labels, c = pool.labels[0], pool.n_clusters
        # Algorithm 2, line 6: S at its optimum for the current F; line 4: its Laplacian L_S.
        # With W at its best, J = const - 1/2 tr(F'EE'F) + alpha tr(F'L_S F) + (a term of S alone),
        # and S held at its optimum makes this a majoriser of J that touches it.
        laplacian = self.graph.laplacian(normalised_indicator(labels, c))
        sparse = sp.csr_array(-2.0 * self.graph.alpha * laplacian)
        problem = PartitionProblem(to_numpy(factor), sparse, c, labels)
        moved = run(PartitionMoves(), problem, max_iter=defaults.MAX_SWEEPS)
        return Pool.of([moved.state.labels], c), moved.status


# Sums over many samples: nothing with a row per sample leaves its part of the table ---------------


def cluster_sums(operator: DataOperator, pool: Pool) -> tuple[np.ndarray, np.ndarray]:
    """Return Z'[M_1 .. M_m] (d x mc) and the sizes of the clusters (m x c), on the host."""
    c = pool.n_clusters

    def compute() -> tuple[np.ndarray, np.ndarray]:
        parts = operator.parts()
        rows = parts.scatter(np.ascontiguousarray(pool.labels.T, dtype=np.int32))
        sums, sizes = parts.total(sums_by_cluster, rows, shared=(c,))
        return sums, sizes.reshape(-1, c)

    return operator.once(("cluster sums", pool), compute)


def sums_by_cluster(part: DataOperator, labels: Array, n_clusters: int) -> tuple[Array, Array]:
    """Return a part's share of Z'[M_1 .. M_m], and of the sizes of the clusters."""
    xp = part.xp
    clusters = xp.arange(n_clusters, dtype=labels.dtype, device=part.device)
    member = xp.astype(labels[:, :, None] == clusters[None, None, :], xp.float64)
    member = xp.reshape(member, (part.shape[0], -1))
    return part.rmatmul(member), xp.sum(member, axis=0)


def gram_columns(operator: DataOperator) -> Any:
    """Return what the W-step works on: the operator, or its Gram matrix on the host."""
    n, d = operator.shape
    if operator.on_host or d > min(n, LARGEST_GRAM):  # a search through samples needs the table
        return operator
    return operator.once("column gram", lambda: ColumnGram(operator))


def summed(operator: DataOperator, sums: np.ndarray, **terms: Any) -> SummedRegression:
    """Return the problem of a W-step for Z'Y = ``sums``."""
    columns = gram_columns(operator)
    return SummedRegression(columns, sums=columns.place(sums), **terms)


def columns_gram(operator: DataOperator, support: Array) -> Array:
    """Return Z_S'Z_S, beside what the W-step works on."""
    chosen = to_numpy(support)
    if operator.shape[0] <= defaults.LARGEST_EXACT_GRAPH:
        return operator.columns_gram(operator.place(chosen))
    columns = gram_columns(operator)
    if columns.shape[1] <= LARGEST_GRAM:
        placed = columns.place(chosen)
        return columns.xp.take(columns.xp.take(columns.gram(), placed, axis=0), placed, axis=1)
    return columns.place(operator.parts().total(columns_gram_of, shared=(chosen,)))


def columns_gram_of(part: DataOperator, support: np.ndarray) -> Array:
    """Return a part's share of Z_S'Z_S."""
    return part.columns_gram(part.place(support))


def too_large(sparsity: float, largest: float) -> str:
    """Say that lambda is too large, and which one is not (0: none is small enough)."""
    if largest == 0.0:
        return (
            f"sparsity={sparsity:g} selects no feature, and no smaller value does: the columns are "
            "too small for this solver. Use scale='unit', or set n_features_to_select."
        )
    usable = float(np.nextafter(largest, 0.0))
    return (
        f"sparsity={sparsity:g} is so large that no feature is selected: the largest value that "
        f"selects something here is {usable!r}. Decrease sparsity, or set n_features_to_select."
    )
