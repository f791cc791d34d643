"""The released solver of UGFS: an augmented Lagrangian with three splittings.

    min ||E||^2 + alpha tr(F'LG)   s.t.  E = ZW - F,  B = W,  G = F,
                                         F'F = I,  ||B||_{2,0} = k,  G >= 0

with multipliers Lam, Sig, Om and one penalty mu that grows. The graph term is bilinear in F and its
non-negative copy G (called Z by the authors). Every block update is the exact minimiser of

    ||E||^2 + alpha tr(F'LG) + <Lam, E - ZW + F> + <Sig, W - B> + <Om, F - G>
        + (mu/2) (||E - ZW + F||^2 + ||W - B||^2 + ||F - G||^2)

in that block, but on this non-convex set nothing makes the objective fall: watch the residuals.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from featsieve import defaults
from featsieve.arrays import DataOperator
from featsieve.arrays.linalg import polar
from featsieve.arrays.namespace import Array, to_numpy
from featsieve.graphs.affinity import smoothness
from featsieve.solvers.alternate import Alternation, Block, relative_change
from featsieve.solvers.protocol import Callback, Solution, Status, run
from featsieve.terms.orthogonality import normalised_indicator
from featsieve.terms.regression import square

# Beside sums of squares that are larger, nothing is left of the ridge of 1: the inverse is noise.
LARGEST_SQUARE = 1e24


@dataclass(frozen=True)
class Settings:
    """How the method of multipliers starts, goes on and ends."""

    multiplier: float = 0.0
    random_start: bool = False
    penalty: float = 1.0
    growth: float = 1.05
    largest: float = 1e10
    norm: int = 2


SETTINGS = {
    "safe": Settings(),
    "paper": Settings(multiplier=1.0, random_start=True, penalty=1e-4, norm=1),
}


@dataclass(frozen=True)
class SplitProblem:
    """UGFS with an equality constraint for the number of features."""

    operator: DataOperator
    laplacian: sp.csr_array
    alpha: float
    n_features: int
    solve: Callable[[np.ndarray], np.ndarray]  # R -> (Z'Z + I)^(-1) R

    def objective(self, state: "SplitState") -> float:
        """Return ||ZW - F||^2 + alpha tr(F'LF), whatever the constraints say."""
        return square(state.fitted - state.F) + self.alpha * smoothness(self.laplacian, state.F)


@dataclass(frozen=True)
class SplitState:
    """Variables, copies, multipliers and penalty."""

    W: np.ndarray
    F: np.ndarray
    G: np.ndarray
    fitted: np.ndarray  # ZW
    E: np.ndarray
    B: np.ndarray
    Lam: np.ndarray
    Sig: np.ndarray
    Om: np.ndarray
    mu: float
    scores: np.ndarray  # row norms of W + Sig/mu, by which B was chosen

    def residuals(self) -> tuple[float, float, float]:
        """Return ||W - B||, ||F - G|| and ||E - ZW + F||, relative to W, F and F."""
        size_w = max(square(self.W), square(self.B), 1e-300) ** 0.5
        size_f = max(square(self.F), 1e-300) ** 0.5
        return (
            square(self.W - self.B) ** 0.5 / size_w,
            square(self.F - self.G) ** 0.5 / size_f,
            square(self.E - self.fitted + self.F) ** 0.5 / size_f,
        )


def ridge_solver(operator: DataOperator, *, form: str = "auto") -> Callable:
    """Return R -> (Z'Z + I_d)^(-1) R with the smaller of the two inverses, computed once.

    d > n: R - Z'(ZZ' + I_n)^(-1) Z R.
    """
    xp = operator.xp
    n, d = operator.shape
    wide = d > n if form == "auto" else form == "sample"
    small = operator.sample_gram() if wide else operator.gram()
    largest = float(xp.max(xp.linalg.diagonal(small)))
    if largest > LARGEST_SQUARE:
        raise ValueError(
            f"The sums of squares of X reach {largest:.0e}, and UGFS(solver='paper') adds 1 to "
            "them, of which nothing is left then: use scale='unit', solver='alternation', or "
            f"divide X by {largest**0.5:.0e}."
        )
    eye = xp.eye(small.shape[0], dtype=small.dtype, device=operator.device)
    inverse = xp.linalg.inv(small + eye)

    def solve(R: Array) -> np.ndarray:
        R = xp.asarray(R, device=operator.device)
        if wide:
            return to_numpy(R - operator.rmatmul(inverse @ operator.matmul(R)))
        return to_numpy(inverse @ R)

    return solve


def first_state(
    problem: SplitProblem,
    labels: np.ndarray,
    n_clusters: int,
    *,
    settings: Settings,
    random_state: np.random.RandomState,
) -> SplitState:
    """Return the start that the settings ask for."""
    n, d = problem.operator.shape
    W, F = np.zeros((d, n_clusters)), normalised_indicator(labels, n_clusters)
    if settings.random_start:
        W, F = random_state.uniform(size=(d, n_clusters)), np.eye(n, n_clusters)
    return SplitState(
        W=W,
        F=F,
        G=F,
        fitted=_image(problem, W),
        E=np.zeros_like(F),
        B=np.zeros_like(W),
        Lam=np.full_like(F, settings.multiplier),
        Sig=np.full_like(W, settings.multiplier),
        Om=np.full_like(F, settings.multiplier),
        mu=settings.penalty,
        scores=np.zeros(d),
    )


def update_errors(problem: SplitProblem, state: SplitState) -> SplitState:
    """E = mu/(2 + mu) (ZW - F - Lam/mu)."""
    E = (state.mu * (state.fitted - state.F) - state.Lam) / (2.0 + state.mu)
    return replace(state, E=E)


def update_rows(problem: SplitProblem, state: SplitState, *, norm: int = 2) -> SplitState:
    """B = the k longest rows of W + Sig/mu, the others zero; ties by the lower index.

    A column that does not vary is never one of them.
    """
    T = state.W + state.Sig / state.mu
    scores = np.where(to_numpy(problem.operator.varies), np.linalg.norm(T, norm, axis=1), -1.0)
    keep = np.argsort(-scores, kind="stable")[: problem.n_features]
    keep = keep[scores[keep] >= 0.0]
    B = np.zeros_like(T)
    B[keep] = T[keep]
    return replace(state, B=B, scores=scores)


def update_weights(problem: SplitProblem, state: SplitState) -> SplitState:
    """W = (Z'Z + I)^(-1) (Z'(E + F + Lam/mu) + B - Sig/mu)."""
    operator = problem.operator
    target = state.E + state.F + state.Lam / state.mu
    moments = operator.rmatmul(operator.xp.asarray(target, device=operator.device))
    W = problem.solve(to_numpy(moments) + state.B - state.Sig / state.mu)
    return replace(state, W=W, fitted=_image(problem, W))


def update_labels(problem: SplitProblem, state: SplitState) -> SplitState:
    """F = -polar(alpha LG + mu (E - ZW - G) + Lam + Om)."""
    K = problem.alpha * (problem.laplacian @ state.G) + state.Lam + state.Om
    K += state.mu * (state.E - state.fitted - state.G)
    return replace(state, F=-polar(K))


def update_copies(problem: SplitProblem, state: SplitState) -> SplitState:
    """G = max(F + (Om - alpha LF)/mu, 0)."""
    pull = state.Om - problem.alpha * (problem.laplacian @ state.F)
    return replace(state, G=np.maximum(state.F + pull / state.mu, 0.0))


def update_multipliers(
    problem: SplitProblem, state: SplitState, *, settings: Settings
) -> SplitState:
    """Add mu times the violations to the multipliers; raise mu."""
    mu = state.mu
    return replace(
        state,
        Lam=state.Lam + mu * (state.E - state.fitted + state.F),
        Sig=state.Sig + mu * (state.W - state.B),
        Om=state.Om + mu * (state.F - state.G),
        mu=min(settings.largest, settings.growth * mu),
    )


def solve_split(
    problem: SplitProblem,
    state: SplitState,
    *,
    update: str = "safe",
    max_iter: int = 500,
    tol: float = 1e-5,
    callback: Callback[SplitState] | None = None,
) -> Solution[SplitState]:
    """Run the method of multipliers.

    "safe" ends when the constraints hold and the relative change of the objective is below ``tol``;
    "paper" when its absolute change is.
    """
    settings = SETTINGS[update]

    def stop(state: SplitState, history: Sequence[float]) -> Status | None:
        if len(history) < 2:
            return None
        if update == "paper":
            return Status.CONVERGED if abs(history[-1] - history[-2]) < tol else None
        settled = relative_change(history) < tol and max(state.residuals()) < defaults.UGFS_FEASIBLE
        return Status.CONVERGED if settled else None

    def rows(problem: SplitProblem, state: SplitState) -> SplitState:
        return update_rows(problem, state, norm=settings.norm)

    def multipliers(problem: SplitProblem, state: SplitState) -> SplitState:
        return update_multipliers(problem, state, settings=settings)

    solver = Alternation(
        start=lambda problem: state,
        blocks=(
            Block("errors", update_errors),
            Block("rows", rows),
            Block("weights", update_weights),
            Block("labels", update_labels),
            Block("copies", update_copies),
            Block("multipliers", multipliers),
        ),
        value=SplitProblem.objective,
        stop=stop,
    )
    return run(solver, problem, max_iter=max_iter, callback=callback)


def _image(problem: SplitProblem, W: np.ndarray) -> np.ndarray:
    """Return ZW."""
    operator = problem.operator
    return to_numpy(operator.matmul(operator.xp.asarray(W, device=operator.device)))
