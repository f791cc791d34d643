"""The columns of a table on the host, through their Gram matrix alone.

Forward selection makes many small steps on d x c numbers. On a device each of them costs several
launches, and takes longer than on the processor: so the Gram matrix comes to the host, once.
"""

from typing import Any

import array_api_compat.numpy as xnp
import numpy as np

from featsieve.arrays.namespace import to_numpy
from featsieve.arrays.operator import DataOperator


class ColumnGram:
    """What a search for columns asks of a :class:`~featsieve.arrays.DataOperator`, as NumPy."""

    xp = xnp
    device = "cpu"

    def __init__(self, operator: DataOperator) -> None:
        self.shape, self.n_stored = operator.shape, operator.n_stored
        single = operator.dtype == operator.xp.float32
        self.dtype: Any = np.dtype(np.float32 if single else np.float64)
        self.varies = to_numpy(operator.varies)
        self._norms = to_numpy(operator.column_norms())
        self._gram = to_numpy(operator.gram())

    def column_norms(self) -> np.ndarray:
        """Return the squared norms of the columns."""
        return self._norms

    def gram(self) -> np.ndarray:
        """Return Z'Z."""
        return self._gram

    def place(self, values: np.ndarray) -> np.ndarray:
        """Return the values, which are on the host already."""
        return np.asarray(values)
