"""Ridge forward selection: exact gains, the same path in every form, when it stops."""

from dataclasses import replace

import array_api_strict as strict
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve.arrays import DataOperator, DenseOperator, as_operator
from featsieve.solvers import ForwardSelection, RowSparseRegression, run
from featsieve.solvers.forward_forms import BATCH, GramForm, SampleForm, SparseForm, choose_form
from featsieve.solvers.forward_selection import batched_paths

fast = settings(max_examples=30, deadline=None)
seeds = st.integers(0, 10**6)
ridges = st.sampled_from([0.0, 0.1, 10.0])
FORMS = {
    "auto": choose_form,
    "sample": lambda operator, ridge: SampleForm(operator),
    "gram": lambda operator, ridge: GramForm(operator),
    "prefetch": lambda operator, ridge: GramForm(operator, batch=BATCH),
    "sparse": lambda operator, ridge: SparseForm(operator.sparse),
}
DENSE = ("sample", "gram", "prefetch")
each_form = pytest.mark.parametrize("form", DENSE)


def draw(seed, n, d, c=2):
    """A table with offsets and centred targets that depend on it."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + rng.standard_normal(d)
    Y = X @ rng.standard_normal((d, c)) / np.sqrt(d) + rng.standard_normal((n, c))
    return X, Y - Y.mean(axis=0)


def longest(n, d, ridge):
    """How many steps have one best candidate: without ridge the last of rank n - 1 ties all."""
    return d if ridge > 0.0 else max(1, min(n - 2, d))


def select(X, Y, *, form="auto", **options):
    solver = ForwardSelection(form=FORMS[form])
    operator = X if isinstance(X, DataOperator) else as_operator(X)
    problem = RowSparseRegression(operator, Y, **options)
    return run(solver, problem, max_iter=10_000).state.nested()


def loss(Z, Y, support, ridge):
    """1/2 ||ZW - Y||^2 + mu/2 ||W||^2 at the best W on the support, by an explicit solve."""
    Z_S = Z[:, support]
    if ridge > 0.0:
        W = np.linalg.solve(Z_S.T @ Z_S + ridge * np.eye(len(support)), Z_S.T @ Y)
    else:
        W = np.linalg.lstsq(Z_S, Y, rcond=None)[0]
    return 0.5 * np.sum((Z_S @ W - Y) ** 2) + 0.5 * ridge * np.sum(W**2)


@each_form
@pytest.mark.parametrize("ridge", [0.0, 0.7])
@pytest.mark.parametrize(("n", "d"), [(14, 8), (9, 14)])
def test_gains_of_all_candidates_equal_refits_at_every_step(form, ridge, n, d):
    X, Y = draw(n, n, d)
    Z = X - X.mean(axis=0)
    solver = ForwardSelection(form=FORMS[form])
    problem = RowSparseRegression(as_operator(X), Y, ridge=ridge)
    state = solver.init(problem)
    for step in range(longest(n, d, ridge)):
        assert len(state.order) == step
        here = loss(Z, Y, state.order, ridge)
        assert state.loss[-1] == pytest.approx(here, abs=1e-9)
        others = np.setdiff1d(np.arange(d), state.order)
        gains = [here - loss(Z, Y, [*state.order, j], ridge) for j in others]
        np.testing.assert_allclose(state.candidates[others], gains, rtol=0, atol=1e-9)
        state = solver.step(problem, state)
        assert state.order[-1] == others[np.argmax(gains)]
        assert state.half_gains[-1] == pytest.approx(max(gains), abs=1e-9)


@fast
@given(seeds, st.integers(3, 20), st.integers(1, 25), st.integers(1, 4), ridges)
def test_all_forms_give_the_same_order_and_gains(seed, n, d, c, ridge):
    X, Y = draw(seed, n, d, c)
    k = longest(n, d, ridge)
    paths = [select(X, Y, form=form, ridge=ridge, n_features=k) for form in DENSE]
    for path in paths[1:]:
        np.testing.assert_array_equal(path.order, paths[0].order)
        np.testing.assert_allclose(path.half_gains, paths[0].half_gains, rtol=1e-6, atol=1e-9)


def test_a_gain_that_is_not_a_number_is_refused():
    X, Y = draw(2, 20, 5)
    solver = ForwardSelection()
    problem = RowSparseRegression(as_operator(X), Y, ridge=1.0)
    state = solver.init(problem)
    state.candidates[3] = np.nan
    with pytest.raises(FloatingPointError, match=r"The gain of feature 3 is nan.*Rescale"):
        solver.add(problem, state, 3)


@fast
@given(seeds, ridges, st.floats(0.0, 1.1))
def test_number_of_features_at_a_sparsity_is_that_of_a_run_at_it(seed, ridge, share):
    X, Y = draw(seed, 14, 10)
    whole = select(X, Y, ridge=ridge)
    lam = share * whole.half_gains[0]
    stopped = select(X, Y, ridge=ridge, sparsity=lam)
    assert np.count_nonzero(whole.sparsity >= lam) == len(stopped.order)
    np.testing.assert_array_equal(stopped.order, whole.order[: len(stopped.order)])


def test_feature_that_gains_more_than_its_predecessor_is_lost_with_it():
    # z_0 alone hardly helps; with it, z_1 gives y = z_0 - z_1 exactly.
    y = np.array([1.0, 1.0, -1.0, -1.0])
    u = np.array([1.0, -1.0, 1.0, -1.0])
    X, Y = np.column_stack([5.0 * u + y, 5.0 * u]), y[:, None]
    path = select(X, Y)
    assert path.half_gains[1] > path.half_gains[0] > 0.0
    between = path.half_gains.mean()
    assert not np.any(path.sparsity >= between)
    assert len(select(X, Y, sparsity=between).order) == 0
    np.testing.assert_array_equal(path.sparsity, np.full(2, path.half_gains[0]))


def test_least_share_stops_when_a_feature_adds_too_little_to_what_is_explained():
    X, Y = draw(1, 20, 12)
    whole = select(X, Y, ridge=1.0)
    explained = whole.loss[0] - whole.loss[:-1]
    too_little = whole.half_gains < 0.05 * explained
    assert too_little.argmax() > 0
    part = select(X, Y, ridge=1.0, least_share=0.05)
    assert len(part.order) == too_little.argmax()


@each_form
@fast
@given(seed=seeds, ridge=st.sampled_from([0.1, 10.0]))
def test_of_two_equal_columns_the_lower_index_enters_first(form, seed, ridge):
    rng = np.random.default_rng(seed)
    A, Y = draw(seed, 12, 5)
    twins = rng.permutation(np.repeat(np.arange(5), 2))
    order = select(A[:, twins], Y, form=form, ridge=ridge).order.tolist()
    for twin in range(5):
        low, high = np.flatnonzero(twins == twin)
        assert order.index(low) < order.index(high)


@each_form
@pytest.mark.parametrize("ridge", [0.0, 1.0])
def test_constant_columns_never_enter(form, ridge):
    X, Y = draw(4, 12, 7)
    X[:, 1], X[:, 4], X[:, 6] = 0.0, 0.1, 1e6 + 1 / 3
    assert sorted(select(X, Y, form=form, ridge=ridge).order) == [0, 2, 3, 5]
    # not even where nothing gains anything and every candidate ties
    assert sorted(select(X, 0.0 * Y, form=form, ridge=ridge).order) == [0, 2, 3, 5]


@each_form
@pytest.mark.parametrize("ridge", [0.0, 1.0])
def test_finished_state_can_be_extended_to_the_longer_path(form, ridge):
    X, Y = draw(6, 25, 20)
    solver = ForwardSelection(form=FORMS[form])
    short = RowSparseRegression(as_operator(X), Y, ridge=ridge, n_features=3)
    long = replace(short, n_features=19)  # beyond the first block of the basis
    state = run(solver, short, max_iter=100).state
    assert len(state.order) == 3
    extended = run(solver, long, max_iter=100, state=state).state.nested()
    direct = select(X, Y, form=form, ridge=ridge, n_features=19)
    np.testing.assert_array_equal(extended.order, direct.order)
    np.testing.assert_allclose(extended.loss, direct.loss, rtol=1e-12)


@each_form
@pytest.mark.parametrize(("n", "d", "ridge"), [(20, 12, 0.0), (12, 40, 1.0)])
def test_strict_arrays_give_the_order_of_numpy(form, n, d, ridge):
    X, Y = draw(7, n, d)
    options = {"form": form, "ridge": ridge, "n_features": 9}
    path = select(X, Y, **options)
    other = select(DenseOperator(strict.asarray(X)), strict.asarray(Y), **options)
    np.testing.assert_array_equal(other.order, path.order)
    np.testing.assert_allclose(other.half_gains, path.half_gains, rtol=1e-12)


@pytest.mark.parametrize(("n", "d", "scale"), [(40, 25, "none"), (25, 90, "sqrt")])
def test_the_sparse_form_gives_the_path_of_the_others(n, d, scale):
    rng = np.random.default_rng(d)
    X = sp.csr_array(rng.random((n, d)) * (rng.random((n, d)) < 0.3))
    Y = draw(8, n, d)[1]
    operator = as_operator(X, scale=scale)
    options = {"ridge": 0.3, "n_features": 22}
    paths = [select(operator, Y, form=form, **options) for form in ("sparse", "sample", "gram")]
    assert len(paths[0].order) == 22
    for other in paths[1:]:
        np.testing.assert_array_equal(paths[0].order, other.order)
        np.testing.assert_allclose(paths[0].half_gains, other.half_gains, rtol=1e-9)


def test_prefetch_reads_the_table_far_less_often_than_once_per_step(monkeypatch):
    X, Y = draw(9, 60, 40 * BATCH)
    operator, passes = as_operator(X, scale="unit"), []
    fetch = operator.gram_columns
    monkeypatch.setattr(operator, "gram_columns", lambda j: passes.append(j) or fetch(j))
    problem = RowSparseRegression(operator, Y, ridge=10.0, n_features=100)
    state = run(ForwardSelection(form=FORMS["prefetch"]), problem, max_iter=100).state
    assert len(state.order) == 100
    assert 1 < len(passes) <= 12
    sample = run(ForwardSelection(form=FORMS["sample"]), problem, max_iter=100).state
    assert state.order == sample.order


def test_auto_form_follows_the_shape_of_the_table():
    def chosen(X):
        problem = RowSparseRegression(as_operator(X), np.zeros((X.shape[0], 1)))
        return ForwardSelection().init(problem).form

    assert isinstance(chosen(draw(0, 30, 10)[0]), GramForm)
    assert isinstance(chosen(draw(0, 10, 30)[0]), SampleForm)
    assert isinstance(chosen(np.eye(2, 2**21 + 1)), SampleForm)  # large, but few samples
    sparse = RowSparseRegression(as_operator(sp.eye_array(10, 30)), np.zeros((10, 1)), ridge=1.0)
    assert isinstance(ForwardSelection().init(sparse).form, SparseForm)
    large = chosen(np.eye(1001, 5001, dtype=np.float32))
    assert isinstance(large, GramForm)
    assert large.gram is None  # columns are fetched in batches


@pytest.mark.parametrize(("offset", "form", "seed"), [(1e4, "sample", 98), (1e5, "prefetch", 21)])
def test_dependent_columns_stay_out_whatever_their_means(offset, form, seed):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((15, 4))
    X = np.hstack([A, A, A @ rng.standard_normal((4, 12))]) + offset
    Y = rng.standard_normal((15, 2))
    assert len(select(X, Y - Y.mean(axis=0), form=form).order) == 4


def test_forms_agree_where_the_last_step_ties_all_columns():
    rng = np.random.default_rng(645)
    n, d, c = (int(rng.integers(low, high)) for low, high in ((3, 21), (2, 26), (1, 5)))
    X = rng.standard_normal((n, d)) + rng.standard_normal(d)
    Y = rng.standard_normal((n, c))
    Y -= Y.mean(axis=0)
    orders = [select(X, Y, form=form).order for form in ("sample", "gram")]
    np.testing.assert_array_equal(*orders)


@each_form
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_gain_that_is_clearly_larger_wins_in_either_precision(kind, form):
    X, Y = draw(5, 40, 8)
    share = {np.float32: 1e-3, np.float64: 1e-6}[kind]
    Z = np.linalg.qr(X - X.mean(axis=0))[0]
    Y = Z[:, [2]] + (1.0 + share) * Z[:, [6]]
    assert select(Z.astype(kind), Y, form=form, n_features=2).order.tolist() == [6, 2]
    Y = Z[:, [2]] + (1.0 + 1e-9) * Z[:, [6]]  # a tie
    assert select(Z.astype(kind), Y, form=form, n_features=2).order.tolist() == [2, 6]


@fast
@given(seeds, st.sampled_from([0.1, 1.0, 10.0]))
def test_batched_paths_are_those_of_the_targets_one_by_one(seed, ridge):
    rng = np.random.default_rng(seed)
    n, d, m = int(rng.integers(5, 30)), int(rng.integers(1, 25)), 4
    X, targets = draw(seed, n, d, c=2 * m)
    Z = X - X.mean(axis=0)
    parts = [targets[:, 2 * i : 2 * i + 2] for i in range(m)]
    correlation = np.stack([Z.T @ Y for Y in parts])
    length = min(d, 8)
    found = batched_paths(Z.T @ Z, correlation, ridge=ridge, length=length + 3 * (length == d))
    assert found.shape == (m, length)
    for path, Y in zip(found, parts, strict=True):
        alone = select(X, Y, ridge=ridge, n_features=length)
        np.testing.assert_array_equal(path, alone.order)
