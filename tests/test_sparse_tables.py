"""Every selector fits a sparse table that cannot be made dense, with the answer of the dense one.

The table's class refuses, and so do the classes of scipy that copies of it have: an array of the
table's shape, or a slab of more than a quarter of its rows or columns, is never written out. Blocks
are bounded by a number of elements, which is made small here, or a small table would be one block;
so are the columns that hypotheses about clusters look at.
"""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from featsieve import defaults, selectors
from featsieve.arrays import operator
from tests.array_library_checks import quick

# More than four to one: a square array of the smaller side is a Gram matrix, not a quarter.
SHAPES = {"wide": (40, 170), "tall": (170, 40)}
FORMATS = (sp.csr_array, sp.csc_array, sp.coo_array, sp.lil_array, sp.dok_array, sp.bsr_array)
WRITERS = ("toarray", "todense")


class MadeDenseError(AssertionError):
    """Raised where a table would be made dense."""


class SparseOnly(sp.csr_array):
    """A table that cannot be made dense."""

    def toarray(self, *args, **kwargs):
        raise MadeDenseError("toarray of the table")

    def todense(self, *args, **kwargs):
        raise MadeDenseError("todense of the table")

    def __array__(self, *args, **kwargs):
        raise MadeDenseError("__array__ of the table")


def is_slab(shape, table):
    """Say whether an array is the table, its transpose, or more than a quarter of one of them."""
    rows, columns = shape
    for n, d in (table, table[::-1]):
        whole = (columns == d and 4 * rows > n) or (rows == n and 4 * columns > d)
        if whole and rows <= n and columns <= d:
            return True
    return False


def checked(real, table):
    """Return a method that writes an array out, unless it is a slab of the table."""

    def write(self, *args, **kwargs):
        if self.ndim == 2 and is_slab(self.shape, table):
            raise MadeDenseError(f"a dense array of shape {self.shape} from a {table} table")
        return real(self, *args, **kwargs)

    return write


@pytest.fixture
def refuse_dense(monkeypatch):
    """Return the function that forbids dense arrays like a table of some shape."""

    def forbid(table):
        owners = {
            (base, name)
            for kind in FORMATS
            for base in kind.__mro__
            for name in WRITERS
            if name in vars(base)
        }
        for base, name in owners:
            monkeypatch.setattr(base, name, checked(vars(base)[name], table))
        for constant in ("BLOCK_ELEMENTS", "CACHE_ELEMENTS"):
            monkeypatch.setattr(operator, constant, table[0] * table[1] // 8)

    return forbid


@pytest.fixture
def few_columns(monkeypatch):
    """Return the function that bounds the columns of a table that JASFS looks at in dense form."""

    def bound(table):
        quarter = table[1] // 4
        monkeypatch.setattr(defaults, "NARROW_SECOND", 0)
        monkeypatch.setattr(defaults, "SECOND_SIZES", (quarter // 3, quarter))
        monkeypatch.setattr(defaults, "MOST_DENSE_COLUMNS", quarter)

    return bound


def topics(shape, seed=0):
    """Return word counts: three groups of samples, each with words of its own, and common words."""
    rng = np.random.default_rng(seed)
    n, d = shape
    rate = np.full((n, d), 0.15)
    group = np.arange(n) % 3
    for k in range(3):
        rate[np.ix_(group == k, np.arange(k * d // 12, (k + 1) * d // 12))] = 2.0
    X = rng.poisson(rate).astype(float)
    return X / np.sqrt((X**2).sum(axis=1, keepdims=True))


@pytest.fixture
def both(refuse_dense, few_columns):
    """Return the function that fits a table, and then the same one that cannot be made dense."""

    def fit(name, shape, **settings):
        X = topics(SHAPES[shape])
        few_columns(X.shape)
        sieve = quick(name, n_features_to_select=9, max_iter=8, **settings)
        dense = clone(sieve).fit(X)
        table = SparseOnly(X)
        refuse_dense(X.shape)
        sparse = sieve.fit(table)
        np.testing.assert_array_equal(sparse.support_, dense.support_)
        # families of plain distances of JASFS look at fewer columns of a sparse table (few_columns)
        share = 1e-6 if name != "JASFS" or "n_hypotheses" in settings else 0.05
        tolerance = share * np.abs(dense.scores_).max()
        np.testing.assert_allclose(sparse.scores_, dense.scores_, rtol=1e-5, atol=tolerance)
        return sparse, dense, table

    return fit


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", sorted(selectors.__all__))
def test_every_selector_leaves_a_sparse_table_sparse(name, shape, both):
    sparse, _, table = both(name, shape)
    assert sp.issparse(sparse.transform(table))


@pytest.mark.parametrize("shape", SHAPES)
def test_one_hypothesis_is_the_same_of_a_sparse_table(shape, both):
    both("JASFS", shape, n_hypotheses=1)


@pytest.mark.parametrize("scale", ["unit", "sqrt", "none"])
def test_jasfs_leaves_a_sparse_table_sparse_in_every_scale(scale, both):
    sparse, dense, _ = both("JASFS", "wide", scale=scale)
    np.testing.assert_array_equal(sparse.labels_, dense.labels_)
