"""RUFS as published: projected L-BFGS on one block after the other."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from featsieve.arrays.namespace import Array, to_numpy
from featsieve.selectors.rufs_problem import RUFSProblem, RUFSState
from featsieve.solvers.alternate import Alternation, Block
from featsieve.solvers.projected_lbfgs import ProjectedLBFGS
from featsieve.solvers.protocol import Callback, Solution, Status, run
from featsieve.terms.row_shrinkage import SMOOTHING
from featsieve.terms.row_sparsity import row_norms

# The tolerances of the public program: of J in every block, of the gradient in two of them.
WEIGHTS = ProjectedLBFGS(nonnegative=False, gradient_tol=1e-3, value_tol=1e-4)
LABELS = ProjectedLBFGS(nonnegative=True, gradient_tol=1e-3, relative=True, value_tol=1e-3)
BASIS = ProjectedLBFGS(nonnegative=True, value_tol=1e-3)
# Share of the mean positive entry that is added to the first F.
OFFSET = 0.2


def solve_rufs_as_published(
    problem: RUFSProblem,
    state: RUFSState,
    *,
    max_iter: int = 10,
    tol: float = 1e-4,
    callback: Callback[RUFSState] | None = None,
) -> Solution[RUFSState]:
    """Run the alternation over weights, labels and basis.

    It ends when J changes by at most ``tol``, or when the projected gradient of all blocks is at
    most ``tol`` times the gradient at the start.
    """
    initial = np.linalg.norm(np.concatenate([np.ravel(g) for g in gradients(problem, state)]))

    def start(problem: RUFSProblem) -> RUFSState:
        positive = state.basis[state.basis > 0.0]
        lifted = state.basis + OFFSET * (float(positive.mean()) if positive.size else 1.0)
        return replace(state, basis=lifted, images=problem.table.matmul(lifted))

    def update_weights(problem: RUFSProblem, state: RUFSState) -> RUFSState:
        W, fitted = WEIGHTS.minimise(WeightsFunction(problem, state), to_numpy(state.W))
        return replace(state, W=_like(W, problem), fitted=fitted)

    def update_labels(problem: RUFSProblem, state: RUFSState) -> RUFSState:
        return replace(state, G=LABELS.minimise(LabelsFunction(problem, state), state.G)[0])

    def update_basis(problem: RUFSProblem, state: RUFSState) -> RUFSState:
        basis, images = BASIS.minimise(BasisFunction(problem, state), state.basis)
        return replace(state, basis=basis, images=images)

    def stop(state: RUFSState, history: Sequence[float]) -> Status | None:
        if len(history) < 2:
            return None
        of_weights, of_labels, of_basis = gradients(problem, state)
        parts = (
            of_weights,
            LABELS.feasible(of_labels, state.G),
            BASIS.feasible(of_basis, state.basis),
        )
        length = np.linalg.norm(np.concatenate([np.ravel(part) for part in parts]))
        done = abs(history[-2] - history[-1]) <= tol or length <= tol * initial
        return Status.CONVERGED if done else None

    solver = Alternation(
        start=start,
        blocks=(
            Block("weights", update_weights),
            Block("labels", update_labels),
            Block("basis", update_basis),
        ),
        value=RUFSProblem.objective,
        stop=stop,
    )
    return run(solver, problem, max_iter=max_iter, callback=callback)


@dataclass(frozen=True)
class WeightsFunction:
    """J as a function of W."""

    problem: RUFSProblem
    state: RUFSState

    def image(self, V: np.ndarray) -> np.ndarray:
        """Return ZW."""
        return to_numpy(self.problem.operator.matmul(_like(V, self.problem)))

    def value(self, V: np.ndarray, image: np.ndarray) -> float:
        """Return the part of J with W."""
        return self.problem.regression_value(self.state.G, V, image)

    def gradient(self, V: np.ndarray, image: np.ndarray) -> np.ndarray:
        """Return alpha Z' diag(1/r) (ZW - G) + beta diag(1/||w_j||) W."""
        problem, G = self.problem, self.state.G
        residual = (image - G) / problem.regression_lengths(G, image)[:, None]
        loss = to_numpy(problem.operator.rmatmul(_like(residual, problem)))
        return problem.alpha * loss + problem.beta * V / np.sqrt(row_norms(V) + SMOOTHING)[:, None]


@dataclass(frozen=True)
class LabelsFunction:
    """J as a function of G; nothing here depends on the number of features but FF'."""

    problem: RUFSProblem
    state: RUFSState

    def image(self, V: np.ndarray) -> np.ndarray:
        """Return G itself."""
        return V

    def value(self, V: np.ndarray, image: np.ndarray) -> float:
        """Return the part of J with G."""
        problem, state = self.problem, self.state
        reconstruction = problem.reconstruction_lengths(V, state.basis, state.images)
        regression = problem.regression_lengths(V, state.fitted)
        return (
            float(np.sum(reconstruction))
            + problem.alpha * float(np.sum(regression))
            + problem.label_value(V)
        )

    def gradient(self, V: np.ndarray, image: np.ndarray) -> np.ndarray:
        """Return diag(1/r)(GF - X)F' + mu + 2 nu LG + alpha diag(1/r)(G - ZW) + zeta G(G'G - I)."""
        problem, state = self.problem, self.state
        reconstruction = problem.reconstruction_lengths(V, state.basis, state.images)[:, None]
        regression = problem.regression_lengths(V, state.fitted)[:, None]
        return (
            (V @ (state.basis.T @ state.basis) - state.images) / reconstruction
            + problem.label_penalty
            + 2.0 * problem.nu * (problem.laplacian @ V)
            + problem.alpha * (V - state.fitted) / regression
            + problem.orthogonality * (V @ (V.T @ V) - V)
        )


@dataclass(frozen=True)
class BasisFunction:
    """J as a function of F'."""

    problem: RUFSProblem
    state: RUFSState

    def image(self, V: np.ndarray) -> np.ndarray:
        """Return XF'."""
        return self.problem.table.matmul(V)

    def value(self, V: np.ndarray, image: np.ndarray) -> float:
        """Return the part of J with F."""
        return self.problem.reconstruction_value(self.state.G, V, image)

    def gradient(self, V: np.ndarray, image: np.ndarray) -> np.ndarray:
        """Return F'G'PG - X'PG + phi F' diag(1/||F_.j||), P = diag(1/r) of this very F."""
        problem, G = self.problem, self.state.G
        weighted = G / problem.reconstruction_lengths(G, V, image)[:, None]
        shrinkage = problem.basis_penalty * V / problem.basis_lengths(V)[:, None]
        return V @ (G.T @ weighted) - problem.table.rmatmul(weighted) + shrinkage


def gradients(problem: RUFSProblem, state: RUFSState) -> tuple[np.ndarray, ...]:
    """Return the gradients of J in W, G and F'."""
    return (
        WeightsFunction(problem, state).gradient(to_numpy(state.W), state.fitted),
        LabelsFunction(problem, state).gradient(state.G, state.G),
        BasisFunction(problem, state).gradient(state.basis, state.images),
    )


def _like(V: np.ndarray, problem: RUFSProblem) -> Array:
    """Return an array of the operator's library."""
    return problem.operator.xp.asarray(V, device=problem.operator.device)
