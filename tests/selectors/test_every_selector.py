"""What holds for every estimator of the library, whatever the method."""

import inspect
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import featsieve
from featsieve.datasets import make_planted
from featsieve.solvers import Status

NAMES = tuple(featsieve.selectors.__all__)
# Methods that draw no labels and no numbers: they have no random_state.
DETERMINISTIC = {"LaplacianScore", "MaxVariance", "SPEC", "MCFS", "UDFS", "SOGFS"}
# The scores of these come from labels that can be handed in.
TAKE_LABELS = ("JASFS", "NDFS", "RUFS", "RSFS", "AUFS", "URAFS", "USFS", "UGFS")
# Controls: they do not look for structure.
CONTROLS = ("RandomSelector", "MaxVariance")
METHODS = tuple(name for name in NAMES if name not in CONTROLS)
N_SELECTED = 8
PUBLISHED = ("NDFS", "RSFS", "RUFS")  # URAFS starts at random, as published
# Other ways of a method to its answer, for which the same must hold.
VARIANTS = {
    "JASFS, as published": ("JASFS", {"solver": "paper", "sparsity": 1e-6}),
    "UGFS, as published": ("UGFS", {"solver": "paper"}),
    **{f"{name}, as published": (name, {"update": "paper"}) for name in PUBLISHED},
    "SPEC, plain": ("SPEC", {"criterion": "plain"}),
    "SPEC, leading": ("SPEC", {"criterion": "leading"}),
    "SPEC, eigenvalues": ("SPEC", {"power": 0.5}),
}

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]


def make(name, **settings):
    """Return an estimator with settings that make it quick and its answer repeatable."""
    name, variant = VARIANTS.get(name, (name, {}))
    settings = variant | settings
    cls = getattr(featsieve, name)
    parameters = inspect.signature(cls).parameters
    quick = {"n_clusters": 3, "n_features_to_select": N_SELECTED, "random_state": 0}
    quick |= settings
    return cls(**{key: value for key, value in quick.items() if key in parameters})


def takes(name, parameter):
    return parameter in inspect.signature(getattr(featsieve, name)).parameters


def takes_labels(name):
    return VARIANTS.get(name, (name,))[0] in TAKE_LABELS


def test_all_methods_of_the_paper_are_importable():
    expected = {
        "AUFS", "JASFS", "LaplacianScore", "MCFS", "MaxVariance", "NDFS", "RSFS", "RUFS",
        "RandomSelector", "SOGFS", "SPEC", "UDFS", "UGFS", "URAFS", "USFS",
    }  # fmt: skip
    assert set(NAMES) == expected
    for name in expected:
        assert getattr(featsieve, name).__name__ == name


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in NAMES if name != "JASFS"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_checks_pass(name):
    # JASFS, which refuses a single cluster, has its own version of this test. A contract does not
    # need the last digit of a minimum: few iterations will do.
    few = {"max_iter": 5, "max_inner_iter": 5}
    settings = {parameter: count for parameter, count in few.items() if takes(name, parameter)}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="n_clusters=1")
        warnings.filterwarnings("ignore", category=UserWarning)
        results = check_estimator(getattr(featsieve, name)(**settings), on_fail=None, on_skip=None)
    failed = [(r["check_name"], r["exception"]) for r in results if r["status"] == "failed"]
    passed = [r["check_name"] for r in results if r["status"] == "passed"]
    skipped = {r["check_name"] for r in results if r["status"] == "skipped"}
    assert failed == []
    assert len(passed) >= 40
    assert skipped <= {"check_array_api_input"}


@pytest.mark.parametrize("name", NAMES)
def test_fitted_attributes(name, small_planted):
    X = small_planted.X
    sieve = make(name).fit(X)
    d = X.shape[1]
    assert sieve.n_features_in_ == d
    assert sieve.scores_.shape == sieve.ranking_.shape == sieve.support_.shape == (d,)
    assert np.isfinite(sieve.scores_).all()
    assert (sieve.scores_ >= 0.0).all()
    assert sorted(sieve.ranking_) == list(range(1, d + 1))
    assert sieve.support_.sum() == sieve.n_features_selected_ == N_SELECTED
    assert set(np.flatnonzero(sieve.support_)) == set(np.flatnonzero(sieve.ranking_ <= N_SELECTED))
    np.testing.assert_array_equal(sieve.transform(X), X[:, sieve.support_])
    if name in TAKE_LABELS:
        assert sieve.labels_.shape == (len(X),)
        assert set(sieve.labels_) <= {0, 1, 2}
    if hasattr(sieve, "n_iter_"):
        assert sieve.n_iter_ >= 1
        assert len(sieve.objective_) == sieve.n_iter_
        assert np.isfinite(sieve.objective_).all()
        assert isinstance(sieve.status_, Status)
    if hasattr(sieve, "coef_"):
        assert sieve.coef_.shape[0] == d
        assert np.isfinite(sieve.coef_).all()


@pytest.mark.parametrize("name", NAMES)
def test_informative_and_redundant_columns_come_before_noise(name):
    if name in CONTROLS:
        pytest.skip("a control does not look for structure")
    # The sparse regressions of MCFS take few
    # features of a redundant group before they turn to the noise.
    settings = {"n_features_to_select": 5} if name == "MCFS" else {}
    settings = {"n_clusters": 3, "n_features_to_select": 10} | settings
    found = []
    for seed in range(3):
        planted = make_planted(
            120, 40, n_informative=6, n_redundant=4, n_clusters=3, signal=3.0, random_state=seed
        )
        sieve = make(name, **settings).fit(planted.X)
        found.append((planted.informative | planted.redundant)[sieve.support_].mean())
    assert np.mean(found) >= 0.8, found


@pytest.mark.parametrize("name", NAMES)
def test_same_seed_same_answer(name, small_planted):
    first, second = make(name).fit(small_planted.X), make(name).fit(small_planted.X)
    np.testing.assert_array_equal(first.scores_, second.scores_)
    np.testing.assert_array_equal(first.ranking_, second.ranking_)
    assert takes(name, "random_state") == (name not in DETERMINISTIC)


@pytest.mark.parametrize("name", NAMES)
def test_input_is_never_modified(name, small_planted):
    frame = pd.DataFrame(small_planted.X).add_prefix("f")
    sparse = sp.csr_array(np.where(small_planted.X > 0.5, small_planted.X, 0.0))
    for table in (small_planted.X, np.asfortranarray(small_planted.X), frame, sparse):
        before = table.copy()
        if isinstance(table, np.ndarray):
            table.flags.writeable = False
        make(name).fit(table)
        if isinstance(table, np.ndarray):
            table.flags.writeable = True
        same = (before != table).nnz == 0 if sp.issparse(table) else np.array_equal(before, table)
        assert same


@pytest.mark.parametrize("name", [*NAMES, *VARIANTS])
@pytest.mark.parametrize("shape", [(70, 24), (24, 70)], ids=["tall", "wide"])
def test_sparse_tables_give_the_answer_of_dense_ones(name, shape):
    planted = make_planted(*shape, n_informative=8, n_clusters=3, signal=3.0, random_state=1)
    dense = np.where(planted.X > 0.3, planted.X, 0.0)
    settings = {"init": planted.labels} if takes_labels(name) else {}
    of_dense = make(name, **settings).fit(dense)
    for kind in (sp.csr_array, sp.csr_matrix, sp.csc_array):
        sieve = make(name, **settings).fit(kind(dense))
        np.testing.assert_allclose(
            sieve.scores_, of_dense.scores_, rtol=1e-6, atol=1e-8 * of_dense.scores_.max()
        )
        selected = sieve.transform(kind(dense))
        assert sp.issparse(selected)
        np.testing.assert_array_equal(selected.toarray(), dense[:, sieve.support_])


@pytest.mark.parametrize("name", [*NAMES, *VARIANTS])
def test_columns_that_do_not_vary_score_zero_and_come_last(name, small_planted):
    X = small_planted.X.copy()
    X[:, 3], X[:, 17] = 7.0, 0.0
    sieve = make(name).fit(X)
    assert sieve.scores_[3] == sieve.scores_[17] == 0.0
    assert set(sieve.ranking_[[3, 17]]) == {X.shape[1] - 1, X.shape[1]}
    assert sieve.ranking_[3] < sieve.ranking_[17]  # a tie: the lower index first


@pytest.mark.parametrize("name", NAMES)
def test_ranking_follows_the_scores(name, small_planted):
    sieve = make(name).fit(small_planted.X)
    ranked = sieve.scores_[np.argsort(sieve.ranking_)]
    assert (np.diff(ranked) <= 1e-12 * ranked[0]).all()


@pytest.mark.parametrize("name", ["LaplacianScore", "SPEC", "MaxVariance"])
def test_ties_are_broken_by_the_lower_index(name, small_planted):
    X = np.hstack([small_planted.X] * 3)  # every score three times
    sieve = make(name).fit(X)
    ranks = sieve.ranking_.reshape(3, -1)
    np.testing.assert_array_equal(ranks[1], ranks[0] + 1)
    np.testing.assert_array_equal(ranks[2], ranks[0] + 2)


@pytest.mark.parametrize("name", [*METHODS, *VARIANTS])
def test_permuting_the_features_permutes_the_scores(name, small_planted):
    X = small_planted.X
    order = np.random.default_rng(3).permutation(X.shape[1])
    settings = {"init": small_planted.labels} if takes_labels(name) else {}
    straight = make(name, **settings).fit(X).scores_
    permuted = make(name, **settings).fit(X[:, order]).scores_
    np.testing.assert_allclose(permuted, straight[order], rtol=1e-5, atol=1e-7 * straight.max())


@pytest.mark.parametrize("name", [*METHODS, *VARIANTS])
def test_permuting_the_samples_changes_nothing(name, small_planted):
    X = small_planted.X
    order = np.random.default_rng(4).permutation(X.shape[0])
    straight, permuted = make(name), make(name)
    if takes_labels(name):
        straight.set_params(init=small_planted.labels)
        permuted.set_params(init=small_planted.labels[order])
    straight, permuted = straight.fit(X), permuted.fit(X[order])
    np.testing.assert_allclose(
        permuted.scores_, straight.scores_, rtol=1e-5, atol=1e-7 * straight.scores_.max()
    )
    if takes_labels(name):
        np.testing.assert_array_equal(permuted.labels_, straight.labels_[order])


@pytest.mark.parametrize("name", ["LaplacianScore", "SPEC", "MCFS", "NDFS"])
def test_equal_distances_are_not_decided_by_the_memory_order(name):
    # In a table of 0/1 entries most distances tie, and rounding must not choose the neighbours.
    X = (np.random.default_rng(0).random((60, 200)) < 0.3).astype(float)
    settings = {"init": np.arange(60) % 3} if name in TAKE_LABELS else {}
    expected = make(name, scale="none", **settings).fit(X).scores_
    order = np.random.default_rng(1).permutation(200)
    for table in (np.asfortranarray(X), sp.csr_array(X), X.astype(np.float32)):
        scores = make(name, scale="none", **settings).fit(table).scores_
        np.testing.assert_allclose(scores, expected, atol=1e-6 * expected.max())
    scores = make(name, scale="none", **settings).fit(X[:, order]).scores_
    np.testing.assert_allclose(scores, expected[order], atol=1e-6 * expected.max())


@pytest.mark.parametrize("name", ["NDFS", "RSFS", "RUFS"])
def test_more_parts_of_the_graph_than_clusters_are_joined_for_a_reason(name):
    # Six clouds in three directions, three clusters asked for: which clouds belong together is not
    # in the graph of nearest neighbours, and must not depend on the order of the samples.
    rng = np.random.default_rng(2)
    centres = np.kron(np.eye(3), [[20.0], [30.0]]) @ rng.standard_normal((3, 20))
    X = np.repeat(centres, 20, axis=0) + rng.standard_normal((120, 20))
    order = rng.permutation(120)
    straight = make(name, scale="none").fit(X)
    permuted = make(name, scale="none").fit(X[order])
    assert adjusted_rand_score(straight.labels_, np.arange(120) // 40) == 1.0
    assert adjusted_rand_score(straight.labels_[order], permuted.labels_) == 1.0
    np.testing.assert_allclose(
        permuted.scores_, straight.scores_, atol=1e-5 * straight.scores_.max()
    )


@pytest.mark.parametrize("name", TAKE_LABELS)
def test_renaming_the_labels_changes_no_score(name, small_planted):
    labels = small_planted.labels
    renamed = np.array(["b", "c", "a"])[labels]
    first = make(name, init=labels).fit(small_planted.X)
    second = make(name, init=renamed).fit(small_planted.X)
    np.testing.assert_allclose(
        second.scores_, first.scores_, rtol=1e-5, atol=1e-7 * first.scores_.max()
    )


@pytest.mark.parametrize("name", NAMES)
def test_how_many_features(name, small_planted):
    X = small_planted.X
    d = X.shape[1]
    assert make(name, n_features_to_select=5).fit(X).support_.sum() == 5
    assert make(name, n_features_to_select=0.25).fit(X).support_.sum() == round(0.25 * d)
    assert make(name, n_features_to_select=d).fit(X).support_.all()
    for wrong in (0, d + 1, 1.5, -0.1):
        with pytest.raises(ValueError, match="n_features_to_select must be"):
            make(name, n_features_to_select=wrong).fit(X)
    for wrong in (True, "many"):
        with pytest.raises(TypeError, match="n_features_to_select must be"):
            make(name, n_features_to_select=wrong).fit(X)
    if name in ("JASFS", "AUFS"):  # they decide themselves
        assert 1 <= make(name, n_features_to_select=None).fit(X).n_features_selected_ < d
    else:
        with pytest.raises(ValueError, match="set n_features_to_select"):
            make(name, n_features_to_select=None).fit(X)


@pytest.mark.parametrize("name", NAMES)
def test_clone_and_pickle(name, small_planted):
    sieve = make(name).fit(small_planted.X)
    again = pickle.loads(pickle.dumps(sieve))
    np.testing.assert_array_equal(again.ranking_, sieve.ranking_)
    fresh = clone(sieve)
    assert fresh.get_params() == make(name).get_params()
    with pytest.raises(NotFittedError):
        fresh.transform(small_planted.X)


@pytest.mark.parametrize("name", NAMES)
def test_pipeline_and_grid_search(name, small_planted):
    model = make_pipeline(make(name), KMeans(3, n_init=1, random_state=0))
    step = model.steps[0][0]
    search = GridSearchCV(model, {f"{step}__n_features_to_select": [4, 8]}, cv=2)
    search.fit(small_planted.X)
    assert search.best_estimator_[0].n_features_selected_ in (4, 8)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize("name", NAMES)
def test_other_number_types_and_orders_give_the_same_selection(name, small_planted):
    whole = np.round(20.0 * small_planted.X).astype(np.int32)
    expected = make(name).fit(whole.astype(np.float64))
    for table in (whole, whole.astype(np.float32), np.asfortranarray(whole)):
        sieve = make(name).fit(table)
        np.testing.assert_array_equal(sieve.support_, expected.support_)


@pytest.mark.parametrize("name", NAMES)
def test_bad_tables_are_refused(name, small_planted):
    X = small_planted.X.copy()
    X[2, 5] = np.nan
    with pytest.raises(ValueError, match="NaN: 1 non-finite value in 1 column"):
        make(name).fit(X)
    with pytest.raises(ValueError, match="constant"):
        make(name, n_features_to_select=2).fit(np.ones((10, 5)))
    frame = pd.DataFrame({"a": ["x", "y", "z"], "b": [1.0, 2.0, 3.0]})
    with pytest.raises(ValueError, match="not hold numbers"):
        make(name, n_features_to_select=1).fit(frame)


@pytest.mark.parametrize("name", NAMES)
def test_a_failed_fit_leaves_no_old_answer(name, small_planted):
    sieve = make(name).fit(small_planted.X)
    with pytest.raises(ValueError, match="NaN"):
        sieve.fit(np.full((5, 4), np.nan))
    with pytest.raises(NotFittedError):
        sieve.transform(small_planted.X)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("n_samples", "n_features"), [(2, 1), (2, 3), (3, 1), (4, 30), (30, 2)])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_tiny_tables(name, n_samples, n_features):
    X = np.random.default_rng(5).standard_normal((n_samples, n_features))
    sieve = make(name, n_clusters=2, n_features_to_select=1).fit(X)
    assert np.isfinite(sieve.scores_).all()
    assert sieve.support_.sum() == 1


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_repeated_samples_and_columns(name, small_planted):
    X = np.vstack([small_planted.X[:20]] * 3)
    X = np.hstack([X, X[:, :5]])
    sieve = make(name).fit(X)
    assert np.isfinite(sieve.scores_).all()
    assert sieve.support_.sum() == N_SELECTED


@pytest.mark.parametrize("name", [name for name in NAMES if takes(name, "n_clusters")])
def test_bad_numbers_of_clusters_are_refused(name, small_planted):
    with pytest.raises(ValueError, match="n_clusters"):
        make(name, n_clusters=81).fit(small_planted.X)
    with pytest.raises(ValueError, match="n_clusters"):
        make(name, n_clusters=0).fit(small_planted.X)
    with pytest.raises(TypeError, match="n_clusters"):
        make(name, n_clusters=2.5).fit(small_planted.X)


@pytest.mark.parametrize("name", [name for name in NAMES if takes(name, "callback")])
def test_a_callback_sees_every_iteration_and_can_stop(name, small_planted):
    seen = []

    def stop_after_two(iteration, objective, state):
        seen.append((iteration, objective))
        return iteration >= 2

    sieve = make(name, callback=stop_after_two, tol=0.0).fit(small_planted.X)
    assert [iteration for iteration, _ in seen] == list(range(1, sieve.n_iter_ + 1))
    assert sieve.n_iter_ <= 2
    np.testing.assert_allclose([value for _, value in seen], sieve.objective_)
    with pytest.raises(TypeError, match="callback must be callable"):
        make(name, callback="no").fit(small_planted.X)


@pytest.mark.parametrize("name", [name for name in NAMES if takes(name, "max_iter")])
def test_too_few_iterations_are_reported(name, small_planted):
    settings = {"solver": "paper"} if name == "JASFS" else {}  # max_iter=1 is its fast mode
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        sieve = make(name, max_iter=1, tol=0.0, **settings).fit(small_planted.X)
    assert sieve.status_ is Status.ITERATION_LIMIT


@pytest.mark.parametrize("name", NAMES)
def test_docstrings_say_what_a_user_must_know(name):
    text = inspect.getdoc(getattr(featsieve, name))
    for section in ("Parameters", "Attributes", "See Also", "Notes", "Examples"):
        assert f"\n{section}\n---" in text, section
    assert "Cost" in text
    assert "hen not to use it" in text
    if name not in CONTROLS:
        assert "\nReferences\n---" in text
        assert "eviation" in text or name in ("JASFS", "AUFS")
    if name in ("AUFS", "USFS"):
        assert "reconstruction" in text
    documented = text.split("\nParameters\n")[1].split("\nAttributes\n")[0]
    for parameter in inspect.signature(getattr(featsieve, name)).parameters:
        assert f"\n{parameter} :" in documented or f", {parameter} :" in documented, parameter


@pytest.mark.parametrize("name", NAMES)
def test_at_most_three_positional_parameters(name):
    parameters = inspect.signature(getattr(featsieve, name)).parameters.values()
    positional = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert len(positional) <= 3
