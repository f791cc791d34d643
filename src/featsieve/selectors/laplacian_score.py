"""The Laplacian score: how smoothly a feature varies over the neighbour graph of the samples."""

from dataclasses import field
from typing import Any

import numpy as np
import scipy.sparse as sp

from featsieve.arrays import DataOperator
from featsieve.arrays.namespace import to_numpy
from featsieve.base import ConstrainedSelector, estimator
from featsieve.graphs.affinity import degrees, sample_graph

# A graph-weighted variance below this share of the plain one is what rounding leaves.
NEGLIGIBLE = 1e-12
# The largest eigenvalue a normalised Laplacian can have, hence the worst score.
WORST = 2.0


@estimator
class LaplacianScore(ConstrainedSelector):
    """Rank features by how little they change between neighbouring samples.

    With S the affinity matrix of the nearest-neighbour graph, D its degrees, L = D - S, and x a
    feature centred with the weights of D, the score is [1]_

        LS = x'Lx / x'Dx,

    between 0 (constant on every connected part of the graph) and 2; about 1 for noise. Small is
    good, so ``scores_`` holds 2 - LS.

    Parameters
    ----------
    %(n_features_to_select, affinity, n_neighbors)s
    scale : {"none", "unit", "raw", "sqrt"}, default="none"
        Columns from which the graph is built: as they are, or with unit variance. The score itself
        does not depend on units. ("raw" and "none" are the same here: distances know no origin.)
        "sqrt" is half way from "none" to "unit".
    %(constraints)s

    Attributes
    ----------
    laplacian_score_ : ndarray of shape (`n_features_in_`,)
        LS, smaller is better; 2 for a column that does not vary.
    scores_ : ndarray of shape (`n_features_in_`,)
        2 - LS, larger is better; 0 for a column that does not vary.
    %(selection, automatic, input)s

    See Also
    --------
    SPEC : The same idea with other spectral functions.
    MCFS : Looks at the features together instead of one at a time.

    Notes
    -----
    Deviations from public code, and why. The kernel is exp(-d²/(2t²)) as in the common MATLAB
    code; the paper prints exp(-d²/t). The graph has no self loops (scikit-feature's has: they
    shrink all scores and can change their order). The denominator is computed from centred
    columns: the textbook formula loses all digits when a column's mean is large. A column that
    does not vary gets the worst score; public code gives it 1, better than noise.

    Cost: O(n²d) time for the neighbours, O(nkd) for the scores, O(nk) memory beside the table.

    When not to use it: every feature is judged alone, so copies of one good feature all rank high;
    and the graph is built from all features, so that with thousands of noise columns it mostly
    describes noise.

    References
    ----------
    .. [1] X. He, D. Cai and P. Niyogi, "Laplacian score for feature selection", NIPS 2005.

    Examples
    --------
    %(example)s
    """

    n_features_to_select: int | float | str = field(default=0.1, kw_only=False)
    affinity: Any = "heat"
    n_neighbors: int = 5
    scale: str = "none"

    def _fit(self, X: Any) -> None:
        """Score the features."""
        operator = self._operator(X).centred()
        n_selected = self._n_to_select()
        S = sample_graph(operator, self.affinity, n_neighbors=self.n_neighbors)
        self.laplacian_score_ = laplacian_scores(operator, S)
        self._set_selection(WORST - self.laplacian_score_, n_selected)


def laplacian_scores(operator: DataOperator, S: sp.csr_array, centred: bool = True) -> np.ndarray:
    """Return LS of every column: x'Lx / x'Dx for x less its D-weighted mean (``centred``), or x."""
    weighted, spread, scored = column_weights(operator, S)
    rough = weighted - to_numpy(operator.column_forms(S))  # the same of x and of x less a constant
    whole = spread if centred else weighted
    scores = np.full(len(whole), WORST)
    scores[scored] = np.clip(rough[scored] / whole[scored], 0.0, WORST)
    return scores


def column_weights(
    operator: DataOperator, S: sp.csr_array
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return x'Dx of every column, that of x less its D-weighted mean, and whether x is scored.

    It is where it varies, and the second number is not just rounding.
    """
    degree = degrees(S)
    weighted = to_numpy(operator.column_forms(degree))
    sums = to_numpy(operator.rmatmul(operator.place(degree[:, None])))[:, 0]
    spread = weighted - sums**2 / degree.sum()
    norms = to_numpy(operator.column_norms()) * (degree.sum() / operator.shape[0])
    scored = to_numpy(operator.varies) & (spread > NEGLIGIBLE * np.maximum(norms, weighted))
    return weighted, spread, scored
