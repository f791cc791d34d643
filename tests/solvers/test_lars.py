"""The lasso path with a cardinality limit: optimality, a reference program, and nested sizes."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import lars_path_gram

from featsieve.arrays import as_operator
from featsieve.solvers import lars
from featsieve.solvers.lars import GramProducts, Path, lasso_lars

FORMS = ("gram", "sample", "not kept")


def solve(operator, Y, size, *, form, **settings):
    """Run a form; "not kept" is that of tables too large to be kept as columns."""
    with pytest.MonkeyPatch.context() as patch:
        if form == "not kept":
            patch.setattr(lars, "KEPT_ELEMENTS", 0)
        form = "sample" if form == "not kept" else form
        return lasso_lars(operator, Y, size, form=form, **settings)


def problem(n, d, *, n_targets=2, seed=0, signal=5):
    """Return a centred table of correlated columns, and targets of which some features know."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + 0.7 * rng.standard_normal((n, 1))
    X *= rng.uniform(0.3, 3.0, d)
    X -= X.mean(axis=0)
    Y = X[:, :signal] @ rng.standard_normal((min(signal, d), n_targets))
    Y += 0.5 * Y.std() * rng.standard_normal((n, n_targets))
    return X, Y - Y.mean(axis=0)


def reference(X, y, size, ridge, *, up=1e4):
    """Return scikit-learn's path at its first knot with ``size`` non-zero coefficients.

    The target is scaled up: the reference stops at an absolute tolerance. A coefficient that it
    drops keeps a rounding error or none, as the processor has it.
    """
    gram = X.T @ X + ridge * np.eye(X.shape[1])
    coefs = lars_path_gram(X.T @ y * up, gram, n_samples=len(y), method="lasso")[2] / up
    counts = (np.abs(coefs) > 1e-12 * np.abs(coefs).max()).sum(axis=0)
    return coefs[:, np.flatnonzero(counts == size)[0]]


def textbook(X, y, size, ridge):
    """Return the path as the method's authors describe it, nothing updated, all recomputed."""
    a, active, dropped = np.zeros(X.shape[1]), [], False
    while True:
        c = X.T @ (y - X @ a)
        outside = np.setdiff1d(np.arange(X.shape[1]), active)
        C = abs(c[outside]).max()
        if not dropped:
            active.append(int(outside[abs(c[outside]).argmax()]))
            outside = np.setdiff1d(outside, active)
        s = np.sign(c[active])
        g = np.linalg.solve(X[:, active].T @ X[:, active] + ridge * np.eye(len(active)), s)
        Q = (s @ g) ** -0.5
        w, v = Q * g, X.T @ (X[:, active] @ (Q * g))
        steps = np.array([(C - c[outside]) / (Q - v[outside]), (C + c[outside]) / (Q + v[outside])])
        gamma = min(steps[steps > 1e-13 * C / Q].min(initial=np.inf), C / Q)
        crossing = np.where(a[active] * w < 0, -a[active] / w, np.inf)
        dropped = crossing.min() < gamma
        first = int(crossing.argmin())
        a[active] += min(gamma, crossing.min()) * w
        if dropped:
            a[active.pop(first)] = 0.0
        elif len(active) >= size:
            return a


def assert_optimal(X, y, a, ridge, level):
    """|x_j'(y - Xa) - ρa_j| is the level on the support, signs match, and nowhere larger."""
    gradient = X.T @ (y - X @ a) - ridge * a
    active = a != 0.0
    scale = np.abs(X.T @ y).max()
    np.testing.assert_allclose(gradient[active], np.sign(a[active]) * level, atol=1e-9 * scale)
    assert np.abs(gradient[~active]).max(initial=0.0) <= level + 1e-9 * scale


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("shape", "size"), [((60, 20), 1), ((40, 40), 5), ((20, 90), 19)])
def test_the_path_is_that_of_scikit_learn_and_of_the_textbook(form, shape, size):
    X, Y = problem(*shape, seed=size)
    path = solve(as_operator(X), Y, size, ridge=1e-3, form=form)
    for k in range(Y.shape[1]):
        expected = reference(X, Y[:, k], size, 1e-3)
        np.testing.assert_allclose(
            path.weights[:, k], expected, atol=1e-8 * np.abs(expected).max(), rtol=0
        )
        np.testing.assert_allclose(
            path.weights[:, k], textbook(X, Y[:, k], size, 1e-3), atol=1e-9, rtol=1e-9
        )


@settings(max_examples=30)
@given(
    n=st.integers(2, 25),
    d=st.integers(1, 40),
    share=st.floats(0.0, 1.0),
    ridge=st.sampled_from([1e-3, 0.1, 10.0]),
    form=st.sampled_from(FORMS),
    seed=st.integers(0, 2**16),
)
def test_the_end_is_optimal_and_has_the_cardinality_asked_for(n, d, share, ridge, form, seed):
    X, Y = problem(n, d, n_targets=3, seed=seed)
    size = 1 + int(share * (d - 1))
    path = solve(as_operator(X), Y, size, ridge=ridge, form=form)
    for k in range(3):
        a, level = path.weights[:, k], path.level[k]
        assert np.count_nonzero(a) == size
        assert_optimal(X, Y[:, k], a, ridge, level)
        np.testing.assert_allclose(path.correlation[:, k], X.T @ (Y[:, k] - X @ a), atol=1e-9)
        if size < d:  # the next one ties with the active ones
            outside = np.abs(path.correlation[a == 0.0, k])
            np.testing.assert_allclose(outside.max(), level, rtol=1e-6)


def test_the_forms_agree_where_features_drop_out(monkeypatch):
    X, Y = problem(30, 150, n_targets=3, seed=3)
    drops, drop = [], Path._drop
    monkeypatch.setattr(Path, "_drop", lambda *call: (drops.append(1), drop(*call))[1])
    gram, *others = (solve(as_operator(X), Y, 100, ridge=1e-3, form=form) for form in FORMS)
    assert len(drops) > 3 * 20
    # n = 30 samples: the last 70 features are told apart by the ridge term alone.
    for other in others:
        np.testing.assert_allclose(
            other.weights, gram.weights, atol=1e-6 * np.abs(gram.weights).max()
        )


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("table", "target"), [(1.0, 1.0), (2.0**-40, 2.0**40), (2.0**40, 2.0**40)])
def test_without_a_ridge_term_the_path_ends_when_the_target_is_explained(form, table, target):
    X, Y = problem(15, 60)
    path = solve(as_operator(table * X), target * Y, 40, form=form)
    np.testing.assert_array_equal(np.count_nonzero(path.weights, axis=0), 14)  # centred: n - 1
    np.testing.assert_allclose(X @ path.weights * (table / target), Y, atol=1e-8)
    np.testing.assert_array_equal(path.level, 0.0)


@pytest.mark.parametrize("form", FORMS)
def test_of_equal_columns_the_first_enters_first_and_the_ridge_term_shares_the_weight(form):
    X, Y = problem(40, 12, n_targets=1, seed=6)
    X = np.column_stack([X, X[:, 0], -X[:, 1], X[:, 2]])
    plain = solve(as_operator(X), Y, 15, form=form)  # a copy explains nothing more
    np.testing.assert_array_equal(plain.weights[12:], 0.0)
    np.testing.assert_array_equal(plain.weights[:12] != 0.0, True)
    shared = solve(as_operator(X), Y, 15, ridge=1e-2, form=form).weights[:, 0]
    np.testing.assert_allclose(shared[[12, 13, 14]], shared[[0, 1, 2]] * [1, -1, 1], rtol=1e-6)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_copies", [3, 40])
def test_of_columns_that_tie_for_the_last_place_the_first_have_it(form, n_copies):
    rng = np.random.default_rng(0)
    x = np.arange(10.0) - 4.5
    X = np.column_stack([x] * n_copies + [0.1 * rng.standard_normal((10, 4))])
    without = np.delete(X, np.arange(2, n_copies), axis=1)
    path, expected = (
        solve(as_operator(T, center=False), x[:, None] ** 3, 2, ridge=1e-3, form=form)
        for T in (X, without)
    )
    np.testing.assert_array_equal(np.flatnonzero(path.weights), [0, 1])
    np.testing.assert_allclose(path.weights[:2], expected.weights[:2], rtol=1e-8)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("center", [True, False])
def test_scaled_centred_and_sparse_tables(form, center):
    rng = np.random.default_rng(8)
    X = rng.poisson(0.4, (50, 80)).astype(float) * rng.uniform(0.5, 20.0, 80)
    X[:, 7] = 3.0  # does not vary
    Y = rng.standard_normal((50, 2))
    Z = X - X.mean(axis=0) if center else X
    Z = Z / np.where(X.std(axis=0) > 0.0, X.std(axis=0), np.inf)
    paths = [
        solve(operator, Y, 20, ridge=1e-3, form=form)
        for operator in (
            as_operator(X, scale="std", center=center),
            as_operator(sp.csr_array(X), scale="std", center=center),
            as_operator(Z, center=False),
        )
    ]
    assert np.count_nonzero(paths[0].weights[:, 0]) == 20
    np.testing.assert_array_equal(paths[0].weights[7], 0.0)
    for other in paths[1:]:
        np.testing.assert_allclose(other.weights, paths[0].weights, atol=1e-10)
        np.testing.assert_allclose(other.level, paths[0].level, rtol=1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_a_target_orthogonal_to_all_features_has_no_weights(form):
    X = np.array([[1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]])
    Y = np.array([[1.0, 3.0], [-1.0, -1.0], [-1.0, -3.0], [1.0, 1.0]])
    path = solve(as_operator(X), Y, 1, ridge=1e-3, form=form)
    np.testing.assert_array_equal(path.weights[:, 0], 0.0)
    assert path.level[0] == 0.0
    assert np.count_nonzero(path.weights[:, 1]) == 1


@pytest.mark.parametrize("seed", range(4))
def test_a_feature_without_any_correlation_at_first_can_enter(seed):
    # Columns of few values, orthogonal to the target, that explain what the first feature leaves.
    rng = np.random.default_rng(seed)
    X = rng.integers(-1, 2, (16, 40)).astype(float)
    y = np.where(np.arange(16) < 8, 1.0, -1.0)
    X[8:, 20:] = X[:8, 20:]  # z'y = 0 exactly
    X[:, 0] = y + 2.0 * X[:, 25]
    operator = as_operator(X, center=False)
    gram, *others = (solve(operator, y[:, None], 8, form=form) for form in FORMS)
    assert gram.weights[20:].any()
    for other in others:
        np.testing.assert_allclose(other.weights, gram.weights, atol=1e-9)


def test_the_gram_matrix_of_a_single_precision_table_has_double_precision(monkeypatch):
    monkeypatch.setattr("featsieve.arrays.dense.KEEP_ELEMENTS", 0)  # as if it were large
    X = (1.0 + 1e-3 * np.random.default_rng(0).standard_normal((400, 5))).astype(np.float32)
    operator = as_operator(X)
    Z = operator.rows(0, 400).astype(np.float64)
    np.testing.assert_allclose(
        GramProducts(operator).gram, Z.T @ Z, atol=1e-12 * np.max(Z.T @ Z), rtol=0.0
    )
