"""SPEC: how smoothly a feature varies over the neighbour graph, by three criteria."""

from dataclasses import field
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from featsieve.arrays import DataOperator, as_operator
from featsieve.arrays.namespace import to_numpy
from featsieve.base import ConstrainedSelector, estimator
from featsieve.graphs.affinity import degrees, sample_graph
from featsieve.graphs.embedding import leading_eigenpairs
from featsieve.selectors.laplacian_score import WORST, column_weights, laplacian_scores
from featsieve.validation import one_of

CRITERIA = ("normalized", "plain", "leading")
# An eigenvalue below this is zero up to rounding.
ZERO = 1e-12


@estimator
class SPEC(ConstrainedSelector):
    """Spectral feature selection: smoothness over the neighbour graph, frequency by frequency.

    The normalised Laplacian of the graph, I - D^(-1/2) S D^(-1/2), has eigenvalues
    0 = λ_1 ≤ ... ≤ λ_n ≤ 2 and eigenvectors ξ_j: λ_j is the frequency of ξ_j on the graph. With
    α_j = ξ_j'D^(1/2)x / ||D^(1/2)x|| the share of ξ_j in a feature x, the criteria of [1]_ are

        "plain"        φ1 = Σ_j α_j² λ_j                       small is good,
        "normalized"   φ2 = Σ_{j≥2} α_j² λ_j / (1 - α_1²)      small is good,
        "leading"      φ3 = Σ_{j=2..q} α_j² (2 - λ_j)          large is good.

    Parameters
    ----------
    %(n_features_to_select)s
    criterion : {"normalized", "plain", "leading"}, default="normalized"
        Which of φ2, φ1 and φ3. "normalized" leaves the constant direction ξ_1 out, so that a
        feature's origin does not matter; it is the Laplacian score. "plain" mostly rewards a large
        mean where there is one. "leading" looks at the q smoothest directions only.
    n_clusters : int, "auto" or None, default=None
        q, which "leading" needs and the other criteria do not use. Where λ_q repeats, all its
        eigenvectors are used.
    %(affinity, n_neighbors)s
    scale : {"none", "unit", "raw", "sqrt"}, default="none"
        Columns: centred, centred with unit variance, or as they are. The units matter to the graph
        only; the origin matters to "plain" and "leading", which were published for columns as they
        are.
        "sqrt" is half way from "none" to "unit".
    %(constraints)s

    Attributes
    ----------
    spectral_score_ : ndarray of shape (`n_features_in_`,)
        φ of the chosen criterion. Columns that do not vary have its worst value: 2 for "plain" and
        "normalized", 0 for "leading".
    scores_ : ndarray of shape (`n_features_in_`,)
        Larger is better: φ3, or 2 - φ, that is 2 less the mean frequency. 0 for columns that do not
        vary.
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
    criterion; scikit-feature sorts all three the wrong way round. The paper has any increasing
    function g(λ) in the place of λ. φ3 starts at j = 2: the constant direction would reward
    features that hardly vary. The graph is the sparse nearest-neighbour graph without self loops;
    for the all-pairs kernel, pass it as ``affinity``.

    Cost: O(n²d) time for the neighbours, then O(nkd), or O(nqd) for "leading". Memory O(nk) beside
    the table.

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
    n_clusters: int | str | None = None
    affinity: Any = "heat"
    n_neighbors: int = 5
    scale: str = "none"

    _checks: ClassVar = {"criterion": one_of(*CRITERIA)}

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
        if leading:
            phi, self.eigenvalues_ = leading_scores(operator, S, n_clusters)
            scores = phi
        else:
            phi = laplacian_scores(operator, S, centred=self.criterion == "normalized")
            scores = WORST - phi
        scores[~to_numpy(operator.varies)] = 0.0
        self.spectral_score_ = phi
        self._set_selection(scores, n_selected)

    def _check_parameters(self) -> None:
        """Validate the parameters."""
        super()._check_parameters()
        if self.criterion == "leading" and self.n_clusters is None:
            raise ValueError("criterion='leading' needs n_clusters: pass the number of clusters.")


def leading_scores(
    operator: DataOperator, S: sp.csr_array, n_clusters: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return φ3 of every column, 0 where it does not vary, and the frequencies it looks at."""
    eigenvalues, vectors = leading_eigenpairs(S, n_clusters - 1, whole_clusters=True)
    values = 1.0 - eigenvalues
    values = np.where(values < ZERO, 0.0, np.minimum(values, WORST))  # rounding
    weighted, _, scored = column_weights(operator, S)
    # Σ_j (2 - λ_j) (ξ_j'D^(1/2)x)²
    shares = operator.rmatmul(operator.place(np.sqrt(degrees(S))[:, None] * vectors))
    smooth = to_numpy(shares**2 @ operator.place(WORST - values))
    scores = np.zeros(len(smooth))
    scores[scored] = smooth[scored] / weighted[scored]
    return scores, values
