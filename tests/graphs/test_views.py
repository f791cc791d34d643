"""Views of the samples, and what is judged in them: votes, and labels left out one by one."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Ridge
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler

from featsieve.graphs.affinity import modularity
from featsieve.graphs.views import (
    PLAIN,
    leave_one_out_accuracy,
    sample_view,
    view_of_labels,
    vote_accuracy,
)


def in_one_column(n=100, d=300, c=3, *, seed=0):
    """Return a table whose clusters lie far apart in one column of noise, and the clusters."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(n) % c)
    X = rng.standard_normal((n, d))
    X[:, 0] += 100.0 * labels
    return X, labels


def in_all_columns(n=90, d=60, c=3, *, seed=0):
    """Return clusters that every column tells apart a little, and the clusters."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(n) % c)
    return rng.standard_normal((n, d)) + 3.0 * rng.standard_normal((c, d))[labels], labels


# sample_view ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_plain_views_link_the_nearest_samples_of_the_columns_they_are_named_after(name, kind):
    X = np.random.default_rng(0).standard_normal((40, 6)) * [1.0, 20.0, 1.0, 1.0, 0.1, 1.0]
    view = sample_view(kind(X), name, n_neighbors=4)
    points = X if name == "raw" else StandardScaler().fit_transform(X)
    A = NearestNeighbors(n_neighbors=4).fit(points).kneighbors_graph().toarray()
    np.testing.assert_array_equal(view.graph.toarray() > 0, np.maximum(A, A.T) > 0)
    assert view.name == name
    assert view.coordinates.shape == (40, 0)
    assert view.bridge is None


def test_the_hat_view_holds_coordinates_and_their_directions():
    X, _ = in_all_columns(n=30, d=20)
    view = sample_view(X, "hat", n_clusters=3)
    Z = StandardScaler().fit_transform(X) / np.sqrt(30)  # unit norm
    ridge = np.trace(Z.T @ Z) / 20
    hat = Z @ np.linalg.inv(Z.T @ Z + ridge * np.eye(20)) @ Z.T
    E = view.coordinates
    np.testing.assert_allclose(E @ E.T, hat, atol=1e-10)
    length = np.sqrt(np.diag(hat))
    np.testing.assert_allclose(view.bridge @ view.bridge.T, hat / np.outer(length, length))


# view_of_labels -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_labels_that_show_only_in_raw_distances_choose_them(seed):
    X, labels = in_one_column(seed=seed)
    view = view_of_labels(X, labels)
    assert view.name == "raw"
    assert modularity(view.graph, labels) > 0.6
    assert modularity(sample_view(X, "scaled").graph, labels) < 0.1


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_clear_blobs_in_many_columns_choose_the_hat_view(seed, kind):
    X, labels = in_all_columns(seed=seed)
    view = view_of_labels(kind(X), labels)
    assert view.name == "hat"
    assert modularity(view.graph, labels) > 0.5


def test_labels_that_show_nowhere_take_the_view_of_largest_modularity():
    rng = np.random.default_rng(0)
    for _ in range(5):
        X, labels = rng.standard_normal((50, 80)), rng.permutation(np.arange(50) % 3)
        graphs = {name: sample_view(X, name, n_clusters=3).graph for name in ("hat", *PLAIN)}
        quality = {name: float(modularity(graph, labels)) for name, graph in graphs.items()}
        assert view_of_labels(X, labels).name == max(quality, key=quality.get)


# vote_accuracy --------------------------------------------------------------------------------


@given(seed=st.integers(0, 10_000), n=st.integers(3, 12), c=st.integers(1, 4))
def test_vote_accuracy_is_what_a_loop_counts(seed, n, c):
    rng = np.random.default_rng(seed)
    A = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.6), 1)
    A = A + A.T
    assume(A.any(axis=1).all())
    labels = np.unique(rng.integers(0, c, n), return_inverse=True)[1]
    shares = []
    for cluster in range(labels.max() + 1):
        hits = []
        for i in np.flatnonzero(labels == cluster):
            votes = [A[i][labels == k].sum() for k in range(labels.max() + 1)]
            hits.append(int(np.argmax(votes)) == cluster)
        shares.append(np.mean(hits))
    assert vote_accuracy(sp.csr_array(A), labels) == pytest.approx(np.mean(shares))


# structure: labels left out, permuted columns --------------------------------------------------


@settings(max_examples=20)
@given(seed=st.integers(0, 10_000), n=st.integers(6, 14), d=st.integers(1, 18), c=st.integers(2, 3))
def test_leave_one_out_accuracy_is_that_of_ridge_regressions_without_each_sample(seed, n, d, c):
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(n) % c)
    X = rng.standard_normal((n, d)) + 0.7 * rng.standard_normal((c, d))[labels]
    E = sample_view(X, "hat", n_clusters=c).coordinates
    Z = (X - X.mean(axis=0)) / (X.std(axis=0) * np.sqrt(n))
    ridge = d / min(n, d)  # tr(ZZ') = d
    targets = (labels[:, None] == np.arange(c)).astype(float)
    right = np.empty(n)
    for i in range(n):
        others = np.arange(n) != i
        predicted = Ridge(alpha=ridge).fit(Z[others], targets[others]).predict(Z[[i]])[0]
        first, second = np.sort(predicted)[::-1][:2]
        assume(first - second > 1e-8)
        right[i] = predicted.argmax() == labels[i]
    expected = np.mean([right[labels == k].mean() for k in range(c)])
    assert leave_one_out_accuracy(labels, E, c) == pytest.approx(expected)
