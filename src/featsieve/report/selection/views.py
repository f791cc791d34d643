"""What is seen of a table: its samples in two dimensions, and images where features are pixels."""

import base64
import struct
import zlib
from typing import Any

import numpy as np

from featsieve.arrays import DataOperator, as_operator
from featsieve.arrays.namespace import to_numpy
from featsieve.graphs import principal_coordinates
from featsieve.report.selection.inputs import Selection
from featsieve.report.selection.values import plain

# So many samples are drawn, a random choice of more; coordinates are whole numbers up to this.
MOST_SAMPLES = 2000
RESOLUTION = 1000
SEED = 0
# Mean images of so many clusters are shown, and ranks of so many pixels are kept.
MOST_CLUSTERS = 24
MOST_RANKS = 4096


def sample_map(
    selection: Selection, codes: np.ndarray | None = None, classes: list[str] | None = None
) -> dict[str, Any] | None:
    """Return two views of the samples, on selected and on all columns (standardised).

    ``codes`` are the true classes of the samples, ``classes`` the names of these.
    """
    X, clusters = selection.X, selection.clusters
    n = X.shape[0]
    rows = np.arange(n)
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


def pixel_images(selection: Selection, shape: tuple[int, int]) -> dict[str, Any]:
    """Return images of the mean, the scores and the clusters, and the selected pixels."""
    X, clusters, facts = selection.X, selection.clusters, selection.facts
    mean = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
    low, high = float(mean.min()), float(mean.max())
    score = np.asarray(facts["score"], dtype=np.float64)
    images: list[dict[str, Any]] = []
    if clusters is not None:
        for code, name in enumerate(clusters.names[:MOST_CLUSTERS]):
            inside = X[clusters.codes == code].mean(axis=0)
            image = np.asarray(inside, dtype=np.float64).ravel()
            images.append({"name": name, "png": grey_png(image.reshape(shape))})
    ranks = facts["rank"].tolist() if len(mean) <= MOST_RANKS else None
    return {
        "shape": list(shape),
        "mean": grey_png(mean.reshape(shape)),
        "range": [plain(low), plain(high)],
        "score": grey_png(np.sqrt(np.maximum(score, 0.0)).reshape(shape)),
        "clusters": images,
        "selected": selection.chosen.tolist(),
        "rank": ranks,
    }


def grey_png(image: np.ndarray) -> str:
    """Write an image as an 8-bit grey PNG, from black (the smallest value) to white."""
    low, high = float(image.min()), float(image.max())
    levels = np.rint(255.0 * (image - low) / (high - low if high > low else 1.0)).astype(np.uint8)
    height, width = levels.shape
    lines = np.hstack([np.zeros((height, 1), dtype=np.uint8), levels])  # 0: no filter
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    content = zlib.compress(lines.tobytes(), 9)
    chunks = ((b"IHDR", header), (b"IDAT", content), (b"IEND", b""))
    file = b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*chunk) for chunk in chunks)
    return base64.b64encode(file).decode("ascii")


def _chunk(kind: bytes, content: bytes) -> bytes:
    """Return a chunk of a PNG file."""
    checked = kind + content
    return struct.pack(">I", len(content)) + checked + struct.pack(">I", zlib.crc32(checked))
