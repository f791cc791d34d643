"""RUFS by majorisation: every block minimises an upper bound of J, so that J never rises."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from featsieve.arrays.namespace import to_numpy
from featsieve.graphs.affinity import split_by_sign
from featsieve.selectors.rufs_problem import RUFSProblem, RUFSState
from featsieve.solvers.alternate import Alternation, Block, relative_change
from featsieve.solvers.fixed_length_labels import fixed_length_step
from featsieve.solvers.nonnegative_labels import majorised_step
from featsieve.solvers.protocol import Callback, Solution, Status, run
from featsieve.solvers.reweighted_ridge import ReweightedRidge
from featsieve.terms.row_shrinkage import inverse_weights

# Reweighted steps of the weights, and of the labels, in every iteration.
PASSES = 3


def solve_rufs(
    problem: RUFSProblem,
    state: RUFSState,
    *,
    max_iter: int = 200,
    tol: float = 1e-5,
    callback: Callback[RUFSState] | None = None,
) -> Solution[RUFSState]:
    """Run the alternation over weights, labels and basis.

    It ends when neither J nor its part with W changes by ``tol``, relatively: the rest of J, far
    larger for wide tables, would hide that W still moves.
    """
    regression: list[float] = []
    ridge = ReweightedRidge(problem.operator, problem.form)
    positive, negative = split_by_sign(problem.laplacian)

    def update_weights(problem: RUFSProblem, state: RUFSState) -> RUFSState:
        for _ in range(PASSES):
            trial = weights_step(problem, ridge, state)
            before = problem.regression_value(state.G, state.W, state.fitted)
            if not problem.regression_value(trial.G, trial.W, trial.fitted) < before:
                break  # as good as rounding allows
            state = trial
        return state

    def update_labels(problem: RUFSProblem, state: RUFSState) -> RUFSState:
        for _ in range(PASSES):
            state = labels_step(problem, state, positive=positive, negative=negative)
        return state

    def stop(state: RUFSState, history: Sequence[float]) -> Status | None:
        regression.append(problem.regression_value(state.G, state.W, state.fitted))
        change = max(relative_change(history), relative_change(regression))
        return Status.CONVERGED if change < tol else None

    solver = Alternation(
        start=lambda problem: state,
        blocks=(
            Block("weights", update_weights),
            Block("labels", update_labels),
            Block("basis", basis_step),
        ),
        value=RUFSProblem.objective,
        stop=stop,
    )
    return run(solver, problem, max_iter=max_iter, callback=callback)


def weights_step(problem: RUFSProblem, ridge: ReweightedRidge, state: RUFSState) -> RUFSState:
    """Minimise alpha sum_i q_i ||z_i W - g_i||^2 + beta sum_j ||w_j||^2/e_j, q_i = 1/(2 r_i)."""
    operator, xp = problem.operator, problem.operator.xp
    q = 0.5 / problem.regression_lengths(state.G, state.fitted)
    W, fitted = ridge.solve(
        xp.asarray(state.G, device=operator.device),
        problem.beta / problem.alpha,
        inverse=inverse_weights(state.W),
        sample_weights=xp.asarray(q, device=operator.device),
    )
    return replace(state, W=W, fitted=to_numpy(fitted))


def labels_step(
    problem: RUFSProblem, state: RUFSState, *, positive: sp.csr_array, negative: sp.csr_array
) -> RUFSState:
    """Take a majorised step, and one that trades length inside the columns of G.

    A = p FF' + nu L + alpha q I and B = p XF' + alpha q ZW - mu/2; p and q are half the inverse
    residuals, ``positive`` and ``negative`` the parts of L. The second step, which the penalty
    cannot slow down, does not see what it does to overlaps of columns: it must lower J.
    """

    def pulls(state: RUFSState) -> tuple[np.ndarray, np.ndarray]:
        G, images, fitted = state.G, state.images, state.fitted
        p = 0.5 / problem.reconstruction_lengths(G, state.basis, images)[:, None]
        q = 0.5 * problem.alpha / problem.regression_lengths(G, fitted)[:, None]
        attraction = (
            p * np.maximum(images, 0.0) + problem.nu * (negative @ G) + q * np.maximum(fitted, 0.0)
        )
        repulsion = (
            p * (G @ (state.basis.T @ state.basis) + np.maximum(-images, 0.0))
            + problem.nu * (positive @ G)
            + q * (G + np.maximum(-fitted, 0.0))
            + 0.5 * problem.label_penalty
        )
        return attraction, repulsion

    # zeta/4 ||G'G - I||^2 is g/2 ||G'G - I||^2 with g = zeta/2
    half = 0.5 * problem.orthogonality
    state = replace(state, G=majorised_step(state.G, *pulls(state), half))
    trial = replace(state, G=fixed_length_step(state.G, *pulls(state)))
    return trial if problem.objective(trial) < problem.objective(state) else state


def basis_step(problem: RUFSProblem, state: RUFSState) -> RUFSState:
    """Minimise sum_i p_i ||x_i - g_i F||^2 + phi sum_j ||F_.j||^2/(2 f_j), one row of F at a time.

    Row l, the others standing still, is max(0, (N - HF + diag(H)F)_l)/(H_ll + phi/(2f)) with
    N = G'PX and H = G'PG; all rows at once where the columns of G do not overlap.
    """
    G, basis = state.G, state.basis.copy()
    weighted = G * (0.5 / problem.reconstruction_lengths(G, basis, state.images))[:, None]
    N, H = problem.table.rmatmul(weighted), weighted.T @ G
    shrinkage = 0.5 * problem.basis_penalty / problem.basis_lengths(basis)
    for row in range(G.shape[1]):
        above = N[:, row] - basis @ H[:, row] + H[row, row] * basis[:, row]
        below = H[row, row] + shrinkage
        basis[:, row] = np.maximum(above, 0.0) / np.where(below > 0.0, below, 1.0)
    return replace(state, basis=basis, images=problem.table.matmul(basis))
