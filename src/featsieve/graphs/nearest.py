"""The k smallest entries of every row of a block, without sorting the rows.

Columns are dealt out to groups. The k-th smallest of the groups' minima bounds the k-th smallest
entry from above, so only the few groups below it hold candidates: one pass over the block takes the
minima, and sorting is left to a handful of entries per row.
"""

import numpy as np

# Columns in a group, and the fewest groups for each neighbour that is sought.
GROUP = 32
GROUPS_PER_NEIGHBOUR = 16


def upper_bounds(block: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the minima of the groups of columns, and a bound of every row's k-th smallest entry.

    Column j belongs to group j mod n_groups: near columns, which are often alike, are in different
    groups.
    """
    n_rows, n = block.shape
    size = max(1, min(GROUP, n // (GROUPS_PER_NEIGHBOUR * k)))
    if size == 1:
        minima = block
    else:
        n_groups = n // size
        whole = size * n_groups
        minima = block[:, :whole].reshape(n_rows, size, n_groups).min(axis=1)
        rest = minima[:, : n - whole]  # fewer columns than groups
        np.minimum(rest, block[:, whole:], out=rest)
    return minima, np.partition(minima, k - 1, axis=1)[:, k - 1]


def entries_below(
    block: np.ndarray, minima: np.ndarray, limit: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return (rows, columns) of the entries up to each row's limit, given the groups' minima."""
    n = block.shape[1]
    n_groups = minima.shape[1]
    rows, groups = np.nonzero(minima <= limit[:, None])
    if n_groups == n:
        return rows, groups
    columns = groups[:, None] + np.arange(0, n, n_groups)
    inside = columns < n
    columns[~inside] = 0
    inside &= block[rows[:, None], columns] <= limit[rows, None]
    pair, member = np.nonzero(inside)
    return rows[pair], columns[pair, member]


def sorted_by_distance(
    rows: np.ndarray,
    columns: np.ndarray,
    squares: np.ndarray,
    *,
    equal: np.ndarray,
    k: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the first k columns of every row and their squared distances, nearest first.

    Of the sorted distances of a row, those that follow each other at no more than ``equal`` of the
    row are one distance, and the lower column comes first. Every row 0..b-1 has at least k entries.
    """
    order = np.lexsort((squares, rows))
    rows, columns, squares = rows[order], columns[order], squares[order]
    apart = np.diff(squares) > equal[rows[1:]]
    group = np.concatenate([[0], np.cumsum(apart | (np.diff(rows) > 0))])
    order = np.lexsort((columns, group))
    first = np.searchsorted(rows, np.arange(len(equal)))
    chosen = order[first[:, None] + np.arange(k)]
    return columns[chosen], squares[chosen]
