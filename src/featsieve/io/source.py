"""A table on the disk, as `open_table` needs it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Source:
    """A table on the disk: its size, and a function that reads some of its rows."""

    shape: tuple[int, int]
    dtype: np.dtype
    read: Callable[[int, int], np.ndarray]
    names: np.ndarray | None = None
    edges: Sequence[int] = ()
    stamp: Any = None
