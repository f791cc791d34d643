"""The W-step: from a row-sparse regression to a support, and from a support to a ranking.

Every method that regresses labels on few features (JASFS, AUFS, UGFS) finds its support here.
"""

from dataclasses import dataclass, replace

import numpy as np

from featsieve.arrays.namespace import to_numpy
from featsieve.solvers.exchanges import exchange
from featsieve.solvers.forward_forms import LARGEST_GRAM
from featsieve.solvers.forward_selection import ForwardSelection, ForwardState, SelectionPath
from featsieve.solvers.protocol import run
from featsieve.solvers.row_sparse import RowSparseRegression

# Rounding is not progress: a support must lower the objective by more than this, relatively.
PROGRESS = 1e-12
NONE = np.zeros(0, dtype=np.intp)


@dataclass(frozen=True)
class Ranking:
    """Scores of all features, their order (best first), and the nested path through a support."""

    scores: np.ndarray
    order: np.ndarray
    path: SelectionPath


def find_support(
    regression: RowSparseRegression,
    *,
    known: np.ndarray = NONE,
    path: ForwardState | None = None,
) -> tuple[np.ndarray, ForwardState | None]:
    """Return the support of forward selection and its path, or ``known`` unless that is worse.

    ``path`` may be a part of the forward selection for this regression, and may go on beyond
    ``n_features``.
    """
    path = run(ForwardSelection(), regression, max_iter=regression.limit, state=path).state
    found = [path.first(regression.limit)]
    if regression.offer is not None and regression.offer.budget is not None:
        # the best gain per price may leave a rest that buys little: the better of two rules
        dearer = run(ForwardSelection(per_price=False), regression, max_iter=regression.limit)
        other = dearer.state.first(regression.limit)
        if regression.value(other) < regression.value(found[0]) * (1.0 - PROGRESS):
            found = [other]
    best = _best(regression, found, known=known)
    return best, path if np.array_equal(best, path.first(len(best))) else None


def exchange_support(
    regression: RowSparseRegression, *, known: np.ndarray = NONE, fresh: bool = True
) -> np.ndarray:
    """Return where exchanges end: from ``known``, if ``fresh`` also from forward selection."""
    n, d = regression.operator.shape
    if d <= min(n, LARGEST_GRAM) and regression.ridge > 0.0:
        regression = regression.summed()
    starts = [known] if len(known) else []
    if fresh or not starts:
        anew = find_support(regression)[0]
        if not starts or regression.value(anew) < regression.value(known):
            starts.append(anew)
    return _best(regression, [exchange(regression, start) for start in starts], known=known)


def _best(
    regression: RowSparseRegression, found: list[np.ndarray], *, known: np.ndarray
) -> np.ndarray:
    """Return the best of some supports, or ``known`` where none is better."""
    if len(known) == 0:
        return found[-1]
    # The acceptance guard: rounding is not progress, and no support at all is not an answer.
    best, least = known, regression.value(known)
    least -= PROGRESS * abs(least)
    for support in found:
        value = regression.value(support)
        if len(support) and value < least:
            best, least = support, value
    return best


def largest_sparsity(regression: RowSparseRegression) -> float:
    """Return the largest lambda that selects something: the half gain of the best feature."""
    state = ForwardSelection().init(regression)
    return max(float(regression.operator.xp.max(state.candidates)), 0.0)


def path_through(
    regression: RowSparseRegression,
    support: np.ndarray,
    *,
    length: int,
    keep_order: bool = False,
    path: ForwardState | None = None,
) -> ForwardState:
    """Return nested supports of every size up to ``length``, one of which is the given one.

    The members of the support come first, by forward selection among them or in the order they
    have, then forward selection among all features. ``path`` may be the forward selection that
    found the support.
    """
    offer = None if regression.offer is None else replace(regression.offer, budget=None)
    longer = replace(regression, sparsity=0.0, n_features=max(length, len(support)), offer=offer)
    solver = ForwardSelection()
    if path is None:
        path = solver.init(longer)
        left = support if keep_order else np.sort(support)
        left = left[~np.isin(left, path.order)]
        while len(left):
            position = 0 if keep_order else solver.best(longer, path, among=left)
            if float(path.candidates[int(left[position])]) < 0.0:
                break  # the rest depends on those before
            path = solver.add(longer, path, int(left[position]))
            left = left[~np.isin(left, path.order[-1 if offer is None else 0 :])]
    return run(solver, longer, max_iter=longer.limit, state=path).state


def rank_features(
    regression: RowSparseRegression,
    support: np.ndarray,
    *,
    length: int,
    path: ForwardState | None = None,
    keep_order: bool = False,
    unit: float = 1.0,
) -> Ranking:
    """Rank all features along :func:`path_through` a support, in units of the objective.

    Along the path the score is the largest lambda that still selects the feature; off it, what the
    feature would add now, at most what the last one was worth. Columns that do not vary come last.
    ``unit`` is 2 where the objective has no factor 1/2.
    """
    path = path_through(regression, support, length=length, keep_order=keep_order, path=path)
    nested = path.nested(unit)
    last = nested.sparsity[-1] if len(nested.order) else np.inf
    scores = np.clip(unit * to_numpy(path.candidates), 0.0, max(last, 0.0))
    scores[nested.order] = np.maximum(nested.sparsity, 0.0)
    off_path = np.setdiff1d(np.arange(len(scores)), nested.order)
    varies = to_numpy(regression.operator.varies)[off_path]  # columns not for sale: candidates -1
    best_first = np.lexsort((off_path, -scores[off_path], ~varies))
    return Ranking(scores, np.concatenate([nested.order, off_path[best_first]]), nested)
