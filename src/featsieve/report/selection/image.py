"""Features that are pixels: which of them were selected, over the mean image."""

import base64
import struct
import zlib
from numbers import Integral
from typing import Any

import numpy as np

from featsieve.report.selection.inputs import Selection
from featsieve.report.selection.numbers import plain

# Mean images of so many clusters are shown, and ranks of so many pixels are kept.
MOST_CLUSTERS = 24
MOST_RANKS = 4096


def check_shape(image_shape: Any, n_features: int) -> tuple[int, int] | None:
    """Return (rows, columns) of the image that the features make; None if there is none."""
    if image_shape is None:
        return None
    if isinstance(image_shape, str):
        if image_shape != "guess":
            raise ValueError(
                "image_shape must be (rows, columns), 'guess' for a square, or None; got "
                f"{image_shape!r}."
            )
        side = round(n_features**0.5)
        return (side, side) if side > 1 and side * side == n_features else None
    shape = tuple(image_shape)
    if len(shape) != 2 or not all(isinstance(s, Integral) and int(s) > 0 for s in shape):
        raise ValueError(
            f"image_shape must be (rows, columns), two positive integers; got {image_shape!r}."
        )
    height, width = int(shape[0]), int(shape[1])
    if height * width != n_features:
        raise ValueError(
            f"image_shape={height} x {width} makes {height * width} pixels, but X has {n_features} "
            "columns: pass the shape of one image."
        )
    return height, width


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
