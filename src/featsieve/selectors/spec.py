"""SPEC: how smoothly a feature varies over the neighbour graph, with any weight of the spectrum."""

from dataclasses import field
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from featsieve.arrays import DataOperator, as_operator
from featsieve.arrays.namespace import column_dots, sparse_product, to_numpy
from featsieve.base import UnsupervisedSelector, estimator
from featsieve.graphs.affinity import degrees, normalised_laplacian, sample_graph
from featsieve.graphs.embedding import leading_eigenpairs
from featsieve.selectors.laplacian_score import NEGLIGIBLE, WORST, laplacian_scores
from featsieve.validation import one_of, positive

CRITERIA = ("normalized", "plain", "leading")
# Beyond this power, only the largest eigenvalue would count.
LARGEST_POWER = 100.0
# An eigenvalue below this is zero up to rounding (which a power below 1 would blow up).
ZERO = 1e-12
# Blocks of columns or eigenvectors stay near this many elements (16 MiB of float64).
BLOCK_ELEMENTS = 2**21
# Products with a graph of m edges beat the eigenvalues of n samples up to m power = 4 n^2.
PRODUCTS = 4.0


@estimator
class SPEC(UnsupervisedSelector):
    """Spectral feature selection: smoothness over the neighbour graph, frequency by frequency.

    The normalised Laplacian of the graph, I - D^(-1/2) S D^(-1/2), has eigenvalues
    0 = λ_1 ≤ ... ≤ λ_n ≤ 2 and eigenvectors ξ_j: λ_j is the frequency of ξ_j on the graph. With
    α_j = ξ_j'D^(1/2)x / ||D^(1/2)x|| the share of ξ_j in a feature x, and g(λ) = λ^power, the
    three criteria of [1]_ are

        "plain"        φ1 = Σ_j α_j² g(λ_j)                          small is good,
        "normalized"   φ2 = Σ_{j≥2} α_j² g(λ_j) / (1 - α_1²)         small is good,
        "leading"      φ3 = Σ_{j=2..q} α_j² (g(2) - g(λ_j))          large is good.

    Parameters
    ----------
    %(n_features_to_select)s
    criterion : {"normalized", "plain", "leading"}, default="normalized"
        Which of φ2, φ1 and φ3. "normalized" leaves the constant direction ξ_1 out, so that a
        feature's origin does not matter; with ``power=1`` it is the Laplacian score. "plain" mostly
        rewards a large mean where there is one. "leading" looks at the q smoothest directions only.
    power : float, default=1.0
        Exponent of g: large values punish high frequencies, small ones any change at all.
    n_clusters : int, "auto" or None, default=None
        q, which "leading" needs and the other criteria do not use. Where λ_q repeats, all its
        eigenvectors are used.
    %(affinity, n_neighbors)s
    scale : {"none", "unit", "raw", "sqrt"}, default="none"
        Columns: centred, centred with unit variance, or as they are. The units matter to the graph
        only; the origin matters to "plain" and "leading", which were published for columns as they
        are.
        "sqrt" is half way from "none" to "unit".

    Attributes
    ----------
    spectral_score_ : ndarray of shape (`n_features_in_`,)
        φ of the chosen criterion. Columns that do not vary have its worst value: 2^power for
        "plain" and "normalized", 0 for "leading".
    scores_ : ndarray of shape (`n_features_in_`,)
        Larger is better: φ3, or 2 - φ^(1/power), that is 2 less the mean frequency (a power mean).
        0 for columns that do not vary.
    %(selection)s
    eigenvalues_ : ndarray
        λ_2, ... as used by "leading"; only with it.
    %(n_clusters_, automatic, input)s

    See Also
    --------
    LaplacianScore : The default criterion, on its own.
    MCFS : Looks at the features together instead of one at a time.

    Notes
    -----
    Deviations from public code, and why. Columns that do not vary get the worst score: with the
    published formulas φ1 = 0 and φ2 = 0/0, the best. The ranking follows the meaning of the
    criterion; scikit-feature sorts all three the wrong way round. For a power other than 1 public
    code weights φ3 by (2 - λ)^power; this is the paper's g(2) - g(λ). φ3 starts at j = 2:
    the constant direction would reward features that hardly vary. The graph is the sparse
    nearest-neighbour graph without self loops; for the all-pairs kernel, pass it as ``affinity``.

    Cost: O(n²d) time for the neighbours. Then O(nkd power) for whole powers, without any
    eigenvalue; O(n³ + n²d) for other powers, which need them all; O(nqd) for "leading". Memory
    O(nk) beside the table, O(n²) for powers that are not whole.

    When not to use it: every feature is judged alone, so copies of one good feature all rank high;
    and the graph is built from all features, so that with thousands of noise columns it mostly
    describes noise.

    References
    ----------
    .. [1] Z. Zhao and H. Liu, "Spectral feature selection for supervised and unsupervised
       learning", ICML 2007.

    Examples
    --------
    %(example)s
    """

    n_features_to_select: int | float | str = field(default=0.1, kw_only=False)
    criterion: str = "normalized"
    power: float = 1.0
    n_clusters: int | str | None = None
    affinity: Any = "heat"
    n_neighbors: int = 5
    scale: str = "none"

    _checks: ClassVar = {"criterion": one_of(*CRITERIA), "power": positive}

    def _fit(self, X: Any) -> None:
        """Score the features."""
        operator = self._operator(X)
        n_selected = self._n_to_select()
        if self.criterion == "normalized" and self.scale == "raw":
            operator = as_operator(X)  # the origin does not matter, and would cost digits
        leading = self.criterion == "leading"
        n_clusters = 1
        if leading or self.n_clusters not in (None, 1):
            n_clusters = self._count_clusters(X)
        S = sample_graph(operator, self.affinity, n_neighbors=self.n_neighbors)
        power = float(self.power)
        if leading:
            phi, self.eigenvalues_ = leading_scores(operator, S, n_clusters, power=power)
            scores = phi
        else:
            normalized = self.criterion == "normalized"
            phi = smoothness_scores(operator, S, power=power, normalized=normalized)
            scores = np.maximum(WORST - phi ** (1.0 / power), 0.0)
        scores[~to_numpy(operator.varies)] = 0.0
        self.spectral_score_ = phi
        self._set_selection(scores, n_selected)

    def _check_parameters(self) -> None:
        """Validate the parameters."""
        super()._check_parameters()
        if self.power > LARGEST_POWER:
            raise ValueError(
                f"power must be at most {LARGEST_POWER:g}: beyond, only the largest frequency "
                f"counts; got {self.power!r}."
            )
        if self.criterion == "leading" and self.n_clusters is None:
            raise ValueError("criterion='leading' needs n_clusters: pass the number of clusters.")


def smoothness_scores(
    operator: DataOperator, S: sp.csr_array, *, power: float = 1.0, normalized: bool = True
) -> np.ndarray:
    """Return φ2 (normalized) or φ1 of every column; 2^power where it does not vary.

    Both are x'D^(1/2) g(L) D^(1/2)x, to which the constant direction adds nothing as g(0) = 0, over
    x'Dx, in φ2 of the column less its mean with weights D.
    """
    if normalized and power == 1.0:
        return laplacian_scores(operator, S)
    n = operator.shape[0]
    weighted, spread, scored = column_weights(operator, S)
    if power == 1.0:
        rough = weighted - to_numpy(operator.column_forms(S))
    elif power == round(power) and power * S.nnz <= PRODUCTS * n * n:
        rough = _by_products(operator, S, int(power))
    else:
        values, vectors = np.linalg.eigh(normalised_laplacian(S).toarray())
        rough = energies(operator, S, vectors, frequencies(values) ** power)
    worst = WORST**power
    scores = np.full(len(rough), worst)
    total = (spread if normalized else weighted)[scored]
    scores[scored] = np.clip(rough[scored] / total, 0.0, worst)
    return scores


def leading_scores(
    operator: DataOperator, S: sp.csr_array, n_clusters: int, *, power: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Return φ3 of every column, 0 where it does not vary, and the frequencies it looks at."""
    eigenvalues, vectors = leading_eigenpairs(S, n_clusters - 1, whole_clusters=True)
    values = frequencies(1.0 - eigenvalues)
    weighted, _, scored = column_weights(operator, S)
    smooth = energies(operator, S, vectors, WORST**power - values**power)
    scores = np.zeros(len(smooth))
    scores[scored] = smooth[scored] / weighted[scored]
    return scores, values


def column_weights(
    operator: DataOperator, S: sp.csr_array
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return x'Dx, the same less the D-weighted mean, and whether 1 - α_1² is not just rounding."""
    degree = degrees(S)
    weighted = to_numpy(operator.column_forms(degree))
    sums = to_numpy(operator.rmatmul(operator.place(degree[:, None])))[:, 0]
    spread = weighted - sums**2 / degree.sum()
    norms = to_numpy(operator.column_norms()) * (degree.sum() / operator.shape[0])
    scored = to_numpy(operator.varies) & (spread > NEGLIGIBLE * np.maximum(norms, weighted))
    return weighted, spread, scored


def frequencies(values: np.ndarray) -> np.ndarray:
    """Return eigenvalues of a normalised Laplacian without what rounding adds to 0 and 2."""
    return np.where(values < ZERO, 0.0, np.minimum(values, WORST))


def energies(
    operator: DataOperator, S: sp.csr_array, vectors: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Return Σ_j weights_j (ξ_j'D^(1/2)x)² of every column x, some eigenvectors at a time."""
    root = np.sqrt(degrees(S))
    total = np.zeros(operator.shape[1])
    step = max(1, BLOCK_ELEMENTS // operator.shape[1])
    for start in range(0, vectors.shape[1], step):
        inside = slice(start, start + step)
        shares = operator.rmatmul(operator.place(root[:, None] * vectors[:, inside]))
        total += to_numpy(shares**2 @ operator.place(weights[inside]))
    return total


def _by_products(operator: DataOperator, S: sp.csr_array, power: int) -> np.ndarray:
    """Return x'D^(1/2) L^power D^(1/2)x of every column x: half of the factors on either side."""
    n, d = operator.shape
    along_graph = sparse_product(normalised_laplacian(S), operator.inverse_scale)
    root = operator.place(np.sqrt(degrees(S)))[:, None]
    rough = np.empty(d)
    step = max(1, operator.block_elements // n)
    for start in range(0, d, step):
        inside = np.arange(start, min(start + step, d))
        left = root * operator.columns(operator.place(inside))
        for _ in range(power // 2):
            left = along_graph(left)
        right = along_graph(left) if power % 2 else left
        rough[inside] = to_numpy(column_dots(left, right))
    return rough
