"""JASFS for many samples: the same model with the graph of landmarks, linear in n.

Nothing with a row per sample is ever in one place: the labels and the links to the landmarks stay
beside the parts of the table (in memory, on a device, on the workers of a cluster), and only sums
over the samples come back. For labels that are fixed, J depends on the table through

    C = Z'F (d x c)   and   Z_S'Z_S,

and on the graph through the mass p_ib of the neighbours of a sample that lie in cluster b:

    -beta sum_i log sum_b kappa_ab p_ib,   kappa_ab = exp(-gamma (1/n_a + 1/n_b)) for a != b, else 1

(a is the cluster of sample i): the graph term with S eliminated, exactly. The label step takes the
prior in the place of S at its optimum, which differs from it by a factor of at most
exp(gamma (1/n_a + 1/n_b)); a step that would raise J is not taken (``solve_joint``).
"""

from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from featsieve import defaults
from featsieve.arrays import DataOperator
from featsieve.arrays.derived import ColumnGram
from featsieve.arrays.namespace import Array, to_numpy
from featsieve.arrays.row_parts import Rows
from featsieve.graphs.landmarks import LandmarkGraph, linked_sums
from featsieve.graphs.views import sampled_accuracy
from featsieve.solvers.batched_moves import BatchedMoves, LandmarkPartition, indicator
from featsieve.solvers.forward_forms import LARGEST_GRAM
from featsieve.solvers.protocol import Status, run
from featsieve.solvers.row_sparse import SummedRegression


@dataclass(frozen=True)
class LargeProblem:
    """JASFS over partitions, kept as rows beside the parts of the table, and supports.

    What follows from the labels is computed once for them: ``memory`` holds it.
    """

    operator: DataOperator
    graph: LandmarkGraph
    n_clusters: int
    ridge: float
    alpha: float
    beta: float
    sparsity: float = 0.0
    n_features: int | None = None
    memory: dict[str, tuple[Any, Any]] = field(default_factory=dict, repr=False, compare=False)

    def priced(self, *, sparsity: float = 0.0, n_features: int | None = None) -> Self:
        """Return the problem with a price of a feature, or a limit of their number."""
        return replace(self, sparsity=sparsity, n_features=n_features)

    def regression(self, labels: Rows) -> SummedRegression:
        """Return the problem of the W-step for fixed labels."""
        sums, sizes = self._sums(labels)
        columns = self.columns()
        return SummedRegression(
            columns,
            ridge=self.ridge,
            sparsity=self.sparsity,
            n_features=self.n_features,
            sums=columns.place(sums / np.sqrt(sizes)),
            total=self.n_clusters - 1.0,
            gram_of=self._gram_of,
        )

    def cluster_sizes(self, labels: Rows) -> np.ndarray:
        """Return the number of samples in every cluster."""
        return self._sums(labels)[1]

    def cluster_moments(self, labels: Rows) -> np.ndarray:
        """Return the means of the rows of Z in every cluster (d x c)."""
        sums, sizes = self._sums(labels)
        return sums / sizes

    def host_labels(self, labels: Rows) -> np.ndarray:
        """Return the labels as one array."""
        return self.graph.parts.gather(labels).astype(np.intp)

    def accuracy(self, labels: Rows) -> float:
        """Return how well labels are predicted from the other samples, by a sample of the rows."""
        landmarks = self.graph.landmarks
        sums, sizes = self._sums(labels)
        own = self.host_labels(labels)[landmarks.sample]
        moments = landmarks.directions.T @ (sums / np.sqrt(sizes))
        return sampled_accuracy(own, landmarks.sample_coordinates, moments, sizes=sizes)

    def value(self, labels: Rows, support: np.ndarray) -> float:
        """Return J at the best W and S for a partition and a support."""
        return self.regression(labels).value(support) + self._graph_value(labels)

    def refine(self, labels: Rows, support: np.ndarray) -> tuple[Rows, Status]:
        """Return the partition after batches of moves, and how they ended."""
        gram = to_numpy(self._gram_of(self.columns().place(support)))
        inverse = np.linalg.inv(gram + self.ridge * np.eye(len(support)))
        problem = LandmarkPartition(
            self.graph, support, inverse, 2.0 * self.alpha, self.n_clusters, labels
        )
        moved = run(BatchedMoves(), problem, max_iter=defaults.MAX_SWEEPS)
        return moved.state.labels, moved.status

    def same(self, one: Rows, other: Rows) -> bool:
        """Say whether no sample has moved."""
        return one is other

    # What is computed once --------------------------------------------------------------------

    def _sums(self, labels: Rows) -> tuple[np.ndarray, np.ndarray]:
        """Return Z'M (d x c) and the sizes of the clusters, on the host."""

        def compute() -> tuple[np.ndarray, np.ndarray]:
            parts = self.graph.parts
            return parts.total(cluster_sums_of_all, labels, shared=(self.n_clusters,))

        return self._once("sums", labels, compute)

    def _graph_value(self, labels: Rows) -> float:
        """Return -beta sum_i log z_i."""

        def compute() -> float:
            graph, sizes = self.graph, self.cluster_sizes(labels)
            gamma = self.alpha / (2.0 * self.beta)
            missing = -np.expm1(-gamma * (1.0 / sizes[:, None] + 1.0 / sizes[None, :]))
            np.fill_diagonal(missing, 0.0)
            mass = np.where(graph.mass > 0.0, graph.mass, 1.0)
            share = graph.cluster_mass(labels, self.n_clusters) / mass[:, None]
            (total,) = graph.parts.total(
                log_partition, graph.links, labels, shared=(share, missing), table=False
            )
            return -self.beta * float(total)

        return self._once("graph", labels, compute)

    def columns(self) -> Any:
        """Return what the W-step works on: the operator, or its Gram matrix on the host."""
        operator = self.operator
        n, d = operator.shape
        if operator.on_host or d > min(n, LARGEST_GRAM):  # a search through samples needs the table
            return operator
        return self._once("columns", operator, lambda: ColumnGram(operator))

    def _gram_of(self, support: Array) -> Array:
        """Return Z_S'Z_S."""
        operator = self.columns()
        if operator.shape[1] <= LARGEST_GRAM:
            rows = operator.xp.take(operator.gram(), support, axis=0)
            return operator.xp.take(rows, support, axis=1)
        chosen = to_numpy(support)

        def compute() -> Array:
            found = self.graph.parts.total(columns_gram_of, shared=(chosen,))[0]
            return operator.place(found)

        return self._once("gram", chosen.tobytes(), compute)

    def _once(self, name: str, key: Any, compute: Any) -> Any:
        """Return what belongs to a key (the same object, or equal bytes), computed once."""
        known, found = self.memory.get(name, (None, None))
        if known is None or not (known is key or (isinstance(key, bytes) and known == key)):
            found = compute()
            self.memory[name] = (key, found)
        return found


# Functions of a part ------------------------------------------------------------------------------


def cluster_sums_of_all(
    part: DataOperator, labels: Array, n_clusters: int
) -> tuple[Array, np.ndarray]:
    """Return Z'M and the sizes of the clusters."""
    member = indicator(part, labels, n_clusters)
    return part.rmatmul(member), to_numpy(part.xp.sum(member, axis=0))


def columns_gram_of(part: DataOperator, support: np.ndarray) -> tuple[Array]:
    """Return a part's share of Z_S'Z_S."""
    return (part.columns_gram(part.place(support)),)


def log_partition(
    part: DataOperator,
    links: tuple[Array, Array],
    labels: Array,
    share: np.ndarray,
    missing: np.ndarray,
) -> tuple[float]:
    """Return sum_i log z_i, z_i = 1 - sum_b (1 - kappa_ab) p_ib (the masses sum to one)."""
    xp = part.xp
    mass = linked_sums(part, links, share)
    lost = xp.take(part.place(missing), labels, axis=0)
    return (float(xp.sum(xp.log1p(-xp.sum(lost * mass, axis=1)))),)
