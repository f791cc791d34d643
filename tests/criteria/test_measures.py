"""Label-free criteria: known answers, literal definitions, and what they are for."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score, silhouette_samples, silhouette_score
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.preprocessing import StandardScaler

from featsieve import defaults
from featsieve.criteria import measures as module
from featsieve.criteria.clusterings import SelectedClusterings
from featsieve.criteria.measures import (
    CRITERIA,
    as_criterion,
    centroid_accuracy,
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


# What a support that is right, wrong or random is worth ------------------------------------------


@pytest.mark.parametrize("kind", ALL)
def test_informative_columns_score_higher_than_noise_and_than_columns_at_random(kind, planted):
    rng = np.random.default_rng(0)
    judge = kind().prepare(planted.X, planted.labels)
    informative = np.flatnonzero(planted.informative)
    noise = np.flatnonzero(~planted.informative)
    right = np.mean(judge(informative))
    for _ in range(3):
        assert right > np.mean(judge(rng.choice(noise, 15, replace=False))) + 0.005
        assert right > np.mean(judge(rng.choice(80, 15, replace=False)))


def test_columns_that_carry_the_labels_agree_with_them_perfectly():
    rng = np.random.default_rng(0)
    labels = rng.permutation(np.arange(60) % 2)
    X = rng.standard_normal((60, 20))
    X[:, 4] += 50.0 * labels
    X[:, 9] -= 50.0 * labels
    assert LabelAgreement()(X, [4, 9], labels) == 1.0
    assert CentroidAccuracy()(X, [4, 9], labels) == 1.0
    assert LabelAgreement()(X, [0, 1], labels) < 0.3


# Each criterion against its definition ------------------------------------------------------------


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
    given = Modularity().on_graph(graph).prepare(planted.X, planted.labels)
    np.testing.assert_allclose(given(support), expected)


def test_modularity_on_a_given_graph_knows_the_answer():
    labels = np.repeat([0, 1], 20)
    X = np.column_stack([10.0 * labels, np.tile([0.0, 10.0], 20)])
    X += 0.01 * np.random.default_rng(0).standard_normal(X.shape)
    graph = sp.csr_array(sp.block_diag([sp.csr_array(np.ones((20, 20)) - np.eye(20))] * 2))
    criterion = Modularity(n_runs=3, tolerance=0.2, n_neighbors=7, random_state=5)
    on_graph = criterion.on_graph(graph)
    assert on_graph(X, [0], labels) == pytest.approx(0.5)  # both components, nothing across
    # Every second sample: 180 of 380 edges inside, less one half.
    assert on_graph(X, [1], labels) == pytest.approx(2 * 2 * 10 * 9 / 760 - 0.5)
    settings = ("scale", "n_runs", "tolerance", "n_neighbors", "random_state")
    for name in settings:
        assert getattr(on_graph, name) == getattr(criterion, name)


@pytest.mark.parametrize("shape", [(60, 25), (40, 90), (180, 150)])
@pytest.mark.parametrize("scale", ["unit", "none"])
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


def test_full_silhouette_of_columns_that_show_one_cluster_is_the_worst():
    X = np.random.default_rng(0).standard_normal((20, 3))
    X[:, 1] = 4.0
    assert FullSilhouette()(X, [1], np.arange(20) % 2) == -1.0


@pytest.mark.parametrize("criterion", ALL)
def test_a_table_that_does_not_vary_is_refused(criterion):
    with pytest.raises(ValueError, match="All 3 columns of X are constant"):
        criterion()(np.full((6, 3), 4.0), [0, 1], [0, 1, 2] * 2)


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


def test_full_silhouette_of_a_long_table_looks_at_some_samples(monkeypatch):
    made = make_planted(300, 30, n_informative=10, n_clusters=3, signal=3.0, random_state=0)
    support = np.flatnonzero(made.informative)
    exact = FullSilhouette(n_runs=2)(made.X, support, made.labels)
    shapes = []

    def noted(distances, rows, labels):
        shapes.append(distances.shape)
        return mean_silhouette(distances, rows, labels)

    monkeypatch.setattr(module, "mean_silhouette", noted)
    monkeypatch.setattr(defaults, "SILHOUETTE_SAMPLES", 100)
    assert FullSilhouette(n_runs=2)(made.X, support, made.labels) == pytest.approx(exact, abs=0.02)
    assert shapes == [(100, 300)] * 2


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
def labelled_points(draw):
    n, d, c = draw(st.integers(3, 14)), draw(st.integers(1, 5)), draw(st.integers(2, 4))
    rng = np.random.default_rng(draw(st.integers(0, 100_000)))
    labels = np.unique(rng.integers(0, c, n), return_inverse=True)[1]
    assume(labels.max() > 0)
    spread = draw(st.sampled_from([0.0, 1.0, 5.0]))
    return rng.standard_normal((n, d)) + spread * rng.standard_normal((c, d))[labels], labels


@given(case=labelled_points())
def test_centroid_accuracy_is_the_literal_leave_one_out(case):
    points, labels = case
    expected = leave_one_out(points, labels)
    assume(expected is not None)
    assert centroid_accuracy(points, labels) == pytest.approx(expected)


@given(case=labelled_points())
def test_the_criterion_takes_standardised_columns(case):
    X, labels = case
    X = np.hstack([X, X[:, :1] ** 2])
    support = np.arange(1, X.shape[1])
    expected = leave_one_out(StandardScaler().fit_transform(X)[:, support], labels)
    assume(expected is not None)
    assert CentroidAccuracy()(X, support, labels) == pytest.approx(expected)


# What may be passed in ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ALL)
def test_a_mask_and_indices_say_the_same(kind, planted):
    expected = kind()(planted.X, np.flatnonzero(planted.informative), planted.labels)
    assert kind()(planted.X, planted.informative, planted.labels) == expected
    assert kind()(planted.X, planted.informative.tolist(), planted.labels) == expected
    assert isinstance(expected, float)


@pytest.mark.parametrize("kind", ALL)
def test_sparse_tables_are_judged_as_dense_ones(kind, planted):
    support = np.flatnonzero(planted.informative)[:4]
    dense = kind()(planted.X, support, planted.labels)
    for table in (sp.csr_array(planted.X), sp.csc_matrix(planted.X)):
        assert kind()(table, support, planted.labels) == pytest.approx(dense, abs=1e-9)


@pytest.mark.parametrize("kind", ALL)
def test_names_of_labels_do_not_matter(kind, planted):
    support = np.flatnonzero(planted.informative)[:4]
    expected = kind()(planted.X, support, planted.labels)
    for names in (["b", "c", "a"], [7, -2, 100]):
        value = kind()(planted.X, support, np.array(names)[planted.labels])
        assert value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("kind", ALL)
def test_units_do_not_matter_with_unit_scale(kind, planted):
    # (The raw view of the modularity graph does depend on them: it is given here.)
    X = planted.X * 10.0 ** np.random.default_rng(0).uniform(-2, 2, 80)
    graph = view_of_labels(planted.X, planted.labels).graph
    options = {"graph": graph} if kind is Modularity else {}
    criterion = kind(scale="unit", **options)
    support = np.flatnonzero(planted.informative)[:5]
    values = [criterion(table, support, planted.labels) for table in (planted.X, X)]
    assert values[0] == pytest.approx(values[1], abs=1e-9)


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("support", [[], np.zeros(80, dtype=bool)])
def test_an_empty_support_is_refused(kind, support, planted):
    with pytest.raises(ValueError, match="support selects no feature"):
        kind()(planted.X, support, planted.labels)


@pytest.mark.parametrize("kind", ALL)
def test_labels_of_other_samples_are_refused(kind, planted):
    with pytest.raises(ValueError, match="labels has 119 entries but X has 120 rows"):
        kind()(planted.X, [0, 1], planted.labels[:-1])


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("as_table", [np.asarray, sp.csr_array])
def test_of_large_tables_some_samples_are_looked_at(kind, as_table, planted, monkeypatch):
    monkeypatch.setattr(defaults, "CRITERION_SAMPLES", 90)
    informative, noise = (np.flatnonzero(m) for m in (planted.informative, ~planted.informative))
    labels = np.concatenate([planted.labels[:-1], [9]])  # a cluster that may be left out
    judge = kind().prepare(as_table(planted.X), labels)
    assert np.mean(judge(informative)) > np.mean(judge(noise[:15]))
    again = kind().prepare(as_table(planted.X), labels)
    np.testing.assert_array_equal(again(informative), judge(informative))


def test_the_rows_looked_at_carry_their_own_labels(monkeypatch):
    monkeypatch.setattr(defaults, "CRITERION_SAMPLES", 30)
    labels = np.repeat(np.arange(3), 30)
    X = 20.0 * np.eye(3)[labels] + np.random.default_rng(0).standard_normal((90, 3))
    assert CentroidAccuracy()(X, [0, 1, 2], labels) == 1.0


# Runs, seeds, names ------------------------------------------------------------------------------


def test_criteria_are_known_by_name():
    assert list(CRITERIA) == ["modularity", "agreement", "centroid_accuracy", "full_silhouette"]
    for name, kind in CRITERIA.items():
        found = as_criterion(name)
        assert type(found) is kind
        assert (found.name, found.scale) == (name, "both")
    own = LabelAgreement(tolerance=0.3)
    assert as_criterion(own) is own


@pytest.mark.parametrize("criterion", ["silhouette", "Modularity", "", None, 3, Modularity, []])
def test_other_criteria_are_refused_with_the_names_there_are(criterion):
    with pytest.raises(ValueError, match="'modularity', 'agreement', 'centroid_accuracy'"):
        as_criterion(criterion)


def test_a_criterion_of_ones_own_is_one_method():
    class Share(Criterion):
        name = "share"

        def _prepare(self, X, labels, random_state):
            return lambda support: np.array([len(support) / X.shape[1], 0.0])

    assert as_criterion(Share()).name == "share"
    assert Share()(np.zeros((3, 4)), [0, 1], [0, 0, 1]) == 0.25
    with pytest.raises(TypeError, match="abstract"):
        Criterion()


def test_a_criterion_says_what_it_is():
    settings = "scale='both', n_runs=10, tolerance=0.01, random_state=0, n_neighbors=5"
    assert repr(Modularity()) == f"Modularity({settings})"
    agreement = LabelAgreement(scale="none", tolerance=0.5)
    assert repr(agreement).startswith("LabelAgreement(scale='none', n_runs=10, tolerance=0.5")


def test_a_function_is_a_criterion(small_planted):
    def share(X, support, labels):
        return support.mean()

    criterion = as_criterion(share)
    assert criterion.name == "share"
    assert criterion(small_planted.X, [0, 1, 2], small_planted.labels) == 3 / 60


def test_lists_and_frames_are_tables_too(small_planted):
    X, labels = small_planted.X, small_planted.labels
    expected = CentroidAccuracy()(X, [0, 3], labels)
    for table in (X.tolist(), pd.DataFrame(X)):
        assert CentroidAccuracy()(table, np.arange(60) % 60 == 0, labels) >= 0.0
        assert CentroidAccuracy()(table, [0, 3], labels) == expected


def test_missing_labels_and_foreign_graphs_are_refused(small_planted):
    X = small_planted.X
    with pytest.raises(ValueError, match="labels has missing entries"):
        CentroidAccuracy()(X, [0], np.where(np.arange(80) == 3, np.nan, 1.0))
    graph = sp.csr_array(np.ones((5, 5)))
    with pytest.raises(ValueError, match="graph must link the 80 samples"):
        Modularity(graph=graph)(X, [0], small_planted.labels)
