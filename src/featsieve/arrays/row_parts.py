"""A table in parts: the same few functions for arrays in memory, on a device, or spread over Dask.

A part is itself a :class:`~featsieve.arrays.DataOperator`: some rows, with the means and scales of
the WHOLE table, so that its products are the rows' share of the table's. What an algorithm keeps
per sample stays beside the part it belongs to, as blocks; what it adds up over the samples comes
back to the caller.

A function of a part is ``function(part, *blocks, *shared)`` and lives at the top of its module, so
that it can be sent to another process. With ``table=False`` it promises to look at the blocks
alone: it may be handed a part without rows, and nothing is read.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from featsieve.arrays.namespace import is_sparse, namespace_of, to_numpy

if TYPE_CHECKING:
    from featsieve.arrays.operator import DataOperator

# What a function of a part returned for every part. Where it lives is the parts' business.
Rows = Sequence[Any]

# Elements of the table in a part: on the host small, for the sake of temporaries; on a device
# large, for the sake of few launches.
HOST_ELEMENTS = 2**24
DEVICE_ELEMENTS = 2**32
FEWEST_ROWS = 4096


class RowParts:
    """The parts of a table in memory, or on one device: ranges of rows, without copies."""

    bounds: list[tuple[int, int]]  # the first row of each, and the one after its last

    def __init__(self, operator: "DataOperator", *, n_rows: int | None = None) -> None:
        self.operator = operator
        n, d = operator.shape
        if n_rows is None:
            most = HOST_ELEMENTS if operator.on_host else DEVICE_ELEMENTS
            n_rows = max(FEWEST_ROWS, most // max(d, 1))
        self.bounds = [(start, min(start + n_rows, n)) for start in range(0, n, n_rows)]

    def calls(
        self,
        function: Callable[..., Any],
        *states: Rows,
        shared: Sequence[Any] = (),
        table: bool = True,
    ) -> Iterable[Any]:
        """Return function(part, *blocks, *shared) of every part: results, or tasks to compute."""
        for (start, stop), *blocks in zip(self.bounds, *states, strict=True):
            yield function(self.operator.part(start, stop), *blocks, *shared)

    def map(self, function: Callable[..., Any], *states: Rows, **options: Any) -> Rows:
        """Return the results of :meth:`calls`, kept where the parts live."""
        return list(self.calls(function, *states, **options))

    def total(self, function: Callable[..., Any], *states: Rows, **options: Any) -> Any:
        """Return the sum of the results (arrays, or tuples of such) of all parts, on the host."""
        return to_host(reduce(added, self.calls(function, *states, **options)))

    def gather(self, rows: Rows) -> Any:
        """Return the blocks of a :meth:`map` as one NumPy array (or tuple of such)."""
        return joined(rows)

    def scatter(self, values: np.ndarray) -> Rows:
        """Return an array with one row per sample as blocks beside the parts."""
        return [self.operator.place(values[start:stop]) for start, stop in self.bounds]


def added(one: Any, other: Any) -> Any:
    """Return the sum of two arrays or numbers, or of two tuples of such."""
    if isinstance(one, tuple):
        return tuple(a + b for a, b in zip(one, other, strict=True))
    return one + other


def joined(rows: Rows) -> Any:
    """Return blocks of rows as one NumPy array, or a tuple of such."""
    if isinstance(rows[0], tuple):
        return tuple(joined(blocks) for blocks in zip(*rows, strict=True))
    if len(rows) == 1:
        return to_host(rows[0])
    return to_numpy(namespace_of(rows[0]).concat(list(rows), axis=0))


def to_host(value: Any) -> Any:
    """Return an array as a NumPy array; numbers and sparse matrices stay what they are."""
    if isinstance(value, tuple):
        return tuple(to_host(entry) for entry in value)
    known = isinstance(value, (int, float, np.generic)) or is_sparse(value)
    return value if known else to_numpy(value)
