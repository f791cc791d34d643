"""Threads: the same answer whatever their number, and none of our own."""

import inspect
import os
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest
from joblib import Parallel, cpu_count, delayed
from threadpoolctl import threadpool_info, threadpool_limits

import featsieve
from featsieve.datasets import make_planted

SOURCE = Path(featsieve.__file__).parent
SELECTORS = ("LaplacianScore", "MCFS", "NDFS", "UDFS", "JASFS")
OTHERS = tuple(name for name in featsieve.selectors.__all__ if name not in SELECTORS)
# Programs of their own, not part of a fit: the demonstration's server, a benchmark's workers, ...
OUTSIDE = ("bench", "cli", "demo")


def fitted(name, X):
    cls = getattr(featsieve, name)
    wanted = {"n_clusters": 3, "n_features_to_select": 10, "random_state": 0, "max_iter": 8}
    parameters = inspect.signature(cls).parameters
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cls(**{key: value for key, value in wanted.items() if key in parameters}).fit(X)


def largest_pools(_):
    """Return how many threads BLAS and OpenMP may use in a worker, while it fits."""
    X = make_planted(40, 20, n_clusters=3, random_state=0).X
    fitted("JASFS", X)
    return max((pool["num_threads"] for pool in threadpool_info()), default=1)


@pytest.mark.slow  # two threads on a busy machine wait for one another
@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        *((name, dtype) for name in SELECTORS for dtype in (np.float64, np.float32)),
        *((name, np.float64) for name in OTHERS),
    ],
)
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


@pytest.mark.slow
def test_workers_share_the_cores():
    # joblib's loky workers divide the cores; nothing in a fit may raise that again.
    asked = [int(os.environ.get(name, 1)) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")]
    allowed = max(cpu_count() // 2, *asked)
    pools = Parallel(n_jobs=2, backend="loky")(delayed(largest_pools)(job) for job in range(2))
    assert max(pools) <= allowed


def test_the_estimators_make_no_pools_of_threads():
    # joblib's alone: a user chooses its backend and its size. (A lock is no thread.)
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        if path.relative_to(SOURCE).parts[0] in OUTSIDE:
            continue
        text = path.read_text()
        words = ("concurrent.futures", "multiprocessing", "ThreadPool", "threading.Thread(")
        found += [f"{path.name}: {word}" for word in words if word in text]
    assert found == []
