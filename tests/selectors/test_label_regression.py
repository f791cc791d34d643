"""What holds for NDFS, RSFS, RUFS, URAFS and USFS alike: descent, forms, penalties, labels."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

import featsieve
from featsieve.arrays import as_operator
from featsieve.datasets import make_planted
from featsieve.graphs.affinity import sample_graph
from featsieve.graphs.local_models import local_learning_laplacian
from featsieve.solvers import Status
from featsieve.solvers.block_problem import solve
from featsieve.solvers.reweighted_ridge import largest_penalty
from featsieve.terms import normalised_indicator
from featsieve.terms.norms import inverse_weights
from tests.selectors.label_problems import (
    FORMS,
    NAMES,
    SHAPES,
    iterate,
    label_matrix,
    make_problem,
    quiet,
    random_labels,
)

NONNEGATIVE = ("NDFS", "RSFS", "RUFS")


def fit(name, X, n_clusters=3, **parameters):
    """Fit without the warnings of few iterations or vanished weights."""
    model = getattr(featsieve, name)(
        n_clusters, **{"n_features_to_select": 1, "random_state": 0} | parameters
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X)


# Descent ------------------------------------------------------------------------------------------

ORDERS = st.integers(-3, 3).map(lambda exponent: 10.0**exponent)
PENALTY = st.sampled_from([0.0, 0.1, 1.0, 10.0, 1e3, 1e6, 1e8])
PARAMETERS = {
    "NDFS": {"alpha": ORDERS, "beta": ORDERS, "orthogonality": PENALTY},
    "RSFS": {"alpha": ORDERS, "beta": ORDERS, "nu": ORDERS, "orthogonality": PENALTY},
    "RUFS": {
        "nu": ORDERS,
        "alpha": ORDERS,
        "beta": ORDERS,
        "orthogonality": PENALTY,
        "label_penalty": st.sampled_from([0.0, 0.1, 10.0]),
        "basis_penalty": st.sampled_from([0.0, 1e-4, 1.0]),
        "shifted": st.booleans(),
    },
    "URAFS": {
        "alpha": st.sampled_from([0.0, 1e-2, 1.0, 1e3]),
        "beta": ORDERS,
        "sparsity": st.sampled_from([1e-3, 1.0, 10.0, 100.0, 1e4]),
    },
    "USFS": {
        "alpha": st.sampled_from([1e-2, 1.0, 10.0, 1e4]),
        "beta": ORDERS,
        "gamma": st.sampled_from([1e-4, 1.0, 30.0, 1e5]),
    },
}


@st.composite
def descents(draw, name, **fixed):
    """Return (problem, F): any shape and any parameters of a few orders of magnitude."""
    n, d = draw(st.integers(4, 25)), draw(st.integers(1, 40))
    c = draw(st.integers(1 if name in NONNEGATIVE else 2, min(n - 1, 5)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.standard_normal((n, d)) + rng.integers(-2, 3, d)
    X[:, rng.random(d) < 0.1] = 1.0
    X[0, 0] += 1.0
    parameters = {key: draw(strategy) for key, strategy in PARAMETERS[name].items()} | fixed
    problem = make_problem(
        name,
        X,
        scale=draw(st.sampled_from(["std", "none"])),
        center=name == "URAFS" or draw(st.booleans()),
        k=3,
        **parameters,
    )
    return problem, label_matrix(name, problem, random_labels(rng, n, c), c)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=15)
@given(data=st.data())
def test_no_block_ever_raises_the_objective(name, data):
    problem, F = data.draw(descents(name))
    rounding = 1e-9 if name in ("RUFS", "URAFS", "USFS") else 1e-10
    floor = 0.0 if name in NONNEGATIVE else 1.0
    state = problem.start(F)
    with np.errstate(all="raise", under="ignore"):
        for iteration in range(4):
            for block in problem.blocks:
                before = problem.objective(state) if iteration else np.inf
                state = getattr(problem, f"update_{block}")(state)
                after = problem.objective(state) if iteration else 0.0
                assert np.isfinite(after)
                assert after <= before + rounding * (floor + abs(before))
    if name in NONNEGATIVE:
        assert state.F.min() >= 0.0
        np.testing.assert_allclose(state.inverse, inverse_weights(state.W))
    if name == "RUFS":
        assert state.basis.min() >= 0.0
    if name == "USFS":
        np.testing.assert_allclose(state.F.sum(axis=1), 1.0, rtol=1e-12)


# The regression -----------------------------------------------------------------------------------


@SHAPES
@pytest.mark.parametrize("name", NAMES)
def test_the_two_forms_and_sparse_tables_agree(name, shape):
    rng = np.random.default_rng(6)
    X = rng.poisson(0.7, shape) * 1.0
    X[:, 0] = 1.0
    labels = random_labels(rng, shape[0], 3)
    more = {"orthogonality": 20.0} if name in ("NDFS", "RSFS") else {}
    solutions = []
    for table in (X, sp.csr_array(X)):
        for form in FORMS:
            problem = make_problem(name, table, form=form, **more)
            F = label_matrix(name, problem, labels, 3)
            solutions.append(iterate(problem, F, 6)[0])
    first = solutions[0]
    for solution in solutions[1:]:
        np.testing.assert_allclose(solution.objective[1:], first.objective[1:], rtol=1e-8)
        for part in ("W", "F", "Z", "basis"):
            if hasattr(first.state, part):
                np.testing.assert_allclose(
                    getattr(solution.state, part), getattr(first.state, part), atol=1e-8
                )


@pytest.mark.parametrize("name", NONNEGATIVE)
def test_the_estimator_runs_the_solver_on_its_columns(name):
    planted = make_planted(60, 20, n_informative=5, n_clusters=3, signal=3.0, random_state=0)
    X, beta = planted.X, 9.0 if name == "RUFS" else 2.0
    model = getattr(featsieve, name)(3, n_features_to_select=5, init=planted.labels, beta=beta)
    model.fit(X)
    more = {"nu": model.nu_} if name == "RSFS" else {}
    if name == "RUFS":
        more["laplacian"] = local_learning_laplacian(as_operator(X, scale="std"))
    problem = make_problem(name, X, beta=beta, **more)
    solution = solve(problem, problem.start(normalised_indicator(planted.labels, 3)))
    state = solution.state
    np.testing.assert_allclose(model.scores_, np.linalg.norm(state.W, axis=1), rtol=1e-12)
    np.testing.assert_array_equal(model.objective_, solution.objective[1:])
    assert model.n_iter_ == solution.n_iter == len(model.objective_)
    assert model.status_ is Status.CONVERGED
    # coef_ is W in the units of X.
    np.testing.assert_allclose((X - X.mean(axis=0)) @ model.coef_, state.fitted, atol=1e-10)


@pytest.mark.parametrize("name", NAMES)
def test_scores_are_lengths_of_rows_for_scaled_columns(name, small_planted):
    model = fit(name, small_planted.X, n_features_to_select=8)
    scaled = model.coef_ * small_planted.X.std(axis=0)[:, None]
    np.testing.assert_allclose(model.scores_, np.linalg.norm(scaled, axis=1), rtol=1e-10)
    assert model.coef_.shape == (60, 3)
    if name in ("URAFS", "USFS"):
        assert adjusted_rand_score(small_planted.labels, model.labels_) > 0.9


# Penalties ----------------------------------------------------------------------------------------


def cut_share(Z, labels):
    """Return the sum over clusters of f'Lf, of a dense normalised Laplacian, divided by c - 1."""
    S = sample_graph(as_operator(Z, scale="none"), "heat", n_neighbors=5).toarray()
    root = np.sqrt(S.sum(axis=0))
    L = np.eye(len(Z)) - S / root / root[:, None]
    clusters = [(labels == k) / np.sqrt(np.sum(labels == k)) for k in np.unique(labels)]
    return sum(f @ L @ f for f in clusters) / (len(clusters) - 1)


@pytest.mark.parametrize(
    ("name", "parameter", "slope"),
    [
        ("NDFS", "beta", lambda F, nu: F),
        ("RSFS", "beta", lambda F, nu: np.clip(2.0 * F, -0.5 * nu, 0.5 * nu)),
        ("RUFS", "beta", lambda F, nu: np.sign(F)),
        ("USFS", "gamma", lambda F, nu: 1.8 * (np.sign(F) - np.sign(F).mean(axis=0))),
    ],
)
def test_auto_is_a_share_of_the_penalty_at_which_the_weights_vanish(name, parameter, slope):
    planted = make_planted(80, 20, n_informative=5, n_clusters=3, signal=3.0, random_state=4)
    X, labels = planted.X, planted.labels
    options = {"alpha": 2.0, "init": labels, "n_features_to_select": 5}
    model = fit(name, X, **options)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    # exactly: the slope of the loss at W = 0
    F = slope(normalised_indicator(labels, 3), getattr(model, "nu_", 0.0))
    largest = 2.0 * np.linalg.norm(Z.T @ F, axis=1).max()
    share = 0.5 if name == "USFS" else np.sqrt(cut_share(Z, labels))
    assert getattr(model, f"{parameter}_") == pytest.approx(share * largest, rel=1e-6)
    same = fit(name, X, **options, **{parameter: getattr(model, f"{parameter}_")})
    np.testing.assert_array_equal(same.scores_, model.scores_)


@quiet
@pytest.mark.parametrize("name", NONNEGATIVE)
def test_beyond_the_largest_penalty_all_weights_vanish_with_a_warning(name):
    planted = make_planted(80, 20, n_informative=5, n_clusters=3, signal=3.0, random_state=4)
    options = {"alpha": 3.0, "init": planted.labels, "n_features_to_select": 5}
    options |= {"tol": 0.0, "max_iter": 60} if name == "RUFS" else {"tol": 1e-9, "max_iter": 1000}
    share = np.sqrt(cut_share(StandardScaler().fit_transform(planted.X), planted.labels))
    largest = fit(name, planted.X, **options).beta_ / share
    below = fit(name, planted.X, beta=0.97 * largest, **options)
    assert below.scores_.max() > 1e-4
    above = getattr(featsieve, name)(3, beta=1.03 * largest, **options)
    with pytest.warns(UserWarning, match=r"beta is so large .* Choose beta below") as caught:
        above.fit(planted.X)
    assert {warning.filename for warning in caught} == {__file__}
    assert above.scores_.max() < (0.01 * below.scores_.max() if name == "RUFS" else 1e-5)
    assert above.scores_.min() > 0.0


@pytest.mark.parametrize("name", NONNEGATIVE)
def test_auto_finds_columns_among_many_of_noise(name):
    # the first labels have an adjusted Rand index of 0.3: smaller penalties fit their errors
    found = []
    for seed in range(5):
        y = np.arange(60) % 3
        X = np.random.default_rng(seed).standard_normal((60, 200))
        X[:, :10] += 3.0 * y[:, None]
        found.append(fit(name, X, n_features_to_select=10).support_[:10].sum())
    assert np.mean(found) >= 9.0
    assert min(found) >= 7


@pytest.mark.parametrize("name", NONNEGATIVE)
@pytest.mark.parametrize("case", ["constant", "four rows", "one cluster", "far apart", "chance"])
def test_auto_is_a_positive_penalty_below_the_largest(name, case):
    rng = np.random.default_rng(0)
    X, options = rng.standard_normal((40, 12)), {"n_clusters": 3, "n_features_to_select": 4}
    if case == "constant":
        X[:, 3:] = 1.0
    if case == "four rows":
        X, options["n_clusters"], options["n_neighbors"] = X[:4], 2, 2
    if case == "one cluster":
        options["n_clusters"] = 1
    if case == "far apart":  # no edge joins two clusters: nothing is contradicted
        X += 1e3 * np.eye(3)[np.arange(40) % 3].repeat(4, axis=1)
    if case == "chance":
        options["init"] = rng.permutation(np.arange(40) % 3)
    model = fit(name, X, **options)
    assert np.isfinite(model.scores_).all()
    assert 0.0 < model.beta_ < np.inf
    if case != "one cluster":  # which no feature shows
        assert model.scores_.max() > 1e-6  # not all vanish


def test_a_beta_that_kills_all_weights_ranks_one_feature_at_a_time(small_planted):
    F = normalised_indicator(small_planted.labels, 3)
    operator = as_operator(small_planted.X, scale="std")
    beta = 1e3 * largest_penalty(operator, F)
    model = fit("NDFS", small_planted.X, init=small_planted.labels, beta=beta)
    marginal = np.linalg.norm(operator.rmatmul(F), axis=1)
    np.testing.assert_array_equal(np.argsort(-model.scores_), np.argsort(-marginal))


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("URAFS", {"sparsity": 1e6}), ("USFS", {"gamma": 1e3})],
)
def test_weights_that_vanish_are_reported(name, parameters, small_planted):
    with pytest.warns(UserWarning, match="penalty is too large"):
        getattr(featsieve, name)(3, random_state=0, **parameters).fit(small_planted.X)


@quiet
def test_labels_that_vanish_are_reported(small_planted):
    model = featsieve.NDFS(3, init=small_planted.labels, orthogonality=1e-3)
    with pytest.warns(UserWarning, match="orthogonality is too small"):
        model.fit(small_planted.X)


# Labels -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["NDFS", "RSFS"])
@pytest.mark.parametrize(("alpha", "tolerance"), [(1.0, 1e-7), (1e4, 4e-4)])
def test_the_published_weight_freezes_the_labels(alpha, tolerance, name):
    rng = np.random.default_rng(4)
    labels = random_labels(rng, 40, 3)
    problem = make_problem(name, rng.standard_normal((40, 12)), alpha=alpha)
    F = normalised_indicator(labels, 3)
    state = iterate(problem, F, 20)[0].state
    np.testing.assert_allclose(state.F, F, atol=tolerance)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("NDFS", {"orthogonality": 3.0}), ("RSFS", {"orthogonality": 3.0, "nu": 0.5}),
     ("RUFS", {"orthogonality": 10.0, "max_iter": 20})],
)  # fmt: skip
def test_a_small_weight_lets_labels_move_and_repairs_a_wrong_start(name, parameters):
    planted = make_planted(90, 20, n_informative=10, n_clusters=3, signal=4.0, random_state=0)
    wrong = planted.labels.copy()
    wrong[:20] = (wrong[:20] + 1) % 3
    frozen, free = (
        fit(name, planted.X, init=wrong, beta=1.0, **parameters | more)
        for more in ({"orthogonality": 1e8}, {})
    )
    np.testing.assert_array_equal(frozen.labels_, wrong)
    before, after = (adjusted_rand_score(planted.labels, m.labels_) for m in (frozen, free))
    assert before < 0.5
    assert after > 0.9


@pytest.mark.parametrize("name", NAMES)
def test_given_labels_keep_their_order_and_found_ones_are_numbered_by_first_sample(name):
    planted = make_planted(45, 15, n_informative=6, n_clusters=3, signal=3.0, random_state=1)
    expected = np.array([2, 0, 1])[planted.labels]
    for init in (np.array(["c", "a", "b"])[planted.labels], lambda X, c, rng: expected):
        given = fit(name, planted.X, init=init, max_iter=5)
        assert np.mean(given.labels_ == expected) > 0.9
    for init in ("spectral", "k-means"):
        labels = fit(name, planted.X, init=init, max_iter=5).labels_
        _, first = np.unique(labels, return_index=True)
        assert np.all(np.diff(first) > 0)


def test_a_given_affinity_decides_the_first_labels():
    rng = np.random.default_rng(9)
    labels = random_labels(rng, 40, 3)
    S = (labels[:, None] == labels) + 1e-3
    model = featsieve.NDFS(3, affinity=S, random_state=0).fit(rng.standard_normal((40, 10)))
    assert adjusted_rand_score(labels, model.labels_) == 1.0


@quiet
@pytest.mark.filterwarnings("ignore:All weights are so small")  # units of 1e8
def test_the_first_labels_of_raw_columns_do_not_depend_on_the_origin():
    planted = make_planted(60, 10, n_informative=8, n_clusters=3, signal=1.0, random_state=0)
    far = planted.X + 1e8
    near = far - 1e8  # without rounding
    of_far, of_near = (
        featsieve.NDFS(3, scale="raw", random_state=0, max_iter=1).fit(X).labels_
        for X in (far, near)
    )
    np.testing.assert_array_equal(of_far, of_near)


# Features that are known --------------------------------------------------------------------------


# In a wide table of unit variances the noise hides the clusters; in its own units it does not.
@pytest.mark.parametrize("name", NAMES)
def test_planted_features_are_found_in_wide_tables(name):
    made = make_planted(
        100, 150, n_clusters=3, n_informative=10, n_redundant=5, signal=4.0, random_state=0
    )
    scale = "none" if name == "NDFS" else "unit"
    model = fit(name, made.X, n_features_to_select=12, scale=scale)
    assert (made.informative | made.redundant)[model.support_].sum() >= 10
    if name == "NDFS":
        assert adjusted_rand_score(made.labels, model.labels_) > 0.9


# Units, copies, odd problems ----------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_copies_score_alike_and_units_and_offsets_do_not_matter(name):
    planted = make_planted(50, 12, n_informative=4, n_clusters=3, random_state=3)
    X = np.column_stack([planted.X, planted.X[:, 4]])
    options = {"init": planted.labels, "n_features_to_select": 4, "max_iter": 10}
    model = fit(name, X, **options)
    assert model.scores_[4] == pytest.approx(model.scores_[-1], rel=1e-6)
    rng = np.random.default_rng(1)
    factor, offset = 10.0 ** rng.integers(-3, 4, X.shape[1]), rng.integers(-5, 6)
    other = fit(name, factor * (X + offset), **options)
    np.testing.assert_allclose(other.scores_, model.scores_, atol=1e-7 * model.scores_.max())
    np.testing.assert_allclose(
        other.coef_ * factor[:, None], model.coef_, atol=1e-7 * np.abs(model.coef_).max()
    )


def assert_finite(model):
    for attribute in ("scores_", "coef_", "objective_"):
        assert np.isfinite(getattr(model, attribute)).all()


EXTREME = {
    "NDFS": ("beta", "orthogonality", "alpha"),
    "RSFS": ("beta", "alpha", "nu"),
    "RUFS": ("beta", "alpha", "nu"),
    "URAFS": ("alpha", "beta", "sparsity"),
    "USFS": ("alpha", "beta", "gamma"),
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [1e-12, 1e12])
def test_extreme_parameters_give_finite_answers(value, name):
    X = np.random.default_rng(0).standard_normal((15, 6))
    X[:, 0] = 1.0
    for parameter in EXTREME[name]:
        if (name, parameter) == ("URAFS", "beta"):
            value = value**25
        options = {"init": np.arange(15) % 3, "max_iter": 5, parameter: value}
        model = fit(name, X, **options)
        assert_finite(model)
        assert not model.support_[0]  # it does not vary
