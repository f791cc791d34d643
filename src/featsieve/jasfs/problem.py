"""What JASFS minimises over partitions and supports, with W and S at their best.

    J(W, F) = 1/2 ||H(ZW - F)||^2 + (mu/2) ||W||^2 + graph(F) + lam ||W||_{2,0}

Z has standardised columns, F is the normalised indicator of a partition (F >= 0 and F'F = I hold
exactly), and graph(F) is the paper's graph term with S eliminated and its entropy taken relative to
the nearest-neighbour graph of the data (:class:`~featsieve.terms.NeighbourGraph`).

:class:`Problem` names what the alternation of ``joint.py`` calls. :class:`ExactProblem` has the
exact graph of the samples; ``large.py`` has the one through landmarks.
"""

from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import numpy as np
import scipy.sparse as sp

from featsieve import defaults
from featsieve.arrays import DataOperator
from featsieve.arrays.namespace import to_numpy
from featsieve.graphs.views import leave_one_out_accuracy
from featsieve.solvers.partition_moves import PartitionMoves, PartitionProblem
from featsieve.solvers.protocol import Status, run
from featsieve.solvers.row_sparse import RowSparseRegression, hat_factor
from featsieve.terms import NeighbourGraph, normalised_indicator

# Labels as a problem keeps them: one array, or blocks beside the parts of the table.
Labels = Any


class Problem(Protocol):
    """JASFS over partitions and supports."""

    @property
    def operator(self) -> DataOperator:
        """Z."""

    @property
    def n_clusters(self) -> int:
        """The number c of clusters."""

    @property
    def sparsity(self) -> float:
        """The price lam of a feature; 0 where their number is limited."""

    def priced(self, *, sparsity: float = 0.0, n_features: int | None = None) -> Self:
        """Return the problem with a price of a feature, or a limit of their number."""

    def regression(self, labels: Labels) -> RowSparseRegression:
        """Return the problem of the W-step for fixed labels."""

    def value(self, labels: Labels, support: np.ndarray) -> float:
        """Return J at the best W and S for a partition and a support."""

    def refine(self, labels: Labels, support: np.ndarray) -> tuple[Labels, Status]:
        """Return the partition after moves in the hat matrix of a support, and how they ended."""

    def same(self, one: Labels, other: Labels) -> bool:
        """Say whether no sample has moved."""

    def host_labels(self, labels: Labels) -> np.ndarray:
        """Return the labels as one array."""

    def cluster_sizes(self, labels: Labels) -> np.ndarray:
        """Return the number of samples in every cluster."""

    def cluster_moments(self, labels: Labels) -> np.ndarray:
        """Return the means of the rows of Z in every cluster (d x c)."""

    def accuracy(self, labels: Labels) -> float:
        """Return how well the labels are predicted from the other samples."""


@dataclass(frozen=True)
class ExactProblem:
    """The problem with the exact neighbour graph of the samples."""

    operator: DataOperator
    graph: NeighbourGraph
    n_clusters: int
    ridge: float
    sparsity: float = 0.0
    n_features: int | None = None
    coordinates: np.ndarray | None = None  # E, the hat coordinates of all features

    def priced(self, *, sparsity: float = 0.0, n_features: int | None = None) -> Self:
        """Return the problem with a price of a feature, or a limit of their number."""
        return replace(self, sparsity=sparsity, n_features=n_features)

    def labels_matrix(self, labels: np.ndarray) -> np.ndarray:
        """Return F."""
        return normalised_indicator(labels, self.n_clusters)

    def regression(self, labels: np.ndarray) -> RowSparseRegression:
        """Return the problem of the W-step for fixed labels (eq. objofW)."""
        F = self.labels_matrix(labels)
        return RowSparseRegression(
            self.operator,
            self.operator.place(F - F.mean(axis=0)),
            ridge=self.ridge,
            sparsity=self.sparsity,
            n_features=self.n_features,
        )

    def value(self, labels: np.ndarray, support: np.ndarray) -> float:
        """Return J at the best W and S for a partition and a support."""
        graph = self.graph.value(self.labels_matrix(labels))
        return self.regression(labels).value(support) + graph

    def cluster_sizes(self, labels: np.ndarray) -> np.ndarray:
        """Return the number of samples in every cluster."""
        return np.bincount(labels, minlength=self.n_clusters)

    def cluster_moments(self, labels: np.ndarray) -> np.ndarray:
        """Return the means of the rows of Z in every cluster (d x c)."""
        sums = to_numpy(self.regression(labels).correlation())
        return sums / np.sqrt(self.cluster_sizes(labels))

    def host_labels(self, labels: np.ndarray) -> np.ndarray:
        """Return the labels as one array."""
        return labels

    def accuracy(self, labels: np.ndarray) -> float:
        """Return how well the labels are predicted from the other samples."""
        if self.coordinates is None:
            raise ValueError("accuracy needs the hat coordinates of the samples.")
        return leave_one_out_accuracy(labels, self.coordinates, self.n_clusters)

    def same(self, one: np.ndarray, other: np.ndarray) -> bool:
        """Say whether no sample has moved."""
        return np.array_equal(one, other)

    def refine(self, labels: np.ndarray, support: np.ndarray) -> tuple[np.ndarray, Status]:
        """Return the partition after moves in the hat matrix of a support, and how they ended."""
        factor, _ = hat_factor(self.operator, support, self.ridge)
        return self.refine_in(labels, to_numpy(factor))

    def refine_in(self, labels: np.ndarray, factor: np.ndarray) -> tuple[np.ndarray, Status]:
        """Return the partition after Hartigan moves in the hat matrix E E', and how they ended."""
        moved = run(PartitionMoves(), self.partition(labels, factor), max_iter=defaults.MAX_SWEEPS)
        return moved.state.labels, moved.status

    def partition(self, labels: np.ndarray, factor: np.ndarray) -> PartitionProblem:
        """Return the label step in the hat matrix E E', at the graph of the current labels.

        With W at its best, J = const - 1/2 tr(F'EE'F) + alpha tr(F'L_S F) + (a term of S alone), so
        the step maximises tr(F'(EE' - 2 alpha L_S)F). S held at its optimum makes this a majoriser
        of J that touches it: what lowers the one lowers the other.
        """
        # Algorithm 2, line 6: S at its optimum for the current F; line 4: its Laplacian L_S
        laplacian = self.graph.laplacian(self.labels_matrix(labels))
        sparse = sp.csr_array(-2.0 * self.graph.alpha * laplacian)
        return PartitionProblem(factor, sparse, self.n_clusters, labels)


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
