"""The adaptive graph: alpha tr(F'L_S F) + beta sum s_ij log(s_ij/a_ij), S row-stochastic.

For fixed F the best S is a softmax, s_ij = a_ij k_ij / z_i with k_ij = exp(-gamma ||f_i - f_j||^2),
gamma = alpha/(2 beta) and z_i = sum_j a_ij k_ij (eq. solutionofS), and the minimum over S is
-beta sum_i log z_i. S is therefore no variable of the model: it is eliminated exactly, and by the
envelope theorem the gradient of what remains is 2 alpha L_S F with S at its optimum.

:class:`UniformGraph` is the paper's term (a_ij = 1: S sees only F). :class:`NeighbourGraph` takes
the divergence from a sparse prior a, so that the graph sees the data and costs O(n k).
"""

import numpy as np
import scipy.sparse as sp

# Elements of a block of the n x n kernel that may exist at one time (8 MiB of float64).
BLOCK_ELEMENTS = 2**20
# Kernels up to this many elements (32 MiB) are kept whole: one product instead of two.
WHOLE_ELEMENTS = 2**22
# Largest error of a kernel entry that the closed form of a partition may make.
PARTITION_ERROR = 1e-11


class BlockedKernel:
    """Any F: exact, O(n^2 c) time, O(n) memory (beyond what is kept whole)."""

    def __init__(self, F: np.ndarray, gamma: float) -> None:
        F = F - F.mean(axis=0)  # distances need no origin; fewer digits cancel
        self.F, self.gamma = F, gamma
        self.step = max(1, BLOCK_ELEMENTS // F.shape[0])
        # [2F, -|f|^2, -1] [F, 1, |f|^2]' = -||f_i - f_j||^2: one product, no temporaries.
        squares = np.einsum("ij,ij->i", F, F)[:, None]
        one = np.ones_like(squares)
        self._left, self._right = np.hstack([2.0 * F, -squares, -one]), np.hstack([F, one, squares])

    def exponents(self, start: int) -> np.ndarray:
        """Return -gamma ||f_i - f_j||^2 for a block of rows i and all j; a new array."""
        block = self._left[start : start + self.step] @ self._right.T
        own = np.arange(len(block))
        block[own, start + own] = 0.0  # not left to rounding: gamma may be huge
        np.minimum(block, 0.0, out=block)
        block *= self.gamma
        return block

    def rows(self, start: int) -> np.ndarray:
        """Return a block of rows of K."""
        block = self.exponents(start)
        return np.exp(block, out=block)

    def matmul(self, M: np.ndarray) -> np.ndarray:
        """Return K M."""
        starts = range(0, self.F.shape[0], self.step)
        return np.concatenate([self.rows(start) @ M for start in starts])

    def symmetric_products(self, F: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return K1, T1 and TF, T = (S + S')/2, S being K with rows that sum to 1."""
        n = len(F)
        if n * n <= WHOLE_ELEMENTS:
            T = np.concatenate([self.rows(start) for start in range(0, n, self.step)])
            z = T.sum(axis=1)
            half = 0.5 / z
            T *= half[:, None] + half[None, :]
            return z, T.sum(axis=1), T @ F
        M = np.hstack([np.ones((n, 1)), F])
        forward, back = np.empty_like(M), np.zeros_like(M)
        for start in range(0, n, self.step):
            inside, K = slice(start, start + self.step), self.rows(start)
            forward[inside] = K @ M
            back += K.T @ (M[inside] / forward[inside, :1])
        return _symmetric(forward, back)

    def symmetric_entropy(self, r: np.ndarray) -> float:
        """Return sum t_ij log t_ij, finite where t_ij underflows (log-sum-exp form)."""
        total = 0.0
        for start in range(0, self.F.shape[0], self.step):
            weight = 0.5 * (r[start : start + self.step, None] + r[None, :])
            log_t = self.exponents(start) + np.log(weight)
            total += float(np.sum(np.exp(log_t) * log_t))
        return total


class PartitionKernel:
    """F with one non-zero per row, almost constant in a cluster: O(n c) time, no n x n array.

    Between two clusters K has rank one, K_ij = g_i g_j with g_i = exp(-gamma f_i^2); inside a
    cluster it is 1 up to gamma (f_i - f_j)^2, which :meth:`of` checks to be negligible.
    """

    def __init__(self, cluster: np.ndarray, value: np.ndarray, n_clusters: int, gamma: float):
        self.cluster, self.n_clusters = cluster, n_clusters
        self.sizes = np.bincount(cluster, minlength=n_clusters)
        self.g = np.exp(-gamma * value**2)
        self.centre = np.bincount(cluster, weights=value, minlength=n_clusters) / self.sizes
        self.gamma = gamma
        n = cluster.shape[0]
        self.sum_by_cluster = sp.csr_array(
            (np.ones(n), (cluster, np.arange(n))), shape=(n_clusters, n)
        )

    @classmethod
    def of(cls, F: np.ndarray, gamma: float) -> "PartitionKernel | None":
        """Return the kernel of F, or None where F is not such a partition."""
        n, c = F.shape
        if c == 0:
            return None
        cluster = F.argmax(axis=1)
        value = F[np.arange(n), cluster]
        sizes = np.bincount(cluster, minlength=c)
        if np.count_nonzero(F) != n or np.any(value <= 0) or np.any(sizes == 0):
            return None
        low, high = np.full(c, np.inf), np.zeros(c)
        np.minimum.at(low, cluster, value)
        np.maximum.at(high, cluster, value)
        spread = high - low
        # Inside a cluster, and (to second order, as deviations from the mean cancel) across.
        error = max(np.max(gamma * spread**2), np.max((2.0 * gamma * high * spread) ** 2))
        return cls(cluster, value, c, gamma) if error <= PARTITION_ERROR else None

    def matmul(self, M: np.ndarray) -> np.ndarray:
        """Return K M: the own cluster's plain sum, and the others' sum weighted by g."""
        weighted = self.sum_by_cluster @ (self.g[:, None] * M)
        others = weighted.sum(axis=0)[None, :] - weighted
        plain = self.sum_by_cluster @ M
        return plain[self.cluster] + self.g[:, None] * others[self.cluster]

    def symmetric_products(self, F: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return K1, T1 and TF, T = (S + S')/2, S being K with rows that sum to 1."""
        M = np.hstack([np.ones((len(F), 1)), F])
        forward = self.matmul(M)
        return _symmetric(forward, self.matmul(M / forward[:, :1]))

    def symmetric_entropy(self, r: np.ndarray) -> float:
        """Return sum t_ij log t_ij from one representative of each pair of clusters."""
        r_centre = np.bincount(self.cluster, weights=r, minlength=self.n_clusters) / self.sizes
        square = self.centre**2
        exponent = -self.gamma * (square[:, None] + square[None, :])
        np.fill_diagonal(exponent, 0.0)
        log_t = exponent + np.log(0.5 * (r_centre[:, None] + r_centre[None, :]))
        pairs = self.sizes[:, None] * self.sizes[None, :]
        return float(np.sum(pairs * np.exp(log_t) * log_t))


def _symmetric(forward: np.ndarray, back: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return K1, T1 and TF from K[1, F] and S'[1, F]."""
    z = forward[:, 0]
    product = 0.5 * ((1.0 / z)[:, None] * forward[:, 1:] + back[:, 1:])
    return z, 0.5 * (1.0 + back[:, 0]), product


class UniformGraph:
    """S at its optimum for one F, a_ij = 1 (the paper's entropy): products, never S itself.

    Parameters
    ----------
    F : array of shape (n_samples, n_clusters)
    gamma : float
        alpha/(2 beta) as in the paper, or 1/(2 beta) as in the authors' code.

    Examples
    --------
    >>> import numpy as np
    >>> from featsieve.terms import UniformGraph
    >>> F = np.random.default_rng(0).random((2000, 3))
    >>> graph = UniformGraph(F, 0.5)
    >>> bool(np.allclose(graph.laplacian_product(np.ones((2000, 1))), 0.0))  # L_S 1 = 0
    True
    """

    def __init__(self, F: np.ndarray, gamma: float) -> None:
        self.F, self.gamma = F, gamma
        self.kernel = PartitionKernel.of(F, gamma) or BlockedKernel(F, gamma)
        # K_ii = 1, so z_i >= 1: no row of S can be lost to underflow.
        self.z, self.degree, smoothed = self.kernel.symmetric_products(F)
        self.r = 1.0 / self.z
        self.product = self.degree[:, None] * F - smoothed  # L_S F

    def laplacian_product(self, M: np.ndarray) -> np.ndarray:
        """Return L_S M = degree * M - (S M + S' M)/2, with S = diag(r) K."""
        product = self.r[:, None] * self.kernel.matmul(M)
        product += self.kernel.matmul(self.r[:, None] * M)
        return self.degree[:, None] * M - 0.5 * product

    def smoothness(self, M: np.ndarray) -> float:
        """Return tr(M' L_S M)."""
        return float(np.sum(M * self.laplacian_product(M)))

    def log_partition(self) -> float:
        """Return sum_i log z_i; -beta times it is the graph term with S eliminated."""
        return float(np.sum(np.log(self.z)))

    def symmetric_entropy(self) -> float:
        """Return sum t_ij log t_ij of the symmetrised graph T = (S + S')/2 (authors' code)."""
        return self.kernel.symmetric_entropy(self.r)


class NeighbourGraph:
    """The graph term with the data's kNN graph as prior: sparse, O(n k c).

    Parameters
    ----------
    prior : sparse array of shape (n_samples, n_samples)
        Similarities a_ij >= 0; its rows are normalised to sum to one.
    alpha, beta : float
        Weights of smoothness and divergence. beta -> infinity is the fixed graph S = a.
    """

    def __init__(self, prior: sp.csr_array, *, alpha: float, beta: float) -> None:
        self.alpha, self.beta = alpha, beta
        prior = sp.csr_array(prior, copy=True)
        prior.eliminate_zeros()
        total = prior.sum(axis=1)
        if not np.all(total > 0.0):
            raise ValueError("Every sample needs a neighbour: the prior has an empty row.")
        self.n_samples = prior.shape[0]
        self.row = np.repeat(np.arange(self.n_samples), np.diff(prior.indptr))
        self.column = prior.indices
        self.weight = prior.data / total[self.row]

    def _softmax(self, F: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return s_ij on the edges and log z_i."""
        gap = F[self.row] - F[self.column]
        exponent = -(self.alpha / (2.0 * self.beta)) * np.einsum("ij,ij->i", gap, gap)
        # log-sum-exp by rows: subtracting the largest exponent of a row leaves s unchanged.
        largest = np.full(self.n_samples, -np.inf)
        np.maximum.at(largest, self.row, exponent)
        s = self.weight * np.exp(exponent - largest[self.row])
        z = np.bincount(self.row, weights=s, minlength=self.n_samples)
        return s / z[self.row], np.log(z) + largest

    def value(self, F: np.ndarray) -> float:
        """Return -beta sum_i log z_i, the term with S eliminated."""
        return -self.beta * float(np.sum(self._softmax(F)[1]))

    def weights(self, F: np.ndarray) -> sp.csr_array:
        """Return S at its optimum for F."""
        shape = (self.n_samples, self.n_samples)
        return sp.csr_array((self._softmax(F)[0], (self.row, self.column)), shape=shape)

    def laplacian(self, F: np.ndarray) -> sp.csr_array:
        """Return L_S = D - (S + S')/2 with S at its optimum for F."""
        S = self.weights(F)
        symmetric = 0.5 * (S + S.T)
        degree = symmetric.sum(axis=1)
        return sp.csr_array(sp.diags_array(degree) - symmetric)
