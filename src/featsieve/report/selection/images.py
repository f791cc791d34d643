"""Images of a selection as PNG: pixels that are features, and fields of many values."""

import base64
import struct
import zlib
from typing import Any

import numpy as np

from featsieve.report.selection.values import plain
from featsieve.tuning.selection import Selection

# Mean images of so many clusters are shown, and ranks of so many pixels are kept.
MOST_CLUSTERS = 24
MOST_RANKS = 4096
# Colours of low and high values, of which more or less is seen.
COLD, HOT = (44, 112, 214), (222, 92, 30)


def pixel_images(selection: Selection, shape: tuple[int, int]) -> dict[str, Any]:
    """Return images of the mean and of the clusters, and the selected pixels."""
    X, clusters, facts = selection.X, selection.clusters, selection.facts
    mean = _mean(X)
    images = []
    if clusters is not None:
        for code, name in enumerate(clusters.names[:MOST_CLUSTERS]):
            inside = _mean(X[clusters.codes == code])
            images.append({"name": name, "png": grey_png(inside.reshape(shape))})
    return {
        "shape": list(shape),
        "mean": grey_png(mean.reshape(shape)),
        "range": [plain(mean.min()), plain(mean.max())],
        "clusters": images,
        "selected": selection.chosen.tolist(),
        "rank": facts["rank"].tolist() if len(mean) <= MOST_RANKS else None,
    }


def _mean(X: Any) -> np.ndarray:
    """Return the mean of the rows."""
    return np.asarray(X.mean(axis=0), dtype=np.float64).ravel()


def grey_png(image: np.ndarray) -> str:
    """Write an image in grey, from black (the smallest value) to white."""
    low, high = float(image.min()), float(image.max())
    levels = np.rint(255.0 * (image - low) / (high - low if high > low else 1.0))
    return _png(levels.astype(np.uint8), kind=0)


def signed_levels(values: np.ndarray, full: float) -> str:
    """Write numbers from -full to full as one byte each, 127 for zero, row by row in base64."""
    levels = np.rint(127.0 * np.clip(values / full, -1.0, 1.0)) + 127.0
    return base64.b64encode(levels.astype(np.uint8).tobytes()).decode("ascii")


def signed_png(levels: str, width: int) -> str:
    """Draw signed levels: 0 is clear, so that a light and a dark page shine through."""
    field = np.frombuffer(base64.b64decode(levels), dtype=np.uint8).reshape(-1, width)
    colours = 127 * bytes(COLD) + 128 * bytes(HOT)
    opacity = bytes(2 * abs(level - 127) for level in range(255))
    return _png(field, kind=3, more=((b"PLTE", colours), (b"tRNS", opacity)))


def _png(levels: np.ndarray, *, kind: int, more: tuple[tuple[bytes, bytes], ...] = ()) -> str:
    """Write bytes as a PNG in base64: of kind 0 they are grey, of kind 3 places in a palette."""
    height, width = levels.shape
    lines = np.hstack([np.zeros((height, 1), dtype=np.uint8), levels])  # 0: no filter
    header = struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0)
    pixels = zlib.compress(lines.tobytes(), 9)
    file = b"\x89PNG\r\n\x1a\n"
    for name, content in ((b"IHDR", header), *more, (b"IDAT", pixels), (b"IEND", b"")):
        checked = name + content
        file += struct.pack(">I", len(content)) + checked + struct.pack(">I", zlib.crc32(checked))
    return base64.b64encode(file).decode("ascii")
