"""Who enters a LARS path next: the pool knows what it says it knows, and misses nobody."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve.arrays import as_operator
from featsieve.solvers import lars_candidates
from featsieve.solvers.lars import _gram_form, lasso_lars
from featsieve.solvers.lars_candidates import (
    BARRED,
    Columns,
    GramCandidates,
    PoolCandidates,
    both_signs,
    first_largest,
    next_entry,
)
from featsieve.solvers.sparse_candidates import SparseCandidates, SparseColumns
from tests.solvers.test_lars import problem


@pytest.fixture
def small_pools(monkeypatch):
    """Watch so few features that the pool is filled again and again."""
    monkeypatch.setattr(lars_candidates, "FEWEST", 4)
    monkeypatch.setattr(lars_candidates, "SHARE", 0.0)


@settings(max_examples=50)
@given(
    values=st.lists(st.sampled_from([-1.0, 0.0, 0.5, 1.0, 2.0, 1e300]), min_size=1, max_size=12),
    share=st.floats(0.0, 1.0),
)
def test_the_first_of_the_largest(values, share):
    size = np.array(values)
    count = 1 + int(share * (len(size) - 1))
    expected = np.sort(np.lexsort((np.arange(len(size)), -size))[:count])
    np.testing.assert_array_equal(first_largest(size, count), expected)


@settings(max_examples=100)
@given(seed=st.integers(0, 2**16), d=st.integers(1, 8), longest=st.floats(0.01, 3.0))
def test_the_next_entry_is_the_first_to_meet_the_level(seed, d, longest):
    rng = np.random.default_rng(seed)
    level = 2.0
    c, v = rng.uniform(-1.9, 1.9, d), rng.uniform(-3.0, 3.0, d)
    # |c_j - γ v_j| = level - γ
    steps = [((level - c) / (1.0 - v)), ((level + c) / (1.0 + v))]
    steps = np.array([np.where(step > 0.0, step, np.inf) for step in steps]).min(axis=0)
    gamma, position = next_entry(both_signs(c), both_signs(v), level, longest)
    if steps.min() >= longest:
        assert (gamma, position) == (longest, -1)
    else:
        assert position == steps.argmin()
        assert gamma == pytest.approx(steps.min(), rel=1e-12)
        met = abs(c[position] - gamma * v[position])
        assert met == pytest.approx(level - gamma, abs=1e-9)


def test_a_feature_that_has_met_the_level_enters_without_a_step():
    for met in (2.0, -2.0):
        c = both_signs(np.array([0.3, met, 1.9]))
        assert next_entry(c, both_signs(np.array([0.0, 0.5, -0.2])), 2.0, 1.0) == (0.0, 1)


def candidates_of(X, y, *, sparse):
    if sparse:
        return SparseCandidates(SparseColumns(as_operator(sp.csr_array(X))), y)
    return PoolCandidates(Columns(as_operator(X)), y)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.usefixtures("small_pools")
def test_what_the_pool_remembers_is_true_along_a_path(sparse, monkeypatch):
    X, Y = problem(25, 60, n_targets=1, seed=2)
    Z, y = X - X.mean(axis=0), Y[:, 0]
    seen = []
    original = PoolCandidates._remember

    def remember(self, correlation):
        original(self, correlation)
        seen.append(self)
        np.testing.assert_allclose(correlation, Z.T @ self.residual, atol=1e-9)
        np.testing.assert_allclose(self.known, self.past @ Z, atol=1e-9)
        np.testing.assert_allclose(self.past[0], self.residual)
        assert abs(self.past[0] @ self.past[1]) <= 1e-9 * (y @ y)
        energy = np.einsum("ij,ij->i", self.past, self.past)
        np.testing.assert_allclose(self.energy, energy, atol=1e-290)
        outside = np.setdiff1d(np.flatnonzero(self.role != BARRED), self.pool)
        np.testing.assert_array_equal(np.flatnonzero(self.outside), outside)
        reach = np.abs(self.known[:, outside]).max(axis=1, initial=0.0)
        np.testing.assert_allclose(self.largest_known, reach)
        norms = np.linalg.norm(Z, axis=0)
        np.testing.assert_allclose(self.largest_norm, norms[outside].max(initial=0.0))

    monkeypatch.setattr(PoolCandidates, "_remember", remember)
    operator = as_operator(sp.csr_array(X) if sparse else X)
    lasso_lars(operator, Y, 20, ridge=1e-3, form="sample")
    assert len(seen) > 5


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.usefixtures("small_pools")
def test_a_pool_covers_a_residual_only_if_nobody_outside_passes_the_level(sparse):
    X, Y = problem(25, 60, n_targets=1, seed=5)
    Z, y = X - X.mean(axis=0), Y[:, 0]
    pool = candidates_of(X, y, sparse=sparse)
    rng = np.random.default_rng(0)
    outside = pool.outside > 0.0
    answers = []
    for share in (0.0, 0.01, 0.1, 1.0):
        residual = y + share * rng.standard_normal(25)
        top = np.abs(Z.T @ residual)[outside].max()
        for level in np.linspace(0.5, 4.0, 15) * top:
            answers.append(pool._covers(residual, level))
            assert not (answers[-1] and top > level * (1.0 + 1e-12))
        # the residual itself is known: the bound is exact there
        if share == 0.0:
            assert pool._covers(residual, top * (1.0 + 1e-9))
            assert not pool._covers(residual, top * (1.0 - 1e-9))
    assert True in answers
    assert False in answers


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.usefixtures("small_pools")
def test_a_step_takes_who_is_first_of_all_and_keeps_the_correlations_right(sparse):
    X, Y = problem(25, 60, n_targets=1, seed=7)
    Z, y = X - X.mean(axis=0), Y[:, 0]
    pool = candidates_of(X, y, sparse=sparse)
    every = GramCandidates(Z.T @ Z, Z.T @ y)
    level, first = pool.first
    assert (level, first) == (pytest.approx(every.first[0]), every.first[1])
    pool.take(first)
    every.take(first)
    sign = np.sign(Z[:, first] @ y)
    image = sign * Z[:, first] / (Z[:, first] @ Z[:, first])
    gamma, entering = pool.step(image, level, level)
    expected = every.step(Z.T @ image, level, level)
    assert entering == expected[1]
    assert gamma == pytest.approx(expected[0], rel=1e-10)
    np.testing.assert_allclose(pool.residual, y - gamma * image, atol=1e-12)
    alive = pool.alive > 0.0
    np.testing.assert_allclose(
        pool.correlation[0, alive], (Z.T @ pool.residual)[pool.pool[alive]], atol=1e-9
    )
    assert entering in pool.pool


def test_the_gram_matrix_of_a_single_precision_table_has_double_precision(monkeypatch):
    monkeypatch.setattr("featsieve.arrays.dense.KEEP_ELEMENTS", 0)  # as if it were large
    X = (1.0 + 1e-3 * np.random.default_rng(0).standard_normal((400, 5))).astype(np.float32)
    operator = as_operator(X)
    Z = operator.rows(0, 400).astype(np.float64)
    found = _gram_form(operator, np.zeros((400, 1)))(0).gram
    np.testing.assert_allclose(found, Z.T @ Z, atol=1e-12 * np.max(Z.T @ Z), rtol=0.0)


@pytest.mark.usefixtures("small_pools")
@pytest.mark.parametrize("seed", range(8))
def test_a_feature_without_any_correlation_at_first_is_not_forgotten(seed):
    # Columns of few values, orthogonal to the target, that explain what the first feature leaves.
    rng = np.random.default_rng(seed)
    X = rng.integers(-1, 2, (16, 40)).astype(float)
    y = np.where(np.arange(16) < 8, 1.0, -1.0)
    X[8:, 20:] = X[:8, 20:]  # z'y = 0 exactly
    X[:, 0] = y + 2.0 * X[:, 25]
    operator = as_operator(X, center=False)
    assert not (X[:, 20:].T @ y).any()
    gram, sample = (lasso_lars(operator, y[:, None], 8, form=form) for form in ("gram", "sample"))
    assert gram.weights[20:].any()
    np.testing.assert_allclose(sample.weights, gram.weights, atol=1e-9)


def test_the_table_is_read_far_less_often_than_once_a_step(monkeypatch):
    reads, real = [], Columns.products
    monkeypatch.setattr(Columns, "products", lambda *call: (reads.append(1), real(*call))[1])
    n_steps = 0
    for seed in range(4):
        X, Y = problem(60, 1000, n_targets=1, seed=seed)
        n_steps += lasso_lars(as_operator(X), Y, 20, form="sample").n_steps
    assert len(reads) <= n_steps / 3
