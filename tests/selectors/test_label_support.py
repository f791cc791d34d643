"""What holds for AUFS and UGFS alike: descent, their objectives, labels that collapse."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve import AUFS, UGFS
from featsieve.arrays import as_operator
from featsieve.datasets import make_planted
from featsieve.graphs.affinity import laplacian, sample_graph
from featsieve.selectors.label_support import warn_collapsed
from featsieve.solvers import Status
from featsieve.solvers.label_support import SupportProblem
from featsieve.terms.orthogonality import normalised_indicator

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
BOTH = pytest.mark.parametrize("kind", [AUFS, UGFS])


def labels_of(n, c, seed=0):
    return np.random.default_rng(seed).permutation(np.arange(n) % c)


def first_matrix(n, c, seed=0):
    return normalised_indicator(labels_of(n, c, seed), c)


def support_problem(X, *, alpha=1.0, **options):
    operator = as_operator(X, scale="std")
    L = laplacian(sample_graph(operator, "heat", n_neighbors=4))
    return SupportProblem(operator, L, alpha, **options)


@settings(max_examples=25)
@given(
    data=st.data(),
    kind=st.sampled_from([AUFS, UGFS]),
    seed=st.integers(0, 10**6),
    shape=st.sampled_from([(12, 5), (8, 20), (20, 12), (6, 2)]),
    n_clusters=st.integers(1, 4),
    alpha=st.sampled_from([0.0, 0.1, 10.0, 1e3]),
    ridge=st.sampled_from([0.0, 0.1, 10.0]),
    orthogonality=st.sampled_from([1.0, 1e4, (10.0, 1e3)]),
    k=st.sampled_from([1, 0.3, 0.8, 1.0]),
)
@pytest.mark.filterwarnings("ignore:n_clusters=1", "ignore:The pseudo-labels have collapsed")
def test_the_objective_never_rises(data, kind, seed, shape, n_clusters, k, **options):
    X = np.random.default_rng(seed).standard_normal(shape)
    if kind is AUFS:
        options["sigma"] = data.draw(st.sampled_from(["auto", 0.01, 1.0, 1e6]))
        k = data.draw(st.sampled_from([k, None]))
    sieve = kind(n_clusters, n_features_to_select=k, max_iter=5, random_state=seed, **options)
    sieve.fit(X)
    assert np.all(np.diff(sieve.objective_) <= 1e-9 * np.abs(sieve.objective_[0]) + 1e-12)
    assert len(sieve.objective_) == sieve.n_iter_
    assert np.isfinite(sieve.scores_).all()
    assert np.isfinite(sieve.coef_).all()
    assert sieve.support_.sum() == sieve.n_features_selected_
    assert not np.any(sieve.coef_.any(axis=1) & ~sieve.support_)


@settings(max_examples=12)
@given(
    st.integers(0, 10**6),
    st.sampled_from([(14, 6), (8, 15)]),
    st.sampled_from(
        [{"sparsity": 0.01, "sigma": 0.3}, {"sparsity": 0.01},
         {"n_features": 2, "exchanges": True}, {"n_features": 5, "exchanges": True}]
    ),
)  # fmt: skip
def test_each_block_lowers_the_objective_on_its_own(seed, shape, options):
    X = np.random.default_rng(seed).standard_normal(shape)
    problem = support_problem(X, ridge=5.0, orthogonality=20.0, **options)
    state = problem.start(first_matrix(shape[0], 3, seed))
    before = problem.objective(state)
    for block in 2 * ("features", "labels"):
        state = getattr(problem, f"update_{block}")(state)
        after = problem.objective(state)
        assert after <= before + 1e-10 * abs(before)
        before = after


@BOTH
@pytest.mark.parametrize("scale", ["unit", "none", "raw"])
def test_the_objective_follows_from_the_fitted_attributes(kind, scale):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 8)) * rng.uniform(0.5, 2.0, 8) + 1.0
    S = np.triu(rng.random((30, 30)) < 0.2, 1) * rng.random((30, 30))
    S = S + S.T
    options = {"alpha": 0.3, "scale": scale, "orthogonality": 50.0, "affinity": S}
    options |= {"sparsity": 1e-3, "sigma": 0.2} if kind is AUFS else {"n_features_to_select": 3}
    sieve = kind(3, init=np.arange(30) % 3, **options).fit(X)
    F, units = sieve.label_matrix_, X.std(axis=0) if scale == "unit" else np.ones(8)
    assert F.shape == (30, 3)
    assert np.array_equal(sieve.labels_, F.argmax(axis=1))
    W = units[:, None] * sieve.coef_
    u = np.linalg.norm(X @ sieve.coef_ + sieve.intercept_ - F, axis=1)
    if kind is AUFS:
        J = np.sum(1.2 * u**2 / (u + 0.2)) + 1e-3 * sieve.n_features_selected_
    else:
        J = np.sum(u**2)
        norms = np.sum((X - X.mean(axis=0)) ** 2, axis=0) / units**2
        assert sieve.ridge_ == pytest.approx(10.0 * norms.mean())
    J += sieve.ridge_ * np.sum(W**2)
    J += 0.3 * np.trace(F.T @ (np.diag(S.sum(axis=1)) - S) @ F)
    J += 0.5 * 50.0 * np.sum((F.T @ F - np.eye(3)) ** 2)
    assert sieve.objective_[-1] == pytest.approx(J, rel=1e-10)


@BOTH
def test_labels_that_collapse_are_reported(kind):
    planted = make_planted(60, 20, n_informative=6, n_clusters=3, signal=3.0, random_state=0)
    for options in ({"alpha": 1e6}, {"orthogonality": 1e-2}):
        sieve = kind(3, n_features_to_select=6, random_state=0, **options)
        with pytest.warns(UserWarning, match="Decrease alpha, or increase orthogonality") as seen:
            sieve.fit(planted.X)
        assert len(seen) == 1
        assert "the same for all samples" in str(seen[0].message)
        assert np.ptp(sieve.label_matrix_, axis=0).max() < 1e-2
    kind(3, n_features_to_select=6, random_state=0).fit(planted.X)  # warnings are errors


@BOTH
@pytest.mark.filterwarnings("ignore:n_clusters=1")
def test_a_single_cluster_ends_at_once(kind):
    X = np.random.default_rng(0).standard_normal((40, 15))
    sieve = kind(1, n_features_to_select=3, random_state=0).fit(X)
    assert sieve.n_iter_ == 1
    assert sieve.status_.success


@BOTH
def test_no_convergence_while_the_label_step_is_cut_short(kind, small_planted, monkeypatch):
    settings = {"n_features_to_select": 8, "random_state": 0, "orthogonality": 10.0, "tol": 1.0}
    assert kind(3, max_iter=2, **settings).fit(small_planted.X).status_ is Status.CONVERGED
    monkeypatch.setattr("featsieve.defaults.MAX_LABEL_STEPS", 1)
    sieve = kind(3, max_iter=2, **settings).fit(small_planted.X)
    assert sieve.status_ is Status.ITERATION_LIMIT


def test_an_empty_cluster_is_reported():
    # Columns of 0.5 and 0.1: the second is no sample's largest entry.
    F = np.array([[0.5, 0.1], [0.1, 0.0], [0.3, 0.2]])
    with pytest.warns(UserWarning, match="use 1 of 2 clusters"):
        warn_collapsed(F, F.argmax(axis=1))
    warn_collapsed(F[:, ::-1].copy(), np.array([0, 1, 1]))
    warn_collapsed(np.ones((3, 1)), np.zeros(3, dtype=int))
