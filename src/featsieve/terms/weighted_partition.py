"""The kernel of a weighted partition: rank one between clusters, a factor of scalars inside."""

import numpy as np

from featsieve.terms.low_rank_kernel import SMALLEST_N, LowRankKernel, largest_rank
from featsieve.terms.mean_entropy import mean_entropy

# Inside a small cluster a factor of this rank is no loss.
SMALL_RANK = 128


class WeightedPartitionKernel:
    """F with at most one non-zero per row: time and memory linear in n.

    Rows f_i, f_j of different clusters are orthogonal: K_ij = g_i g_j with
    g_i = exp(-gamma f_i^2). Inside a cluster K is the kernel of the scalars f_i, and
    :class:`~featsieve.terms.low_rank_kernel.LowRankKernel` factorises it.
    """

    mode = "weighted partition"

    def __init__(self, F: np.ndarray, gamma: float, parts: list[np.ndarray]) -> None:
        self.F, self.gamma, self.parts = F, gamma, parts
        self.g = np.exp(-gamma * np.einsum("ij,ij->i", F, F))
        self.inside: list[LowRankKernel] = []

    @classmethod
    def of(cls, F: np.ndarray, gamma: float) -> "WeightedPartitionKernel | None":
        """Return the kernel of F, or None where F is no such partition or no factor pays."""
        n, c = F.shape
        if n < SMALLEST_N or np.any(np.count_nonzero(F, axis=1) > 1):
            return None
        # A row of zeros may count to any cluster: its g is 1.
        cluster = np.abs(F).argmax(axis=1)
        order = np.argsort(cluster, kind="stable")
        ends = np.cumsum(np.bincount(cluster, minlength=c))
        parts = [part for part in np.split(order, ends[:-1]) if len(part) > 0]
        kernel = cls(F, gamma, parts)
        for part in parts:
            values = F[part, cluster[part[0]]][:, None]
            max_rank = min(len(part), max(SMALL_RANK, largest_rank(len(part))))
            inside = LowRankKernel.of(values, gamma, max_rank=max_rank)
            if inside is None:
                return None
            kernel.inside.append(inside)
        return kernel

    @property
    def rank(self) -> int:
        """The largest rank inside a cluster."""
        return max(inside.rank for inside in self.inside)

    @property
    def error(self) -> float:
        """The certified error: a cluster's share of z_i is at most all of it."""
        return max(inside.error for inside in self.inside)

    def matmul(self, M: np.ndarray) -> np.ndarray:
        """Return K M: the own cluster's product, and the others' sum weighted by g."""
        sums = np.stack([self.g[part] @ M[part] for part in self.parts])
        # The sums of all other clusters, without subtraction.
        before, after = np.zeros_like(sums), np.zeros_like(sums)
        before[1:] = np.cumsum(sums[:-1], axis=0)
        after[:-1] = np.cumsum(sums[:0:-1], axis=0)[::-1]
        product = np.empty((self.F.shape[0], M.shape[1]))
        for part, inside, others in zip(self.parts, self.inside, before + after, strict=True):
            product[part] = inside.matmul(M[part]) + self.g[part, None] * others
        return product

    def symmetric_entropy(self, r: np.ndarray) -> float:
        """Return sum t_ij log t_ij with t_ij = K_ij (r_i + r_j)/2; see :func:`mean_entropy`."""
        return mean_entropy(self, r, F=self.F, gamma=self.gamma)
