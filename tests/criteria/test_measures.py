"""Label-free criteria: known answers, literal definitions, and what they are for."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score

from featsieve import defaults
from featsieve.criteria.clusterings import SelectedClusterings
from featsieve.criteria.measures import as_criterion
from featsieve.datasets import make_planted
from featsieve.graphs.affinity import modularity
from featsieve.graphs.views import view_of_labels
from featsieve.tuning import Criterion, LabelAgreement, Modularity

ALL = [Modularity, LabelAgreement]


@pytest.fixture(scope="module")
def planted():
    return make_planted(120, 80, n_informative=15, n_clusters=3, signal=2.0, random_state=1)


def runs_of(X, support, n_clusters, *, scale="unit", n_runs=10):
    """Return the clusterings that a criterion with random_state=0 looks at."""
    random_state = np.random.RandomState(0)
    many = SelectedClusterings(X, n_clusters, scale=scale, n_runs=n_runs, random_state=random_state)
    return many(support)


@pytest.mark.parametrize("scale", ["unit", "none"])
def test_agreement_is_the_mean_adjusted_rand_index_of_single_k_means_runs(planted, scale):
    support = np.array([0, 5, 17, 30])
    found = runs_of(planted.X, support, 3, scale=scale)
    expected = [adjusted_rand_score(planted.labels, run) for run in found]
    judge = LabelAgreement(scale=scale).prepare(planted.X, planted.labels)
    np.testing.assert_allclose(judge(support), expected)
    value = LabelAgreement(scale=scale)(planted.X, support, planted.labels)
    assert value == pytest.approx(np.mean(expected))


def test_modularity_is_taken_on_the_graph_of_all_columns(planted):
    support = np.flatnonzero(planted.informative)
    graph = view_of_labels(planted.X, planted.labels).graph
    expected = [modularity(graph, run) for run in runs_of(planted.X, support, 3)]
    judge = Modularity(scale="unit").prepare(planted.X, planted.labels)
    np.testing.assert_allclose(judge(support), expected)
    given = Modularity(scale="unit", graph=graph).prepare(planted.X, planted.labels)
    np.testing.assert_allclose(given(support), expected)


@pytest.mark.parametrize("kind", ALL)
def test_the_scale_in_which_a_selection_is_better_counts(kind, planted):
    """One column of noise in a large unit: only columns of unit variance show the clusters."""
    X = planted.X * np.where(np.arange(80) == np.flatnonzero(~planted.informative)[0], 1e4, 1.0)
    support = np.append(np.flatnonzero(planted.informative), np.argmax(X.std(axis=0)))
    both, unit, raw = (
        kind(scale=scale).prepare(X, planted.labels)(support) for scale in ("both", "unit", "none")
    )
    assert raw.mean() < both.mean() - 0.2
    np.testing.assert_array_equal(both, unit[::2])  # its runs, every other one of all
    Z = (planted.X - planted.X.mean(axis=0)) / planted.X.std(axis=0)  # both scales are one
    both, unit = (
        kind(scale=scale).prepare(Z, planted.labels)(support) for scale in ("both", "unit")
    )
    np.testing.assert_allclose(both, unit)


def test_modularity_on_a_given_graph_knows_the_answer():
    labels = np.repeat([0, 1], 20)
    X = np.column_stack([10.0 * labels, np.tile([0.0, 10.0], 20)])
    X += 0.01 * np.random.default_rng(0).standard_normal(X.shape)
    graph = sp.csr_array(sp.block_diag([sp.csr_array(np.ones((20, 20)) - np.eye(20))] * 2))
    on_graph = Modularity(n_runs=3, graph=graph)
    assert on_graph(X, [0], labels) == pytest.approx(0.5)  # both components, nothing across
    # Every second sample: 180 of 380 edges inside, less one half.
    assert on_graph(X, [1], labels) == pytest.approx(2 * 2 * 10 * 9 / 760 - 0.5)


@pytest.mark.parametrize("kind", ALL)
def test_informative_columns_score_higher_than_noise(kind, planted, monkeypatch):
    informative, noise = (np.flatnonzero(m) for m in (planted.informative, ~planted.informative))
    judge = kind().prepare(planted.X, planted.labels)
    assert np.mean(judge(informative)) > np.mean(judge(noise[:15])) + 0.005
    monkeypatch.setattr(defaults, "CRITERION_SAMPLES", 90)  # so many rows are looked at
    labels = np.concatenate([planted.labels[:-1], [9]])  # a cluster that may be left out
    judge = kind().prepare(sp.csr_array(planted.X), labels)
    assert np.mean(judge(informative)) > np.mean(judge(noise[:15]))


@pytest.mark.parametrize("kind", ALL)
def test_neither_form_nor_names_nor_units_matter(kind, planted):
    X, labels = planted.X, planted.labels
    support = np.flatnonzero(planted.informative)[:4]
    # (The raw view of the modularity graph does depend on units: it is given here.)
    options = {"graph": view_of_labels(X, labels).graph} if kind is Modularity else {}
    judge = kind(scale="unit", **options)
    expected = pytest.approx(judge(X, support, labels), abs=1e-9)
    assert judge(X, np.isin(np.arange(80), support), labels) == expected
    assert judge(sp.csc_matrix(X), support, labels) == expected
    assert judge(pd.DataFrame(X), support.tolist(), np.array(["b", "c", "a"])[labels]) == expected
    units = 10.0 ** np.random.default_rng(0).uniform(-2, 2, 80)
    assert judge(X * units, support, labels) == expected


def test_a_criterion_of_ones_own_is_one_method_or_a_function():
    class Share(Criterion):
        name = "share"

        def _prepare(self, X, labels, random_state):
            return lambda support: np.array([len(support) / X.shape[1], 0.0])

    assert as_criterion(Share()).name == "share"
    assert Share()(np.zeros((3, 4)), [0, 1], [0, 0, 1]) == 0.25

    def share(X, support, labels):
        return support.mean()

    assert as_criterion(share).name == "share"
    assert as_criterion(share)(np.eye(4), [0, 1], [0, 0, 1, 1]) == 0.5


def test_mistakes_get_an_answer(small_planted):
    X, labels = small_planted.X, small_planted.labels
    for wrong in ("silhouette", None, Modularity):
        with pytest.raises(ValueError, match="'modularity', 'agreement', a Criterion"):
            as_criterion(wrong)
    with pytest.raises(ValueError, match="support must be a mask"):
        LabelAgreement()(X, [], labels)
    with pytest.raises(ValueError, match="labels has 79 entries but X has 80 rows"):
        LabelAgreement()(X, [0, 1], labels[:-1])
    with pytest.raises(ValueError, match="labels has missing entries"):
        LabelAgreement()(X, [0], np.where(np.arange(80) == 3, np.nan, 1.0))
    with pytest.raises(ValueError, match="graph must link the 80 samples"):
        Modularity(graph=sp.csr_array(np.ones((5, 5))))(X, [0], labels)
    with pytest.raises(ValueError, match="All 3 columns of X are constant"):
        Modularity()(np.full((6, 3), 4.0), [0, 1], [0, 1, 2] * 2)
