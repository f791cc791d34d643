"""MCFS: golden numbers, the published path, and clear behaviour where there is nothing to embed."""

import numpy as np
import pytest
from sklearn.linear_model import lars_path_gram
from sklearn.preprocessing import StandardScaler

from featsieve import MCFS
from featsieve.arrays import as_operator
from featsieve.datasets import make_planted
from featsieve.graphs.affinity import degrees, sample_graph
from tests.graphs.test_knn import T9

# mcfs.md: T9, binary, k = 3, K = 2, m = 3, columns as they are; unit columns of |A|
GOLDEN = np.array(
    [
        [0.686737963504584, 0.041379006598836],
        [0.717576073595689, 0.464867163280938],
        [0.116084228405809, 0.884412968197565],
        [0.0, 0.0],
        [0.0, 0.0],
    ]
)


def textbook_embedding(S, K):
    """Return the K smoothest non-trivial vectors of a connected graph, dense."""
    root = np.sqrt(S.sum(axis=1))
    values, V = np.linalg.eigh(S / np.outer(root, root))
    assert values[-2] < 1.0 - 1e-9
    return V[:, ::-1][:, 1 : K + 1] / root[:, None]


def textbook_scores(Z, Y, m, ridge):
    """Return max_k |a_kj|/||a_k|| from scikit-learn's path."""
    columns = []
    for y in Y.T:
        gram = Z.T @ Z + ridge * np.eye(Z.shape[1])
        coefs = lars_path_gram(1e5 * (Z.T @ y), gram, n_samples=len(Z), method="lasso")[2]
        knot = np.flatnonzero(np.count_nonzero(coefs, axis=0) == m)[0]
        columns.append(np.abs(coefs[:, knot]) / np.linalg.norm(coefs[:, knot]))
    return np.max(columns, axis=0)


def test_golden_numbers():
    sieve = MCFS(
        3, n_features_to_select=3, ridge=1e-3, affinity="binary", n_neighbors=3, scale="raw"
    ).fit(T9)
    unit = np.abs(sieve.coef_) / np.linalg.norm(sieve.coef_, axis=0)
    np.testing.assert_allclose(unit, GOLDEN, atol=1e-12)
    np.testing.assert_allclose(
        1.0 - sieve.eigenvalues_, [0.7356678564672919, 0.1606954946799886], rtol=1e-12
    )
    np.testing.assert_allclose(sieve.scores_, GOLDEN.max(axis=1), atol=1e-12)
    np.testing.assert_array_equal(np.argsort(sieve.ranking_)[:3], [2, 1, 0])
    S = sample_graph(as_operator(T9), "binary", n_neighbors=3)
    DY = degrees(S)[:, None] * sieve.embedding_
    np.testing.assert_allclose(sieve.embedding_.T @ DY, np.eye(2), atol=1e-13)
    np.testing.assert_allclose(DY.sum(axis=0), 0.0, atol=1e-13)


@pytest.mark.parametrize("scale", ["unit", "none", "raw"])
@pytest.mark.parametrize(("shape", "m"), [((70, 20), 1), ((70, 20), 15), ((30, 50), 5)])
def test_it_is_the_textbook_method(scale, shape, m):
    rng = np.random.default_rng(m)
    X = rng.standard_normal(shape) * rng.uniform(0.5, 2.0, shape[1]) + rng.uniform(-1, 1, shape[1])
    Z = X if scale == "raw" else X - X.mean(axis=0)
    Z = Z / Z.std(axis=0) if scale == "unit" else Z
    S = sample_graph(as_operator(Z, center=False), "heat", n_neighbors=8)
    sieve = MCFS(4, n_features_to_select=m, ridge=1e-3, affinity=S, scale=scale).fit(X)
    Y = textbook_embedding(S.toarray(), 3)
    np.testing.assert_allclose(np.abs(sieve.embedding_), np.abs(Y), atol=1e-8)
    np.testing.assert_allclose(sieve.scores_, textbook_scores(Z, Y, m, 1e-3), atol=1e-8)
    assert (np.count_nonzero(sieve.coef_, axis=0) == m).all()
    # coef_ is in the units of X: Xa predicts y, up to a constant.
    fitted = (X - (0.0 if scale == "raw" else X.mean(axis=0))) @ sieve.coef_
    residual = Y * np.sign(np.sum(Y * sieve.embedding_, axis=0)) - fitted
    assert (np.linalg.norm(residual, axis=0) < np.linalg.norm(Y, axis=0)).all()


def test_features_of_score_zero_follow_in_the_order_of_entry():
    X = make_planted(60, 40, n_informative=8, n_clusters=2, signal=2.0, random_state=1).X
    one = MCFS(2, n_features_to_select=3).fit(X)
    np.testing.assert_array_equal(one.scores_ == 0.0, one.ranking_ > 3)
    # The next to enter comes next, ...
    four = MCFS(2, n_features_to_select=4).fit(X)
    assert four.scores_[np.flatnonzero(one.ranking_ == 4)[0]] > 0.0
    # ... and all others by their correlation with what is not explained yet.
    Z = StandardScaler().fit_transform(X)
    a = one.coef_ * X.std(axis=0)[:, None]
    residual = np.abs(Z.T @ (one.embedding_ - Z @ a))[:, 0]
    rest = np.argsort(one.ranking_)[3:]
    np.testing.assert_array_equal(rest, rest[np.argsort(-residual[rest], kind="stable")])


def test_all_features_give_the_ridge_regressions():
    X = make_planted(60, 15, n_informative=5, random_state=5).X
    sieve = MCFS(4, n_features_to_select=15, ridge=1e-3).fit(X)
    Z = StandardScaler().fit_transform(X)
    A = np.linalg.solve(Z.T @ Z + 1e-3 * np.eye(15), Z.T @ sieve.embedding_)
    expected = np.max(np.abs(A) / np.linalg.norm(A, axis=0), axis=1)
    np.testing.assert_allclose(sieve.scores_, expected, atol=1e-10)


@pytest.mark.parametrize("scale", ["unit", "raw"])
def test_the_automatic_ridge_leaves_what_neighbours_contradict(scale):
    X = 50.0 * np.random.default_rng(3).standard_normal((40, 1))
    sieve = MCFS(2, n_features_to_select=1, scale=scale).fit(X)
    Z = StandardScaler(with_mean=scale == "unit", with_std=scale == "unit").fit_transform(X)
    y, z = sieve.embedding_[:, 0], Z[:, 0]
    explained = (z @ y) / (z @ z) * z
    ridged = (z @ y) / (z @ z + sieve.ridge_[0]) * z
    left = np.sum((explained - ridged) ** 2) / np.sum(explained**2)
    assert left == pytest.approx(np.clip(sieve.eigenvalues_[0], 1 / 40, 39 / 40))


def test_the_automatic_ridge_finds_columns_that_say_the_same():
    found = {"auto": 0, 1e-3: 0}
    for seed in range(5):
        truth = make_planted(60, 200, n_informative=10, n_clusters=3, signal=4.0, random_state=seed)
        for ridge in found:
            sieve = MCFS(3, n_features_to_select=10, ridge=ridge).fit(truth.X)
            found[ridge] += int(truth.informative[sieve.support_].sum())
    assert found["auto"] >= 40 > 30 > found[1e-3]


def test_a_graph_in_parts_separates_them():
    rng = np.random.default_rng(7)
    part = np.repeat([0, 1, 2], (30, 20, 10))
    X = rng.standard_normal((60, 12))
    X[:, 3] += 50.0 * (part == 0)
    X[:, 8] += 50.0 * (part == 2)
    sieve = MCFS(3, n_features_to_select=2, scale="none").fit(X)
    np.testing.assert_array_equal(sieve.eigenvalues_, 0.0)
    np.testing.assert_array_equal(np.flatnonzero(sieve.support_), [3, 8])
    # The largest part against the others, then these against one another.
    levels = [[len(set(y[part == p].round(10))) for p in range(3)] for y in sieve.embedding_.T]
    assert levels == [[1, 1, 1], [1, 1, 1]]
    np.testing.assert_allclose(sieve.embedding_[part == 1, 0], sieve.embedding_[-1, 0])
    np.testing.assert_allclose(sieve.embedding_[part == 0, 1], 0.0, atol=1e-14)


def test_as_many_functions_as_tell_the_clusters_apart():
    X = np.random.default_rng(12).standard_normal((12, 8))
    sieve = MCFS(12, n_features_to_select=3).fit(X)
    assert sieve.embedding_.shape[1] == len(sieve.eigenvalues_) == sieve.coef_.shape[1] <= 11
    assert MCFS(4).fit(X).embedding_.shape == (12, 3)


def test_targets_that_no_feature_predicts_are_skipped():
    X = np.array([[1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]])
    cross = np.array([1.0, -1.0, -1.0, 1.0])
    S = np.ones((4, 4)) + np.outer(cross, cross) * 0.9  # first non-trivial vector: x_1 x_2
    sieve = MCFS(2, n_features_to_select=1, affinity=S).fit(X)
    np.testing.assert_array_equal(sieve.scores_, 0.0)
    np.testing.assert_array_equal(sieve.ranking_, [1, 2])


@pytest.mark.parametrize("n_samples", [8, 17])
@pytest.mark.parametrize("n_features", [1, 6])
def test_a_graph_that_links_all_samples_alike(n_samples, n_features):
    """All its eigenvalues but one are equal, which LAPACK answered with no vector at all."""
    X = np.random.default_rng(0).standard_normal((n_samples, n_features))
    sieve = MCFS(2, n_features_to_select=1, affinity="binary", n_neighbors=100).fit(X)
    assert sieve.embedding_.shape == (n_samples, 1)
    np.testing.assert_allclose(sieve.eigenvalues_, n_samples / (n_samples - 1))
    assert sieve.scores_.max() > 0.0
