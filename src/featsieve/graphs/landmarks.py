"""Every sample beside its nearest landmarks, rows of the table: linear in the number of samples."""

import numpy as np

from featsieve.arrays import DataOperator
from featsieve.arrays.namespace import (
    Array,
    counts,
    namespace_of,
    smallest_of_rows,
    sums_by_group,
)
from featsieve.graphs.coordinates import unit_rows

# Elements of a block of distances to the landmarks, on the host and on a device.
BLOCK_ELEMENTS = {True: 2**21, False: 2**28}
# Landmarks are compared in groups of this many: only the nearest groups are searched.
GROUP = 16


def nearest_landmarks(
    part: DataOperator,
    support: np.ndarray | None,
    directions: np.ndarray,
    landmarks: np.ndarray,
    n_neighbors: int,
    by_angle: bool,
) -> tuple[Array, Array]:
    """Return the nearest landmarks of every row, and weights exp(-D/D_last) that sum to one.

    Rows are compared in the coordinates Z_S ``directions`` (no support: of all columns), by
    distance or by angle.
    """
    xp = part.xp
    points = part.place(landmarks)
    # |e - p|^2 / 2, less what is the same for all landmarks, is (e, 1)'(-p, |p|^2 / 2): one product
    half = 0.5 * xp.sum(points * points, axis=1)
    compared = xp.concat([-points.T, half[None, :]], axis=0)
    chosen = None if support is None else part.place(support)
    directions = part.place(directions)
    step = max(1, BLOCK_ELEMENTS[part.on_host] // points.shape[0])
    count = min(n_neighbors, points.shape[0])
    found = []
    for start in range(0, part.shape[0], step):
        rows = part.part(start, min(start + step, part.shape[0]))
        E = rows.matmul(directions) if chosen is None else rows.columns_matmul(chosen, directions)
        E = unit_rows(E) if by_angle else E
        E = xp.astype(E, points.dtype)
        E_one = xp.concat([E, xp.ones_like(E[:, :1])], axis=1)
        nearest, near = smallest(E_one @ compared, count)
        squares = xp.clip(2.0 * near + xp.sum(E * E, axis=1)[:, None], min=0.0)
        last = squares[:, -1:]
        weight = xp.exp(-squares / xp.where(last > 0.0, last, xp.ones_like(last)))
        found.append((nearest, weight / xp.sum(weight, axis=1)[:, None]))
    nearest, weights = (xp.concat(list(blocks), axis=0) for blocks in zip(*found, strict=True))
    return xp.astype(nearest, xp.int32), weights


def cell_sums(
    part: DataOperator, links: tuple[Array, Array], n_landmarks: int
) -> tuple[Array, np.ndarray]:
    """Return the sums of the rows of Z nearest to each landmark, and their numbers."""
    xp = part.xp
    nearest = links[0][:, 0]
    total = xp.zeros((n_landmarks, part.shape[1]), dtype=xp.float64, device=part.device)
    step = max(1, BLOCK_ELEMENTS[part.on_host] // part.shape[1])
    for start in range(0, part.shape[0], step):
        stop = min(start + step, part.shape[0])
        block = xp.astype(part.rows(start, stop), xp.float64)
        total = total + sums_by_group(block, nearest[start:stop], n_landmarks)
    return total, counts(nearest, n_landmarks)


def vote(part: DataOperator, links: tuple[Array, Array], votes: np.ndarray) -> Array:
    """Return the cluster that most of a row's landmarks belong to (``votes``: m x c)."""
    xp = part.xp
    nearest, weights = links
    V = xp.astype(part.place(votes), weights.dtype)
    total = weights[:, :1] * xp.take(V, nearest[:, 0], axis=0)
    for column in range(1, nearest.shape[1]):
        total += weights[:, column : column + 1] * xp.take(V, nearest[:, column], axis=0)
    return xp.argmax(total, axis=1)


def smallest(D: Array, count: int) -> tuple[Array, Array]:
    """Return (indices, values) of the smallest entries of every row, in rising order.

    The smallest entries lie in the groups of columns with the smallest minima: the groups are
    compared first, and only the entries of the nearest ones after them.
    """
    n, m = D.shape
    xp = namespace_of(D)
    if count == 1:
        nearest = xp.argmin(D, axis=1)[:, None]
        return nearest, xp.take_along_axis(D, nearest, axis=1)
    n_groups = m // GROUP
    if n_groups <= 2 * count:
        return smallest_of_rows(D, count)
    grouped = D[:, : n_groups * GROUP]
    # Column j belongs to group j mod n_groups, so that the minimum runs over whole rows.
    minima = xp.min(xp.reshape(grouped, (n, GROUP, n_groups)), axis=1)
    groups, _ = smallest_of_rows(minima, count)
    offsets = xp.arange(GROUP, dtype=groups.dtype, device=groups.device) * n_groups
    columns = xp.reshape(groups[:, :, None] + offsets[None, None, :], (n, count * GROUP))
    rest = xp.arange(n_groups * GROUP, m, dtype=groups.dtype, device=groups.device)
    if rest.shape[0]:
        columns = xp.concat([columns, xp.broadcast_to(rest[None, :], (n, rest.shape[0]))], axis=1)
    positions, values = smallest_of_rows(xp.take_along_axis(D, columns, axis=1), count)
    return xp.take_along_axis(columns, positions, axis=1), values
