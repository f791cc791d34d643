"""How much the selected features repeat each other, as a graph."""

from typing import Any

import numpy as np

from featsieve.arrays import as_operator
from featsieve.arrays.namespace import to_numpy
from featsieve.report.selection.inputs import Selection
from featsieve.report.selection.numbers import plain

# Features and pairs that are drawn; correlations that join features, or make them nearly the same.
MOST_NODES = 80
MOST_EDGES = 500
LOWEST = 0.5
NEAR_DUPLICATE = 0.9
# The picture: whole numbers up to this, and the steps in which the nodes find their places.
RESOLUTION = 1000
STEPS = 300
IN_A_ROW = 10
# Correlated features are looked for among so many selected ones.
MOST_COMPARED = 2000


def redundancy_graph(selection: Selection) -> dict[str, Any] | None:
    """Return the correlations of the selected features, with places for a picture."""
    shown = selection.chosen[selection.varies[selection.chosen]][:MOST_COMPARED]
    if len(shown) < 2:
        return None
    r = correlations(selection.X[:, shown])
    i, j = np.triu_indices(len(shown), 1)
    strength = np.abs(r[i, j])
    names = [selection.feature_names[k] for k in shown]
    twins = np.flatnonzero(strength >= NEAR_DUPLICATE)
    twins = twins[np.argsort(-strength[twins], kind="stable")]
    drawn = min(len(shown), MOST_NODES)
    joined = np.flatnonzero((strength >= LOWEST) & (j < drawn))
    joined = joined[np.argsort(-strength[joined], kind="stable")]
    x, y = places(r[:drawn, :drawn])
    return {
        "name": names[:drawn],
        "rank": selection.facts["rank"][shown[:drawn]].tolist(),
        "cluster": [
            None if np.isnan(separation) else str(best)
            for best, separation in zip(
                selection.facts["best_cluster"][shown[:drawn]].tolist(),
                selection.facts["separation"][shown[:drawn]],
                strict=True,
            )
        ],
        "x": x.tolist(),
        "y": y.tolist(),
        "edges": [[int(i[e]), int(j[e]), plain(r[i[e], j[e]], 3)] for e in joined[:MOST_EDGES]],
        "left_out": max(0, len(joined) - MOST_EDGES),
        "of": len(selection.chosen),
        "mean": plain(strength.mean(), 3),
        "duplicates": [[names[i[e]], names[j[e]], plain(r[i[e], j[e]], 4)] for e in twins[:20]],
        "n_duplicates": len(twins),
        "n_in_duplicates": len(np.union1d(i[twins], j[twins])),
    }


def correlations(columns: Any) -> np.ndarray:
    """Return the correlations of the columns."""
    return np.clip(to_numpy(as_operator(columns, scale="unit").gram()), -1.0, 1.0)


def places(r: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return whole numbers x and y for the features: the correlated ones close to each other."""
    strength = np.where(np.abs(r) >= LOWEST, np.abs(r), 0.0)
    np.fill_diagonal(strength, 0.0)
    joined = strength.any(axis=0)
    alone = np.flatnonzero(~joined)
    place = np.zeros((len(r), 2))
    n_rows = -(-len(alone) // IN_A_ROW)
    # rows of lonely features need so much of the height, with a gap above them
    height = min(0.15 * n_rows + 0.05, 0.7) if n_rows else 0.0
    if joined.any():
        both = np.ix_(joined, joined)
        place[joined] = _unit_square(_settle(strength[both], 1.0 - np.abs(r[both])))
        place[joined, 1] *= 1.0 - height
    else:
        height = 1.0
    for row, part in enumerate(np.array_split(alone, n_rows) if n_rows else ()):
        place[part, 0] = (np.arange(len(part)) + 0.5) / len(part)
        place[part, 1] = 1.0 if n_rows == 1 else 1.0 - (height - 0.1) * (1.0 - row / (n_rows - 1))
    x, y = np.rint(RESOLUTION * place).astype(int).T
    return x, y


def _settle(strength: np.ndarray, distance: np.ndarray) -> np.ndarray:
    """Return places of joined features.

    They start at classical scaling of the distances, slightly moved at random so that copies part.
    Then all push each other away, joined ones pull (more, the stronger they correlate), and
    everything is drawn to the middle, in steps that become shorter.
    """
    place = _classical_scaling(distance)
    place += 0.05 * np.random.default_rng(0).standard_normal(place.shape)
    ideal = 1.0 / np.sqrt(len(place))
    for step in range(STEPS):
        apart = place[:, None, :] - place[None, :, :]
        length = np.maximum(np.sqrt((apart**2).sum(axis=2)), 1e-3)
        np.fill_diagonal(length, 1.0)
        push = ideal**2 / length - strength * length**2 / ideal
        force = (apart / length[:, :, None] * push[:, :, None]).sum(axis=1) - place
        size = np.maximum(np.sqrt((force**2).sum(axis=1, keepdims=True)), 1e-9)
        place += force / size * np.minimum(size, 0.2 * (1.0 - step / STEPS))
    return place


def _unit_square(place: np.ndarray) -> np.ndarray:
    """Return places stretched to the unit square."""
    low, high = place.min(axis=0), place.max(axis=0)
    spread = high - low
    flat = spread <= 1e-9
    return np.where(flat, 0.5, (place - low) / np.where(flat, 1.0, spread))


def _classical_scaling(distance: np.ndarray) -> np.ndarray:
    """Return two coordinates whose distances resemble those given."""
    k = len(distance)
    centre = np.eye(k) - 1.0 / k
    energy, vectors = np.linalg.eigh(-0.5 * centre @ distance**2 @ centre)
    place = vectors[:, ::-1][:, :2] * np.sqrt(np.maximum(energy[::-1][:2], 0.0))
    # The sign of an eigenvector is arbitrary: the largest entry is positive.
    signs = np.sign(place[np.abs(place).argmax(axis=0), [0, 1]])
    return place * np.where(signs == 0.0, 1.0, signs)
