"""Every selector on every array library: the selection of NumPy, and nothing leaves the device."""

import os
from importlib.util import find_spec

import numpy as np
import pytest
import scipy.sparse as sp

from featsieve import JASFS, LaplacianScore
from featsieve.arrays import as_operator, namespace
from featsieve.solvers import ForwardSelection, RowSparseRegression
from featsieve.tuning import explain, structure_test, suggest_n_clusters
from tests.array_library_checks import (
    CUT,
    LANDMARKS,
    NO_GRAM,
    ONLY_TORCH,
    SELECTORS,
    VARIANTS,
    assert_beside,
    check_results_stay,
    check_same_landmarks,
    check_same_selection,
    check_stays_on_device,
    fitted,
    landmark_sieve,
    libraries,
    planted,
)

if find_spec("torch"):
    import torch

    torch.set_num_threads(1)  # the problems are small, and the other threads are NumPy's

LIBRARIES = libraries()
EVERYTHING = {**SELECTORS, **VARIANTS}
DOUBLE = [name for name, library in LIBRARIES.items() if not library.single]
# What leaves CuPy cannot be watched: its methods are not Python's.
WATCHED = [name for name in LIBRARIES if not name.startswith("cupy")]
WIDE, TALL = (60, 80), (60, 30)
MANY_ROWS = (240, 30)
# More columns than any criterion looks at: what goes to the host is smaller than this table.
LARGE = (150, 600)


@pytest.fixture(params=[*LIBRARIES])
def library(request):
    return LIBRARIES[request.param]


@pytest.fixture(scope="module")
def references():
    """Return fits to NumPy's float64; each is made once."""
    known = {}

    def fit(name, shape):
        if (name, shape) not in known:
            known[name, shape] = fitted(EVERYTHING[name], planted(*shape).X)
        return known[name, shape]

    return fit


def test_torch_is_there_where_it_must_be():
    assert os.environ.get("FEATSIEVE_REQUIRE_TORCH") != "1" or find_spec("torch")
    if not LIBRARIES:
        pytest.skip("no array library but NumPy is installed")


@pytest.mark.parametrize(
    "name", [*SELECTORS, *(pytest.param(name, marks=pytest.mark.slow) for name in VARIANTS)]
)
def test_selections_are_those_of_numpy(name, library, references):
    if name in ONLY_TORCH and not library.name.startswith("torch"):
        pytest.skip("scikit-learn indexes the table there")
    shape = TALL if library.name == "torch-cpu-float64" else WIDE
    X = planted(*shape).X
    selector = check_same_selection(EVERYTHING[name], library, X, reference=references(name, shape))
    check_results_stay(selector, library, X)


@pytest.fixture(scope="module")
def landmark_references():
    """Return fits of JASFS to NumPy's float64, the table whole: each is made once."""
    known = {}

    def fit(init, made):
        if init not in known:
            known[init] = fitted(landmark_sieve(init, made, np.asarray), made.X)
        return known[init]

    return fit


@pytest.mark.parametrize("name", LANDMARKS)
def test_jasfs_through_landmarks(name, library, landmark_references, monkeypatch):
    init, limits = LANDMARKS[name]
    made = planted(*MANY_ROWS)
    for limit in limits.keys() - CUT.keys() - NO_GRAM.keys():
        monkeypatch.setattr(limit, limits[limit])
    reference = landmark_references(init, made)
    for limit, value in limits.items():
        monkeypatch.setattr(limit, value)
    check_same_landmarks(init, library, made, reference=reference)


def test_the_limits_lead_into_the_branches(library, monkeypatch):
    operator = as_operator(library.convert(planted(*MANY_ROWS).X))
    target = operator.place(np.zeros((MANY_ROWS[0], 2)))
    problem = RowSparseRegression(operator, target, ridge=1.0)
    assert len(operator.parts().bounds) == 1
    assert ForwardSelection().init(problem).form.batch == 0
    for limit, value in {**CUT, **NO_GRAM}.items():
        monkeypatch.setattr(limit, value)
    assert len(operator.parts().bounds) == 4
    assert ForwardSelection().init(problem).form.batch > 0


# A sparse product goes through the host in libraries other than torch and CuPy.
@pytest.mark.parametrize(
    "name", [*SELECTORS, "JASFS, auto", "SPEC, leading", "SPEC, plain", "AutoSelector"]
)
@pytest.mark.filterwarnings("ignore::featsieve.tuning.NoStructureWarning")
def test_the_table_stays_on_its_device(name, monkeypatch):
    # rows among which clusters are sought go to the host: fewer than all, in a long table
    monkeypatch.setattr("featsieve.defaults.N_LANDMARKS", 30)
    monkeypatch.setattr("featsieve.defaults.CRITERION_SAMPLES", 30)
    monkeypatch.setattr("featsieve.defaults.COUNT_SAMPLES", 30)
    monkeypatch.setattr("featsieve.defaults.STRUCTURE_SAMPLES", 30)
    library = LIBRARIES.get("torch-cpu-float64") or pytest.skip("torch is not installed")
    # a table that is larger than the products of all candidates, twice the largest number of them
    shape = (150, 6000) if name == "JASFS, auto" else LARGE
    check_stays_on_device(EVERYTHING[name], library, planted(*shape).X)


@pytest.mark.parametrize("name", WATCHED)
def test_what_leaves_a_device_is_noticed(name):
    library = LIBRARIES[name]
    table = library.convert(np.ones((4, 5)))
    with library.sent() as sizes:
        namespace.to_numpy(table)
        assert max(sizes) == 20
        sizes.clear()
        try:
            np.asarray(table)
        except (RuntimeError, TypeError):
            sizes.append(20)  # refused: noticed as well
        assert max(sizes) == 20
    with library.sent() as sizes:  # the methods are as they were
        assert sizes == []


# What surrounds a fit -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", DOUBLE)
def test_jasfs_predicts_and_certifies_on_the_device(name):
    library = LIBRARIES[name]
    X = planted(*WIDE).X
    table = library.convert(X)
    sieve = JASFS(3, n_features_to_select=8, random_state=0)
    np.testing.assert_array_equal(sieve.fit_predict(table), sieve.labels_)
    with library.sent() as sizes:
        ours = sieve.certify(table)
    assert max(sizes, default=0) < X.size
    theirs = sieve.certify(X)
    assert ours.value == pytest.approx(theirs.value, rel=1e-9)
    assert ours.lower_bound == pytest.approx(theirs.lower_bound, rel=1e-6)


def test_fit_transform_and_labels_of_the_user(library):
    X = planted(*WIDE).X
    table = library.convert(X)
    kept = LaplacianScore(8).fit_transform(table)
    assert_beside(kept, table)
    labels = planted(*WIDE).labels
    ours = JASFS(3, n_features_to_select=8, init=library.convert(labels)).fit(table)
    theirs = JASFS(3, n_features_to_select=8, init=labels.astype(float)).fit(X)
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)


@pytest.mark.parametrize("name", DOUBLE)
def test_questions_about_a_table(name):
    library = LIBRARIES[name]
    made = planted(*TALL)
    table = library.convert(made.X)
    assert suggest_n_clusters(table).n_clusters == suggest_n_clusters(made.X).n_clusters
    assert structure_test(table).summary() == structure_test(made.X).summary()
    sieve = LaplacianScore(8).fit(table)
    found, expected = (explain(sieve, X, labels=made.labels) for X in (table, made.X))
    assert found["feature"].tolist() == expected["feature"].tolist()
    assert found["reason"].tolist() == expected["reason"].tolist()


def test_whole_numbers_and_views(library):
    """Counts, a table in the other memory order, and a part of a larger one."""
    counts = np.random.default_rng(0).poisson(planted(*TALL).X ** 2)
    xp = namespace.namespace_of(library.convert(counts))
    whole = xp.astype(library.convert(counts), xp.int32)
    expected = fitted(LaplacianScore(8), counts).ranking_
    np.testing.assert_array_equal(fitted(LaplacianScore(8), whole).ranking_, expected)
    turned = library.convert(np.ascontiguousarray(counts.T)).T
    np.testing.assert_array_equal(fitted(LaplacianScore(8), turned).ranking_, expected)
    wider = library.convert(np.hstack([counts, counts]))[:, : counts.shape[1]]
    np.testing.assert_array_equal(fitted(LaplacianScore(8), wider).ranking_, expected)


def test_half_precision_and_gradients():
    pytest.importorskip("torch")
    X = planted(*TALL).X
    expected = fitted(LaplacianScore(8), X).support_
    half = torch.tensor(X, dtype=torch.float16)
    np.testing.assert_array_equal(fitted(LaplacianScore(8), half).support_, expected)
    learned = torch.tensor(X, requires_grad=True)
    sieve = fitted(LaplacianScore(8), learned)
    np.testing.assert_array_equal(sieve.support_, expected)
    assert not sieve.transform(learned).requires_grad


def test_a_graph_of_the_user(library):
    X = planted(*TALL).X
    graph = np.exp(-np.square(X[:, None, :3] - X[None, :, :3]).sum(axis=2))
    ours = LaplacianScore(8, affinity=library.convert(graph)).fit(library.convert(X))
    theirs = LaplacianScore(8, affinity=sp.csr_array(graph)).fit(X)
    np.testing.assert_array_equal(ours.support_, theirs.support_)
