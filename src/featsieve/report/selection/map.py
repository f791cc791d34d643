"""The samples in two dimensions: principal coordinates of the selected and of all columns."""

from typing import Any

import numpy as np

from featsieve.arrays import DataOperator, as_operator
from featsieve.arrays.namespace import to_numpy
from featsieve.graphs import principal_coordinates
from featsieve.report.selection.inputs import Selection
from featsieve.report.selection.numbers import plain

# So many samples are drawn, a random choice of more; coordinates are whole numbers up to this.
MOST_SAMPLES = 2000
RESOLUTION = 1000
SEED = 0
# Up to this size of min(n, d) all directions are computed; beyond it only the leading ones.
LARGEST_EXACT = 300
EXTRA, ROUNDS = 8, 10


def sample_map(selection: Selection) -> dict[str, Any] | None:
    """Return two views of the samples, on selected and on all columns (standardised)."""
    n = selection.X.shape[0]
    rows = np.arange(n)
    X = selection.X
    if n > MOST_SAMPLES:
        rows = np.sort(np.random.default_rng(SEED).permutation(n)[:MOST_SAMPLES])
        X = X[rows]
    part = as_operator(X[:, selection.chosen], scale="std")
    if not to_numpy(part.varies).any():
        return None
    few, few_shares = plane(part)
    whole, whole_shares = plane(as_operator(X, scale="std"))
    # An axis has no sign: the views are turned so that they look alike.
    signs = np.where((few * whole).sum(axis=0) < 0.0, -1.0, 1.0)
    return {
        "rows": rows.tolist(),
        "of": n,
        "names": selection.sample_names and [selection.sample_names[i] for i in rows],
        "selected": _view(few, few_shares, len(selection.chosen)),
        "all": _view(whole * signs, whole_shares, X.shape[1]),
    }


def plane(operator: DataOperator) -> tuple[np.ndarray, np.ndarray]:
    """Return the first two principal coordinates of the rows, and their shares of the variance."""
    n, d = operator.shape
    if min(n, d) <= LARGEST_EXACT:
        found, energy = (to_numpy(part) for part in principal_coordinates(operator))
    else:
        found, energy = _leading(operator)
    coordinates, shares = np.zeros((n, 2)), np.zeros(2)
    k = min(2, found.shape[1])
    coordinates[:, :k] = found[:, :k]
    shares[:k] = energy[:k] / max(float(np.sum(to_numpy(operator.column_norms()))), 1e-300)
    largest = coordinates[np.abs(coordinates).argmax(axis=0), [0, 1]]
    return coordinates * np.where(largest < 0.0, -1.0, 1.0), np.clip(shares, 0.0, 1.0)


def _leading(operator: DataOperator) -> tuple[np.ndarray, np.ndarray]:
    """Return the leading principal coordinates by subspace iteration."""
    Q = np.random.default_rng(SEED).standard_normal((operator.shape[1], 2 + EXTRA))
    for _ in range(ROUNDS):
        Q = np.linalg.qr(to_numpy(operator.matmul(Q)))[0]
        Q = np.linalg.qr(to_numpy(operator.rmatmul(Q)))[0]
    image = to_numpy(operator.matmul(Q))
    energy, V = np.linalg.eigh(image.T @ image)
    return image @ V[:, ::-1], energy[::-1]


def _view(coordinates: np.ndarray, shares: np.ndarray, n_features: int) -> dict[str, Any]:
    """Return coordinates on a fine grid, each axis as long as it needs to be."""
    low = coordinates.min(axis=0)
    spread = coordinates.max(axis=0) - low
    flat = spread <= 1e-9 * max(spread.max(), 1e-300)
    fine = (coordinates - low) / np.where(flat, 1.0, spread)
    if flat.any():  # a line: samples are spread across it, to be seen
        fine[:, flat] = np.random.default_rng(SEED).uniform(size=(len(fine), int(flat.sum())))
    x, y = np.rint(RESOLUTION * fine).astype(int).T
    return {
        "x": x.tolist(),
        "y": y.tolist(),
        "share": [0.0 if none else plain(s, 4) for s, none in zip(shares, flat, strict=True)],
        "n_features": n_features,
    }
