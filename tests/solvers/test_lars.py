"""The lasso path with a cardinality limit: optimality, a reference program, and nested sizes."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import lars_path_gram

from featsieve.arrays import as_operator
from featsieve.solvers import lars_candidates
from featsieve.solvers.lars import lasso_lars

FORMS = ("gram", "sample")


@pytest.fixture(params=["one pool", "small pools", "table in pieces"])
def pools(request, monkeypatch):
    """Watch (nearly) all features, or so few that the pool is filled again and again."""
    if request.param != "one pool":
        monkeypatch.setattr(lars_candidates, "FEWEST", 2)
        monkeypatch.setattr(lars_candidates, "SHARE", 0.0)
    if request.param == "table in pieces":
        monkeypatch.setattr(lars_candidates, "KEEP_ELEMENTS", 0)
    return request.param


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

    The target is scaled up: the reference stops at an absolute tolerance.
    """
    gram = X.T @ X + ridge * np.eye(X.shape[1])
    coefs = lars_path_gram(X.T @ y * up, gram, n_samples=len(y), method="lasso")[2] / up
    counts = np.count_nonzero(coefs, axis=0)
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
@pytest.mark.parametrize("shape", [(60, 20), (40, 40), (20, 90)])
@pytest.mark.parametrize("size", [1, 5, 19])
def test_the_path_is_that_of_scikit_learn_and_of_the_textbook(form, shape, size, pools):
    X, Y = problem(*shape, seed=size)
    path = lasso_lars(as_operator(X), Y, size, ridge=1e-3, form=form)
    for k in range(Y.shape[1]):
        expected = reference(X, Y[:, k], size, 1e-3)
        np.testing.assert_allclose(
            path.weights[:, k], expected, atol=1e-8 * np.abs(expected).max(), rtol=0
        )
        np.testing.assert_allclose(
            path.weights[:, k], textbook(X, Y[:, k], size, 1e-3), atol=1e-9, rtol=1e-9
        )


@settings(max_examples=50)
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
    path = lasso_lars(as_operator(X), Y, size, ridge=ridge, form=form)
    for k in range(3):
        a, level = path.weights[:, k], path.level[k]
        assert np.count_nonzero(a) == size
        assert_optimal(X, Y[:, k], a, ridge, level)
        np.testing.assert_allclose(path.correlation[:, k], X.T @ (Y[:, k] - X @ a), atol=1e-9)
        if size < d:  # the next one ties with the active ones
            outside = np.abs(path.correlation[a == 0.0, k])
            np.testing.assert_allclose(outside.max(), level, rtol=1e-6)


def test_the_two_forms_agree_whatever_the_pool_where_features_drop_out(pools):
    X, Y = problem(30, 150, n_targets=3, seed=3)
    gram, sample = (lasso_lars(as_operator(X), Y, 100, ridge=1e-3, form=form) for form in FORMS)
    assert gram.n_steps > 350  # 300 without drops
    assert gram.n_steps == sample.n_steps
    # n = 30 samples: the last 70 features are told apart by the ridge term alone.
    np.testing.assert_allclose(sample.weights, gram.weights, atol=1e-6 * np.abs(gram.weights).max())
    early = [lasso_lars(as_operator(X), Y, 25, ridge=1e-3, form=form) for form in FORMS]
    np.testing.assert_allclose(early[1].weights, early[0].weights, atol=1e-10)


@pytest.mark.parametrize("form", FORMS)
def test_all_features_give_the_ridge_regression(form):
    for n, d in [(50, 20), (15, 30)]:
        X, Y = problem(n, d)
        path = lasso_lars(as_operator(X), Y, d, ridge=1e-3, form=form)
        expected = np.linalg.solve(X.T @ X + 1e-3 * np.eye(d), X.T @ Y)
        np.testing.assert_allclose(path.weights, expected, atol=1e-8 * np.abs(expected).max())
        np.testing.assert_array_equal(path.level, 0.0)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", [(60, 25), (25, 60)])
def test_smaller_sizes_of_one_run_are_those_of_direct_runs(form, shape):
    X, Y = problem(*shape, n_targets=3, seed=4)
    operator = as_operator(X)
    sizes = [1, 2, 7, 24]
    path = lasso_lars(operator, Y, 25, ridge=1e-3, sizes=sizes, form=form)
    for size in sizes:
        direct = lasso_lars(operator, Y, size, ridge=1e-3, form=form).weights
        np.testing.assert_allclose(path.nested[size], direct, atol=1e-12)
        np.testing.assert_array_equal(path.nested[size] != 0.0, direct != 0.0)


@pytest.mark.parametrize("form", FORMS)
def test_without_a_ridge_term_the_path_ends_when_the_target_is_explained(form):
    X, Y = problem(15, 60)
    path = lasso_lars(as_operator(X), Y, 40, form=form)
    np.testing.assert_array_equal(np.count_nonzero(path.weights, axis=0), 14)  # centred: n - 1
    np.testing.assert_allclose(X @ path.weights, Y, atol=1e-8)
    np.testing.assert_array_equal(path.level, 0.0)


@pytest.mark.parametrize("form", FORMS)
def test_of_equal_columns_the_first_enters_first_and_the_ridge_term_shares_the_weight(form):
    X, Y = problem(40, 12, n_targets=1, seed=6)
    X = np.column_stack([X, X[:, 0], -X[:, 1], X[:, 2]])
    plain = lasso_lars(as_operator(X), Y, 12, form=form)
    np.testing.assert_array_equal(plain.weights[12:], 0.0)
    np.testing.assert_array_equal(plain.weights[:12] != 0.0, True)
    one = lasso_lars(as_operator(X), Y, 1, form=form).weights
    assert np.flatnonzero(one[:, 0])[0] < 12
    shared = lasso_lars(as_operator(X), Y, 15, ridge=1e-2, form=form).weights[:, 0]
    np.testing.assert_allclose(shared[[12, 13, 14]], shared[[0, 1, 2]] * [1, -1, 1], rtol=1e-6)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_copies", [3, 6, 40])
def test_of_columns_that_tie_for_the_last_place_the_first_have_it(form, n_copies, pools):
    rng = np.random.default_rng(0)
    x = np.arange(10.0) - 4.5
    X = np.column_stack([x] * n_copies + [0.1 * rng.standard_normal((10, 4))])
    path = lasso_lars(as_operator(X, center=False), x[:, None] ** 3, 2, ridge=1e-3, form=form)
    np.testing.assert_array_equal(np.flatnonzero(path.weights), [0, 1])
    expected = lasso_lars(
        as_operator(np.delete(X, np.arange(2, n_copies), axis=1), center=False),
        x[:, None] ** 3,
        2,
        ridge=1e-3,
        form=form,
    )
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
        lasso_lars(operator, Y, 20, ridge=1e-3, form=form)
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
    path = lasso_lars(as_operator(X), Y, 1, ridge=1e-3, form=form)
    np.testing.assert_array_equal(path.weights[:, 0], 0.0)
    assert path.level[0] == 0.0
    assert np.count_nonzero(path.weights[:, 1]) == 1


def test_the_form_follows_the_shape(monkeypatch):
    chosen = []
    for name in ("_gram_form", "_sample_form"):
        original = getattr(lars_module(), name)

        def spy(*args, name=name, original=original):
            chosen.append(name)
            return original(*args)

        monkeypatch.setattr(lars_module(), name, spy)
    for shape, size in [((40, 30), 5), ((30, 40), 5), ((400, 90), 2)]:
        X, Y = problem(*shape)
        lasso_lars(as_operator(X), Y, size)
    # Wide tables never have a d x d matrix; nor tall ones of which a few columns are asked for.
    assert chosen == ["_gram_form", "_sample_form", "_sample_form"]


def lars_module():
    """Return the module."""
    from featsieve.solvers import lars

    return lars


def test_values_that_cannot_be_meant_are_refused():
    X, Y = problem(10, 5)
    operator = as_operator(X)
    with pytest.raises(ValueError, match="n_nonzero"):
        lasso_lars(operator, Y, 0)
    with pytest.raises(TypeError, match="n_nonzero"):
        lasso_lars(operator, Y, 2.5)
    with pytest.raises(TypeError, match="sizes"):
        lasso_lars(operator, Y, 3, sizes=[1.5])
    with pytest.raises(ValueError, match="ridge"):
        lasso_lars(operator, Y, 2, ridge=-1.0)
    with pytest.raises(ValueError, match="sizes"):
        lasso_lars(operator, Y, 2, sizes=[0])
    with pytest.raises(ValueError, match="form"):
        lasso_lars(operator, Y, 2, form="tall")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("table", [2.0**-40, 2.0**40])
@pytest.mark.parametrize("target", [2.0**-40, 2.0**40])
def test_the_end_of_a_path_does_not_depend_on_units(form, table, target):
    X, Y = problem(15, 30, seed=2)
    plain = lasso_lars(as_operator(X), Y, 30, form=form)
    other = lasso_lars(as_operator(table * X), target * Y, 30, form=form)
    # nothing is left to explain: no feature more, and no level
    assert np.count_nonzero(plain.weights) < 60
    np.testing.assert_array_equal(plain.level, 0.0)
    np.testing.assert_array_equal(other.level, 0.0)
    np.testing.assert_allclose(other.weights * table / target, plain.weights, rtol=1e-6, atol=1e-9)


def test_what_rounding_has_gathered_is_taken_out_at_the_end():
    X, Y = problem(40, 12, n_targets=1)
    candidates = lars_module()._gram_form(as_operator(X), Y)(0)
    path = lars_module()._Path(candidates, 6, ridge=0.5, floor=0.0)
    path.run([6], most=100)
    path.a += 1e-3 * np.random.default_rng(0).standard_normal(6)  # far more than rounding
    features, a = path._point()
    whole = np.zeros(12)
    whole[features] = a
    assert_optimal(X, Y[:, 0], whole, 0.5, path.level)
