"""The Gaussian kernel of soft labels as a product of low rank, with an error that is certified.

K_ij = exp(-gamma ||f_i - f_j||^2) is positive definite. For moderate gamma its eigenvalues fall
faster than any power, and a Cholesky factor L of the columns of a few samples (pivots) represents
it: whatever the pivots, the remainder R = K - LL' is positive semidefinite, so that
|R_ij| <= sqrt(R_ii R_jj). The diagonal of R costs nothing, and certifies every entry.

The pivots are found in rounds: a pivoted Cholesky factorisation among some candidates (spread over
all samples at first, then the samples with the largest remainder), and one block of products for
all samples.
"""

import numpy as np
from scipy.linalg import solve_triangular

from featsieve.terms.mean_entropy import mean_entropy

# The largest certified error that is accepted, relative to the z_i and to the entropies.
TOLERANCE = 1e-7
# The remainder is driven this far below it; the rest is left for the rounding of the factor.
REMAINDER_SHARE = 0.25
# With fewer samples the exact blocks are as fast.
SMALLEST_N = 500
# A factor of rank r costs n r^2, a product with exact blocks n^2 exponentials: r pays up to a
# multiple of sqrt(n).
RANK_PER_ROOT = 8.0
# Elements a factor may have (512 MiB).
FACTOR_ELEMENTS = 2**26
# Candidates for pivots in a round: at least, and per rank that pays.
MIN_CANDIDATES = 1024
CANDIDATES_PER_RANK = 2
# Elements of the blocks of samples in which a round is computed.
BLOCK_ELEMENTS = 2**20
MAX_ROUNDS = 20
EPS = float(np.finfo(np.float64).eps)


class LowRankKernel:
    """K ~ LL' with n x r factor: O(n r) per product, O(n r^2) once, O(n r) memory."""

    mode = "low rank"

    def __init__(self, F: np.ndarray, gamma: float) -> None:
        n = F.shape[0]
        self.gamma = gamma
        self.F = F - F.mean(axis=0)  # distances need no origin; fewer digits cancel
        self.squares = np.einsum("ij,ij->i", self.F, self.F)
        self.factors: list[np.ndarray] = []  # rows of L', some at a time
        self.rank = 0
        self.growth = 1.0  # of rounding errors, where a pivot was not the largest remainder
        self.remainder = np.ones(n)
        self.error = float("inf")

    @classmethod
    def of(
        cls, F: np.ndarray, gamma: float, *, max_rank: int | None = None
    ) -> "LowRankKernel | None":
        """Return the kernel of F, or None where no rank that pays meets the tolerance."""
        n = F.shape[0]
        if max_rank is None:
            max_rank = 0 if n < SMALLEST_N else largest_rank(n)
        kernel = cls(F, gamma)
        return kernel if kernel._factorise(max_rank) else None

    @property
    def stretch(self) -> float:
        """1 + gamma max ||f_i - f_j||^2 (bounded): what the entropies multiply an error by."""
        return 1.0 + 4.0 * self.gamma * float(self.squares.max())

    def matmul(self, M: np.ndarray) -> np.ndarray:
        """Return LL' M."""
        product = np.zeros((self.F.shape[0], M.shape[1]))
        for rows in self.factors:
            product += rows.T @ (rows @ M)
        return product

    def symmetric_entropy(self, r: np.ndarray) -> float:
        """Return sum t_ij log t_ij with t_ij = K_ij (r_i + r_j)/2; see :func:`mean_entropy`."""
        return mean_entropy(self, r, F=self.F, gamma=self.gamma)

    def entry_errors(self) -> tuple[np.ndarray, float]:
        """Return (h, u) with |K - LL'|_ij <= h_i h_j + u: the remainder, and rounding."""
        rounding = self._noise() * self.growth
        return np.sqrt(self.remainder + rounding), rounding

    def _noise(self) -> float:
        """Return the rounding of sums of r products, and of exponents as large as ``stretch``."""
        return 4.0 * (self.rank + 10.0 + self.stretch) * EPS

    def _factorise(self, max_rank: int) -> bool:
        """Add pivots until the certified error is small enough; say whether it is."""
        n = self.F.shape[0]
        n_candidates = min(n, max(MIN_CANDIDATES, CANDIDATES_PER_RANK * max_rank))
        candidates = np.linspace(0, n - 1, n_candidates).astype(np.intp)
        goal = TOLERANCE / self.stretch
        # z_i/n of the candidates: what an error of every entry is compared with.
        share = float(np.min(self._kernel(candidates, candidates).mean(axis=1)))
        enough = REMAINDER_SHARE * goal * share
        for _ in range(MAX_ROUNDS):
            floor = max(enough, 4.0 * self._noise())
            pivots, triangle = self._pivots(candidates, floor, max_rank - self.rank)
            if len(pivots) == 0:
                return False
            self._extend(pivots, triangle)
            z = self.matmul(np.ones((n, 1)))[:, 0]
            height, rounding = self.entry_errors()
            if np.all(z > 0.0):
                self.error = float(np.max((height * height.sum() + n * rounding) / z))
                if self.error <= goal:
                    return True
                # What one row may have left, next to all others as they are.
                row = (0.5 * goal * float(np.min(z)) / float(height.sum())) ** 2
                enough = min(row, 0.1 * float(self.remainder.max()))
            candidates = np.argpartition(self.remainder, n - n_candidates)[n - n_candidates :]
        return False

    def _kernel(self, rows: np.ndarray | slice, columns: np.ndarray) -> np.ndarray:
        """Return K[rows, columns]."""
        block = 2.0 * (self.F[rows] @ self.F[columns].T)
        block -= self.squares[rows][:, None]
        block -= self.squares[columns][None, :]
        np.minimum(block, 0.0, out=block)
        block *= self.gamma
        return np.exp(block, out=block)

    def _pivots(
        self, candidates: np.ndarray, floor: float, max_pivots: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return pivots among the candidates and the Cholesky factor of their remainder.

        Greedy: each is the candidate with the largest remainder, until none exceeds the floor. No
        pivots where more than ``max_pivots`` would be needed.
        """
        K = self._kernel(candidates, candidates)
        for rows in self.factors:
            known = rows[:, candidates]
            K -= known.T @ known
        m = len(candidates)
        factor = np.empty((min(m, max(max_pivots, 0)), m))
        left = K.diagonal().copy()
        chosen: list[int] = []
        while left.max() > floor:
            k = len(chosen)
            # The remainder falls ever more slowly: half-way it must be half-way (in digits).
            late = 16 < k == max_pivots // 2 and left.max() > np.sqrt(floor)
            if late or k == max_pivots:
                return candidates[:0], factor[:0, :0]
            if k == m:
                break
            pivot = int(left.argmax())
            row = K[pivot] - factor[:k, pivot] @ factor[:k]
            row /= np.sqrt(left[pivot])
            row[chosen] = 0.0
            factor[k] = row
            left -= row * row
            left[pivot] = 0.0
            chosen.append(pivot)
        return candidates[chosen], factor[: len(chosen), chosen].T

    def _extend(self, pivots: np.ndarray, triangle: np.ndarray) -> None:
        """Add the columns of the pivots to the factor of all samples."""
        n, b = self.F.shape[0], len(pivots)
        known = [rows[:, pivots].T for rows in self.factors]
        new = np.empty((b, n))
        step = max(1, BLOCK_ELEMENTS // b)
        for start in range(0, n, step):
            inside = slice(start, min(start + step, n))
            columns = self._kernel(inside, pivots).T
            for own, rows in zip(known, self.factors, strict=True):
                columns -= own @ rows[:, inside]
            new[:, inside] = solve_triangular(triangle, columns, lower=True, check_finite=False)
        self.factors.append(new)
        self.rank += b
        # The rounding of a column is divided by the pivot's root, and meets the others' entries.
        # Were the pivot the largest of all samples, not of the candidates, this were 1.
        largest = np.maximum(new.max(axis=1), -new.min(axis=1))
        self.growth = max(self.growth, float(np.max(largest / triangle.diagonal())))
        self.remainder -= np.einsum("ij,ij->j", new, new)
        np.maximum(self.remainder, 0.0, out=self.remainder)


def largest_rank(n: int) -> int:
    """Return the largest rank that pays for n samples."""
    return int(min(RANK_PER_ROOT * np.sqrt(n), n // 4, FACTOR_ELEMENTS // n))
