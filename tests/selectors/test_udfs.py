"""UDFS: golden numbers of the public code, invariances and warnings."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from featsieve import SOGFS, UDFS
from featsieve.datasets import make_planted
from tests.graphs.test_knn import T9
from tests.solvers.test_sparse_projection import refuse_matrices_beyond, table

# udfs.md: T9, k = 3, lambda = 1, gamma = 0.5, c = 2, D0 = I, 20 iterations.
GOLDEN_SQUARES = [0.1443888257, 0.0077992400, 0.3010059994, 0.7894737779, 0.7573321569]
GOLDEN_OBJECTIVE = {1: 6.572285314930, 2: 6.552825163824, 20: 6.550119124315}

quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def planted(shape, seed=0, n_informative=6, **settings):
    return make_planted(
        *shape, n_informative=n_informative, n_clusters=3, signal=3.0, random_state=seed, **settings
    )


# Golden numbers and the textbook ------------------------------------------------------------------


@pytest.mark.parametrize("scale", ["raw", "none"])  # an origin changes nothing
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_golden_numbers(scale, container):
    sieve = UDFS(
        2,
        n_features_to_select=2,
        gamma=0.5,
        local_ridge=1.0,
        init="identity",
        n_neighbors=3,
        scale=scale,
        max_iter=20,
        tol=0.0,
    )
    with pytest.warns(ConvergenceWarning, match="max_iter=20"):
        sieve.fit(container(T9))
    np.testing.assert_allclose(sieve.scores_**2, GOLDEN_SQUARES, rtol=1e-7)
    for iteration, value in GOLDEN_OBJECTIVE.items():
        assert sieve.objective_[iteration - 1] == pytest.approx(value, rel=1e-12)
    assert list(np.flatnonzero(sieve.support_)) == [3, 4]
    assert (sieve.gamma_, sieve.local_ridge_) == (0.5, 1.0)


# Defaults -----------------------------------------------------------------------------------------


def test_defaults_know_no_units():
    X = planted((60, 20)).X
    plain = UDFS(3, scale="none").fit(X)
    scaled = UDFS(3, scale="none").fit(1e6 * X)
    np.testing.assert_allclose(scaled.scores_, plain.scores_, rtol=1e-7)
    assert scaled.local_ridge_ == pytest.approx(1e12 * plain.local_ridge_)
    assert scaled.gamma_ == pytest.approx(plain.gamma_)  # X'LX knows no units then


# What must hold whatever the table ----------------------------------------------------------------


@quiet
@pytest.mark.filterwarnings("ignore::UserWarning")
@settings(max_examples=20)
@given(
    n=st.integers(3, 30),
    d=st.integers(1, 40),
    c=st.integers(1, 5),
    gamma=st.floats(-4.0, 4.0),
    ridge=st.floats(-4.0, 4.0),
    init=st.sampled_from(["roughness", "identity"]),
    seed=st.integers(0, 50),
)
def test_the_objective_never_rises(n, d, c, gamma, ridge, init, seed):
    X = np.random.default_rng(seed).standard_normal((n, d))
    sieve = UDFS(
        min(c, n), gamma=10.0**gamma, local_ridge=10.0**ridge, init=init, max_iter=15, tol=0.0
    ).fit(X)
    assert (np.diff(sieve.objective_) <= 0.0).all()
    assert np.isfinite(sieve.scores_).all()
    assert np.sum(sieve.scores_**2) == pytest.approx(sieve.coef_.shape[1])


def test_a_column_without_local_scatter_is_not_a_constant():
    # It tells the clusters apart perfectly: it must come first, not last.
    X = np.random.default_rng(0).standard_normal((60, 10))
    X[:, 4] = np.repeat([0.0, 1e3], 30)
    X[:, 7] = 1.0
    sieve = UDFS(2, n_features_to_select=1, scale="none").fit(X)
    assert sieve.ranking_[4] == 1
    assert sieve.scores_[7] == 0.0


def test_copies_of_a_noise_column_rank_high():
    # Documented: their difference has no scatter.
    truth = planted((120, 20), n_informative=4)
    noise = int(np.flatnonzero(~truth.informative)[0])
    sieve = UDFS(3).fit(np.column_stack([truth.X, truth.X[:, noise]]))
    assert max(sieve.ranking_[noise], sieve.ranking_[-1]) <= 6
    assert sieve.scores_[noise] == pytest.approx(sieve.scores_[-1], abs=1e-7)
    assert UDFS(3).fit(truth.X).ranking_[noise] > 6


# Warnings and errors ------------------------------------------------------------------------------


def test_a_large_gamma_leaves_as_many_features_as_columns_of_w():
    X = planted((60, 20)).X
    with pytest.warns(UserWarning, match="only 3 features have weights") as caught:
        sieve = UDFS(3, n_features_to_select=8, gamma=1e4).fit(X)
    assert np.sort(sieve.scores_)[-4] < 1e-4
    np.testing.assert_allclose(np.sort(sieve.scores_)[-3:], 1.0, atol=1e-6)
    text = str(caught[0].message)
    below = float(text.split("Choose gamma below ")[1].split(",")[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        UDFS(3, n_features_to_select=3, gamma=1e4).fit(X)  # these three are meant
        weaker = UDFS(3, n_features_to_select=8, gamma=0.5 * below, max_iter=500).fit(X)
    assert np.count_nonzero(weaker.scores_ > 1e-4) > 3


@quiet
@pytest.mark.parametrize("kind", [UDFS, SOGFS])
def test_an_undecided_projection_is_reported(kind):
    X = planted((20, 60)).X
    with pytest.warns(UserWarning, match="not unique"):
        sieve = kind(3, init="identity", max_iter=5).fit(X)
    assert sieve.eigengap_ < 1e-10
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert kind(3, max_iter=5).fit(X).eigengap_ > 1e-6


def test_more_clusters_than_features():
    X = planted((40, 4), n_informative=2).X
    with pytest.warns(UserWarning, match="W gets 3 columns"):
        sieve = UDFS(4, n_features_to_select=2).fit(X)
    assert sieve.coef_.shape == (4, 3)
    with pytest.warns(UserWarning, match="W gets 1 columns"):
        sieve = UDFS(2, n_features_to_select=1).fit(X[:, :1])
    np.testing.assert_allclose(sieve.scores_, 1.0)


# Size ---------------------------------------------------------------------------------------------


@quiet
@pytest.mark.parametrize(("kind", "found"), [(UDFS, 5), (SOGFS, 10)])
def test_no_large_matrix_for_a_wide_table(kind, found, monkeypatch):
    X = table((60, 900), n_shifted=20)
    refuse_matrices_beyond(monkeypatch, 60)
    sieve = kind(3, n_features_to_select=20, max_iter=3).fit(X)
    assert sieve.n_iter_ == 3
    assert sieve.support_[:20].sum() >= found  # some of the twenty hardly differ
