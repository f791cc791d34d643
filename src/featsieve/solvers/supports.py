"""From a row-sparse regression to a support, and from a support to a ranking of all features."""

from dataclasses import replace

import numpy as np

from featsieve.arrays.namespace import Array, to_numpy
from featsieve.solvers.exchange_search import ExchangeSearch
from featsieve.solvers.forward_selection import (
    TIE,
    ForwardSelection,
    ForwardState,
    SelectionPath,
)
from featsieve.solvers.homotopy_iht import ConvergedIHT
from featsieve.solvers.local_search import LocalSearch
from featsieve.solvers.protocol import run
from featsieve.solvers.row_sparse import RowSparseRegression
from featsieve.terms.row_sparsity import row_support

W_STEPS = ("forward", "iht", "local")
MAX_IHT_STEPS = 2000
MAX_MOVES = 10_000
# Rounding is not progress: a support must lower the objective by more than this, relatively.
PROGRESS = 1e-12
# With a ridge below this (in units of the mean squared column norm) single precision cannot tell a
# dependent column from a new one: the table is converted.
SMALL_RIDGE = 1e-3
# What a single exchange must gain, as a share of the loss of the empty support.
WORTHWHILE = 1e-6


def find_support(
    regression: RowSparseRegression,
    w_step: str,
    *,
    known: np.ndarray | None = None,
    fresh: bool = True,
) -> np.ndarray:
    """Return the best support that a W-step finds; never a worse one than ``known``."""
    known = np.zeros(0, dtype=np.intp) if known is None else known
    supports = [known]
    if fresh or len(known) == 0:
        supports.append(_iht(regression) if w_step == "iht" else _forward(regression))
    if w_step in ("local", "exchange"):
        starts = [known] if len(known) else supports[1:]
        if len(known) and fresh and value_of(regression, supports[1]) < value_of(regression, known):
            starts.append(supports[1])
        supports = [known, *(_search(regression, w_step, start) for start in starts)]
    if len(known) == 0:
        return supports[-1]
    # The acceptance guard: rounding is not progress, and no support at all is not an answer.
    values = [value_of(regression, support) for support in supports]
    least = values[0] - PROGRESS * abs(values[0])
    better = [i for i in range(1, len(supports)) if len(supports[i]) and values[i] < least]
    return supports[min(better, key=values.__getitem__)] if better else known


def _forward(regression: RowSparseRegression) -> np.ndarray:
    """Return the support of forward selection, in order of entry."""
    path = run(ForwardSelection(), regression, max_iter=regression.limit).state
    return np.asarray(path.order, dtype=np.intp)


def _iht(regression: RowSparseRegression) -> np.ndarray:
    """Return the support of hard thresholding."""
    found = run(ConvergedIHT(), regression, max_iter=MAX_IHT_STEPS).state
    support = np.flatnonzero(to_numpy(row_support(found.W)))
    if regression.n_features is not None:
        # It may have kept fewer rows than it may: rows of zeros.
        return path_through(regression, support, length=regression.limit)[0].order
    if regression.ridge > 0.0 or len(support) == 0:
        return support
    # Without a ridge, columns that depend on others of the support add nothing.
    path = path_through(regression, support, length=0)[0]
    return path.order[np.isin(path.order, support)]


def _search(regression: RowSparseRegression, w_step: str, start: np.ndarray) -> np.ndarray:
    """Return where single moves from a support end."""
    if w_step == "exchange":
        exchange = ExchangeSearch(start=start, progress=WORTHWHILE)
        return run(exchange, regression, max_iter=MAX_MOVES).state.support
    return run(LocalSearch(start=start), regression, max_iter=MAX_MOVES).state.support


def value_of(regression: RowSparseRegression, support: np.ndarray) -> float:
    """Return the objective at the best W on a support."""
    return regression.value(_index(regression, support))


def refit(regression: RowSparseRegression, support: np.ndarray) -> np.ndarray:
    """Return the best W on a support, with all d rows."""
    W = np.zeros((regression.operator.shape[1], regression.target.shape[1]))
    if len(support):
        W[support] = to_numpy(regression.refit(_index(regression, support)))
    return W


def largest_sparsity(regression: RowSparseRegression, w_step: str) -> float:
    """Return the largest lambda with which a W-step selects something.

    The half gain of the best single feature. Iterative hard thresholding stays at W = 0 longer: for
    it, the lambda below which a row surely survives the shortest step it tries from there.
    """
    xp = regression.operator.xp
    if w_step == "iht":
        state = ConvergedIHT().init(regression)
        gradient = state.datafit.gradient(state.W, state.image)
        shortest = (0.75 - 1e-9) * state.step_size  # less rounding
        return 0.5 * shortest * float(xp.max(xp.sum(gradient * gradient, axis=1)))
    return max(float(xp.max(ForwardSelection().init(regression).candidates)), 0.0)


def path_through(
    regression: RowSparseRegression, support: np.ndarray, *, length: int
) -> tuple[SelectionPath, ForwardState]:
    """Return nested supports of every size up to ``length``, one of which is the given one.

    Forward selection among the members of the support first, then among all features. Where the
    support came from forward selection this is the path that found it.
    """
    longer = replace(regression, sparsity=0.0, n_features=max(length, len(support)))
    solver = ForwardSelection()
    state = solver.init(longer)
    tie = TIE["float32" if longer.operator.dtype == longer.operator.xp.float32 else "float64"]
    left = np.sort(support)
    while len(left):
        gains = to_numpy(state.candidates)[left]
        best = gains.max()
        if best < 0.0:  # the rest depends on those before
            break
        position = int(np.argmax(gains >= best - tie * best))
        state = solver.add(longer, state, int(left[position]))
        left = np.delete(left, position)
    state = run(solver, longer, max_iter=longer.limit, state=state).state
    return solver.path(state), state


def rank_features(
    regression: RowSparseRegression, support: np.ndarray, *, length: int
) -> tuple[np.ndarray, np.ndarray, SelectionPath]:
    """Return scores, order (best first) and the nested path through a support.

    In units of ||ZW - Y||^2 + mu ||W||^2, without the factor 1/2 of the regression. Along the path
    the score is the largest lambda that still selects the feature; off it, what the feature would
    add now, at most what the last one was worth. Columns that do not vary come last.
    """
    path, state = path_through(regression, support, length=length)
    path = SelectionPath(path.order, 2.0 * path.half_gains, 2.0 * path.loss)
    off_path = np.setdiff1d(np.arange(regression.operator.shape[1]), path.order)
    last = path.sparsity[-1] if len(path.order) else np.inf
    scores = np.clip(2.0 * to_numpy(state.candidates), 0.0, max(last, 0.0))
    scores[path.order] = np.maximum(path.sparsity, 0.0)
    varies = to_numpy(regression.operator.varies)[off_path]
    best_first = np.lexsort((off_path, -scores[off_path], ~varies))
    return scores, np.concatenate([path.order, off_path[best_first]]), path


def _index(regression: RowSparseRegression, support: np.ndarray) -> Array:
    """Return a support as an array of the operator's library."""
    return regression.operator.xp.asarray(support, device=regression.operator.device)
