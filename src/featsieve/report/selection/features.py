"""The features of a selection and what they show: clusters, pairs, samples, images."""

import base64
import struct
import zlib
from typing import Any

import numpy as np

from featsieve import defaults
from featsieve.arrays import DataOperator, as_operator
from featsieve.arrays.namespace import to_numpy
from featsieve.criteria.selected_clusters import Clusters
from featsieve.graphs import principal_coordinates
from featsieve.report.selection.values import plain, plains
from featsieve.tuning.selection import Selection

# So many features are listed, the best ones; a table of all is the business of ``explain``.
MOST_ROWS = 2000
# Features of the heat map, features that are named for every cluster, and pairs that are listed.
MOST_FEATURES = 60
MOST_MARKS = 3
MOST_PAIRS = 20
# Correlated features are looked for among so many selected ones, from this correlation on.
MOST_COMPARED = 2000
LOWEST = 0.5
# So many samples are drawn, a random choice of more; coordinates are whole numbers up to this.
MOST_SAMPLES = 2000
RESOLUTION = 1000
# Mean images of so many clusters are shown, and ranks of so many pixels are kept.
MOST_CLUSTERS = 24
MOST_RANKS = 4096


def feature_rows(selection: Selection, frequency: np.ndarray | None) -> dict[str, Any]:
    """Return columns of facts about the best features, as lists of equal length."""
    facts, names = selection.facts, selection.feature_names
    order = np.lexsort((facts["rank"], ~facts["selected"]))[:MOST_ROWS]
    # explain names the closest feature as the selector does; the reader's names may be others
    position = {str(facts["feature"][j]): int(j) for j in selection.chosen[::-1]}
    closest = [position.get(str(name)) for name in facts["closest_selected"][order]]
    r = plains(facts["correlation"][order], 4)
    return {
        "total": len(names),
        "name": [names[j] for j in order],
        "index": order.tolist(),
        "selected": facts["selected"][order].tolist(),
        "rank": facts["rank"][order].tolist(),
        "score": plains(facts["score"][order]),
        "frequency": None if frequency is None else plains(frequency[order]),
        "cluster": [selection.best_cluster[j] for j in order],
        "separation": plains(facts["separation"][order], 4),
        "eta_squared": plains(facts["eta_squared"][order], 4),
        "q_value": plains(facts["q_value"][order], 3) if "q_value" in facts else None,
        "closest": [None if j is None else names[j] for j in closest],
        "correlation": [None if j is None else r[i] for i, j in enumerate(closest)],
        "price": plains(facts["price"][order], 4) if "price" in facts else None,
        "bought_with": facts["bought_with"][order].tolist() if "bought_with" in facts else None,
        "status": facts["status"][order].tolist(),
        "kept": facts["kept"][order].tolist() if "kept" in facts else None,
    }


def cluster_facts(selection: Selection) -> dict[str, Any] | None:
    """Return how the clusters were found, and the features that tell each; None without any."""
    clusters = selection.clusters
    if clusters is None:
        return None
    count = selection.fitted("cluster_count_")
    certainty = selection.fitted("sample_certainty_") if clusters.source == "method" else None
    separation = selection.facts["separation"]
    clearest = sorted(selection.chosen, key=lambda j: -abs(np.nan_to_num(separation[j])))
    rows = []
    for name, size in zip(clusters.names, clusters.sizes.tolist(), strict=True):
        marking = [j for j in clearest if selection.best_cluster[j] == name][:MOST_MARKS]
        marks = [
            f"{'high' if separation[j] > 0.0 else 'low'} {selection.feature_names[j]}"
            for j in marking
        ]
        rows.append({"name": name, "size": size, "marks": marks})
    return {
        "names": clusters.names,
        "source": clusters.source,
        "number": clusters.number,
        "plausible": None if count is None else [int(end) for end in count.plausible_range],
        "certainty": None if certainty is None else plain(float(np.mean(certainty)), 4),
        "rows": rows,
    }


def heat_map(selection: Selection) -> dict[str, Any] | None:
    """Return the mean of every selected feature in every cluster, in standard deviations."""
    clusters, shown = selection.clusters, selection.shown[:MOST_FEATURES]
    if clusters is None or not len(shown):
        return None
    means = cluster_means(selection.X[:, shown], clusters)
    best = [selection.best_cluster[j] for j in shown]
    column = [0 if name is None else clusters.names.index(name) for name in best]
    separation = np.nan_to_num(selection.facts["separation"][shown], nan=0.0)
    order = np.lexsort((-separation, column))
    return {
        "feature": [selection.feature_names[shown[i]] for i in order],
        "cluster": [best[i] for i in order],
        "mean": [plains(means[i], 3) for i in order],
        "of": len(selection.chosen),
    }


def cluster_means(columns: Any, clusters: Clusters) -> np.ndarray:
    """Return the means of standardised columns in every cluster."""
    operator = as_operator(columns, scale="std")
    members = np.equal.outer(clusters.codes, np.arange(len(clusters.names))).astype(np.float64)
    return to_numpy(operator.rmatmul(members)) / clusters.sizes


def correlated_pairs(selection: Selection) -> dict[str, Any] | None:
    """Return the strongest correlations among the selected features, and how many there are."""
    shown = selection.shown[:MOST_COMPARED]
    if len(shown) < 2:
        return None
    i, j = np.triu_indices(len(shown), 1)
    r = correlations(selection.X[:, shown])[i, j]
    joined = np.flatnonzero(np.abs(r) >= LOWEST)
    strongest = joined[np.argsort(-np.abs(r[joined]), kind="stable")][:MOST_PAIRS]
    twins = np.abs(r) >= defaults.REPORT_NEAR_DUPLICATE
    names = [selection.feature_names[k] for k in shown]
    return {
        "of": len(selection.chosen),
        "mean": plain(np.abs(r).mean(), 3),
        "pairs": [[names[i[e]], names[j[e]], plain(r[e], 4)] for e in strongest],
        "n_pairs": len(joined),
        "n_in_duplicates": len(np.union1d(i[twins], j[twins])),
    }


def correlations(columns: Any) -> np.ndarray:
    """Return the correlations of the columns."""
    return np.clip(to_numpy(as_operator(columns, scale="unit").gram()), -1.0, 1.0)


def sample_map(
    selection: Selection, codes: np.ndarray | None = None, classes: list[str] | None = None
) -> dict[str, Any] | None:
    """Return two views of the samples, on selected and on all columns (standardised).

    ``codes`` are the true classes of the samples, ``classes`` the names of these.
    """
    if not len(selection.shown):
        return None
    X, clusters, names = selection.X, selection.clusters, selection.sample_names
    n = X.shape[0]
    rows = np.arange(n)
    if n > MOST_SAMPLES:
        rows = np.sort(np.random.default_rng(0).permutation(n)[:MOST_SAMPLES])
        X = X[rows]
    few, few_shares = plane(as_operator(X[:, selection.chosen], scale="std"))
    whole, whole_shares = plane(as_operator(X, scale="std"))
    # An axis has no sign: the views are turned so that they look alike.
    signs = np.where((few * whole).sum(axis=0) < 0.0, -1.0, 1.0)
    return {
        "of": n,
        "names": [names[i] if names else f"row {i + 1}" for i in rows],
        "selected": _view(few, few_shares, len(selection.chosen)),
        "all": _view(whole * signs, whole_shares, X.shape[1]),
        "cluster": None if clusters is None else clusters.codes[rows].tolist(),
        "classes": classes,
        "class": None if codes is None else codes[rows].tolist(),
    }


def plane(operator: DataOperator) -> tuple[np.ndarray, np.ndarray]:
    """Return the first two principal coordinates of the rows, and their shares of the variance."""
    found, energy = (to_numpy(part) for part in principal_coordinates(operator))
    coordinates, shares = np.zeros((operator.shape[0], 2)), np.zeros(2)
    k = min(2, found.shape[1])
    coordinates[:, :k] = found[:, :k]
    shares[:k] = energy[:k] / max(float(np.sum(to_numpy(operator.column_norms()))), 1e-300)
    largest = coordinates[np.abs(coordinates).argmax(axis=0), [0, 1]]
    return coordinates * np.where(largest < 0.0, -1.0, 1.0), np.clip(shares, 0.0, 1.0)


def _view(coordinates: np.ndarray, shares: np.ndarray, n_features: int) -> dict[str, Any]:
    """Return coordinates on a fine grid, each axis as long as it needs to be."""
    low, spread = coordinates.min(axis=0), np.ptp(coordinates, axis=0)
    fine = (coordinates - low) / np.maximum(spread, 1e-9 * max(spread.max(), 1e-300))
    x, y = np.rint(RESOLUTION * fine).astype(int).T
    return {"x": x.tolist(), "y": y.tolist(), "share": plains(shares, 4), "n_features": n_features}


def pixel_images(selection: Selection, shape: tuple[int, int]) -> dict[str, Any]:
    """Return images of the mean, the scores and the clusters, and the selected pixels."""
    X, clusters, facts = selection.X, selection.clusters, selection.facts
    mean = _mean(X)
    images = []
    if clusters is not None:
        for code, name in enumerate(clusters.names[:MOST_CLUSTERS]):
            inside = _mean(X[clusters.codes == code])
            images.append({"name": name, "png": grey_png(inside.reshape(shape))})
    score = np.sqrt(np.maximum(facts["score"].astype(np.float64), 0.0))
    return {
        "shape": list(shape),
        "mean": grey_png(mean.reshape(shape)),
        "range": [plain(mean.min()), plain(mean.max())],
        "score": grey_png(score.reshape(shape)),
        "clusters": images,
        "selected": selection.chosen.tolist(),
        "rank": facts["rank"].tolist() if len(mean) <= MOST_RANKS else None,
    }


def _mean(X: Any) -> np.ndarray:
    """Return the mean of the rows."""
    return np.asarray(X.mean(axis=0), dtype=np.float64).ravel()


def grey_png(image: np.ndarray) -> str:
    """Write an image as an 8-bit grey PNG, from black (the smallest value) to white."""
    low, high = float(image.min()), float(image.max())
    levels = np.rint(255.0 * (image - low) / (high - low if high > low else 1.0)).astype(np.uint8)
    height, width = levels.shape
    lines = np.hstack([np.zeros((height, 1), dtype=np.uint8), levels])  # 0: no filter
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    file = b"\x89PNG\r\n\x1a\n"
    for kind, content in (
        (b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes(), 9)), (b"IEND", b"")
    ):  # fmt: skip
        checked = kind + content
        file += struct.pack(">I", len(content)) + checked + struct.pack(">I", zlib.crc32(checked))
    return base64.b64encode(file).decode("ascii")
