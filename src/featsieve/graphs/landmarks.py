"""A neighbour graph through landmarks: linear in the number of samples.

Every sample is joined to its s nearest of m landmarks, with weights b_il that sum to one; two
samples are as similar as the landmarks that they share:

    S = B diag(mass)^(-1) B',   mass = B'1

S is symmetric, its rows sum to one, and it is never formed: B has s entries per sample. The
landmarks are the centres of a short k-means run in the hat coordinates of a sample of the rows, so
that they are dense where the samples are.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from featsieve import defaults
from featsieve.arrays import DataOperator
from featsieve.arrays.namespace import (
    Array,
    counts,
    namespace_of,
    on_host,
    smallest_of_rows,
    sums_by_group,
    to_numpy,
)
from featsieve.arrays.row_parts import RowParts, Rows
from featsieve.graphs.coordinates import unit_rows
from featsieve.graphs.spectral_labels import spectral_labels

# Landmarks that differ by less than this, relative to the largest coordinate, are one.
COINCIDENCE = 1e-5
# Elements of a block of distances to the landmarks, on the host and on a device.
BLOCK_ELEMENTS = {True: 2**21, False: 2**28}
# Landmarks are compared in groups of this many: only the nearest groups are searched.
GROUP = 16


@dataclass(frozen=True)
class Landmarks:
    """Points among the samples, in hat coordinates."""

    directions: np.ndarray
    points: np.ndarray
    sample: np.ndarray
    sample_coordinates: np.ndarray

    @property
    def by_angle(self) -> bool:
        """Whether samples are compared by angle: in few dimensions it forgets too much."""
        return self.points.shape[1] >= defaults.FEW_DIRECTIONS


def choose_landmarks(
    operator: DataOperator,
    directions: np.ndarray,
    *,
    n_landmarks: int = defaults.N_LANDMARKS,
    random_state: np.random.RandomState,
) -> Landmarks:
    """Return landmarks of the samples whose hat coordinates are Z ``directions``."""
    parts, n = operator.parts(), operator.shape[0]
    n_landmarks = min(n_landmarks, n)
    size = min(n, defaults.ROWS_PER_LANDMARK * n_landmarks)
    sample = np.sort(random_state.choice(n, size, replace=False))
    coordinates = parts.gather(parts.map(coordinates_at, shared=(sample, directions)))
    by_angle = directions.shape[1] >= defaults.FEW_DIRECTIONS
    points = operator.place(coordinates.astype(np.float32))
    points = unit_rows(points) if by_angle else points
    first = random_state.choice(size, n_landmarks, replace=False)
    centres = operator.xp.take(points, operator.place(first), axis=0)
    for _ in range(defaults.LANDMARK_KMEANS_STEPS):
        centres = _kmeans_step(points, centres, by_angle=by_angle)
    return Landmarks(directions, _distinct(to_numpy(centres)), sample, coordinates)


def _distinct(points: np.ndarray) -> np.ndarray:
    """Return the points without those that coincide with another: where samples do, centres do."""
    grid = COINCIDENCE * (float(np.abs(points).max()) or 1.0)
    _, first = np.unique(np.round(points / grid), axis=0, return_index=True)
    return points[np.sort(first)]


def coordinates_at(part: DataOperator, rows: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Return the hat coordinates of those of the listed rows that are in the part."""
    own = rows[(rows >= part.first_row) & (rows < part.first_row + part.shape[0])]
    local = part.place(own - part.first_row)
    return to_numpy(part.at_rows(local).matmul(part.place(directions)))


def _kmeans_step(points: Array, centres: Array, *, by_angle: bool) -> Array:
    """Return the means of the points nearest to each centre; a centre without any stays."""
    xp = namespace_of(points)
    n, m = points.shape[0], centres.shape[0]
    step = max(1, BLOCK_ELEMENTS[on_host(points)] // m)
    half = 0.5 * xp.sum(centres * centres, axis=1)[None, :]
    found = [
        xp.argmax(points[start : min(start + step, n), :] @ centres.T - half, axis=1)
        for start in range(0, n, step)
    ]
    nearest = xp.concat(found, axis=0)
    count = sums_by_group(xp.ones_like(points[:, :1]), nearest, m)
    means = sums_by_group(points, nearest, m) / xp.clip(count, min=1.0)
    means = xp.where(count > 0.0, means, centres)
    return unit_rows(means) if by_angle else means


class LandmarkGraph:
    """S = B diag(mass)^(-1) B', seen through sums over clusters of samples."""

    def __init__(self, parts: RowParts, landmarks: Landmarks, *, n_neighbors: int = 5) -> None:
        self.parts, self.landmarks = parts, landmarks
        self._known: tuple[Rows, np.ndarray] | None = None
        s = min(n_neighbors, len(landmarks.points))
        self.links = parts.map(nearest_landmarks, shared=(landmarks, s))
        shared = (self.n_landmarks,)
        self.mass = parts.total(landmark_mass, self.links, shared=shared, table=False)

    @property
    def n_landmarks(self) -> int:
        """The number m of landmarks."""
        return len(self.landmarks.points)

    def labels(self, n_clusters: int, *, random_state: np.random.RandomState) -> Rows:
        """Return spectral clusters: the landmarks', and every sample's by the vote of its own."""
        n = self.parts.bounds[-1][1]
        every = max(1, n // (defaults.LINKS_PER_LANDMARK * self.n_landmarks))
        sizes = (self.n_landmarks, every)
        counted = self.parts.total(shared_links, self.links, shared=sizes, table=False)
        linked = np.flatnonzero(counted.diagonal() > 0.0)  # the others have no vote either
        votes = np.zeros((self.n_landmarks, n_clusters))
        if len(linked) <= n_clusters:
            votes[linked, np.arange(len(linked))] = 1.0
        else:
            graph = sp.csr_array(counted)[linked][:, linked]
            graph.setdiag(0.0)
            graph.eliminate_zeros()
            bridge = unit_rows(self.landmarks.points[linked].astype(np.float64))
            found = spectral_labels(graph, n_clusters, random_state=random_state, bridge=bridge)
            votes[linked, found] = 1.0
        return self.parts.map(vote, self.links, shared=(votes,), table=False)

    def cluster_mass(self, labels: Rows, n_clusters: int) -> np.ndarray:
        """Return T = B'M (m x c), M the 0/1 matrix of a partition; computed once for the same."""
        if self._known is not None and self._known[0] is labels:
            return self._known[1]
        shared = (self.n_landmarks, n_clusters)
        sums = self.parts.total(
            landmark_mass_by_cluster, self.links, labels, shared=shared, table=False
        )
        self._known = (labels, sums)
        return sums


# Functions of a part ------------------------------------------------------------------------------


def nearest_landmarks(
    part: DataOperator, landmarks: Landmarks, n_neighbors: int
) -> tuple[Array, Array]:
    """Return the nearest landmarks of every row, and weights exp(-D/D_last) that sum to one."""
    xp = part.xp
    points = part.place(landmarks.points)
    half = 0.5 * xp.sum(points * points, axis=1)
    directions = part.place(landmarks.directions)
    step = max(1, BLOCK_ELEMENTS[part.on_host] // points.shape[0])
    found = []
    for start in range(0, part.shape[0], step):
        E = part.part(start, min(start + step, part.shape[0])).matmul(directions)
        E = unit_rows(E) if landmarks.by_angle else E
        E = xp.astype(E, points.dtype)
        # |e - p|^2 / 2 without the part that is the same for all landmarks
        nearest, near = smallest(half[None, :] - E @ points.T, n_neighbors)
        squares = xp.clip(2.0 * near + xp.sum(E * E, axis=1)[:, None], min=0.0)
        last = squares[:, -1:]
        weight = xp.exp(-squares / xp.where(last > 0.0, last, xp.ones_like(last)))
        found.append((nearest, weight / xp.sum(weight, axis=1)[:, None]))
    nearest, weights = (xp.concat(list(blocks), axis=0) for blocks in zip(*found, strict=True))
    return xp.astype(nearest, xp.int32), weights


def landmark_mass(part: DataOperator, links: tuple[Array, Array], m: int) -> np.ndarray:
    """Return B'1."""
    nearest, weights = links
    reshape = part.xp.reshape
    return counts(reshape(nearest, (-1,)), m, weights=reshape(weights, (-1,)))


def landmark_mass_by_cluster(
    part: DataOperator, links: tuple[Array, Array], labels: Array, m: int, c: int
) -> np.ndarray:
    """Return B'M of a partition."""
    return mass_by_cluster(links, labels, shape=(m, c))


def mass_by_cluster(
    links: tuple[Array, Array], labels: Array, *, shape: tuple[int, int]
) -> np.ndarray:
    """Return the sums of weights by landmark and cluster."""
    nearest, weights = links
    xp = namespace_of(weights)
    cells = xp.astype(nearest, xp.int64) * shape[1] + xp.astype(labels, xp.int64)[:, None]
    weights = xp.reshape(weights, (-1,))
    return counts(xp.reshape(cells, (-1,)), shape[0] * shape[1], weights=weights).reshape(shape)


def shared_links(
    part: DataOperator, links: tuple[Array, Array], m: int, every: int
) -> sp.csr_array:
    """Return B'B of every ``every``-th row of the table."""
    first = -part.first_row % every
    nearest, weights = (to_numpy(block[first::every, :]).astype(np.float64) for block in links)
    n, s = nearest.shape
    indptr = np.arange(0, n * s + 1, s)
    B = sp.csr_array((weights.ravel(), nearest.ravel().astype(np.int32), indptr), shape=(n, m))
    return sp.csr_array(B.T @ B)


def vote(part: DataOperator, links: tuple[Array, Array], votes: np.ndarray) -> Array:
    """Return the cluster that most of a row's landmarks belong to."""
    return part.xp.argmax(linked_sums(part, links, votes), axis=1)


def linked_sums(part: DataOperator, links: tuple[Array, Array], values: np.ndarray) -> Array:
    """Return B V: the weighted sums of the values (m x c) of every row's landmarks."""
    xp = part.xp
    nearest, weights = links
    V = xp.astype(part.place(values), weights.dtype)
    total = weights[:, :1] * xp.take(V, nearest[:, 0], axis=0)
    for column in range(1, nearest.shape[1]):
        total += weights[:, column : column + 1] * xp.take(V, nearest[:, column], axis=0)
    return xp.astype(total, xp.float64)


# Shared pieces ------------------------------------------------------------------------------------


def smallest(D: Array, count: int) -> tuple[Array, Array]:
    """Return (indices, values) of the smallest entries of every row, in rising order.

    The smallest entries lie in the groups of columns with the smallest minima: the groups are
    compared first, and only the entries of the nearest ones after them.
    """
    n, m = D.shape
    xp = namespace_of(D)
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
