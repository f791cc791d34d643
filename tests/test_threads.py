"""Threads: the same answer whatever their number, and none of our own."""

import threading
import warnings

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from featsieve.datasets import make_planted
from tests.array_library_checks import quick

SELECTORS = ("LaplacianScore", "MCFS", "NDFS", "UDFS", "JASFS")


def fitted(name, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return quick(name, n_features_to_select=10, max_iter=8).fit(X)


@pytest.mark.slow  # two threads on a busy machine wait for one another
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", SELECTORS)
def test_one_and_two_threads_select_the_same(name, dtype):
    X = make_planted(150, 200, n_clusters=3, n_informative=20, random_state=0).X.astype(dtype)
    supports = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            supports.append(fitted(name, X).support_)
    np.testing.assert_array_equal(*supports)


@pytest.mark.parametrize("name", SELECTORS)
def test_a_fit_starts_no_threads_and_leaves_the_limits_alone(name, monkeypatch):
    started = []
    start = threading.Thread.start

    def noted(self):
        started.append(self.name)
        start(self)

    monkeypatch.setattr(threading.Thread, "start", noted)
    X = make_planted(60, 40, n_clusters=3, random_state=0).X
    before = {pool["filepath"]: pool["num_threads"] for pool in threadpool_info()}
    fitted(name, X)
    after = {pool["filepath"]: pool["num_threads"] for pool in threadpool_info()}
    assert started == []
    assert {path: after[path] for path in before} == before
