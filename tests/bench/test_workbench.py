import inspect

import numpy as np
import pytest
import scipy.sparse as sp

from featsieve.bench.methods import make_selector, shared_start, shares_graph
from featsieve.bench.workbench import LabelFreeCriterion, Workbench
from featsieve.datasets import Dataset, load_dataset, make_planted
from featsieve.evaluation import paper_protocol, practical_protocol, redundancy
from featsieve.graphs.initial_labels import table_labels
from featsieve.tuning import Modularity

PUBLISHED = {"solver": "paper", "sparsity": 1e-3}
# Selectors that are handed a graph, first labels, or both.
SHARING = {
    "LaplacianScore": ({}, True, None),
    "SPEC": ({}, True, None),
    "MCFS": ({}, True, None),
    "NDFS": ({}, True, "spectral"),
    "RSFS": ({}, True, "spectral"),
    "RUFS": ({}, True, "spectral"),
    "AUFS": ({"n_features_to_select": 8}, True, "spectral"),
    "UGFS": ({"n_features_to_select": 8}, True, "spectral"),
    "JASFS": (PUBLISHED, False, "authors"),
}


@pytest.fixture(scope="module")
def planted():
    return load_dataset("planted_small")


def table(kind):
    made = make_planted(40, 50, n_informative=10, n_clusters=3, random_state=3)
    X = sp.csr_array(np.maximum(made.X, 0.0)) if kind == "sparse" else made.X
    return Dataset(kind, X, made.labels)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("name", SHARING)
def test_sharing_does_not_change_the_scores(name, kind):
    params, graph, start = SHARING[name]
    bench = Workbench(table(kind))
    alone, sharing = (make_selector(name, params, n_clusters=3, random_state=7) for _ in range(2))
    assert shares_graph(sharing) == graph
    assert shared_start(sharing) == start
    bench.share(sharing)
    if graph:
        assert sp.issparse(sharing.affinity)
    if start:
        assert not isinstance(sharing.init, str)
    alone.fit(bench.X)
    sharing.fit(bench.X)
    assert np.array_equal(sharing.scores_, alone.scores_)
    assert np.array_equal(sharing.ranking_, alone.ranking_)
    assert np.array_equal(sharing.support_, alone.support_)
    if hasattr(alone, "labels_"):
        pairs = set(zip(sharing.labels_, alone.labels_, strict=True))
        assert len(pairs) == len(np.unique(alone.labels_)) == len(np.unique(sharing.labels_))


def test_everything_that_can_be_shared_is_tested():
    from featsieve.bench.methods import selector_names

    for name in selector_names():
        params = PUBLISHED if name == "JASFS" else {}
        selector = make_selector(name, params, n_clusters=3, random_state=0)
        expected = SHARING.get(name, (None, False, None))[1:]
        assert (shares_graph(selector), shared_start(selector)) == expected


def test_graphs_and_labels_are_computed_once_per_setting(planted):
    bench = Workbench(planted)
    assert bench.graph("unit", 5) is bench.graph("unit", 5)
    assert bench.graph("unit", 5) is not bench.graph("none", 5)
    how = {"n_neighbors": 5, "n_clusters": 3}
    one = bench.start("spectral", "unit", **how, random_state=0)
    assert one is bench.start("spectral", "unit", **how, random_state=0)
    assert one is not bench.start("spectral", "unit", **how, random_state=1)


def test_labels_with_an_empty_cluster_are_not_handed_over():
    X = np.repeat([[0.0, 1.0], [5.0, 2.0]], 10, axis=0)  # two points, four clusters
    bench = Workbench(Dataset("two", X, np.arange(20) % 4))
    selector = make_selector("NDFS", {}, n_clusters=4, random_state=0)
    bench.share(selector)
    given = selector.init
    assert isinstance(given, str) or len(np.unique(given)) == 4


def test_criterion_is_the_modularity_of_the_library(planted):
    support = np.array([1, 4, 9])
    labels = table_labels(planted.X, 3, random_state=np.random.RandomState(0))
    expected = Modularity()(planted.X, support, labels)
    assert LabelFreeCriterion(planted.X, n_clusters=3)(support) == expected


def test_criterion_cannot_see_the_classes(planted):
    assert set(inspect.signature(LabelFreeCriterion).parameters) == {"X", "n_clusters"}
    shuffled = np.random.default_rng(0).permutation(planted.y)
    support = np.array([0, 3, 5])
    values = set()
    for classes in (planted.y, shuffled):
        bench = Workbench(Dataset("planted", planted.X, classes))
        values.add(bench.criterion(support))
        reachable = vars(bench.criterion).values()
        assert not any(np.array_equal(value, classes) for value in reachable)
    assert len(values) == 1


def test_judgements_are_those_of_the_protocols_and_made_once(planted):
    bench = Workbench(planted)
    support = np.array([0, 2, 7])
    scores = bench.judge(support, n_seeds=4)
    assert scores is bench.judge(support.copy(), n_seeds=4)
    expected = paper_protocol(planted.X[:, support], planted.y, n_seeds=4)
    assert np.array_equal(scores.accuracy, expected.accuracy)
    practical = bench.judge_practical(support)
    assert practical.mean() == practical_protocol(planted.X[:, support], planted.y).mean()
    assert bench.redundancy(support) == redundancy(planted.X, support)
    perfect = bench.judge_labels(planted.y)
    assert perfect.mean() == (1.0, 1.0, 1.0)


def test_sparse_tables_stay_sparse_and_single_precision_becomes_double():
    dense, sparse = table("dense"), table("sparse")
    bench = Workbench(sparse)
    assert sp.issparse(bench.X)
    assert sp.issparse(bench.columns(np.array([1, 2])))
    support = np.array([3, 5, 8])
    other = Workbench(Dataset("dense", sparse.X.toarray(), sparse.y))
    assert bench.scatter(support) == other.scatter(support)
    single = Workbench(Dataset("single", dense.X.astype(np.float32), dense.y))
    assert single.X.dtype == np.float64
