"""The rows of W that are not zero: ||W||_{2,0} is their number, that of the selected features."""

from featsieve.arrays.namespace import Array, namespace_of


def row_norms(V: Array) -> Array:
    """Return the squared length of every row; equal rows get equal lengths, to the last bit."""
    return namespace_of(V).sum(V * V, axis=1)


def row_support(W: Array) -> Array:
    """Return the mask of the non-zero rows (exactly non-zero: no tolerance)."""
    return namespace_of(W).any(W != 0, axis=1)


def count_rows(W: Array) -> int:
    """Return ||W||_{2,0}."""
    xp = namespace_of(W)
    return int(xp.sum(xp.astype(row_support(W), xp.int64)))
