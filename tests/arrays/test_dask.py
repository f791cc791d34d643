"""Dask arrays: products and fits of the same table in memory, what is refused, what comes back."""

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
from featsieve.tuning import structure_test, suggest_n_clusters
from tests.array_library_checks import quick
from tests.arrays.products import assert_products, explicit

if not os.environ.get("FEATSIEVE_REQUIRE_DASK"):
    pytest.importorskip("dask.array")

from dask import array as da

from featsieve.arrays import dask as operator_module
from featsieve.arrays.dask import FEW_PARTS, row_chunks, tree

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
@pytest.mark.parametrize(("scale", "center"), [("unit", True), ("std", False), ("none", True)])
def test_every_product_is_that_of_the_table_in_memory(kind, scale, center):
    if kind == "far" and not center:
        pytest.skip("a table far from the origin that is not centred has few digits")
    X, chunked = tables(kind)
    operator = as_operator(chunked, scale=scale, center=center)
    Z = explicit(X.toarray() if kind == "sparse" else X, scale=scale, center=center)
    assert_products(operator, Z, tolerance=1e-8 if kind == "far" else 1e-11)
    R = np.random.default_rng(2).normal(size=(203, 3))
    size = np.abs(Z).max()
    np.testing.assert_allclose(operator.rows(48, 130), Z[48:130], atol=1e-9 * size)
    assert operator.rows(3, 3).shape == (0, 31)
    rows = np.array([150, 7, 60])
    np.testing.assert_allclose(operator.at_rows(rows).rows(0, 3), Z[rows], atol=1e-9 * size)
    part = operator.part(40, 90)
    np.testing.assert_allclose(part.rmatmul(R[40:90]), Z[40:90].T @ R[40:90], atol=1e-8 * size)


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


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_thousands_of_small_chunks_are_joined(make):
    X = np.random.default_rng(0).normal(size=(600, 4))
    chunked = da.from_array(X, chunks=(1, 4)).map_blocks(make)
    bounds, chunks = row_chunks(chunked)
    assert len(bounds) == len(chunks) <= FEW_PARTS + 3
    assert bounds[0][0] == 0
    assert bounds[-1][1] == 600
    assert all(one[1] == other[0] for one, other in pairwise(bounds))
    np.testing.assert_allclose(as_operator(chunked).gram(), as_operator(X).gram())


# Every selector ----------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", sorted(featsieve.selectors.__all__))
def test_every_selector_gives_the_answer_of_the_table_in_memory(name):
    X = make_planted(60, 20, n_informative=6, n_clusters=3, signal=3.0, random_state=0).X
    selector = quick(name, n_features_to_select=6)
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


# Tables as a user passes them in -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (da.zeros((9, 6), chunks=(3, 2)), r"pass X\.rechunk\(\{1: -1\}\)"),
        (da.zeros((9, 6), chunks=(3, 2)), r"X\.rechunk\(\{0: 1398101, 1: -1\}\)"),
        (da.zeros(9, chunks=3), "2D array"),
        (da.zeros((9, 6), chunks=3)[:, :0], r"0 feature\(s\)"),
        (da.zeros((1, 6), chunks=6), "a minimum of 2 is required"),
        (da.zeros((9, 6), chunks=(3, 6), dtype=complex), "real numbers"),
        (
            da.zeros((9, 6), chunks=(3, 6))[da.arange(9, chunks=3) > 2],
            r"X\.compute_chunk_sizes\(\)",
        ),
        (da.zeros((9, 6), chunks=(3, 6)), "All 6 columns of X are constant"),
    ],
)
def test_what_cannot_be_used_is_refused_with_the_way_out(X, message):
    with pytest.raises(ValueError, match=message):
        MaxVariance(n_features_to_select=1).fit(X)


def test_numbers_that_are_not_finite_are_counted_in_one_pass():
    X = np.random.default_rng(0).normal(size=(20, 5))
    X[[3, 17], 2] = np.nan
    X[11, 4] = np.inf
    with pytest.raises(ValueError, match=r"^Input X contains NaN: 3 .* 2 columns \(2, 4\)\. JASFS"):
        JASFS(2).fit(da.from_array(X, chunks=(6, 5)))
    with pytest.raises(ValueError, match="contains NaN: 3"):
        JASFS(2).fit(da.from_array(X, chunks=(6, 5)).map_blocks(sp.csr_array))


@pytest.mark.parametrize("kind", ["dense", "sparse", "columns"])
def test_new_rows_that_are_not_finite_are_refused_when_they_are_read(kind):
    X, chunked = tables("dense")
    sieve = JASFS(2, n_features_to_select=4, random_state=0).fit(chunked)
    X = X.copy()
    X[[60, 61], 20] = np.nan  # in a column that need not be selected, as in memory
    bad = da.from_array(X, chunks=(CHUNKS[0], (16, 15)) if kind == "columns" else CHUNKS)
    if kind == "sparse":
        bad = bad.map_blocks(sp.csr_array)
    message = r"^Input X contains NaN: 2 .* 1 column \(20\)\. JASFS does not accept"
    for lazy in (sieve.transform(bad), sieve.predict(bad)):
        with pytest.raises(ValueError, match=message):
            lazy.compute()
        assert lazy.partitions[0].compute().shape[0] == 50
    with pytest.raises(ValueError, match=message):
        sieve.certify(bad)


@pytest.mark.parametrize("told", [True, False])
def test_masked_arrays_are_refused(told):
    X = tables("dense")[0]
    selector = MaxVariance(n_features_to_select=1).fit(X)
    masked = da.from_array(X, chunks=CHUNKS).map_blocks(
        np.ma.masked_greater, 3.0, meta=None if told else np.zeros((0, 0))
    )
    assert isinstance(masked._meta, np.ma.MaskedArray) == told
    with pytest.raises(ValueError, match=r"masked array: fill .* dask\.array\.ma\.filled"):
        clone(selector).fit(masked)
    with pytest.raises(ValueError, match="masked array: fill"):
        selector.transform(masked).compute()
    filled = da.ma.filled(masked, 0.0)
    assert clone(selector).fit(filled).n_features_in_ == 31


def file_chunk(path, block_info=None):
    """Return the rows of a chunk as they are in the file now."""
    (start, stop), _ = block_info[None]["array-location"]
    return np.load(path)[start:stop]


def test_what_was_measured_before_a_file_changed_is_forgotten(tmp_path):
    path = tmp_path / "table.npy"
    X = make_planted(60, 12, n_informative=4, n_clusters=3, signal=3.0, random_state=0).X
    np.save(path, X)
    chunks = ((25, 25, 10), (12,))
    meta = np.zeros((0, 0))
    chunked = da.map_blocks(file_chunk, path, chunks=chunks, dtype=np.float64, meta=meta)
    sieve = JASFS(3, n_features_to_select=4, random_state=0).fit(chunked)
    assert suggest_n_clusters(chunked).n_clusters == suggest_n_clusters(X).n_clusters
    assert structure_test(chunked).summary() == structure_test(X).summary()
    noise = np.random.default_rng(0).normal(size=X.shape)
    changed = 7.0 + (X + 0.3 * noise) * np.linspace(0.1, 9.0, 12)
    np.save(path, changed)
    assert structure_test(chunked).summary() == structure_test(changed).summary()
    found, expected = sieve.certify(chunked), sieve.certify(changed)
    assert found.lower_bound == pytest.approx(expected.lower_bound)
    assert expected.lower_bound != pytest.approx(sieve.certify(X).lower_bound)
    np.testing.assert_allclose(as_operator(chunked).original_mean, changed.mean(axis=0))
    changed[3, 5] = np.nan
    np.save(path, changed)
    message = r"contains NaN: 1 .* 1 column \(5\)"
    for ask in (
        lambda: structure_test(chunked),
        lambda: suggest_n_clusters(chunked),
        lambda: sieve.certify(chunked),
    ):
        with pytest.raises(ValueError, match=message):
            ask()


def test_a_fit_measures_the_table_once(monkeypatch):
    merges = []
    monkeypatch.setattr(
        operator_module, "tree", lambda tasks, merge: merges.append(merge) or tree(tasks, merge)
    )
    chunked = da.from_array(tables("dense")[0], chunks=CHUNKS)
    LaplacianScore(n_features_to_select=4).fit(chunked)
    assert merges.count(operator_module.merge) == 1
    assert operator_module.MOMENTS not in vars(chunked)


@pytest.mark.parametrize("frames", ["pandas", "polars"])
def test_data_frames_are_not_made_of_dask_arrays(frames):
    chunked = tables("dense")[1]
    sieve = JASFS(2, n_features_to_select=4, random_state=0).fit(chunked)
    sieve.set_output(transform=frames)
    with pytest.raises(ValueError, match=rf'{frames} .* set_output\(transform="default"\)'):
        sieve.transform(chunked)
    assert sieve.predict(chunked).compute().shape == (203,)
    sieve.set_output(transform="default")
    assert isinstance(sieve.transform(chunked), da.Array)


@pytest.mark.parametrize("kind", ["dense", "sparse", "columns"])
def test_selected_columns_go_back_to_their_places_lazily(kind):
    X, chunked = tables("dense" if kind == "columns" else kind)
    selector = MaxVariance(n_features_to_select=3).fit(X)
    expected, columns = (
        selector.inverse_transform(selector.transform(X)),
        selector.transform(chunked),
    )
    placed = selector.inverse_transform(columns.rechunk({1: 2}) if kind == "columns" else columns)
    assert isinstance(placed, da.Array)
    assert placed.chunks == CHUNKS
    chunk = placed.partitions[3].compute()
    if kind == "sparse":
        assert sp.issparse(chunk)
        chunk, expected = chunk.toarray(), expected.toarray()
    np.testing.assert_array_equal(chunk, expected[55:123])
    with pytest.raises(ValueError, match="a different shape than during fitting"):
        selector.inverse_transform(chunked)


def test_data_frames_of_dask_are_refused():
    frames = pytest.importorskip("dask.dataframe")
    import pandas as pd

    frame = frames.from_pandas(pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [1.0, 0.0, 1.0]}), 2)
    with pytest.raises(TypeError, match=r"to_dask_array\(lengths=True\)"):
        MaxVariance(n_features_to_select=1).fit(frame)
    X = frame.to_dask_array(lengths=True)
    selector = MaxVariance(n_features_to_select=1).fit(X)
    assert selector.support_.tolist() == [True, False]
    with pytest.raises(TypeError, match="Dask data frame"):
        selector.transform(frame)
    with pytest.raises(ValueError, match="has 1 features, but MaxVariance is expecting 2"):
        selector.transform(X[:, :1])


def test_chunks_of_another_width_than_announced_are_named():
    X = da.ones((20, 5), chunks=(10, 5))
    lies = X.map_blocks(lambda chunk: chunk[:, :3], dtype=float, chunks=X.chunks)
    with pytest.raises(ValueError, match="A chunk of X has 3 columns where X says 5"):
        MaxVariance(n_features_to_select=2).fit(lies)
