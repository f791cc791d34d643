"""NDFS: features that predict non-negative spectral pseudo-labels."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from featsieve.base import estimator
from featsieve.graphs.affinity import normalised_laplacian, smoothness
from featsieve.selectors.common import Start
from featsieve.selectors.label_regression import (
    LabelState,
    NonnegativeLabelSelector,
    NonnegativeRegression,
)
from featsieve.solvers.nonnegative_labels import majorised_step, orthogonality_gap
from featsieve.terms.norms import smoothed_norm, square


@estimator
class NDFS(NonnegativeLabelSelector):
    """Nonnegative discriminative feature selection.

    Pseudo-labels F that are smooth on the neighbour graph, non-negative and (nearly) orthonormal,
    and a row-sparse regression W that predicts them, found in turn [1]_:

        min  tr(F'LF) + α (||XW - F||² + β ||W||_{2,1}) + ½γ ||F'F - I||²,   F ≥ 0,

    L being the normalised Laplacian. The score of a feature is the length of its row of W.

    Parameters
    ----------
    %(n_clusters, n_features_to_select)s
    alpha : float, default=1.0
        α, weight of the regression against the graph. While γ freezes F it acts
        through the stopping rule alone.
    beta : float or "auto", default="auto"
        β, row sparsity. From 2 max_j ||x_j'F|| on, all weights vanish (there is a warning); "auto"
        is the share sqrt(tr(F'LF)/(c - 1)) of that, for the first labels: the part of the labels
        that their neighbours contradict is left unexplained (1 for labels by chance, 0 where no
        edge joins two clusters). Small values keep one feature of a redundant group, and fit what
        is wrong in the labels.
    orthogonality : float, default=1e8
        γ. The published value practically freezes the labels at their start, so that NDFS is a
        group lasso on the first clustering. With values up to 1e6 the first F is softened, and
        labels do move once γ is of the order of the other terms (1 to 10); far below them F itself
        vanishes (there is a warning).
    %(init, affinity, n_neighbors, scale)s
        Published is "raw": the regression has no intercept, and lengths of rows of W depend on
        units.
    %(max_iter, tol, callback, verbose, random_state)s
    %(constraints)s

    Attributes
    ----------
    %(coef_, beta_, labels_, scores_, selection, objective_, outcome, n_clusters_)s
    %(automatic, input)s

    See Also
    --------
    RSFS : The same with labels that may be wrong.
    JASFS : Exact row sparsity and labels that move.

    Notes
    -----
    Deviations from the paper and public code, and why. The label step is split by sign and
    minimises a majoriser: the published one can make F negative, and the objective rise. F starts
    on the normalised indicator instead of a 0/1 one, and its columns are not rescaled after each
    step, which would let the objective rise. Columns are standardised unless ``scale="raw"``.
    scikit-feature's NDFS subtracts a wrong Laplacian (degrees along the wrong axis); γ = 1e9 hides
    it there.

    Cost per iteration: O(n²d + n³) for d > n, O(d³ + ndc) for d ≤ n, plus O(nkc); memory
    O(nd + min(n, d)²). Where n and d both exceed 5000 the regression is solved by conjugate
    gradients instead, in a few products with the table and O((n + d)c) memory. The n × n matrix M
    of the paper is never formed: MF = LF + α(F - XW).

    When not to use it: if the first clustering is wrong, nothing corrects it (see γ).

    References
    ----------
    .. [1] Z. Li, Y. Yang, J. Liu, X. Zhou and H. Lu, "Unsupervised feature selection using
       nonnegative spectral analysis", AAAI 2012.

    Examples
    --------
    %(example)s
    """

    def _problem(self, start: Start, F: np.ndarray) -> "NDFSProblem":
        """Return the objective."""
        return NDFSProblem(laplacian=normalised_laplacian(start.graph), **self._terms(start))


@dataclass(frozen=True)
class NDFSState(LabelState):
    """The variables, with the errors of the labels that RSFS has."""

    Z: Any = 0.0


@dataclass(frozen=True, kw_only=True)
class NDFSProblem(NonnegativeRegression[NDFSState]):
    """tr(F'LF) + alpha (||XW - F||^2 + beta ||W||_{2,1}) + gamma/2 ||F'F - I||^2 with F >= 0."""

    state_type = NDFSState

    @property
    def rho(self) -> float:
        """The row penalty of the regression, whose loss has weight 1."""
        return self.beta

    def value(self, state: NDFSState) -> float:
        """Return the objective."""
        regression = square(state.fitted + state.Z - state.F) + self.rho * smoothed_norm(state.W)
        return (
            smoothness(self.laplacian, state.F)
            + self.alpha * regression
            + 0.5 * self.orthogonality * orthogonality_gap(state.F)
        )

    def update_weights(self, state: NDFSState) -> NDFSState:
        """Regress the labels without their errors on the features."""
        return self.regress(state, state.F - state.Z, self.rho)

    def update_labels(self, state: NDFSState) -> NDFSState:
        """Minimise an upper bound of the objective in F."""
        F = majorised_step(state.F, *self.pulls(state), self.orthogonality)
        return replace(state, F=F)

    def pulls(self, state: NDFSState) -> tuple[np.ndarray, np.ndarray]:
        """Return what raises and what lowers the entries of F, without the penalty."""
        positive, negative = self.signs
        F, V = state.F, state.fitted + state.Z
        attraction = negative @ F + self.alpha * np.maximum(V, 0.0)
        repulsion = positive @ F + self.alpha * F + self.alpha * np.maximum(-V, 0.0)
        return attraction, repulsion
