"""RUFS as published: projected L-BFGS on one block after the other."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from featsieve import defaults
from featsieve.arrays.namespace import to_numpy
from featsieve.selectors.rufs_problem import RUFSProblem, RUFSState
from featsieve.solvers.projected_lbfgs import Function, ProjectedLBFGS
from featsieve.terms.row_shrinkage import SMOOTHING
from featsieve.terms.row_sparsity import row_norms

# The tolerances of the public program: of J in every block, of the gradient in two of them.
WEIGHTS = ProjectedLBFGS(nonnegative=False, gradient_tol=1e-3, value_tol=1e-4)
LABELS = ProjectedLBFGS(nonnegative=True, gradient_tol=1e-3, relative=True, value_tol=1e-3)
BASIS = ProjectedLBFGS(nonnegative=True, value_tol=1e-3)


@dataclass(frozen=True)
class PublishedState(RUFSState):
    """The variables, with the length of the gradient where the run began."""

    slope: float = 0.0


class PublishedRUFS(RUFSProblem):
    """J by the published search directions, step sizes and inner tolerances."""

    def start(self, F: np.ndarray) -> PublishedState:
        """Return the start of the other steps with a basis without zeros."""
        state = PublishedState(**vars(super().start(F)))
        slope = float(np.linalg.norm(_flat(self.gradients(state))))
        positive = state.basis[state.basis > 0.0]
        mean = float(positive.mean()) if positive.size else 1.0
        basis = state.basis + defaults.RUFS_PUBLISHED_OFFSET * mean
        return replace(state, basis=basis, images=self.table.matmul(basis), slope=slope)

    def update_weights(self, state: RUFSState) -> RUFSState:
        """Minimise J in W."""
        W, fitted = WEIGHTS.minimise(self.of_weights(state), to_numpy(state.W))
        return replace(state, W=self.on_device(W), fitted=fitted)

    def update_labels(self, state: RUFSState) -> RUFSState:
        """Minimise J in G."""
        return replace(state, F=LABELS.minimise(self.of_labels(state), state.F)[0])

    def update_basis(self, state: RUFSState) -> RUFSState:
        """Minimise J in F."""
        basis, images = BASIS.minimise(self.of_basis(state), state.basis)
        return replace(state, basis=basis, images=images)

    def converged(self, state: RUFSState, history: Sequence[float], tol: float) -> bool:
        """Say whether J changes by at most tol, or its projected gradient is short."""
        if len(history) < 2:
            return False
        assert isinstance(state, PublishedState)
        of_weights, of_labels, of_basis = self.gradients(state)
        parts = (
            of_weights,
            LABELS.feasible(of_labels, state.F),
            BASIS.feasible(of_basis, state.basis),
        )
        length = np.linalg.norm(_flat(parts))
        return bool(abs(history[-2] - history[-1]) <= tol or length <= tol * state.slope)

    def gradients(self, state: RUFSState) -> tuple[np.ndarray, ...]:
        """Return the gradients of J in W, G and F'."""
        return (
            self.of_weights(state).gradient(to_numpy(state.W), state.fitted),
            self.of_labels(state).gradient(state.F, state.F),
            self.of_basis(state).gradient(state.basis, state.images),
        )

    def of_weights(self, state: RUFSState) -> Function:
        """Return J as a function of W, with the product ZW."""
        G = state.F

        def gradient(W: np.ndarray, fitted: np.ndarray) -> np.ndarray:
            # alpha Z' diag(1/r) (ZW - G) + beta diag(1/||w_j||) W
            residual = (fitted - G) / self.regression_lengths(G, fitted)[:, None]
            loss = to_numpy(self.operator.rmatmul(self.on_device(residual)))
            return self.alpha * loss + self.beta * W / np.sqrt(row_norms(W) + SMOOTHING)[:, None]

        return Function(
            image=lambda W: to_numpy(self.operator.matmul(self.on_device(W))),
            value=lambda W, fitted: self.regression_value(G, W, fitted),
            gradient=gradient,
        )

    def of_labels(self, state: RUFSState) -> Function:
        """Return J as a function of G; nothing depends on the number of features but FF'."""
        basis, images, fitted = state.basis, state.images, state.fitted

        def value(G: np.ndarray, image: np.ndarray) -> float:
            reconstruction = self.reconstruction_lengths(G, basis, images)
            regression = self.regression_lengths(G, fitted)
            return (
                float(np.sum(reconstruction))
                + self.alpha * float(np.sum(regression))
                + self.label_value(G)
            )

        def gradient(G: np.ndarray, image: np.ndarray) -> np.ndarray:
            # diag(1/r)(GF - X)F' + mu + 2 nu LG + alpha diag(1/r)(G - ZW) + zeta G(G'G - I)
            reconstruction = self.reconstruction_lengths(G, basis, images)[:, None]
            regression = self.regression_lengths(G, fitted)[:, None]
            return (
                (G @ (basis.T @ basis) - images) / reconstruction
                + self.label_penalty
                + 2.0 * self.nu * (self.laplacian @ G)
                + self.alpha * (G - fitted) / regression
                + self.orthogonality * (G @ (G.T @ G) - G)
            )

        return Function(image=lambda G: G, value=value, gradient=gradient)

    def of_basis(self, state: RUFSState) -> Function:
        """Return J as a function of F', with the product XF'."""
        G = state.F

        def gradient(basis: np.ndarray, images: np.ndarray) -> np.ndarray:
            # F'G'PG - X'PG + phi F' diag(1/||F_.j||), P = diag(1/r) of this very F
            weighted = G / self.reconstruction_lengths(G, basis, images)[:, None]
            shrinkage = self.basis_penalty * basis / self.basis_lengths(basis)[:, None]
            return basis @ (G.T @ weighted) - self.table.rmatmul(weighted) + shrinkage

        return Function(
            image=self.table.matmul,
            value=lambda basis, images: self.reconstruction_value(G, basis, images),
            gradient=gradient,
        )


def _flat(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Return the entries of all arrays as one vector."""
    return np.concatenate([np.ravel(array) for array in arrays])
