"""A table on the disk, as `open_table` needs it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Source:
    """A table on the disk: its size, and a function that reads some of its rows.

    Attributes
    ----------
    shape : tuple of int
    dtype : numpy.dtype
    read : callable
        ``read(start, stop)`` returns rows as a NumPy array. It travels to the workers.
    names : ndarray of str, or None
        Names of the columns.
    edges : sequence of int
        Rows at which the file can be cut without reading anything twice; empty: anywhere.
    stamp : object
        Changes when the file does.
    """

    shape: tuple[int, int]
    dtype: np.dtype
    read: Callable[[int, int], np.ndarray]
    names: np.ndarray | None = None
    edges: Sequence[int] = ()
    stamp: Any = None
