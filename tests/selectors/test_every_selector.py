"""What holds for every estimator of the library, whatever the method."""

import inspect
import re
import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import featsieve
from featsieve.datasets import make_planted
from featsieve.solvers import Status
from tests.selectors.test_laplacian_score import toy

NAMES = tuple(featsieve.selectors.__all__)
# Methods that draw no labels and no numbers: they have no random_state.
DETERMINISTIC = {"LaplacianScore", "MaxVariance", "SPEC", "MCFS", "UDFS", "SOGFS"}
# The scores of these come from labels that can be handed in.
TAKE_LABELS = ("JASFS", "NDFS", "RUFS", "RSFS", "AUFS", "URAFS", "USFS", "UGFS")
# These find how many features to keep by themselves.
DECIDE = ("JASFS", "AUFS", "SparseKMeans", "IFPCA")
# Controls: they do not look for structure.
CONTROLS = ("RandomSelector", "MaxVariance")
METHODS = tuple(name for name in NAMES if name not in CONTROLS)
# Other ways of a method to its answer, for which the same must hold.
VARIANTS = {
    "JASFS, as published": ("JASFS", {"solver": "paper", "sparsity": 1e-6}),
    "SPEC, plain": ("SPEC", {"criterion": "plain"}),
    "SPEC, leading": ("SPEC", {"criterion": "leading"}),
}
N_SELECTED = 6
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def make(name, **settings):
    """Return an estimator with settings that make it quick and its answer repeatable."""
    name, variant = VARIANTS.get(name, (name, {}))
    parameters = inspect.signature(getattr(featsieve, name)).parameters
    quick = {
        "n_clusters": 3, "n_features_to_select": N_SELECTED, "random_state": 0, "max_iter": 8,
    } | variant | settings  # fmt: skip
    known = {key: value for key, value in quick.items() if key in parameters}
    return getattr(featsieve, name)(**known)


def takes(name, parameter):
    return parameter in inspect.signature(getattr(featsieve, name)).parameters


def takes_labels(name):
    return VARIANTS.get(name, (name,))[0] in TAKE_LABELS


def given(name, labels):
    """Return the first labels as a setting, for methods that take some."""
    return {"init": labels} if takes_labels(name) else {}


@cache
def planted(shape=(45, 20)):
    """Return a table whose clusters are easy to find."""
    return make_planted(*shape, n_informative=6, n_clusters=3, signal=3.0, random_state=0)


def fitted(name):
    return make(name).fit(planted().X)


@pytest.mark.parametrize("name", [*NAMES, "StabilitySelection", "AutoSelector"])
def test_the_signature_has_the_order_of_the_docstring(name):
    kind = getattr(featsieve, name, None) or getattr(featsieve.tuning, name)
    listed = inspect.getdoc(kind).split("Parameters\n---")[1].split("\nAttributes\n---")[0]
    documented = re.findall(r"^(\w+) :", listed, re.MULTILINE)
    assert list(inspect.signature(kind).parameters) == documented
    assert set(documented) == set(kind._get_param_names())


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in NAMES if name != "JASFS"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_checks_pass(name):
    # JASFS, which refuses a single cluster, has its own version of this test. A contract does not
    # need the last digit of a minimum: few iterations will do.
    few = {"max_iter": 5, "max_inner_iter": 5, "n_permutations": 2, "n_steps": 5}
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
def test_fitted_attributes(name):
    X, sieve = planted().X, fitted(name)
    d = X.shape[1]
    assert sieve.n_features_in_ == d
    assert hasattr(sieve, "random_state") == (name not in DETERMINISTIC)
    assert sieve.scores_.shape == sieve.ranking_.shape == sieve.support_.shape == (d,)
    assert np.isfinite(sieve.scores_).all()
    assert (sieve.scores_ >= 0.0).all()
    assert sorted(sieve.ranking_) == list(range(1, d + 1))
    ranked = sieve.scores_[np.argsort(sieve.ranking_)]
    assert (np.diff(ranked) <= 1e-12 * ranked[0]).all()
    assert sieve.n_features_selected_ == N_SELECTED
    np.testing.assert_array_equal(sieve.support_, sieve.ranking_ <= N_SELECTED)
    np.testing.assert_array_equal(sieve.transform(X), X[:, sieve.support_])
    if name in TAKE_LABELS:
        assert sieve.labels_.shape == (len(X),)
        assert set(sieve.labels_) <= {0, 1, 2}
    if hasattr(sieve, "n_iter_"):
        assert len(sieve.objective_) == sieve.n_iter_ >= 1
        assert np.isfinite(sieve.objective_).all()
        assert isinstance(sieve.status_, Status)
    if hasattr(sieve, "coef_"):
        assert sieve.coef_.shape[0] == d
        assert np.isfinite(sieve.coef_).all()


@pytest.mark.parametrize("name", METHODS)
def test_informative_and_redundant_columns_come_before_noise(name):
    # The sparse regressions of MCFS take few features of a redundant group before they turn to the
    # noise. The distribution of a column shows clusters in many samples only.
    found = []
    for seed in range(2):
        n = 300 if name == "IFPCA" else 90
        made = make_planted(
            n, 30, n_informative=6, n_redundant=4, n_clusters=3, signal=3.0, random_state=seed
        )
        n_selected = 5 if name in ("MCFS", "IFPCA") else 10
        sieve = make(name, n_features_to_select=n_selected, max_iter=50).fit(made.X)
        found.append((made.informative | made.redundant)[sieve.support_].mean())
    assert np.mean(found) >= 0.8, found


# The method of multipliers of UGFS misses some of the four, however many iterations it gets.
@pytest.mark.parametrize("name", [*METHODS, *(name for name in VARIANTS if "UGFS" not in name)])
def test_the_toy_of_the_specification_is_ranked_as_known(name):
    for seed in range(2):
        sieve = make(name, n_features_to_select=4, max_iter=50).fit(toy(seed))
        assert np.flatnonzero(sieve.support_).tolist() == [0, 1, 2, 3]


# In wide tables the line searches of the published RUFS turn rounding into other scores.
@pytest.mark.parametrize(
    ("name", "shape", "kind"),
    [
        *((name, (40, 16), sp.csr_array) for name in (*NAMES, *VARIANTS)),
        *((name, (16, 40), sp.csc_matrix) for name in (*NAMES, *VARIANTS) if "RUFS," not in name),
    ],
)
def test_sparse_tables_give_the_answer_of_dense_ones(name, shape, kind):
    made = planted(shape)
    dense = np.where(made.X > 0.3, made.X, 0.0)
    settings = given(name, made.labels)
    of_dense = make(name, **settings).fit(dense)
    sieve = make(name, **settings).fit(kind(dense))
    np.testing.assert_allclose(
        sieve.scores_, of_dense.scores_, rtol=1e-6, atol=1e-8 * of_dense.scores_.max()
    )
    selected = sieve.transform(kind(dense))
    assert sp.issparse(selected)
    np.testing.assert_array_equal(selected.toarray(), dense[:, sieve.support_])


@pytest.mark.parametrize("name", [*NAMES, *VARIANTS])
def test_columns_that_do_not_vary_score_zero_and_come_last(name):
    X = planted().X.copy()
    X[:, 3], X[:, 17] = 1e8 / 3, 0.0  # the mean of the first is rounded
    sieve = make(name).fit(X)
    assert sieve.scores_[3] == sieve.scores_[17] == 0.0
    np.testing.assert_array_equal(sieve.ranking_[[3, 17]], [19, 20])  # a tie: lower index first


@pytest.mark.parametrize("name", [*METHODS, *VARIANTS])
def test_the_order_of_features_and_samples_does_not_matter(name):
    X, labels = planted().X, planted().labels
    rng = np.random.default_rng(3)
    rows, columns = rng.permutation(X.shape[0]), rng.permutation(X.shape[1])
    straight = make(name, **given(name, labels)).fit(X)
    permuted = make(name, **given(name, labels[rows])).fit(X[rows][:, columns])
    largest = straight.scores_.max()
    np.testing.assert_allclose(
        permuted.scores_, straight.scores_[columns], rtol=1e-5, atol=1e-7 * largest
    )
    if takes_labels(name):
        np.testing.assert_array_equal(permuted.labels_, straight.labels_[rows])


@pytest.mark.parametrize("name", METHODS)
def test_units_and_origins_do_not_matter_for_scaled_columns(name):
    X, labels = planted().X, planted().labels
    rng = np.random.default_rng(1)
    units, origins = 10.0 ** rng.integers(-3, 4, X.shape[1]), rng.integers(-5, 6, X.shape[1])
    sieve = make(name, scale="unit", **given(name, labels))
    scores = sieve.fit(X).scores_
    changed = sieve.fit(units * (X + origins)).scores_
    np.testing.assert_allclose(changed, scores, atol=1e-6 * scores.max())


@pytest.mark.parametrize("name", METHODS)
def test_single_precision_is_near_double_precision(name):
    X = planted().X.astype(np.float32)
    sieve = make(name, **given(name, planted().labels))
    single, double = (sieve.fit(X.astype(dtype)).scores_ for dtype in (np.float32, np.float64))
    np.testing.assert_allclose(single, double, atol=1e-3 * double.max())


@pytest.mark.parametrize("name", ["LaplacianScore", "SPEC", "MCFS", "NDFS"])
def test_equal_distances_are_not_decided_by_the_memory_order(name):
    # In a table of 0/1 entries most distances tie, and rounding must not choose the neighbours.
    X = (np.random.default_rng(0).random((40, 100)) < 0.3).astype(float)
    sieve = make(name, scale="none", **given(name, np.arange(40) % 3))
    expected = sieve.fit(X).scores_
    order = np.random.default_rng(1).permutation(100)
    for table in (np.asfortranarray(X), sp.csr_array(X), X.astype(np.float32)):
        np.testing.assert_allclose(sieve.fit(table).scores_, expected, atol=1e-6 * expected.max())
    scores = sieve.fit(X[:, order]).scores_
    np.testing.assert_allclose(scores, expected[order], atol=1e-6 * expected.max())


@pytest.mark.parametrize("name", ["NDFS", "RSFS", "RUFS"])
def test_more_parts_of_the_graph_than_clusters_are_joined_for_a_reason(name):
    # Six clouds in three directions, three clusters asked for: which clouds belong together is not
    # in the graph of nearest neighbours, and must not depend on the order of the samples.
    rng = np.random.default_rng(2)
    centres = np.kron(np.eye(3), [[20.0], [30.0]]) @ rng.standard_normal((3, 20))
    X = np.repeat(centres, 10, axis=0) + rng.standard_normal((60, 20))
    order = rng.permutation(60)
    straight = make(name, scale="none").fit(X)
    permuted = make(name, scale="none").fit(X[order])
    assert adjusted_rand_score(straight.labels_, np.arange(60) // 20) == 1.0
    assert adjusted_rand_score(straight.labels_[order], permuted.labels_) == 1.0
    np.testing.assert_allclose(
        permuted.scores_, straight.scores_, atol=1e-5 * straight.scores_.max()
    )


@pytest.mark.parametrize("name", TAKE_LABELS)
def test_renaming_the_labels_changes_no_score(name):
    labels = planted().labels
    first, second = (
        make(name, init=init).fit(planted().X).scores_
        for init in (labels, np.array(["b", "c", "a"])[labels])
    )
    np.testing.assert_allclose(second, first, rtol=1e-5, atol=1e-7 * first.max())


@pytest.mark.filterwarnings("ignore::featsieve.tuning.NoStructureWarning")  # a small table
@pytest.mark.parametrize("name", NAMES)
def test_how_many_features(name):
    X = planted().X
    d = X.shape[1]

    def fit(count):
        return make(name, n_features_to_select=count, max_iter=2).fit(X)

    for count, expected in ((5, 5), (0.25, round(0.25 * d)), (d, d)):
        assert fit(count).support_.sum() == expected
    for wrong in (0, d + 1, 1.5, -0.1):
        with pytest.raises(ValueError, match="n_features_to_select must be"):
            fit(wrong)
    for wrong in (True, "many"):
        with pytest.raises(TypeError, match="n_features_to_select must be"):
            fit(wrong)
    if name in DECIDE:
        found = fit(None)
        if name == "SparseKMeans":  # its gap statistic tends to keep all of few columns
            assert found.n_features_selected_ == (found.scores_ > 0.0).sum() >= 1
        else:
            assert 1 <= found.n_features_selected_ < d
    else:
        with pytest.raises(ValueError, match="set n_features_to_select"):
            fit(None)


@pytest.mark.parametrize("name", ["LaplacianScore", "NDFS", "JASFS"])
def test_pipeline_and_grid_search(name):
    model = make_pipeline(make(name), KMeans(3, n_init=1, random_state=0))
    grid = {f"{name.lower()}__n_features_to_select": [4, 8]}
    search = GridSearchCV(model, grid, cv=2).fit(planted().X)
    assert search.best_estimator_[0].n_features_selected_ in (4, 8)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize("name", NAMES)
def test_bad_tables_are_refused(name):
    X = planted().X.copy()
    X[2, 5] = np.nan
    sieve = fitted(name)
    with pytest.raises(ValueError, match="NaN: 1 non-finite value in 1 column"):
        sieve.fit(X)
    with pytest.raises(NotFittedError):  # a failed fit leaves no old answer
        sieve.transform(planted().X)
    with pytest.raises(ValueError, match="constant"):
        make(name, n_features_to_select=2).fit(np.ones((10, 5)))
    frame = pd.DataFrame({"a": ["x", "y", "z"], "b": [1.0, 2.0, 3.0]})
    with pytest.raises(ValueError, match="not hold numbers"):
        make(name, n_features_to_select=1).fit(frame)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_tiny_tables(name):
    for shape in ((2, 1), (2, 3), (3, 1), (4, 30), (30, 2)):
        X = np.random.default_rng(5).standard_normal(shape)
        sieve = make(name, n_clusters=2, n_features_to_select=1).fit(X)
        assert np.isfinite(sieve.scores_).all()
        assert sieve.support_.sum() == 1


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_repeated_samples_and_columns(name):
    X = np.vstack([planted().X[:15]] * 3)
    sieve = make(name).fit(np.hstack([X, X[:, :5]]))
    assert np.isfinite(sieve.scores_).all()
    assert sieve.support_.sum() == N_SELECTED


@pytest.mark.parametrize("name", [name for name in NAMES if takes(name, "callback")])
def test_a_callback_sees_every_iteration_and_can_stop(name):
    seen = []

    def stop_after_two(iteration, objective, state):
        seen.append((iteration, objective))
        return iteration >= 2

    sieve = make(name, callback=stop_after_two, tol=0.0).fit(planted().X)
    assert [iteration for iteration, _ in seen] == list(range(1, sieve.n_iter_ + 1))
    assert sieve.n_iter_ <= 2
    np.testing.assert_allclose([value for _, value in seen], sieve.objective_)


@pytest.mark.parametrize("name", [name for name in NAMES if takes(name, "max_iter")])
def test_too_few_iterations_are_reported(name):
    settings = {"solver": "paper"} if name == "JASFS" else {}  # max_iter=1 is its fast mode
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        sieve = make(name, max_iter=1, tol=0.0, **settings).fit(planted().X)
    assert sieve.status_ is Status.ITERATION_LIMIT


# Refusals -----------------------------------------------------------------------------------------

AT_LEAST_ONE = "must be an integer of at least 1"
# Parameters that mean the same wherever they are: (value, error, message).
BAD_VALUES = {
    "n_clusters": [(0, ValueError, AT_LEAST_ONE), (2.5, TypeError, AT_LEAST_ONE),
                   (81, ValueError, "is more than n_samples=45")],
    "n_neighbors": [(0, ValueError, AT_LEAST_ONE), (2.5, TypeError, AT_LEAST_ONE)],
    "max_iter": [(0, ValueError, AT_LEAST_ONE), (0.5, TypeError, AT_LEAST_ONE)],
    "tol": [(-1e-9, ValueError, "must be a number of at least 0")],
    "callback": [(3, TypeError, "must be callable or None")],
    "scale": [("std", ValueError, "must be one of 'unit', 'none'")],
    "affinity": [("cosine", ValueError, "must be one of 'heat', 'binary'"),
                 (np.ones((8, 8)), ValueError, r"here \(45, 45\); got shape \(8, 8\)")],
    "path_length": [(-1, ValueError, "must be an integer of at least 0"),
                    (1.5, TypeError, "must be an integer of at least 0")],
    "gamma": [(0.0, ValueError, "must be a number above 0"), (None, TypeError, "above 0"),
              ("large", ValueError, "must be 'auto' or a number above 0")],
}  # fmt: skip
INIT = [("best", "must be one of"), (None, "must be one of"), ([0, 1] * 4, "one label per sample"),
        (np.arange(45) % 2, "pass n_clusters=2")]  # fmt: skip


@pytest.mark.parametrize("name", METHODS)
def test_bad_values_are_refused_with_the_fix(name):
    X = planted().X
    # the words of JASFS about its clusters and scales are others: tests/jasfs/test_estimator.py
    own = ("n_clusters", "scale") if name == "JASFS" else ()
    for parameter in BAD_VALUES.keys() - {*own}:
        for value, error, message in BAD_VALUES[parameter] if takes(name, parameter) else ():
            with pytest.raises(error, match=f"{parameter}.*{message}"):
                make(name, **{parameter: value}).fit(X)
    for value, message in INIT if takes_labels(name) and not own else ():
        with pytest.raises(ValueError, match=message):
            make(name, init=value).fit(X)


PENALTIES = [("alpha", 0.0), ("beta", 0.0), ("beta", np.inf)]
# Bad values of single methods, and the message about them.
REFUSED = {
    "NDFS": [*PENALTIES, ("orthogonality", -1.0), ("orthogonality", np.inf)],
    "RSFS": [*PENALTIES, ("orthogonality", -1.0), ("nu", 0.0)],
    "RUFS": [*PENALTIES, ("nu", -1.0)],
    "URAFS": [("alpha", -1.0), ("beta", 0.0), ("sparsity", 0.0)],
    "USFS": PENALTIES,
    "AUFS": [("alpha", -1.0), ("ridge", -1.0), ("sparsity", 0.0), ("sigma", -1.0),
             ("orthogonality", (10, 1)), ("orthogonality", 0)],
    "UGFS": [("alpha", -1.0), ("ridge", -1.0), ("orthogonality", (10, 10)),
             ("orthogonality", -2.0)],
    "UDFS": [("local_ridge", -1.0)],
    "SOGFS": [("n_components", 0), ("max_inner_iter", 0)],
    "MCFS": [("ridge", -1.0)],
    "DUFS": [("power", 0), ("learning_rate", 0.0), ("n_steps", 0)],
    "IFPCA": [("n_rounds", 0)],
    "SparseKMeans": [("bound", 0.9), ("n_permutations", 0)],
}  # fmt: skip
ONE_OF = [
    ("UDFS", "init", "'roughness', 'identity'"),
    ("SOGFS", "init", "'roughness', 'identity'"),
    ("SPEC", "criterion", "'normalized', 'plain', 'leading'"),
]
NUMBERS = [("NDFS", "beta"), ("RSFS", "nu"), ("AUFS", "sigma"), ("AUFS", "sparsity"),
           ("UDFS", "local_ridge")]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "parameter", "value", "message"),
    [
        *((name, *case, "must be a") for name, cases in REFUSED.items() for case in cases),
        *(
            (name, parameter, "best", f"must be one of {known}")
            for name, parameter, known in ONE_OF
        ),
        *((name, parameter, "some", "must be 'auto' or a number") for name, parameter in NUMBERS),
        ("MCFS", "affinity", np.diag([1.0] + [0.0] * 44), "links no two samples"),
    ],
)
def test_bad_values_of_single_methods_are_refused(name, parameter, value, message):
    with pytest.raises(ValueError, match=f"{parameter}.*{message}"):
        make(name, **{parameter: value}).fit(planted().X)


# Documentation ------------------------------------------------------------------------------------


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
    parameters = inspect.signature(getattr(featsieve, name)).parameters
    positional = [p for p in parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert len(positional) <= 3
