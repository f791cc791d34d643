"""One variable of few values must not decide the clusters: its values are groups by themselves."""

from collections.abc import Iterable

import numpy as np

from featsieve import defaults
from featsieve.arrays import DataOperator
from featsieve.arrays.namespace import row_squares, to_numpy
from featsieve.terms import normalised_indicator


def lone_columns(
    operator: DataOperator,
    hypotheses: Iterable[np.ndarray],
    rng: np.random.Generator,
    codes: np.ndarray | None = None,
) -> list[int]:
    """Return the columns of variables that hypotheses follow, and no other goes along with.

    A hypothesis explains no variable better; fewer than half of the variables have as few values
    (of those, none stands out by its gaps); and yet the other columns vary no more with it than
    with random orders of its values. All of this inside of the batches, whose ``codes`` are known
    where the table was corrected.
    """
    (n, d), owner = operator.shape, operator.scale.variables
    owner = np.arange(d) if owner is None else np.unique(owner, return_inverse=True)[1]
    varying = np.flatnonzero(to_numpy(operator.varies))
    variables = np.unique(owner[varying])
    batches = [np.arange(n)] if codes is None else [codes == k for k in np.unique(codes)]

    def columns_of(variable: int) -> np.ndarray:
        return varying[owner[varying] == variable]

    def values_of(variable: int) -> np.ndarray:
        return to_numpy(operator.columns(operator.place(columns_of(variable))))

    def n_values(variable: int) -> int:
        Z = values_of(variable)
        # a row of indicators is known by the one that is largest
        level = Z[:, 0] if Z.shape[1] == 1 else np.where(Z > 0.0, np.arange(1, 1 + Z.shape[1]), 0)
        level = level if level.ndim == 1 else level.max(axis=1)
        return max(len(np.unique(level[own])) for own in batches)

    def shuffled(V: np.ndarray) -> np.ndarray:
        drawn = V.copy()
        for own in batches:
            drawn[own] = rng.permutation(V[own])
        return drawn

    norms = np.maximum(np.bincount(owner, weights=to_numpy(operator.column_norms())), 1e-300)
    followed = []
    for labels in hypotheses:
        F = operator.place(normalised_indicator(labels, int(labels.max()) + 1))
        squares = to_numpy(row_squares(operator.rmatmul(F)))
        followed.append(int((np.bincount(owner, weights=squares) / norms).argmax()))
    few = {one: count for one in sorted(set(followed)) if (count := n_values(one)) < n}
    if few and len(variables) > defaults.LONE_VARIABLES:
        variables = rng.choice(variables, defaults.LONE_VARIABLES, replace=False)
    counts = np.array([n_values(one) for one in variables] if few else [])
    n_draws, lone = round(1.0 / defaults.STRUCTURE_LEVEL) - 1, list[int]()
    for variable, count in few.items():
        if 2 * np.sum(counts <= count) >= len(counts):
            continue
        own, V = columns_of(variable), values_of(variable)
        draws = np.hstack([V, *(shuffled(V) for _ in range(n_draws))])
        squares = to_numpy(operator.rmatmul(operator.place(draws))) ** 2
        along = np.delete(squares, own, axis=0).sum(axis=0).reshape(1 + n_draws, -1).sum(axis=1)
        lone += own.tolist() if along[0] <= along[1:].max() else []
    return sorted(lone)
