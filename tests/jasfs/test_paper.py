"""solver="paper" against the frozen outputs of the authors' program."""

import re
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from featsieve import JASFS
from tests.conftest import PROBLEMS, load_reference

PARAMETER_SETS = (1, 2, 3, 4, 5)
# Parameter set 5 (beta = 1e-4): the authors' graph underflows and their objective is NaN.
NAN_SET = 5


def fit_as_authors(problem, i, **changes):
    reference = load_reference(problem)
    alpha, beta, sparsity, orthogonality = reference[f"jasfs{i}_params"]
    settings = {
        "solver": "paper",
        "init": reference["labels"],
        "alpha": alpha,
        "beta": beta,
        "sparsity": sparsity,
        "orthogonality": orthogonality,
    }
    model = JASFS(int(reference["labels"].max()) + 1, **{**settings, **changes})
    return model.fit(reference["X"]), reference


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("i", [i for i in PARAMETER_SETS if i != NAN_SET])
def test_coefficients_objective_and_support_match_the_authors(problem, i):
    model, reference = fit_as_authors(problem, i)
    coef, objective = reference[f"jasfs{i}_coef"], reference[f"jasfs{i}_objective"]
    np.testing.assert_allclose(model.coef_, coef, rtol=0, atol=1e-8)
    np.testing.assert_allclose(model.objective_, objective, rtol=1e-8, atol=1e-8)
    np.testing.assert_array_equal(model.support_, np.any(coef != 0, axis=1))
    np.testing.assert_array_equal(model.labels_, reference["labels"])


@pytest.mark.parametrize("problem", PROBLEMS)
def test_where_the_original_is_nan_ours_is_finite_and_selects_the_same(problem):
    # A NaN ended the authors' loop after 6 iterations; up to there we agree. Our objective is
    # finite (log-sum-exp), so that the same stopping rule can do its work.
    reference = load_reference(problem)
    assert np.isnan(reference[f"jasfs{NAN_SET}_objective"]).all()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model, _ = fit_as_authors(problem, NAN_SET, max_iter=6)
    coef = reference[f"jasfs{NAN_SET}_coef"]
    np.testing.assert_allclose(model.coef_, coef, rtol=0, atol=1e-8)
    np.testing.assert_array_equal(model.support_, np.any(coef != 0, axis=1))
    assert np.isfinite(model.objective_).all()


@pytest.mark.parametrize("problem", PROBLEMS)
def test_alpha_and_beta_are_inert(problem):
    model, _ = fit_as_authors(problem, 3)
    other, _ = fit_as_authors(problem, 3, alpha=1e-3, beta=50.0, max_iter=model.n_iter_)
    np.testing.assert_allclose(other.coef_, model.coef_, rtol=0, atol=1e-6)


def test_small_orthogonality_lets_labels_move_and_keeps_them_finite(small_planted):
    rng = np.random.default_rng(0)
    start = rng.integers(0, 3, len(small_planted.labels))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = JASFS(3, solver="paper", init=start, orthogonality=1e-2, sparsity=1e-4)
        model.fit(small_planted.X)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.objective_).all()


@pytest.mark.parametrize("init", [None, "spectral", "k-means"])
def test_finds_planted_features_from_its_own_start(small_planted, init):
    model = JASFS(3, solver="paper", init=init, n_features_to_select=8, random_state=0)
    model.fit(small_planted.X)
    assert (model.support_ & small_planted.informative).sum() >= 6


@pytest.mark.slow
@settings(max_examples=15)
@given(
    n=st.integers(10, 60), d=st.integers(3, 60), power=st.floats(-1, 1), seed=st.integers(0, 999)
)
def test_too_large_sparsity_names_the_largest_that_selects(n, d, power, seed):
    X = 10.0**power * np.random.default_rng(seed).standard_normal((n, d))
    model = JASFS(3, solver="paper", sparsity=0.99, init=np.arange(n) % 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        with pytest.raises(ValueError, match="largest value that selects something") as caught:
            model.fit(X)
        largest = float(str(caught.value).split("selects something here is ")[1].split(". ")[0])
        assert model.set_params(sparsity=largest).fit(X).n_features_selected_ >= 1
        with pytest.raises(ValueError, match="no feature is selected"):
            model.set_params(sparsity=1.02 * largest).fit(X)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_columns_too_small_to_select_anything_are_said_to_be_so(small_planted):
    # A step must lower the loss by a share of ||W||², which grows as the columns shrink. The search
    # for a λ that selects something must end, and not name one that does not.
    sieve = JASFS(3, solver="paper", sparsity=0.5, max_iter=5, random_state=0)
    with pytest.raises(ValueError, match=r"no smaller value does.*Use scale='unit'"):
        sieve.fit(1e-30 * small_planted.X)
    with pytest.raises(
        ValueError, match="the largest value that selects something here is"
    ) as told:
        sieve.fit(small_planted.X)
    usable = float(re.search(r"here is (\S+)\. Decrease", str(told.value)).group(1))
    assert sieve.set_params(sparsity=usable).fit(small_planted.X).n_features_selected_ >= 1
