"""No hidden copies of the table: what a fit allocates on top of it, as tracemalloc counts it.

Tables of more than some millions of entries are worked on in blocks. Here every such limit, and
the table, is 1/16 of its size: the tests are quick, and the path is that of a large table. What is
counted is what the code asks for, whatever the machine has.
"""

import importlib
import pkgutil
import sys
import tracemalloc
import warnings

import numpy as np
import pytest

import featsieve
from featsieve.arrays import as_operator
from featsieve.solvers.lars import KeptProducts
from tests.array_library_checks import quick

SHRINK = 16
WIDE, TALL = (200, 6000), (4000, 300)
# Allocated on top of the table, as a share of the table in float64: the graph, n x c and d x c
# arrays and blocks. Below 1, the whole table never existed in float64. The d x m projections of
# SOGFS (m = 20 columns, several at a time) are no copies, but as large here. Families of hypotheses
# of JASFS look at copies in float32: standardised, of ranks, permuted and rotated (of 5000 rows).
ALLOWED = {"SOGFS": 2.2, "JASFS": 4.0}
KINDS = {
    "float32, by rows": lambda X: X,
    "float32, by columns": np.asfortranarray,
    "uint8": lambda X: np.clip(40.0 * X + 100.0, 0, 255).astype(np.uint8),
    "int64, by columns": lambda X: np.asfortranarray((40.0 * X).astype(np.int64)),
}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Make every limit on the size of blocks and of kept tables 1/16 of what it is."""
    patched = set()
    for package in ("arrays", "graphs", "selectors", "solvers", "terms", "tuning"):
        parent = importlib.import_module(f"featsieve.{package}")
        for module in pkgutil.iter_modules(parent.__path__):
            if not module.name.startswith("dask"):
                importlib.import_module(f"featsieve.{package}.{module.name}")
    for name, module in list(sys.modules.items()):
        if name.startswith("featsieve"):
            for key, value in list(vars(module).items()):
                limit = key.endswith("_ELEMENTS") or key == "LARGEST_REREAD"
                if limit and isinstance(value, int):
                    monkeypatch.setattr(module, key, value // SHRINK)
                    patched.add(key)
    assert patched >= {"BLOCK_ELEMENTS", "CACHE_ELEMENTS", "KEPT_ELEMENTS", "LARGEST_REREAD"}


def table(shape):
    rng = np.random.default_rng(0)
    X = rng.standard_normal(shape, dtype=np.float32)
    X[:, :30] += 3.0 * rng.standard_normal((4, 30), dtype=np.float32)[np.arange(shape[0]) % 4]
    return X


def allocated(function):
    """Return the largest number of bytes that the function had allocated at one time."""
    tracemalloc.start(1)
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def fit(name, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        quick(name, n_clusters=4, n_features_to_select=20, max_iter=2).fit(X)


def as_doubles(shape):
    return 8 * shape[0] * shape[1]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["float32, by columns", "uint8"])
@pytest.mark.parametrize("name", featsieve.selectors.__all__)
def test_no_selector_holds_the_table_in_double_precision(name, kind):
    shapes = (WIDE, TALL) if name in ("MaxVariance", "LaplacianScore", "MCFS", "SPEC") else (WIDE,)
    for shape in shapes:
        X = KINDS[kind](table(shape))
        assert allocated(lambda X=X: fit(name, X)) < ALLOWED.get(name, 0.9) * as_doubles(shape)


def test_the_kept_columns_of_a_small_table_are_its_only_copy():
    operator = as_operator(table(WIDE), scale="unit")
    assert allocated(lambda: KeptProducts(operator)) < 1.3 * as_doubles(WIDE)
    expected = operator.rows(0, WIDE[0]).T
    np.testing.assert_array_equal(KeptProducts(operator).columns, expected)


def test_a_memory_mapped_table_is_read_and_not_copied(tmp_path):
    np.save(tmp_path / "table.npy", table(WIDE))
    X = np.load(tmp_path / "table.npy", mmap_mode="r")
    assert allocated(lambda: fit("LaplacianScore", X)) < 0.5 * as_doubles(WIDE)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [WIDE, TALL], ids=["wide", "tall"])
def test_a_product_makes_blocks_and_no_table(shape, kind):
    operator = as_operator(KINDS[kind](table(shape)), scale="unit")
    n, d = shape
    for product in (
        lambda: operator.matmul(np.ones((d, 2))),
        lambda: operator.rmatmul(np.ones((n, 2))),
        lambda: operator.columns(np.arange(0, d, 50)),
        lambda: operator.row_norms(),
        lambda: operator.row_products(0, 40),
        lambda: operator.column_forms(np.ones(n)),
    ):
        assert allocated(product) < 0.5 * as_doubles(shape)
    single = "float32" in kind
    assert operator.dtype == (np.float32 if single else np.float64)
    assert operator.product_precision == ("float32" if single else "float64")
