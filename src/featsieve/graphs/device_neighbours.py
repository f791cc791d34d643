"""Nearest neighbours on another device: distances stay there, and the few that matter come back."""

from typing import Protocol

import numpy as np

from featsieve.arrays.namespace import Array, device_of, namespace_of, smallest_of_rows, to_numpy

# Elements of a block of the distance matrix on the device (512 MiB of float64).
BLOCK_ELEMENTS = 2**26
FEWEST_ROWS = 64


class DeviceDistances(Protocol):
    """What is asked of distances that live on a device."""

    def on_device(self, start: int, stop: int) -> Array:
        """Return the squared distances of samples start..stop to all samples, on the device."""


def device_candidates(
    distances: DeviceDistances, start: int, stop: int, *, k: int, error: np.ndarray, relative: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (rows, columns, squared distances) of all that may be among the k nearest.

    Those up to the k-th distance of a row (counted from ``start``), its ``error``, and a
    ``relative`` share of the distance; the sample itself is left out.
    """
    block = distances.on_device(start, stop)
    xp, device = namespace_of(block), device_of(block)
    n = block.shape[1]
    own = xp.arange(start, stop, device=device)[:, None] == xp.arange(n, device=device)[None, :]
    block = xp.where(own, xp.full_like(block, xp.inf), block)
    last = smallest_of_rows(block, k)[1][:, -1]
    reach = last + (xp.asarray(error, device=device) + relative * last)
    rows, columns = xp.nonzero(block <= reach[:, None])
    squares = xp.take(xp.reshape(block, (-1,)), rows * n + columns)
    return to_numpy(rows), to_numpy(columns), to_numpy(squares)


def device_rows(n_samples: int) -> int:
    """Return how many rows of the distance matrix make a block on the device."""
    return max(FEWEST_ROWS, BLOCK_ELEMENTS // n_samples)
