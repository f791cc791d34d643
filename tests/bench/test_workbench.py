import numpy as np
import pytest
import scipy.sparse as sp

from featsieve.bench.worker import Workbench
from featsieve.datasets import Dataset, load_dataset
from featsieve.hypotheses.families import table_labels
from featsieve.tuning import Modularity


@pytest.fixture(scope="module")
def planted():
    return load_dataset("planted_small")


def test_criterion_is_the_modularity_of_the_library(planted):
    support = np.array([1, 4, 9])
    labels = table_labels(planted.X, 3, random_state=np.random.RandomState(0))
    expected = Modularity()(planted.X, support, labels)
    assert Workbench(planted).criterion(support) == expected


def test_criterion_cannot_see_the_classes(planted):
    shuffled = np.random.default_rng(0).permutation(planted.y)
    support = np.array([0, 3, 5])
    values = {
        Workbench(Dataset("planted", planted.X, classes)).criterion(support)
        for classes in (planted.y, shuffled)
    }
    assert len(values) == 1


def test_a_selection_is_judged_once(planted):
    bench = Workbench(planted)
    support = np.array([0, 2, 7])
    row = bench.evaluate(support, n_seeds=2, practical=False)
    assert row is bench.evaluate(support.copy(), n_seeds=2, practical=False)


def test_sparse_tables_stay_sparse_and_single_precision_becomes_double(planted):
    X = np.maximum(planted.X, 0.0)
    support = np.array([3, 5, 8])
    dense, sparse = (Workbench(Dataset("some", kind, planted.y)) for kind in (X, sp.csr_array(X)))
    assert sp.issparse(sparse.X)
    rows = [one.evaluate(support, n_seeds=1, practical=False) for one in (dense, sparse)]
    assert rows[0]["redundancy"] == pytest.approx(rows[1]["redundancy"])
    assert rows[0]["criterion"] == pytest.approx(rows[1]["criterion"])
    assert Workbench(Dataset("single", X.astype(np.float32), planted.y)).X.dtype == np.float64
