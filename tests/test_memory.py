"""No hidden copies of the table: the memory that a fit takes on top of it.

Tables of more than some millions of entries are worked on in blocks. Here every such limit, and
the table, is 1/16 of its size: the tests are quick, and the path is that of a large table.
"""

import importlib
import inspect
import pkgutil
import sys
import tracemalloc
import warnings

import numpy as np
import pytest

import featsieve
from featsieve import structure_score
from featsieve.arrays import as_operator
from tests.selectors.test_every_selector import NAMES

SHRINK = 16
WIDE = (200, 6000)
TALL = (4000, 300)
# Memory on top of the table, as a share of what the table takes in float64. It holds the graph,
# n x c and d x c arrays and blocks; below 1, the whole table never existed in float64.
ALLOWED = 0.9
# Its d x m projections (m = 20 columns, several at a time) are not copies, but as large here.
ALLOWED_WIDE = {"SOGFS": 2.2}
# The slowest; their products are those of the others.
SLOW = {"SOGFS", "UGFS", "AUFS", "JASFS"}

KINDS = {
    "float32, by rows": lambda X: X,
    "float32, by columns": np.asfortranarray,
    "float64": lambda X: X.astype(np.float64),
    "uint8": lambda X: np.clip(40.0 * X + 100.0, 0, 255).astype(np.uint8),
    "bool": lambda X: X > 0.5,
    "int64, by columns": lambda X: np.asfortranarray((40.0 * X).astype(np.int64)),
}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Make every limit on the size of blocks and of kept tables 1/16 of what it is."""
    for package in ("arrays", "graphs", "selectors", "solvers", "terms", "tuning"):
        parent = importlib.import_module(f"featsieve.{package}")
        for module in pkgutil.iter_modules(parent.__path__):
            if not module.name.startswith("dask"):
                importlib.import_module(f"featsieve.{package}.{module.name}")
    for name, module in list(sys.modules.items()):
        if not name.startswith("featsieve"):
            continue
        for key, value in list(vars(module).items()):
            limit = key.endswith("_ELEMENTS") or key == "LARGEST_REREAD"
            if limit and isinstance(value, int):
                monkeypatch.setattr(module, key, value // SHRINK)


def table(shape, *, offset=0.0):
    rng = np.random.default_rng(0)
    X = rng.standard_normal(shape, dtype=np.float32)
    X[:, :30] += 3.0 * rng.standard_normal((4, 30), dtype=np.float32)[np.arange(shape[0]) % 4]
    return X + np.float32(offset)


def extra(function):
    """Return the largest number of bytes that the function had allocated at one time."""
    tracemalloc.start(1)
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def fit(name, X, **settings):
    cls = getattr(featsieve, name)
    quick = {"n_clusters": 4, "n_features_to_select": 20, "random_state": 0, "max_iter": 2}
    quick |= settings
    parameters = inspect.signature(cls).parameters
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cls(**{key: value for key, value in quick.items() if key in parameters}).fit(X)


def as_doubles(shape):
    return 8 * shape[0] * shape[1]


CASES = [
    pytest.param(name, kind, id=f"{name}-{kind}")
    for name in NAMES
    for kind in KINDS
    if name not in SLOW or kind == ("uint8" if name == "JASFS" else "float32, by columns")
]


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_no_selector_holds_a_wide_table_in_double_precision(name, kind):
    X = KINDS[kind](table(WIDE))
    allowed = ALLOWED_WIDE.get(name, ALLOWED)
    assert extra(lambda: fit(name, X)) < allowed * as_doubles(WIDE)


@pytest.mark.parametrize("kind", ["float32, by rows", "float32, by columns", "uint8"])
@pytest.mark.parametrize("name", ["MaxVariance", "LaplacianScore", "MCFS", "SPEC", "NDFS"])
def test_no_selector_holds_a_tall_table_in_double_precision(name, kind):
    X = KINDS[kind](table(TALL))
    assert extra(lambda: fit(name, X)) < ALLOWED * as_doubles(TALL)


@pytest.mark.parametrize("name", ["MaxVariance", "LaplacianScore", "MCFS"])
def test_a_memory_mapped_table_is_read_and_not_copied(name, tmp_path):
    np.save(tmp_path / "table.npy", table(WIDE))
    X = np.load(tmp_path / "table.npy", mmap_mode="r")
    assert extra(lambda: fit(name, X)) < 0.5 * as_doubles(WIDE)


def test_a_large_offset_costs_one_copy_in_the_table_s_own_precision():
    X = table(WIDE, offset=1e4)
    plain, moved = extra(lambda: as_operator(table(WIDE))), extra(lambda: as_operator(X))
    assert moved < plain + 1.0 * X.nbytes
    assert extra(lambda: fit("MCFS", X)) < 1.3 * as_doubles(WIDE)


def test_judging_structure_holds_one_permuted_table_at_a_time():
    X, labels = table(WIDE), np.arange(WIDE[0]) % 4
    few = extra(lambda: structure_score(X, labels, n_permutations=1))
    many = extra(lambda: structure_score(X, labels, n_permutations=4))
    assert many < few + 0.2 * X.nbytes
    assert many < X.nbytes + ALLOWED * as_doubles(WIDE)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "product",
    [
        lambda operator: operator.matmul(np.ones((operator.shape[1], 2))),
        lambda operator: operator.rmatmul(np.ones((operator.shape[0], 2))),
        lambda operator: operator.columns(np.arange(0, operator.shape[1], 50)),
        lambda operator: operator.row_norms(),
        lambda operator: operator.row_products(0, 40),
        lambda operator: operator.column_forms(np.ones(operator.shape[0])),
    ],
    ids=["matmul", "rmatmul", "columns", "row_norms", "row_products", "column_forms"],
)
@pytest.mark.parametrize("shape", [WIDE, TALL], ids=["wide", "tall"])
def test_a_product_makes_blocks_and_no_table(shape, product, kind):
    X = KINDS[kind](table(shape))
    operator = as_operator(X, scale="unit")
    assert extra(lambda: product(operator)) < 0.5 * as_doubles(shape)


def test_products_of_single_precision_are_made_in_single_precision():
    operator = as_operator(table(WIDE), scale="unit")
    assert operator.dtype == np.float32
    assert operator.product_precision == "float32"
    assert as_operator(KINDS["uint8"](table(WIDE))).dtype == np.float64


def test_the_measure_sees_a_copy():
    X = table(WIDE)
    assert extra(lambda: X.astype(np.float64)) >= as_doubles(WIDE)
