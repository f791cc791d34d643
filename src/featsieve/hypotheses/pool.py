"""Many label hypotheses of the same samples: how far they agree, and what they say together."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from featsieve.arrays.linalg import largest_by_lanczos, largest_eigenpairs
from featsieve.graphs.coordinates import unit_rows
from featsieve.graphs.kmeans import fill_empty, kmeans
from featsieve.graphs.spectral_labels import by_first_sample
from featsieve.terms import normalised_indicator

# Co-associations of up to this many clusters (of all hypotheses) are decomposed by a dense solver.
LARGEST_DENSE = 500


@dataclass(frozen=True, eq=False)
class Pool:
    """Label hypotheses with weights that sum to one; compared by identity."""

    labels: np.ndarray  # m x n, the clusters of each are 0..c-1
    weights: np.ndarray  # m
    n_clusters: int

    @classmethod
    def of(
        cls, labels: list[np.ndarray], n_clusters: int, *, weights: list[float] | None = None
    ) -> "Pool":
        """Return the pool of some hypotheses, equally weighted unless weights are given."""
        given = np.ones(len(labels)) if weights is None else np.asarray(weights, dtype=np.float64)
        return cls(np.stack(labels), given / given.sum(), n_clusters)

    @classmethod
    def joined(cls, pools: Sequence["Pool"]) -> "Pool":
        """Return the hypotheses of all pools, each weighted by the square of its agreement."""
        shares = np.array([max(pool.agreement() ** 2, 1e-300) for pool in pools])
        shares /= shares.sum()
        weights = [share * pool.weights for share, pool in zip(shares, pools, strict=True)]
        labels = np.concatenate([pool.labels for pool in pools])
        return cls(labels, np.concatenate(weights), pools[0].n_clusters)

    def agreement(self) -> float:
        """Return the mean mutual information of two different hypotheses, by their weights."""
        pairs = list(combinations(range(len(self.weights)), 2))
        if not pairs:
            return 1.0
        weights = [self.weights[a] * self.weights[b] for a, b in pairs]
        values = [mutual_information(self.labels[a], self.labels[b]) for a, b in pairs]
        return float(np.average(values, weights=weights))

    def target(self, *, most: int | None = None) -> np.ndarray:
        """Return [sqrt(w_1) H F_1 .. sqrt(w_m) H F_m], the target of the W-step.

        Only Y Y' enters a selection, so a factor of it with fewer columns takes its place where
        there are several hypotheses (which have much in common), or one of its ``most`` leading
        directions.
        """
        return self._whole_target if most is None else self._target(most)

    @cached_property
    def _whole_target(self) -> np.ndarray:
        return self._target(self.n_clusters * len(self.labels))

    def _target(self, most: int) -> np.ndarray:
        parts = []
        for labels, weight in zip(self.labels, self.weights, strict=True):
            F = normalised_indicator(labels, self.n_clusters)
            parts.append(np.sqrt(weight) * (F - F.mean(axis=0)))
        Y = np.hstack(parts)
        n, width = Y.shape
        wanted = min(most, width)
        if len(parts) == 1:
            return Y
        if n <= width:
            energy, U = largest_eigenpairs(Y @ Y.T, min(wanted, n))
            kept = energy > 1e-12 * energy[-1]
            return U[:, kept] * np.sqrt(energy[kept])
        energy, V = largest_eigenpairs(Y.T @ Y, wanted)
        return Y @ V[:, energy > 1e-12 * energy[-1]]

    def consensus(self, rng: np.random.Generator) -> np.ndarray:
        """Return spectral clusters of the co-association sum_v w_v M_v M_v', M_v the 0/1 matrices.

        It is B B' with B = [sqrt(w_v) M_v], a sparse n x mc matrix: its leading left singular
        vectors, scaled by the degrees, take O(n m c) and no n x n array. k-means on them starts
        from each of the hypotheses too: of many clusters, no random start would find all.
        """
        if len(self.labels) == 1:
            return self.labels[0]
        m, n = self.labels.shape
        columns = self.labels.T + self.n_clusters * np.arange(m)
        entries = np.broadcast_to(np.sqrt(self.weights), (n, m))
        B = sp.csr_array(
            (entries.ravel(), columns.ravel(), np.arange(0, n * m + 1, m)),
            shape=(n, m * self.n_clusters),
        )
        B = sp.csr_array(sp.diags_array(1.0 / np.sqrt(B @ (B.T @ np.ones(n)))) @ B)
        vectors = _left_vectors(B, self.n_clusters, rng)
        found = kmeans(unit_rows(vectors), self.n_clusters, rng, starts=self.labels)
        return by_first_sample(found)

    def at(self, rows: np.ndarray) -> "Pool":
        """Return the hypotheses of samples that have the labels of others."""
        labels = np.take(self.labels, rows, axis=1)
        used = self.labels[:, np.bincount(rows, minlength=self.labels.shape[1]) > 0]
        for own, some in zip(labels, used, strict=True):
            if len(np.unique(some)) < self.n_clusters:
                own[:] = fill_empty(own, self.n_clusters)
        return Pool(labels, self.weights, self.n_clusters)

    def certainty(self, labels: np.ndarray, rows: np.ndarray | None = None) -> np.ndarray:
        """Return the mean co-association of every sample with the others of its own cluster.

        ``rows`` are the samples of the pool that others have their hypotheses from.
        """
        n, c = self.labels.shape[1], self.n_clusters
        rows = np.arange(n) if rows is None else rows
        # samples that share their hypotheses and their cluster are counted together
        kind = rows * c + labels
        count = np.bincount(kind, minlength=n * c).reshape(n, c).astype(np.float64)
        together = np.zeros((n, c))
        for hypothesis, weight in zip(self.labels, self.weights, strict=True):
            member = sp.csr_array((np.ones(n), hypothesis, np.arange(n + 1)), shape=(n, c))
            together += weight * (member.T @ count)[hypothesis]
        size = np.bincount(labels, minlength=c)
        found = (together - 1.0) / np.maximum(size - 1.0, 1.0)
        return np.where(size[labels] == 1, 1.0, found.ravel()[kind])


def _left_vectors(B: sp.csr_array, count: int, rng: np.random.Generator) -> np.ndarray:
    """Return the leading left singular vectors of a sparse matrix of few columns."""
    size = B.shape[1]
    gram = sp.csr_array(B.T @ B)
    if size <= LARGEST_DENSE or 2 * count >= size:
        energy, V = largest_eigenpairs(gram.toarray(), count)
    else:
        operator = LinearOperator(gram.shape, matvec=lambda x: gram @ x.ravel(), dtype=np.float64)
        energy, V = largest_by_lanczos(operator, count, rng.uniform(-1.0, 1.0, size))
    return (B @ V) / np.sqrt(np.maximum(energy, 1e-12))


def mutual_information(one: np.ndarray, other: np.ndarray) -> float:
    """Return the normalised mutual information (arithmetic mean) of labels that count from 0."""
    n, c = len(one), int(other.max()) + 1
    joint = np.bincount(one * c + other, minlength=(int(one.max()) + 1) * c).reshape(-1, c) / n
    rows, columns = joint.sum(axis=1), joint.sum(axis=0)
    entropies = _entropy(rows) + _entropy(columns)
    if entropies <= 0.0:
        return 1.0
    return max(0.0, 2.0 * (entropies - _entropy(joint.ravel())) / entropies)


def _entropy(p: np.ndarray) -> float:
    """Return -sum p log p."""
    p = p[p > 0.0]
    return float(-np.sum(p * np.log(p)))


def agreement(labels: list[np.ndarray]) -> float:
    """Return the mean pairwise mutual information of some hypotheses (1 for a single one)."""
    return Pool.of(labels, 0).agreement() if len(labels) > 1 else 1.0
