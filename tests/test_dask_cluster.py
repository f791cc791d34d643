"""Fits on a real cluster of two worker processes: the answer of a table in memory, always."""

import os
import signal
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from featsieve import (
    JASFS,
    NDFS,
    LaplacianScore,
)
from featsieve.arrays import as_operator
from featsieve.datasets import make_planted

if not os.environ.get("FEATSIEVE_REQUIRE_DASK"):
    pytest.importorskip("distributed")

from dask import array as da
from distributed import Client, LocalCluster

pytestmark = pytest.mark.slow

MEMORY = 450_000_000  # bytes that a worker may use; half of it is Python and the libraries


@contextmanager
def running_cluster():
    """Run a cluster of two processes, and yield its client."""
    settings = {"n_workers": 2, "threads_per_worker": 1, "processes": True}
    with (
        LocalCluster(**settings, memory_limit=MEMORY, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def client():
    """Return the client of a cluster for the tests that do it no harm."""
    with running_cluster() as client:
        yield client


@pytest.fixture
def own_client():
    """Return the client of a cluster for one test."""
    with running_cluster() as client:
        yield client


@pytest.fixture(scope="module")
def planted():
    """Return a table whose clusters are easy to find."""
    return make_planted(600, 40, n_informative=8, n_clusters=3, signal=3.0, random_state=0)


def pids(client):
    """Return the processes of the workers."""
    return set(client.run(os.getpid).values())


def same_fit(one, other):
    """Check that two fits give the same answer."""
    np.testing.assert_array_equal(one.support_, other.support_)
    np.testing.assert_allclose(one.scores_, other.scores_, rtol=1e-6, atol=1e-12)
    if hasattr(one, "coef_"):
        largest = np.abs(one.coef_).max()
        np.testing.assert_allclose(one.coef_, other.coef_, rtol=0.0, atol=1e-6 * largest)
    if hasattr(one, "labels_"):
        np.testing.assert_array_equal(one.labels_, other.labels_)


def where(part, n):
    """Return the process that works on a part, for every row of it, after a while."""
    time.sleep(0.05)
    return np.full(part.shape[0], os.getpid() + 0 * n)


def test_products_are_those_in_memory_and_are_made_on_both_workers(client, planted):
    operator = as_operator(da.from_array(planted.X, chunks=(25, 40)), scale="unit")
    in_memory = as_operator(planted.X, scale="unit")
    rng = np.random.default_rng(0)
    W, R = rng.normal(size=(40, 3)), rng.normal(size=(600, 3))
    np.testing.assert_allclose(operator.matmul(W), in_memory.matmul(W), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(operator.rmatmul(R), in_memory.rmatmul(R), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(operator.gram(), in_memory.gram(), rtol=1e-9, atol=1e-12)
    parts = operator.parts()
    assert len(parts.bounds) == 24
    processes = set(parts.gather(parts.map(where, shared=(1,))).tolist())
    assert processes == pids(client)
    assert len(processes) == 2
    assert os.getpid() not in processes


@pytest.mark.parametrize(
    "selector",
    [
        JASFS(3, n_features_to_select=8, random_state=0),
        LaplacianScore(n_features_to_select=8),
        NDFS(3, n_features_to_select=8, random_state=0),
    ],
    ids=["JASFS", "LaplacianScore", "NDFS"],
)
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_fits_are_those_in_memory(client, planted, selector, kind):
    X = planted.X
    if kind == "sparse":
        X = np.where(np.abs(X) > 1.0, X, 0.0)
    chunked = da.from_array(X, chunks=(200, 40))
    if kind == "sparse":
        X, chunked = sp.csr_array(X), chunked.map_blocks(sp.csr_array)
    expected, found = clone(selector).fit(X), clone(selector).fit(chunked)
    same_fit(found, expected)
    assert set(vars(found)) == set(vars(expected))
    columns = found.transform(chunked)
    assert isinstance(columns, da.Array)
    if kind == "dense":
        np.testing.assert_array_equal(columns.compute(), found.transform(X))
    if hasattr(found, "predict"):
        np.testing.assert_array_equal(found.predict(chunked).compute(), found.predict(X))


def fatal_chunk(folder, X, length, block_info=None):
    """Return some rows; when ``length`` chunks have been read, the process dies."""
    (start, stop), _ = block_info[None]["array-location"]
    log = Path(folder) / "reads"
    with log.open("a") as file:
        file.write(f"{start}\n")
    deadly = Path(folder) / "deadly"
    if len(log.read_text().splitlines()) >= length and not deadly.exists():
        deadly.write_text(str(os.getpid()))
        os.kill(os.getpid(), signal.SIGKILL)
    return X[start:stop]


def test_a_worker_that_is_killed_changes_nothing(own_client, planted, tmp_path):
    client, reads = own_client, 44
    selector = JASFS(3, n_features_to_select=8, random_state=0)
    before = pids(client)
    X = da.map_blocks(
        partial(fatal_chunk, str(tmp_path), planted.X, reads),
        chunks=((75,) * 8, (40,)),
        dtype=planted.X.dtype,
        meta=np.zeros((0, 0)),
    )
    found = clone(selector).fit(X)
    victim = int((tmp_path / "deadly").read_text())
    assert victim in before
    assert len((tmp_path / "reads").read_text().splitlines()) > reads + 8  # it went on
    same_fit(found, clone(selector).fit(planted.X))
    undisturbed = clone(selector).fit(da.from_array(planted.X, chunks=(75, 40)))
    # the order of all sums is fixed; what a new process rounds differently is left
    np.testing.assert_allclose(found.coef_, undisturbed.coef_, rtol=1e-11, atol=1e-16)
    client.wait_for_workers(2, timeout=60)
    limit = time.monotonic() + 60.0
    while victim in pids(client) or len(pids(client)) < 2:
        assert time.monotonic() < limit
        time.sleep(0.1)


def large_chunk(block_info=None):
    """Return random rows in which the first six columns tell three clusters apart."""
    (start, stop), _ = block_info[None]["array-location"]
    X = np.random.default_rng(start).random((stop - start, 500))
    X[:, :6] += 1.5 * (np.arange(start, stop)[:, None] % 3 == np.arange(6) % 3)
    return X


def test_a_table_larger_than_the_memory_of_the_workers(own_client):
    client = own_client
    n, length = 227_500, 3_250
    X = da.map_blocks(
        large_chunk,
        chunks=((length,) * (n // length), (500,)),
        dtype=np.float64,
        meta=np.zeros((0, 0)),
    )
    assert X.nbytes > 2 * MEMORY
    before = pids(client)
    sieve = JASFS(3, n_features_to_select=6, max_iter=1, random_state=0).fit(X)
    assert sieve.n_landmarks_ > 0
    assert np.flatnonzero(sieve.support_).tolist() == [0, 1, 2, 3, 4, 5]
    own = [np.bincount(sieve.labels_[k::3], minlength=3).max() for k in range(3)]
    assert sum(own) > 0.9 * n
    assert pids(client) == before  # nobody was killed for its memory
