"""RSFS: features that predict spectral pseudo-labels of which some entries may be wrong."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from featsieve.base import estimator
from featsieve.graphs.affinity import row_normalised_laplacian
from featsieve.selectors.common import Start
from featsieve.selectors.label_regression import NonnegativeLabelSelector
from featsieve.selectors.ndfs import NDFSProblem, NDFSState
from featsieve.validation import positive_or_auto


@estimator
class RSFS(NonnegativeLabelSelector):
    """Robust spectral feature selection.

    Pseudo-labels F that are smooth on the neighbour graph, non-negative and (nearly) orthonormal,
    and a row-sparse regression W that predicts them up to sparse errors Z, found in turn [1]_:

        min  tr(F'LF) + α ||F - XW - Z||² + β ||W||_{2,1} + ν ||Z||_1 + ½γ ||F'F - I||²,   F ≥ 0.

    Minimised over Z, the middle terms are a Huber loss of the residuals: quadratic up to ν/(2α),
    linear beyond, so that a sample with a wrong label pulls less. L is the Laplacian of the graph
    with rows summing to one. The score of a feature is the length of its row of W.

    Parameters
    ----------
    %(n_clusters, n_features_to_select)s
    alpha : float, default=1.0
        α, weight of the regression against the graph. While γ freezes F, only β/α and ν/α matter.
    beta : float or "auto", default="auto"
        β, row sparsity. From 2α max_j ||x_j'C|| on, C being F clipped at ±ν/(2α), all weights
        vanish (there is a warning); "auto" is the share of that for the first labels which NDFS
        takes.
    nu : float or "auto", default="auto"
        ν, price of an error. With ν/(2α) above the largest residual all of Z is 0 and RSFS is
        NDFS; the smaller ν, the more of the labels is taken for errors, and the weights vanish
        with it. "auto" is α sqrt(c/n): errors begin at half the mean height of a label in F.
    orthogonality : float, default=1e8
        γ. The published value practically freezes the labels at their start. With values up to
        1e6 the first F is softened, and labels do move once γ is of the order of the other terms.
    %(init, affinity, n_neighbors, scale)s
        Published is "raw": the regression has no intercept, and lengths of rows of W depend on
        units.
    %(max_iter)s
        (Published: 20.)
    %(tol)s
        (Published: 1e-3.)
    %(callback, verbose, random_state)s
    %(constraints)s

    Attributes
    ----------
    %(coef_)s
    beta_, nu_ : float
        The β and ν that were used.
    noise_ : ndarray of shape (n_samples, n_clusters)
        Z, the errors of the labels; columns as in ``coef_``. Samples with long rows are those
        whose label the features contradict.
    %(labels_, scores_, selection, objective_)s
        It never rises.
    %(outcome, n_clusters_, automatic, input)s

    See Also
    --------
    NDFS : The same without errors (ν → ∞), with another Laplacian.
    RUFS : Robust in the samples instead of in single entries of the labels.

    Notes
    -----
    Deviations from the paper and public code, and why. The label step minimises a majoriser; F
    starts on the normalised indicator, and its columns are not rescaled after each step, which
    would let the objective rise. The penalty is the squared Frobenius norm that the step is
    derived from. The authors' program records the lengths of the rows of F'F - I instead, and
    stops at the first increase.
    Columns are standardised unless ``scale="raw"``. The authors cluster the eigenvectors of L for
    the first labels; here it is normalised spectral clustering. Their abstract speaks of a robust
    local-learning Laplacian; their program has the plain row-normalised graph, as here.

    Cost per iteration: O(n²d + n³) for d > n, O(d³ + ndc) for d ≤ n, plus O(nkc); memory
    O(nd + min(n, d)²).

    When not to use it: if most of the first clustering is wrong, Z cannot tell; and with a large
    ν it is only a slower way to say NDFS.

    References
    ----------
    .. [1] L. Shi, L. Du and Y.-D. Shen, "Robust spectral learning for unsupervised feature
       selection", ICDM 2014.

    Examples
    --------
    %(example)s
    """

    nu: float | str = "auto"

    _checks: ClassVar = {**NonnegativeLabelSelector._checks, "nu": positive_or_auto}

    def _problem(self, start: Start, F: np.ndarray) -> "RSFSProblem":
        """Return the objective."""
        # "auto": alpha times the height of a label in a cluster of mean size, 1/sqrt(n/c)
        height = float(np.sqrt(start.n_clusters / start.X.shape[0]))
        self.nu_ = self.alpha * height if isinstance(self.nu, str) else float(self.nu)
        L = row_normalised_laplacian(start.graph)
        return RSFSProblem(laplacian=L, nu=self.nu_, **self._terms(start))

    def _slope(self, F: np.ndarray) -> np.ndarray:
        """Return half the slope of the Huber loss at W = 0."""
        threshold = self.nu_ / (2.0 * self.alpha)
        return self.alpha * np.clip(F, -threshold, threshold)

    def _set_labels(self, start: Start, problem: Any, state: Any) -> tuple[Any, bool]:
        """Set the labels and their errors."""
        self.noise_ = state.Z
        return super()._set_labels(start, problem, state)


@dataclass(frozen=True, kw_only=True)
class RSFSProblem(NDFSProblem):
    """tr(F'LF) + alpha ||F - XW - Z||^2 + nu ||Z||_1 + beta ||W||_{2,1} + gamma/2 ||F'F - I||^2."""

    nu: float

    blocks = ("weights", "noise", "labels")

    @property
    def rho(self) -> float:
        """The row penalty of the regression, whose loss has weight 1."""
        return self.beta / self.alpha

    def value(self, state: NDFSState) -> float:
        """Return the objective."""
        return super().value(state) + self.nu * float(np.sum(np.abs(state.Z)))

    def update_noise(self, state: NDFSState) -> NDFSState:
        """Minimise alpha (r - z)^2 + nu |z| for every residual r."""
        R, threshold = state.F - state.fitted, self.nu / (2.0 * self.alpha)
        return replace(state, Z=R - np.clip(R, -threshold, threshold))
