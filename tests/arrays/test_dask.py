"""Products, parts and checks of Dask arrays, against the same table in memory."""

import os
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import featsieve
from featsieve import JASFS, LaplacianScore, MaxVariance, StabilitySelection
from featsieve.arrays import as_operator
from featsieve.datasets import make_planted
from featsieve.tuning import suggest_n_clusters

if not os.environ.get("FEATSIEVE_REQUIRE_DASK"):
    pytest.importorskip("dask.array")

from dask import array as da

from featsieve.arrays import dask as operator_module
from featsieve.arrays.dask_chunks import FEW_PARTS, grouped_chunks

CHUNKS = ((50, 5, 0, 68, 80), (31,))
KINDS = ("dense", "sparse", "integers", "far")


@pytest.fixture(scope="module", autouse=True)
def few_threads():
    """Let Dask use two threads, whatever machine runs the tests."""
    import dask

    with dask.config.set(scheduler="threads", num_workers=2):
        yield


def tables(kind):
    """Return a table in memory, and as a Dask array."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(203, 31)) * rng.uniform(0.1, 10.0, 31) + 5.0 * rng.normal(size=31)
    X[:, 3] = 2.0
    if kind == "sparse":
        X = np.where(np.abs(X) > 8.0, X, 0.0)
        return sp.csr_array(X), da.from_array(X, chunks=CHUNKS).map_blocks(sp.csr_array)
    if kind == "integers":
        X = np.rint(X).astype(np.int16)
    if kind == "far":  # columns are centred before they are multiplied
        X = X + 1e5
    return X, da.from_array(X, chunks=CHUNKS)


def random_graph(n):
    A = sp.random_array((n, n), density=0.05, random_state=np.random.default_rng(1))
    return sp.csr_array(A + A.T)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", ["unit", "std", "none"])
@pytest.mark.parametrize("center", [True, False])
def test_every_product_is_that_of_the_table_in_memory(kind, scale, center):
    if kind == "far" and not center:
        pytest.skip("a table far from the origin that is not centred has few digits")
    X, chunked = tables(kind)
    one = as_operator(X, scale=scale, center=center)
    other = as_operator(chunked, scale=scale, center=center)
    rng = np.random.default_rng(2)
    W, R, weights = rng.normal(size=(31, 3)), rng.normal(size=(203, 3)), rng.random(203)
    S, live = random_graph(203), np.array([1, 5])
    few = np.zeros_like(W)
    few[live] = W[live]
    tolerance = 1e-8 if kind == "far" else 1e-11

    def same(product):
        for a, b in zip(product(one), product(other), strict=True):
            size = np.abs(a).max(initial=0.0)
            np.testing.assert_allclose(b, a, rtol=0.0, atol=tolerance * max(size, 1e-300))

    same(lambda op: (op.original_mean, op.inverse_scale, op.column_norms()))
    same(lambda op: (op.matmul(W), op.matmul(few, live=live), op.rmatmul(R)))
    same(lambda op: (op.columns(live), op.rows(48, 130), op.rows(3, 3), op.row_norms()))
    same(lambda op: (op.columns_gram(live), op.columns_matmul(live, W[:2])))
    same(lambda op: (op.columns_rmatmul(live, R), op.gram_columns(live)))
    same(lambda op: (op.gram(), op.weighted_gram(weights), op.sample_gram()))
    same(lambda op: (op.sample_gram(weights[:31]), op.row_products(48, 130)))
    same(lambda op: (op.column_forms(S), op.column_forms(weights), op.quadratic(S)))
    same(lambda op: op.graph_forms(S, weights))
    same(lambda op: (op.part(40, 90).rmatmul(R[40:90]), op.centred().row_norms()))
    same(lambda op: (op.at_rows(np.array([150, 7, 60])).matmul(W),))
    np.testing.assert_array_equal(other.varies, one.varies)
    assert other.lipschitz() == pytest.approx(one.lipschitz(), rel=1e-6)
    assert other.shape == one.shape


def test_what_needs_several_chunks_is_made_piece_by_piece(monkeypatch):
    X, chunked = tables("dense")
    one, S = as_operator(X, scale="unit"), random_graph(203)
    monkeypatch.setattr(operator_module, "GATHERED_ELEMENTS", 4 * 203)
    monkeypatch.setattr(operator_module, "LARGEST_SAMPLE_GRAM", 10)
    other = as_operator(chunked, scale="unit")
    np.testing.assert_allclose(other.column_forms(S), one.column_forms(S), atol=1e-12)
    np.testing.assert_allclose(other.quadratic(S), one.quadratic(S), atol=1e-12)
    for start in range(0, 203, 3):
        stop = min(start + 3, 203)
        block = other.row_products(start, stop)
        np.testing.assert_allclose(block, one.row_products(start, stop), atol=1e-12)
        block[:] = np.nan  # the caller's own
    np.testing.assert_allclose(other.sample_gram(), one.sample_gram(), atol=1e-12)


def label_of(part, values, factor):
    return factor * values + part.first_row


def sums(part, values):
    return part.rmatmul(values), values.sum(), part.shape[0]


@pytest.mark.parametrize("kind", ["dense", "far"])
def test_rows_stay_in_their_parts_and_sums_come_back(kind):
    X, chunked = tables(kind)
    parts, one = as_operator(chunked).parts(), as_operator(X)
    assert parts.bounds == [(0, 50), (50, 55), (55, 123), (123, 203)]  # the empty chunk is none
    values = np.random.default_rng(0).normal(size=(203, 2))
    state = parts.map(label_of, parts.scatter(values), shared=(2.0,), table=False)
    first = np.repeat([0, 50, 55, 123], [50, 5, 68, 80])
    np.testing.assert_allclose(parts.gather(state), 2.0 * values + first[:, None])
    product, total, n_rows = parts.total(sums, parts.scatter(values))
    np.testing.assert_allclose(product, one.rmatmul(values), atol=1e-10)
    assert total == pytest.approx(values.sum())
    assert n_rows == 203
    kept = parts.keep_columns(np.array([2, 9]))
    np.testing.assert_allclose(parts.gather(kept), one.columns(np.array([2, 9])))


def test_columns_that_would_fill_the_memory_are_not_kept(monkeypatch):
    from featsieve.arrays import dask

    monkeypatch.setattr(dask, "HOST_MEMORY", 1000)
    parts = as_operator(tables("dense")[1]).parts()
    assert parts.keep_columns(np.array([2, 9])) == [None] * 4


def test_thousands_of_small_chunks_are_joined():
    X = np.random.default_rng(0).normal(size=(600, 4))
    chunked = da.from_array(X, chunks=(1, 4))
    bounds, groups = grouped_chunks(chunked)
    assert len(bounds) == len(groups) <= FEW_PARTS
    assert bounds[0][0] == 0
    assert bounds[-1][1] == 600
    assert all(one[1] == other[0] for one, other in pairwise(bounds))
    np.testing.assert_allclose(as_operator(chunked).gram(), as_operator(X).gram())


# Every selector ----------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", sorted(featsieve.selectors.__all__))
def test_every_selector_gives_the_answer_of_the_table_in_memory(name):
    X = make_planted(60, 20, n_informative=6, n_clusters=3, signal=3.0, random_state=0).X
    selector = getattr(featsieve, name)()
    settings = {"n_features_to_select": 6, "n_clusters": 3, "random_state": 0, "max_iter": 5}
    known = selector.get_params()
    selector.set_params(**{key: value for key, value in settings.items() if key in known})
    chunked = da.from_array(X, chunks=(25, 20))
    expected, found = clone(selector).fit(X), selector.fit(chunked)
    np.testing.assert_array_equal(found.support_, expected.support_)
    largest = np.abs(expected.scores_).max()
    np.testing.assert_allclose(found.scores_, expected.scores_, rtol=0.0, atol=1e-6 * largest)
    assert set(vars(found)) == set(vars(expected))
    assert not [key for key, value in vars(found).items() if isinstance(value, da.Array)]
    assert found.n_features_in_ == 20
    columns = found.transform(chunked)
    assert columns.chunks == ((25, 25, 10), (6,))
    np.testing.assert_array_equal(columns.compute(), X[:, expected.support_])


@pytest.mark.slow
def test_what_is_left_to_be_found_is_found_from_subsamples():
    X = make_planted(90, 15, n_informative=6, n_clusters=3, signal=3.0, random_state=0).X
    chunked = da.from_array(X, chunks=(40, 15))
    assert suggest_n_clusters(chunked).n_clusters == suggest_n_clusters(X).n_clusters
    selector = JASFS("auto", random_state=0)
    expected, found = clone(selector).fit(X), clone(selector).fit(chunked)
    np.testing.assert_array_equal(found.support_, expected.support_)
    np.testing.assert_allclose(found.path_.curve.values, expected.path_.curve.values, rtol=1e-9)
    np.testing.assert_array_equal(found.predict(chunked).compute(), expected.predict(X))
    plain = LaplacianScore(n_features_to_select="auto")
    np.testing.assert_array_equal(clone(plain).fit(chunked).support_, clone(plain).fit(X).support_)


def test_subsamples_of_a_dask_array():
    X = make_planted(60, 12, n_informative=4, n_clusters=3, signal=3.0, random_state=0).X
    selector = StabilitySelection(
        MaxVariance(n_features_to_select=4), n_subsamples=4, random_state=0
    )
    found = clone(selector).fit(da.from_array(X, chunks=(25, 12)))
    np.testing.assert_array_equal(found.selections_, selector.fit(X).selections_)
