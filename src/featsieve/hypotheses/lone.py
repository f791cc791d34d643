"""One column of two values must not decide the clusters: two values are a gap, by themselves."""

from collections.abc import Iterable

import numpy as np

from featsieve import defaults
from featsieve.arrays import DataOperator
from featsieve.arrays.namespace import row_squares, to_numpy
from featsieve.hypotheses.tables import BLOCK_ELEMENTS
from featsieve.terms import normalised_indicator


def lone_columns(
    operator: DataOperator,
    hypotheses: Iterable[np.ndarray],
    rng: np.random.Generator,
    codes: np.ndarray | None = None,
) -> list[int]:
    """Return columns of two values that hypotheses follow, and no other column goes along with.

    A hypothesis explains no column better, yet the others differ no more between its two values
    than between random parts of these sizes. Where half of them have two values, none stands out by
    a gap. All of this inside of the batches, whose ``codes`` are known where the table was
    corrected.
    """
    (n, d), owner = operator.shape, operator.scale.variables
    batches = [np.arange(n)] if codes is None else [codes == k for k in np.unique(codes)]

    def two_valued(columns: np.ndarray) -> np.ndarray:
        Z = to_numpy(operator.columns(operator.place(columns)))
        ends = [(Z[own] == Z[own].min(axis=0)) | (Z[own] == Z[own].max(axis=0)) for own in batches]
        return columns[np.vstack(ends).all(axis=0)]

    def shuffled(v: np.ndarray) -> np.ndarray:
        drawn = v.copy()
        for own in batches:
            drawn[own] = rng.permutation(v[own])
        return drawn

    def explained_best(labels: np.ndarray) -> int:
        F = operator.place(normalised_indicator(labels, int(labels.max()) + 1))
        return int((to_numpy(row_squares(operator.rmatmul(F))) / norms).argmax())

    norms = np.maximum(to_numpy(operator.column_norms()), 1e-300)
    followed = [explained_best(labels) for labels in hypotheses]
    alone = np.arange(d) if owner is None else np.flatnonzero(np.bincount(owner)[owner] == 1)
    alone = alone[to_numpy(operator.varies)[alone]]
    candidates = two_valued(np.intersect1d(followed, alone)).tolist()
    blocks = np.array_split(alone, 1 + n * d // BLOCK_ELEMENTS) if candidates else []
    if 2 * sum(len(two_valued(block)) for block in blocks) >= operator.n_variables:
        return []
    lone, n_draws = [], round(1.0 / defaults.STRUCTURE_LEVEL) - 1
    for j in candidates:
        v = to_numpy(operator.columns(operator.place(np.array([j]))))
        draws = np.hstack([v, *(shuffled(v) for _ in range(n_draws))])
        squares = to_numpy(operator.rmatmul(operator.place(draws))) ** 2
        along = np.delete(squares, j, axis=0).sum(axis=0)
        lone += [j] if along[0] <= along[1:].max() else []
    return lone
