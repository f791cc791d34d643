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

    A hypothesis explains no variable better; it has few values (up to the root of the samples, as a
    category has), and fewer than half of the variables have as few (of those, none stands out by
    its gaps); and yet the other columns vary no more with it than with random orders of its values.
    Where there is one, others of the kind come with it, followed or not, if variables are not many.
    All of this inside of the batches, whose ``codes`` are known where the table was corrected.
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
        sizes = [np.unique(Z[own], axis=0, return_counts=True)[1] for own in batches]
        # values that occur once are measurements: those of a gene that is zero in most cells
        return n if min(one.min() for one in sizes) < 2 else max(map(len, sizes))

    def shuffled(V: np.ndarray) -> np.ndarray:
        drawn = V.copy()
        for own in batches:
            drawn[own] = rng.permutation(V[own])
        return drawn

    norms = np.bincount(owner, weights=to_numpy(operator.column_norms()))[variables]
    followed = []
    for labels in hypotheses:
        F = operator.place(normalised_indicator(labels, int(labels.max()) + 1))
        squares = to_numpy(row_squares(operator.rmatmul(F)))
        explained = np.bincount(owner, weights=squares)[variables] / norms
        followed.append(int(variables[explained.argmax()]))
    followed = sorted(set(followed))
    few = {one: count for one in followed if (count := n_values(one)) <= defaults.most_levels(n)}
    if not few:
        return []
    everything = len(variables) <= defaults.LONE_VARIABLES
    if not everything:
        variables = rng.choice(variables, defaults.LONE_VARIABLES, replace=False)
    counts = {int(one): n_values(one) for one in variables}
    n_draws = round(1.0 / defaults.STRUCTURE_LEVEL) - 1

    def is_lone(variable: int, count: int) -> bool:
        if 2 * sum(other <= count for other in counts.values()) >= len(counts):
            return False
        own, V = columns_of(variable), values_of(variable)
        draws = np.hstack([V, *(shuffled(V) for _ in range(n_draws))])
        squares = np.delete(to_numpy(operator.rmatmul(operator.place(draws))) ** 2, own, axis=0)
        # fourth powers of correlations: a few columns that go along show among thousands
        along = np.sum(squares.reshape(len(squares), 1 + n_draws, -1).sum(axis=2) ** 2, axis=0)
        return bool(along[0] <= along[1:].max())

    lone = [one for one, count in few.items() if is_lone(one, count)]
    if lone and everything:  # others would be followed next
        others = {one: count for one, count in counts.items() if one not in few}
        lone += [
            o
            for o, count in others.items()
            if count <= defaults.most_levels(n) and is_lone(o, count)
        ]
    return sorted(column for one in lone for column in columns_of(one).tolist())
