"""The W-step: from a row-sparse regression to a support, and from a support to a ranking.

Every method that regresses labels on few features (JASFS, AUFS, UGFS) finds its support here.
"""

from dataclasses import dataclass, replace

import numpy as np

from featsieve import defaults
from featsieve.arrays.namespace import to_numpy
from featsieve.solvers.forward_selection import ForwardSelection, ForwardState, SelectionPath
from featsieve.solvers.homotopy_iht import ConvergedIHT
from featsieve.solvers.local_search import ExchangeSearch, LocalSearch
from featsieve.solvers.protocol import run
from featsieve.solvers.row_sparse import RowSparseRegression
from featsieve.terms.row_sparsity import row_support

W_STEPS = ("forward", "iht", "local")
MAX_MOVES = 10_000
# Rounding is not progress: a support must lower the objective by more than this, relatively.
PROGRESS = 1e-12
NONE = np.zeros(0, dtype=np.intp)


@dataclass(frozen=True)
class Found:
    """The support of a W-step, and the run of forward selection where that found it."""

    support: np.ndarray  # in order of entry
    path: ForwardState | None = None


@dataclass(frozen=True)
class Ranking:
    """Scores of all features, their order (best first), and the nested path through a support."""

    scores: np.ndarray
    order: np.ndarray
    path: SelectionPath


def find_support(
    regression: RowSparseRegression,
    w_step: str,
    *,
    known: np.ndarray = NONE,
    fresh: bool = True,
    path: ForwardState | None = None,
) -> Found:
    """Return the best support that a W-step finds; never a worse one than ``known``.

    ``fresh``: whether to look beyond what single moves from ``known`` reach. ``path`` may be a part
    of the forward selection for this regression, and may go on beyond ``n_features``.
    """
    found = []
    if fresh or len(known) == 0:
        found = [_iht(regression) if w_step == "iht" else _forward(regression, path)]
    if w_step in ("local", "exchange"):
        starts = [known, *(one.support for one in found)] if len(known) else [found[0].support]
        if len(starts) > 1 and value_of(regression, starts[1]) >= value_of(regression, known):
            starts = [known]
        found = [Found(_search(regression, w_step, start)) for start in starts]
    if len(known) == 0:
        return found[-1]
    # The acceptance guard: rounding is not progress, and no support at all is not an answer.
    best, least = Found(known), value_of(regression, known)
    least -= PROGRESS * abs(least)
    for one in found:
        value = value_of(regression, one.support)
        if len(one.support) and value < least:
            best, least = one, value
    return best


def _forward(regression: RowSparseRegression, path: ForwardState | None) -> Found:
    """Return the support of forward selection."""
    path = run(ForwardSelection(), regression, max_iter=regression.limit, state=path).state
    return Found(np.asarray(path.order[: regression.limit], dtype=np.intp), path)


def _iht(regression: RowSparseRegression) -> Found:
    """Return the support of hard thresholding."""
    found = run(ConvergedIHT(), regression, max_iter=defaults.MAX_IHT_STEPS).state
    support = np.flatnonzero(to_numpy(row_support(found.W)))
    if regression.n_features is not None:
        # It may have kept fewer rows than it may: rows of zeros.
        filled = path_through(regression, support, length=regression.limit)
        return Found(np.asarray(filled.order, dtype=np.intp))
    if regression.ridge > 0.0 or len(support) == 0:
        return Found(support)
    # Without a ridge, columns that depend on others of the support add nothing.
    order = np.asarray(path_through(regression, support, length=0).order, dtype=np.intp)
    return Found(order[np.isin(order, support)])


def _search(regression: RowSparseRegression, w_step: str, start: np.ndarray) -> np.ndarray:
    """Return where single moves from a support end."""
    if w_step == "exchange":
        exchange = ExchangeSearch(start=start, progress=defaults.LEAST_EXCHANGE)
        return run(exchange, regression, max_iter=MAX_MOVES).state.support
    return run(LocalSearch(start=start), regression, max_iter=MAX_MOVES).state.support


def value_of(regression: RowSparseRegression, support: np.ndarray) -> float:
    """Return the objective at the best W on a support."""
    return regression.value(regression.operator.place(support))


def refit(regression: RowSparseRegression, support: np.ndarray) -> np.ndarray:
    """Return the best W on a support, with all d rows."""
    W = np.zeros((regression.operator.shape[1], regression.n_targets))
    if len(support):
        W[support] = to_numpy(regression.refit(regression.operator.place(support)))
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
    regression: RowSparseRegression,
    support: np.ndarray,
    *,
    length: int,
    keep_order: bool = False,
) -> ForwardState:
    """Return nested supports of every size up to ``length``, one of which is the given one.

    The members of the support come first, by forward selection among them or in the order they
    have, then forward selection among all features. Where the support came from forward selection
    this is the path that found it.
    """
    longer = replace(regression, sparsity=0.0, n_features=max(length, len(support)))
    solver = ForwardSelection()
    state = solver.init(longer)
    left = support if keep_order else np.sort(support)
    while len(left):
        position = 0 if keep_order else solver.best(longer, state, among=left)
        if float(state.candidates[int(left[position])]) < 0.0:  # the rest depends on those before
            break
        state = solver.add(longer, state, int(left[position]))
        left = np.delete(left, position)
    return run(solver, longer, max_iter=longer.limit, state=state).state


def rank_features(
    regression: RowSparseRegression,
    support: np.ndarray,
    *,
    length: int,
    path: ForwardState | None = None,
    keep_order: bool = False,
    unit: float = 1.0,
) -> Ranking:
    """Rank all features along the nested path through a support, in units of the objective.

    Along the path the score is the largest lambda that still selects the feature; off it, what the
    feature would add now, at most what the last one was worth. Columns that do not vary come last.
    ``path`` may be the forward selection that found the support; ``unit`` is 2 where the objective
    has no factor 1/2.
    """
    if path is None:
        path = path_through(regression, support, length=length, keep_order=keep_order)
    else:
        longer = replace(regression, sparsity=0.0, n_features=max(length, len(support)))
        path = run(ForwardSelection(), longer, max_iter=longer.limit, state=path).state
    nested = ForwardSelection().path(path)
    nested = SelectionPath(nested.order, unit * nested.half_gains, unit * nested.loss)
    last = nested.sparsity[-1] if len(nested.order) else np.inf
    scores = np.clip(unit * to_numpy(path.candidates), 0.0, max(last, 0.0))
    scores[nested.order] = np.maximum(nested.sparsity, 0.0)
    off_path = np.setdiff1d(np.arange(len(scores)), nested.order)
    varies = to_numpy(regression.operator.varies)[off_path]
    best_first = np.lexsort((off_path, -scores[off_path], ~varies))
    return Ranking(scores, np.concatenate([nested.order, off_path[best_first]]), nested)
