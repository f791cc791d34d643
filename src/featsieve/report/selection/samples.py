"""The samples of a selection: maps, and a heat map of samples by selected features."""

from typing import Any

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.cluster import contingency_matrix

from featsieve.arrays import ColumnScale, DataOperator, as_operator
from featsieve.arrays.namespace import to_numpy
from featsieve.graphs import principal_coordinates
from featsieve.report.selection.features import (
    MOST_FEATURES,
    correlations,
    similar_order,
)
from featsieve.report.selection.images import signed_levels
from featsieve.report.selection.values import plains
from featsieve.tuning.selection import Selection

# So many samples are drawn, a random choice of more; coordinates are whole numbers up to this.
MOST_SAMPLES = 2000
RESOLUTION = 1000
# The heat map has so many columns at most, and its strongest colours so many standard deviations.
MOST_COLUMNS = 1000
FULL = 2.0


def sample_map(
    selection: Selection, codes: np.ndarray | None = None, classes: list[str] | None = None
) -> dict[str, Any] | None:
    """Return two views of the samples, on selected and on all columns (standardised)."""
    if not len(selection.shown):
        return None
    X, clusters, scale = selection.inside, selection.clusters, ColumnScale("std", selection.owner)
    certainty = selection.certainty
    rows = drawn_samples(X.shape[0])
    n, X = X.shape[0], X[rows] if len(rows) < X.shape[0] else X
    chosen = selection.columns_of(selection.chosen)
    few, few_shares = plane(as_operator(X[:, chosen], scale=scale.at(chosen)))
    whole, whole_shares = plane(as_operator(X, scale=scale))
    if codes is not None and classes is not None and clusters is not None:
        # classes are in the order, hence in the colours, of the clusters that they match
        table = contingency_matrix(codes, clusters.codes)
        matched, place = linear_sum_assignment(table, maximize=True)
        order = np.concatenate([matched[np.argsort(place)], np.setdiff1d(codes, matched)])
        codes, classes = np.argsort(order)[codes], [classes[k] for k in order]
    # An axis has no sign: the views are turned so that they look alike.
    signs = np.where((few * whole).sum(axis=0) < 0.0, -1.0, 1.0)
    return {
        "of": n,
        "names": [selection.sample_name(i) for i in rows],
        "selected": _view(few, few_shares, len(selection.chosen)),
        "all": _view(whole * signs, whole_shares, selection.X.shape[1]),
        "cluster": None if clusters is None else clusters.codes[rows].tolist(),
        "certainty": None if certainty is None else plains(certainty[rows], 2),
        "classes": classes,
        "class": None if codes is None else codes[rows].tolist(),
    }


def drawn_samples(n: int) -> np.ndarray:
    """Return the rows that are drawn: all, or a random choice."""
    return np.sort(np.random.default_rng(0).permutation(n)[:MOST_SAMPLES])


def heat_map(selection: Selection) -> dict[str, Any] | None:
    """Return selected features by samples, both in an order that puts like beside like."""
    clusters, shown = selection.clusters, selection.shown[:MOST_FEATURES]
    if clusters is None or not len(shown):
        return None
    rows = drawn_samples(selection.X.shape[0])
    places = np.arange(0, len(rows), -(-len(rows) // MOST_COLUMNS))
    operator = as_operator(selection.values[:, shown], scale="std")
    part = operator.at_rows(operator.place(rows[places]))
    Z = to_numpy(part.columns(operator.place(np.arange(len(shown)))))
    features = similar_order(1.0 - correlations(selection.values[:, shown]))
    samples: list[int] = []
    for code in range(len(clusters.names)):
        inside = np.flatnonzero(clusters.codes[rows[places]] == code)
        if len(inside) > 2:
            inside = inside[leaves_list(linkage(Z[inside], "average"))]
        samples += inside.tolist()
    return {
        "feature": [selection.shown_name(j) for j in shown[features]],
        "of": len(selection.chosen),
        "sample": places[samples].tolist(),
        "levels": signed_levels(Z[samples][:, features].T, FULL),
    }


def plane(operator: DataOperator) -> tuple[np.ndarray, np.ndarray]:
    """Return the first two principal coordinates of the rows, and their shares of the variance."""
    found, energy = (to_numpy(part) for part in principal_coordinates(operator))
    coordinates, shares = np.zeros((operator.shape[0], 2)), np.zeros(2)
    k = min(2, found.shape[1])
    coordinates[:, :k] = found[:, :k]
    shares[:k] = energy[:k] / max(float(np.sum(to_numpy(operator.column_norms()))), 1e-300)
    if shares[1] == 0.0:  # of one column: up and down keeps samples apart
        coordinates[:, 1] = np.random.default_rng(0).uniform(size=len(coordinates))
    largest = coordinates[np.abs(coordinates).argmax(axis=0), [0, 1]]
    return coordinates * np.where(largest < 0.0, -1.0, 1.0), np.clip(shares, 0.0, 1.0)


def _view(coordinates: np.ndarray, shares: np.ndarray, n_features: int) -> dict[str, Any]:
    """Return coordinates on a fine grid, each axis as long as it needs to be."""
    low, spread = coordinates.min(axis=0), np.ptp(coordinates, axis=0)
    fine = (coordinates - low) / np.maximum(spread, 1e-300)
    x, y = np.rint(RESOLUTION * fine).astype(int).T
    return {"x": x.tolist(), "y": y.tolist(), "share": plains(shares, 4), "n_features": n_features}
