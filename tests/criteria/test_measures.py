"""Label-free criteria: known answers, literal definitions, and what they are for."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score, silhouette_samples, silhouette_score
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.preprocessing import StandardScaler

from featsieve import defaults
from featsieve.criteria.clusterings import SelectedClusterings
from featsieve.criteria.measures import (
    as_criterion,
    mean_silhouette,
)
from featsieve.datasets import make_planted
from featsieve.graphs.affinity import modularity
from featsieve.graphs.views import view_of_labels
from featsieve.tuning import (
    CentroidAccuracy,
    Criterion,
    FullSilhouette,
    LabelAgreement,
    Modularity,
)

ALL = [Modularity, LabelAgreement, CentroidAccuracy, FullSilhouette]


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
    judge = Modularity().prepare(planted.X, planted.labels)
    np.testing.assert_allclose(judge(support), expected)
    given = Modularity(graph=graph).prepare(planted.X, planted.labels)
    np.testing.assert_allclose(given(support), expected)


def test_modularity_on_a_given_graph_knows_the_answer():
    labels = np.repeat([0, 1], 20)
    X = np.column_stack([10.0 * labels, np.tile([0.0, 10.0], 20)])
    X += 0.01 * np.random.default_rng(0).standard_normal(X.shape)
    graph = sp.csr_array(sp.block_diag([sp.csr_array(np.ones((20, 20)) - np.eye(20))] * 2))
    on_graph = Modularity(n_runs=3, graph=graph)
    assert on_graph(X, [0], labels) == pytest.approx(0.5)  # both components, nothing across
    # Every second sample: 180 of 380 edges inside, less one half.
    assert on_graph(X, [1], labels) == pytest.approx(2 * 2 * 10 * 9 / 760 - 0.5)


def test_full_silhouette_of_columns_that_show_one_cluster_is_the_worst():
    X = np.random.default_rng(0).standard_normal((20, 3))
    X[:, 1] = 4.0
    assert FullSilhouette()(X, [1], np.arange(20) % 2) == -1.0


def test_silhouettes_of_some_samples_are_scikit_learns():
    rng = np.random.default_rng(1)
    points = np.vstack([rng.standard_normal((50, 2)), np.zeros((4, 2)), np.zeros((4, 2)) + 9.0])
    labels = np.array([*rng.integers(0, 3, 49), 7, 4, 4, 4, 4, 5, 5, 5, 5])  # 7: of one sample
    distances = euclidean_distances(points)
    np.fill_diagonal(distances, 0.0)
    each = silhouette_samples(points, labels)
    for rows in (np.arange(58), np.array([3, 11, 49, 50, 57])):
        found = mean_silhouette(distances[rows], rows, labels)
        assert found == pytest.approx(each[rows].mean())
    rows = np.arange(58)
    for no_clusters in (np.zeros(58, dtype=int), rows):
        assert mean_silhouette(distances, rows, no_clusters) == -1.0
    assert mean_silhouette(np.zeros((58, 58)), rows, labels) == 0.0  # all samples are the same


@pytest.mark.parametrize(("shape", "scale"), [((60, 25), "unit"), ((40, 90), "none")])
def test_full_silhouette_is_scikit_learns_in_all_columns(shape, scale):
    planted = make_planted(*shape, n_informative=10, n_clusters=3, random_state=0)
    X = planted.X * np.linspace(0.5, 2.0, shape[1])
    support = np.flatnonzero(planted.informative)
    Z = StandardScaler(with_std=scale == "unit").fit_transform(X)
    found = runs_of(X, support, 3, scale=scale, n_runs=3)
    expected = np.mean([silhouette_score(Z, run) for run in found])
    for table in (X, sp.csr_array(X)):
        value = FullSilhouette(scale=scale, n_runs=3)(table, support, planted.labels)
        assert value == pytest.approx(expected, abs=1e-9)


def leave_one_out(points, labels):
    """Return the balanced accuracy, each centroid computed without the sample; None at a tie."""
    shares = []
    for cluster in range(labels.max() + 1):
        hits = []
        for i in np.flatnonzero(labels == cluster):
            rest = np.arange(len(labels)) != i
            squares = np.full(labels.max() + 1, np.inf)
            for k in range(labels.max() + 1):
                members = rest & (labels == k)
                if members.any():
                    squares[k] = np.sum((points[i] - points[members].mean(axis=0)) ** 2)
            ordered = np.sort(squares)
            if ordered[1] - ordered[0] < 1e-9 * (1.0 + ordered[0]):
                return None
            hits.append(int(squares.argmin()) == cluster)
        shares.append(np.mean(hits))
    return np.mean(shares)


@st.composite
def labelled_tables(draw):
    n, d, c = draw(st.integers(3, 14)), draw(st.integers(1, 5)), draw(st.integers(2, 4))
    rng = np.random.default_rng(draw(st.integers(0, 100_000)))
    labels = np.unique(rng.integers(0, c, n), return_inverse=True)[1]
    assume(labels.max() > 0)
    spread = draw(st.sampled_from([0.0, 1.0, 5.0]))
    return rng.standard_normal((n, d)) + spread * rng.standard_normal((c, d))[labels], labels


@settings(max_examples=40)
@given(case=labelled_tables())
def test_centroid_accuracy_is_the_literal_leave_one_out_of_standardised_columns(case):
    X, labels = case
    X = np.hstack([X, X[:, :1] ** 2])
    support = np.arange(1, X.shape[1])
    expected = leave_one_out(StandardScaler().fit_transform(X)[:, support], labels)
    assume(expected is not None)
    assert CentroidAccuracy()(X, support, labels) == pytest.approx(expected)


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
        with pytest.raises(ValueError, match="'modularity', 'agreement', 'centroid_accuracy'"):
            as_criterion(wrong)
    with pytest.raises(ValueError, match="support selects no feature"):
        LabelAgreement()(X, [], labels)
    with pytest.raises(ValueError, match="labels has 79 entries but X has 80 rows"):
        LabelAgreement()(X, [0, 1], labels[:-1])
    with pytest.raises(ValueError, match="labels has missing entries"):
        CentroidAccuracy()(X, [0], np.where(np.arange(80) == 3, np.nan, 1.0))
    with pytest.raises(ValueError, match="graph must link the 80 samples"):
        Modularity(graph=sp.csr_array(np.ones((5, 5))))(X, [0], labels)
    with pytest.raises(ValueError, match="All 3 columns of X are constant"):
        FullSilhouette()(np.full((6, 3), 4.0), [0, 1], [0, 1, 2] * 2)
